"""The body of a page against gold, beside peers, and what tools cost: a part of ``page.py``."""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.keeping import ROOT, require_data
from benchmarks.peers_page import TOOLS
from benchmarks.scoring import interval, score
from cleaning.source.charset import decode

PEERS = ROOT / "build" / "peers-page"
PACKAGES = (
    "trafilatura", "readability-lxml", "justext", "resiliparse", "gne", "newspaper4k",
    "goose3[chinese]", "boilerpy3", "lxml_html_clean", "idna", "publicsuffixlist", "jieba",
)  # fmt: skip
SETS = ("gne", "cwced", "magic-article", "magic-forum", "aeb", "wmb")
NO_URL = "http://page.example/"
OWN = tuple(name for name in TOOLS if name.startswith("ours"))


def measure(only_ours: bool = False) -> dict[str, Any]:
    """Quality by set and tool, cost by tool.

    Args:
        only_ours: Leave the peers out (they take minutes, and an environment of their own).
    """
    pages = list(labelled_pages())
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "pages.jsonl", Path(folder) / "answers.jsonl"
        with source.open("w", encoding="utf-8", errors="surrogatepass") as out:
            for page in pages:
                asked = {key: page[key] for key in ("id", "url", "lang", "html")}
                out.write(json.dumps(asked) + "\n")
        if only_ours:
            return {"body": _quality(pages, [_ours(page) for page in pages])}
        python = peers_python()
        versions = _run(python, "answers", str(source), str(target))
        answers = [json.loads(line)["answers"] for line in target.read_text("utf-8").splitlines()]
        memory = {name: round(_run(python, "memory", str(source), name), 1) for name in TOOLS}
    return {
        "peers": versions,
        "body": _quality(pages, [{n: text for n, (text, _) in a.items()} for a in answers]),
        "cost": _cost(pages, answers, memory),
    }


def labelled_pages() -> Iterator[dict[str, Any]]:
    """Every labelled page, decoded as ours are."""
    folder = require_data("body")
    for name in SETS:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                page = json.loads(line)
                html = decode(base64.b64decode(page.pop("html_base64"))).html
                yield {**page, "set": name, "url": page["url"] or NO_URL, "html": html}


def sets_of(page: dict[str, Any]) -> Iterator[str]:
    """The names of all sets a page counts in."""
    lang = "zh" if page["lang"] == "zh" else "other"
    yield f"{page['set']} {lang}" if page["set"].startswith("magic") else page["set"]
    if lang == "zh":
        yield "zh with forums"
        if page["set"] != "magic-forum":
            yield "zh articles"


def _ours(page: dict[str, Any]) -> dict[str, str]:
    return {
        name: TOOLS[name][0]()(page["html"], page["url"], page["lang"])
        for name in ("ours, body", "ours, paper form")
    }


def _quality(
    pages: list[dict[str, Any]], answers: list[dict[str, str]]
) -> dict[str, dict[str, dict[str, Any]]]:
    scores: dict[str, dict[str, list[tuple[float, float, float]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    empty: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for page, by_tool in zip(pages, answers, strict=True):
        for tool, text in by_tool.items():
            if tool in ("bare parse", "ours, record"):
                continue
            scored = score(text, page["gold"])
            for name in sets_of(page):
                scores[name][tool].append(scored)
                empty[name][tool] += not text.strip()
    return {
        name: {
            tool: {
                "pages": len(rows),
                "f1": round(sum(row[2] for row in rows) / len(rows), 4),
                "f1_95": [round(x, 4) for x in interval([row[2] for row in rows])],
                "precision": round(sum(row[0] for row in rows) / len(rows), 4),
                "recall": round(sum(row[1] for row in rows) / len(rows), 4),
                "empty": empty[name][tool],
            }
            for tool, rows in sorted(by_tool.items(), key=lambda item: -_mean_f1(item[1]))
        }
        for name, by_tool in sorted(scores.items())
    }


def _mean_f1(rows: list[tuple[float, float, float]]) -> float:
    return sum(row[2] for row in rows) / len(rows)


def _cost(
    pages: list[dict[str, Any]],
    answers: list[dict[str, tuple[str, float]]],
    memory: dict[str, float],
) -> dict[str, Any]:
    cpu = {name: sum(by_tool[name][1] for by_tool in answers) for name in TOOLS}
    bare = cpu["bare parse"]
    return {
        "pages": len(pages),
        "mean_source_kb": round(
            sum(len(page["html"].encode("utf-8", "replace")) for page in pages) / 1024 / len(pages)
        ),
        "bare_parse_ms": round(1000 * bare / len(pages), 2),
        "cpu_in_bare_parses": {name: round(value / bare, 2) for name, value in cpu.items()},
        "peak_memory_mb_above_import": memory,
    }


def _run(python: Path, *arguments: str) -> Any:
    done = subprocess.run(  # noqa: S603 - our own program
        [str(python), "-m", "benchmarks.peers_page", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
    )
    if done.returncode:
        sys.exit(f"a peer failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def peers_python() -> Path:
    """The interpreter of the peers' environment, made when it is not there."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / "packages.txt"
    if not stamp.exists() or stamp.read_text("utf-8") != "\n".join(PACKAGES):
        venv.create(PEERS, with_pip=True, clear=True)
        # The pip of some Pythons cannot resolve the peers' extras.
        for wanted in (("--upgrade", "pip"), PACKAGES):
            subprocess.run(  # noqa: S603 - our own environment
                [str(python), "-m", "pip", "install", "-qq", *wanted], check=True
            )
        stamp.write_text("\n".join(PACKAGES), "utf-8")
    return python
