"""The posts of real forum engines' thread pages against gold: a part of ``page.py``."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.forum.labelled import Rows, forums, thread_pages
from benchmarks.kit.scoring import f1_figures, score
from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.reader import parse

_LEAST_CHARS = 10  # of gold: "+1" alone measures nothing


def measure(_only_ours: bool = False) -> dict[str, Any]:
    """Returns, by forum, F1 of the body against the first post and replies shown on a page."""
    return {"posts": {name: _forum(rows) for name, rows in forums()}}


def _forum(rows: Rows) -> dict[str, Any]:
    scores: dict[bool, list[float]] = {True: [], False: []}
    sources: Counter[str] = Counter()
    for page in thread_pages(rows):
        gold = page["gold"]
        posts = [gold.get("first") or "", *(gold.get("replies") or ())]
        shown = [posts[i] for i in gold["on_page"] if i < len(posts)]
        wanted = "\n".join(shown)
        if len(wanted.strip()) < _LEAST_CHARS:
            continue
        body = extract_body(parse(page["html"]), page["url"])
        scores[len(shown) > 1].append(score(body.text, wanted)[2])
        sources[body.source] += 1
    every = scores[True] + scores[False]
    return {
        "pages": len(every),
        **f1_figures(every),
        "f1_of_one_post": round(sum(scores[False]) / max(1, len(scores[False])), 4),
        "sources": dict(sources),
    }
