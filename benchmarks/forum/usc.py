"""Topic pages by USC (paper 5) in all its readings, and the cost of its clustering."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.forum.labelled import Rows, forums, score_urls
from benchmarks.kit.scoring import means
from crawlclean.cleaning.papers import knn_dpc
from crawlclean.cleaning.papers.knn_dpc import Outliers, Ties
from crawlclean.cleaning.papers.prefix_tree import PrefixTree
from crawlclean.cleaning.papers.usc import Params, split_blocks, usc

DRAWS = 3  # given topic pages
_SIZES = (3, 5, 10, 20, 50)  # values of K for the oracle
_CENTRES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def _reading(
    ties: Ties, outliers: Outliers, most: int | None, k: int = 5, centres: int | None = None
) -> Params:
    clustering = knn_dpc.Params(neighbours=k, ties=ties, outliers=outliers, centre_count=centres)
    return Params(clustering=clustering, max_values=most)


READINGS = {
    "ties by list order": _reading(Ties.ORDER, Outliers.LEAVE, None),
    "all tied neighbours": _reading(Ties.ALL, Outliers.LEAVE, None),
    "all tied, wildcards": _reading(Ties.ALL, Outliers.LEAVE, 10),
    "automatic centres": _reading(Ties.ALL, Outliers.FOLLOW, 10),
}


def measure() -> dict[str, Any]:
    """Returns P, R, F by reading and forum, for the fetched and for all discovered URLs."""
    table: dict[str, dict[str, dict[str, Any]]] = {"fetched": {}, "discovered": {}}
    for forum, rows in forums():
        for name, asked in (
            ("fetched", [row for row in rows if row["fetched"]]),
            ("discovered", rows),
        ):
            for reading, score in _score(asked).items():
                table[name].setdefault(reading, {})[forum] = score
    for by_reading in table.values():
        for by_forum in by_reading.values():
            mean = sum(score["f"] for score in by_forum.values()) / len(by_forum)
            by_forum["mean f"] = round(mean, 4)
    return {"usc": table}


def _score(rows: Rows) -> dict[str, dict[str, Any]]:
    urls = [row["url"] for row in rows]
    threads = [row["url"] for row in rows if row["type"] == "thread"]
    given = random.Random(1).sample(threads, DRAWS)  # noqa: S311 - draws of an experiment
    scores = {name: _mean(urls, rows, given, params) for name, params in READINGS.items()}
    best = max(
        ({**_mean(urls, rows, given[:1], params), "reading": name} for name, params in _oracle()),
        key=lambda score: score["f"],
    )
    return {**scores, "oracle of centres": best}


def _mean(urls: list[str], rows: Rows, given: list[str], params: Params) -> dict[str, Any]:
    scores = [score_urls(usc(urls, topic, params), rows) for topic in given]
    return means(scores)


def _oracle() -> Iterator[tuple[str, Params]]:
    """Yields every K with every number of centres: the best that a person could pick."""
    for k in _SIZES:
        yield f"K={k}, no outliers", _reading(Ties.ALL, Outliers.LEAVE, 10, k, 1)
        for centres in _CENTRES:
            params = _reading(Ties.ALL, Outliers.FOLLOW, 10, k, centres)
            yield f"K={k}, {centres} centres", params


def measure_million(count: int = 1_000_000) -> dict[str, Any]:
    """Returns CPU time and memory of clustering all URLs of one large forum."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    space = PrefixTree(split_blocks(url) for url in _large_forum(count))
    built = time.process_time()
    params = knn_dpc.Params(neighbours=10)
    label = knn_dpc.cluster(space, params)
    end = time.process_time()
    return {
        "million": {
            "urls": count,
            "tree_s": round(built - start, 1),
            "clusters_s": round(end - built, 1),
            "clusters": len(set(label)),
            "peak_memory_mb_above_start": round(
                (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            ),
        }
    }


def _large_forum(count: int) -> Iterator[str]:
    """Yields different URLs of one host: threads in two forms, boards, users, replies."""
    host = "http://bbs.example"
    for i in range(count // 5):
        yield f"{host}/thread-{i}-1-1.html"
        yield f"{host}/forum.php?mod=viewthread&tid={i}&page={1 + i % 7}"
        yield f"{host}/board-{i % 400}-{1 + i // 400}.html"
        yield f"{host}/home/space/{i}"
        yield f"{host}/post.php?action=reply&tid={i // 10}&pid={i}"
