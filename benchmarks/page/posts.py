"""The posts of real forum engines' thread pages against gold (a part of ``page.py``)."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

from benchmarks.kit.results import require_data
from benchmarks.kit.scoring import interval, score
from cleaning.body.page_body import extract_body
from cleaning.document.reader import parse

_LEAST_CHARS = 10  # of gold: "+1" alone measures nothing


def measure(_only_ours: bool = False) -> dict[str, Any]:
    """F1 of the body by forum: what stands on a page of its first post and replies."""
    return {
        "posts": {
            path.name.partition(".")[0]: _forum(path)
            for path in sorted(require_data("forum").glob("*.jsonl.gz"))
        }
    }


def _forum(path: Any) -> dict[str, Any]:
    scores: dict[bool, list[float]] = {True: [], False: []}
    sources: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            if (
                not page.get("html")
                or not page["type"].startswith("thread")
                or not page.get("gold")
            ):
                continue
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
        "f1": round(sum(every) / len(every), 4),
        "f1_95": [round(x, 4) for x in interval(every)],
        "f1_of_one_post": round(sum(scores[False]) / max(1, len(scores[False])), 4),
        "sources": dict(sources),
    }
