"""Figures of hosts on their pages and on changed copies: the least beside the mean."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

PLAIN = "plain"
_RESAMPLES = 2000
Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""Scores of pages by copy and host; the copy ``plain`` is the pages as they are."""


def host_means(by_host: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Returns the mean of each host with a score."""
    return {host: sum(values) / len(values) for host, values in by_host.items() if values}


def host_interval(means: Sequence[float]) -> tuple[float, float]:
    """Returns the 90 % interval of the mean of hosts when the hosts are drawn anew."""
    chance = random.Random(1)  # noqa: S311 - resampling
    found = sorted(sum(chance.choices(means, k=len(means))) / len(means) for _ in range(_RESAMPLES))
    return found[int(_RESAMPLES * 0.05)], found[int(_RESAMPLES * 0.95)]


def robust_figures(scores: Scores) -> dict[str, Any]:
    """Returns the plain figure, the least copy, the least host and every copy.

    A figure is the mean of host means. A copy's share is its figure by that of the plain pages of
    the hosts it has.

    Args:
        scores: Scores of pages by copy and host, with ``plain`` among the copies.
    """
    plain = host_means(scores[PLAIN])
    low, high = host_interval(list(plain.values()))
    least_host = min(plain, key=plain.__getitem__)
    copies: dict[str, dict[str, Any]] = {}
    for copy, by_host in scores.items():
        means = host_means(by_host)
        if copy == PLAIN or not means:
            continue
        figure = sum(means.values()) / len(means)
        beside = sum(plain[host] for host in means) / len(means)
        worst = min(means, key=lambda host: means[host] - plain[host])
        copies[copy] = {
            "figure": round(figure, 4),
            "share": round(figure / beside, 4) if beside else 0.0,
            "most lost by": [worst, round(plain[worst], 4), round(means[worst], 4)],
        }
    least = min(copies, key=lambda copy: float(copies[copy]["share"]), default=PLAIN)
    return {
        "hosts": len(plain),
        "plain": round(sum(plain.values()) / len(plain), 4),
        "plain_90": [round(low, 4), round(high, 4)],
        "least host": [least_host, round(plain[least_host], 4)],
        "least copy": [least, copies[least]["share"] if copies else 1.0],
        "copies": copies,
    }
