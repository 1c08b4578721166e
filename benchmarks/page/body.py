"""The body of a page against gold, compared with peers: a part of ``page.py``.

Pages with a low score are counted by fault of the answer and by trait of the page; the pages
themselves are listed in ``build/page-failures.json`` only.
"""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.kit.results import list_failures, require_data
from benchmarks.kit.scoring import f1_figures, score
from benchmarks.kit.sources import NO_URL, rows_of
from benchmarks.page import peers as page_peers
from benchmarks.page.peer_answers import OURS
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.source import decode

SETS = ("gne", "cwced", "magic-article", "magic-forum", "aeb", "wmb")
BY_KIND = "wcxb"  # pages of seven kinds; articles are one of them
OWN = {name: make for name, make in OURS.items() if name != "ours, body"}
DEFAULT = "ours, record"
FAILS_BELOW = 0.9

Scores = tuple[float, float, float]  # precision, recall, F1


def measure(only_ours: bool = False) -> dict[str, Any]:
    """Returns the quality by set and tool.

    Args:
        only_ours: Skip the peers, which need minutes and a separate environment.
    """
    pages = list(labelled_pages((*SETS, BY_KIND)))
    tools = {name: make() for name, make in OWN.items()}
    answers = [
        {name: tool(page["html"], page["url"], page["lang"]) for name, tool in tools.items()}
        for page in pages
    ]
    result: dict[str, Any] = {}
    if not only_ours:
        result["peers"] = page_peers.run("versions")
        for own, theirs in zip(answers, page_peers.answers_of_peers(pages), strict=True):
            own.update(theirs)
    scored = [
        {tool: score(text, page["gold"]) for tool, text in by_tool.items()}
        for page, by_tool in zip(pages, answers, strict=True)
    ]
    result["body"] = _quality(pages, answers, scored)
    result["failures"] = _failures(pages, scored)
    return result


def labelled_pages(sets: Iterable[str] = SETS) -> Iterator[dict[str, Any]]:
    """Yields every labelled page of some sets, decoded by our decoder."""
    folder = require_data("body")
    for name in sets:
        for page in rows_of(folder / f"{name}.jsonl.gz"):
            html = decode(base64.b64decode(page.pop("html_base64"))).html
            yield {**page, "set": name, "url": page["url"] or NO_URL, "html": html}


def sets_of(page: dict[str, Any]) -> Iterator[str]:
    """Yields the names of all sets that a page counts for."""
    lang = "zh" if page["lang"] == "zh" else "other"
    yield f"{page['set']} {lang}" if page["set"].startswith("magic") else page["set"]
    if page["set"] == BY_KIND:
        yield f"{BY_KIND} {page['kind']}"
    if lang == "zh":
        yield "zh with forums"
        if page["set"] != "magic-forum":
            yield "zh articles"


def _quality(
    pages: list[dict[str, Any]], answers: list[dict[str, str]], scored: list[dict[str, Scores]]
) -> dict[str, dict[str, dict[str, Any]]]:
    scores: dict[str, dict[str, list[Scores]]] = defaultdict(lambda: defaultdict(list))
    empty: dict[str, Counter[str]] = defaultdict(Counter)
    for page, texts, by_tool in zip(pages, answers, scored, strict=True):
        for tool, found in by_tool.items():
            for name in sets_of(page):
                scores[name][tool].append(found)
                empty[name][tool] += not texts[tool].strip()
    return {
        name: {
            tool: {
                "pages": len(rows),
                **f1_figures([row[2] for row in rows]),
                "precision": round(sum(row[0] for row in rows) / len(rows), 4),
                "recall": round(sum(row[1] for row in rows) / len(rows), 4),
                "empty": empty[name][tool],
            }
            for tool, rows in sorted(by_tool.items(), key=lambda item: -_mean_f1(item[1]))
        }
        for name, by_tool in sorted(scores.items())
    }


def _mean_f1(rows: list[Scores]) -> float:
    return sum(row[2] for row in rows) / len(rows)


def _failures(pages: list[dict[str, Any]], scored: list[dict[str, Scores]]) -> dict[str, Any]:
    """Counts the pages below ``FAILS_BELOW`` by their one fault and by each of their traits."""
    faults: Counter[str] = Counter()
    traits: dict[str, Counter[str]] = defaultdict(Counter)
    rows = []
    for page, by_tool in zip(pages, scored, strict=True):
        precision, recall, f1 = by_tool[DEFAULT]
        lang = "zh" if page["lang"] == "zh" else "other"
        fails = f1 < FAILS_BELOW
        for trait in _traits(page):
            traits[f"{lang}, {trait}"].update(pages=1, failing=fails)
        if fails:
            fault = _fault(precision, recall)
            faults[f"{lang}, {fault}"] += 1
            best_f1, best = max((row[2], name) for name, row in by_tool.items())
            rows.append(
                {
                    "set": page["set"],
                    "id": page["id"],
                    "fault": fault,
                    "traits": _traits(page),
                    "f1": round(f1, 3),
                    "precision": round(precision, 3),
                    "recall": round(recall, 3),
                    "best": f"{best} {best_f1:.3f}",
                }
            )
    list_failures("page-failures", sorted(rows, key=lambda row: float(row["f1"])))
    return {
        "f1_below": FAILS_BELOW,
        "by_fault": dict(faults.most_common()),
        "by_trait": {
            trait: f"{counts['failing']} of {counts['pages']}"
            for trait, counts in sorted(traits.items())
            if counts["failing"]
        },
    }


def _fault(precision: float, recall: float) -> str:
    if not recall:
        return "nothing of it"
    if precision < FAILS_BELOW <= recall:
        return "too much"
    if recall < FAILS_BELOW <= precision:
        return "too little"
    return "elsewhere" if max(precision, recall) < 0.5 else "too much and too little"


def _traits(page: dict[str, Any]) -> list[str]:
    tree = parse(page["html"])
    whole = "".join(tree.text().split())
    gold = "".join(page["gold"].split())
    lines = [line for line in page["gold"].split("\n") if line.strip()]
    found = [
        ("any", True),
        (f"{page['kind']} page", True),
        ("body under 15 % of the page's text", len(gold) < 0.15 * len(whole)),
        ("body under 300 characters", len(gold) < 300),
        ("lines under 15 characters", sum(map(len, lines)) < 15 * len(lines)),
        ("no <p>", "p" not in tree.block_tags),
    ]
    return [name for name, is_so in found if is_so]
