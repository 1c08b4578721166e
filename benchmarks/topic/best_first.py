"""The crawler beside which topic crawls are measured: best-first on anchor texts.

A part of ``topic.py``. It walks the link graph: one fetch is one step, and dead links are left out.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Iterator

from benchmarks.topic.web import BenchTopic, Web

_TOKEN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[a-z0-9_+#]+(?:\.[a-z]+)?")


def best_first(web: Web, topic: BenchTopic) -> Iterator[str]:
    """Yields pages by the share of the query's tokens in their anchor texts, then as found."""
    query = set(_tokens(topic.query))
    fetched = set(web.portal)
    order: dict[str, int] = {}
    best: dict[str, float] = {}
    waiting: list[tuple[float, int, str]] = []

    def offer(page: str) -> None:
        for target, text in web.links[page]:
            if target in fetched or target not in web.links:
                continue
            value = len(query.intersection(_tokens(text))) / len(query)
            order.setdefault(target, len(order))
            if value > best.get(target, -1.0):
                best[target] = value
                heapq.heappush(waiting, (-value, order[target], target))

    for page in web.portal:
        offer(page)
    while waiting:
        _, _, page = heapq.heappop(waiting)
        if page not in fetched:
            fetched.add(page)
            yield page
            offer(page)


def _tokens(text: str) -> list[str]:
    """Pairs of Chinese characters and other words."""
    found = []
    for word in _TOKEN.findall(unicodedata.normalize("NFKC", text).lower()):
        if word[0] < "\u3400" or len(word) == 1:
            found.append(word)
        else:
            found += [word[place : place + 2] for place in range(len(word) - 1)]
    return found
