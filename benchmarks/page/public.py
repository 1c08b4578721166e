"""Bodies, dates, authors and titles by the measures of public corpora: ``make bench-public``.

- Bodies of the web: the corpus of trafilatura. A page has segments that belong to its text and
  segments that do not; a segment is found when the answer holds it, white space folded. Precision,
  recall and F are over all segments of all pages.
- Dates: the corpus of htmldate, days of first publication. As there, a wrong day counts against
  precision alone, a missing one against recall.
- Publishers: articles of newspapers (fundus) with body (F1 as in ``scoring.py``), title and authors
  (``named``: all are in the answer; ``right``: they are the answer).

trafilatura and htmldate read the same pages in the same process. Status 1: a figure is below its
floor in ``public_floors.toml``. Pages with an error are listed in ``build/public-failures.json``.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.kit.environments import PUBLIC_PEERS, move_to
from benchmarks.kit.results import keep, list_failures, require_data, show
from benchmarks.kit.scoring import f1_figures, ratios, score
from crawlclean import clean_html
from crawlclean.cleaning.features.lines import plain_title

FLOORS = Path(__file__).with_name("public_floors.toml")
PRODUCT = "product"
PEERS = ("trafilatura", "htmldate")
_SPLIT = re.compile(r"[、;；]|,\s")  # names in our field and in trafilatura's

Answer = dict[str, str]
"""``text``, ``date`` (2026-05-01), ``authors`` and ``title``, or those that the tool reads."""
Row = dict[str, Any]


def product(html: bytes, url: str) -> Answer:
    """The record of a page, from its bytes and its URL alone."""
    record = clean_html(html, url)
    date = record.published_at.date().isoformat() if record.published_at else ""
    authors = record.author or ""
    return {"text": record.body, "date": date, "authors": authors, "title": record.title}


def trafilatura(html: bytes, url: str) -> Answer:
    """Text and metadata as in trafilatura's own evaluation: tables, no comments."""
    from trafilatura import extract, extract_metadata

    text = extract(html, url=url, include_comments=False, include_tables=True) or ""
    found = extract_metadata(html, default_url=url)
    return {"text": text, "authors": found.author or "", "title": found.title or ""}


def htmldate(html: bytes, url: str) -> Answer:
    """The day of first publication as in htmldate's own evaluation."""
    from htmldate import find_date

    return {"date": find_date(html, original_date=True, extensive_search=True, url=url) or ""}


TOOLS: dict[str, Callable[[bytes, str], Answer]] = {
    PRODUCT: product,
    "trafilatura": trafilatura,
    "htmldate": htmldate,
}


def rows_of(name: str) -> Iterator[Row]:
    """Yields the pages of ``web`` or ``publishers``, with their bytes as ``html``."""
    with lzma.open(require_data("public") / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield {**row, "html": row.pop("html_latin1").encode("latin-1")}


class Figures:
    """The counts of one tool."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._body: list[float] = []

    def count(self, row: Row, answer: Answer) -> Row:
        """Adds a page; returns what is wrong with the answer, empty when all is right."""
        wrong: Row = {}
        if "present" in row and "text" in answer:
            text = _folded(answer["text"])
            wrong["missed"] = [x for x in row["present"] if _folded(x) not in text]
            wrong["false"] = [x for x in row["absent"] if _folded(x) in text]
            right = len(row["present"]) - len(wrong["missed"])
            found = right + len(wrong["false"])
            self._counts["segments"].update(right=right, found=found, wanted=len(row["present"]))
        if "gold" in row and "text" in answer:
            f1 = score(answer["text"], row["gold"])[2]
            self._body.append(f1)
            wrong["body"] = f"{f1:.3f}" if f1 < 0.9 else ""
        # Days of publishers are stated in their pages: they measure the corpus, not the tools.
        if "gold" not in row and isinstance(row.get("date"), str) and "date" in answer:
            given, is_right = answer["date"] != "", answer["date"] == row["date"]
            self._counts["dates"].update(right=is_right, found=given, wanted=is_right or not given)
            wrong["date"] = "" if is_right else f"{answer['date']} for {row['date']}"
        for key in ("authors", "title"):
            if row.get(key) and key in answer:
                is_right = _plain(key, answer[key]) == _plain(key, row[key])
                is_named = all(_folded(x).lower() in answer[key].lower() for x in row[key])
                self._counts[key].update(right=is_right, named=is_named, pages=1)
                wrong[key] = "" if is_right else f"{answer[key]} for {row[key]}"
        return {key: value for key, value in wrong.items() if value}

    def result(self) -> dict[str, Any]:
        """Returns the figures by what was measured."""
        found: dict[str, Any] = {
            key: ratios(**{part: count[part] for part in ("right", "found", "wanted")})
            for key, count in self._counts.items()
            if key in ("segments", "dates")
        }
        for key in ("authors", "title"):
            if count := self._counts.get(key):
                shares = ("right", "named") if key == "authors" else ("right",)
                found[key] = {x: round(count[x] / count["pages"], 4) for x in shares}
                found[key]["pages"] = count["pages"]
        if self._body:
            found["body"] = f1_figures(self._body)
        return {**found, "cpu_s": round(self.cpu_s, 1)}


def _folded(text: str) -> str:
    return " ".join(text.split())


def _plain(key: str, value: str | list[str]) -> str | set[str]:
    if key == "title":
        return plain_title(str(value))
    names = _SPLIT.split(value) if isinstance(value, str) else value
    return {_folded(name).lower() for name in names}


def below_floors(result: dict[str, Any]) -> list[str]:
    """Returns a line for each figure of ours below its floor: ``segments f 0.91 < 0.93``."""
    ours = result[PRODUCT]
    return [
        f"{what} {figure} {ours[what][figure]} < {floor}"
        for what, floors in tomllib.loads(FLOORS.read_text("utf-8")).items()
        for figure, floor in floors.items()
        if ours[what][figure] < floor
    ]


def main() -> int:
    """Measures; returns the exit status."""
    parser = argparse.ArgumentParser(description="Measure by the public corpora.")
    parser.add_argument("--product-only", action="store_true", help="without the peers, not kept")
    alone = parser.parse_args().product_only
    if not alone:
        move_to("peers-public", PUBLIC_PEERS, "benchmarks.page.public", "htmldate")
    figures = {name: Figures() for name in TOOLS if name == PRODUCT or not alone}
    failures = []
    for row in (*rows_of("web"), *rows_of("publishers")):
        for name, figure in figures.items():
            begun = time.process_time()
            answer = TOOLS[name](row["html"], row["url"])
            figure.cpu_s += time.process_time() - begun
            wrong = figure.count(row, answer)
            if wrong and name == PRODUCT:
                failures.append({"url": row["url"], **wrong})
    list_failures("public-failures", failures)
    result = {name: figure.result() for name, figure in figures.items()}
    if alone:
        show(result)
    else:
        keep("public", {"peers": {name: version(name) for name in PEERS}, **result})
    below = below_floors(result)
    sys.stderr.write("".join(f"below its floor: {line}\n" for line in below))
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
