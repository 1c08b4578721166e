"""The lines of the changed crawls of ``robust.py``: a part of ``topic.py``.

A part in one way, over its changes and the topics::

    hosts, query alone: recall 5/10/20/30 %: .50 .63 .81 .87, sd .03 .04 .02 .02,
    least topic at 10/20 %: .31 .54
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from benchmarks.topic.harvest import AT
from benchmarks.topic.robust import Change, Found, Recall, Way

LEAST_AT = (10, 20)  # per cent at which the least topic is named

Rows = Mapping[str, Recall]
"""The recall of each topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What the crawls of one part find in one way.

    Attributes:
        mean: Mean recall over changes and topics.
        sd: Standard deviation of the changes' mean recall.
        least: The least topic's recall, each at 10 and 20 % of the pages, by its mean over changes.
        crawls: Number of crawls.
    """

    mean: Recall
    sd: Recall
    least: Recall
    crawls: int

    def __str__(self) -> str:
        at = "/".join(map(str, AT))
        least_at = "/".join(map(str, LEAST_AT))
        return (
            f"recall {at} %: {short(self.mean)}, sd {short(self.sd)}, "
            f"least topic at {least_at} %: {short(self.least)}"
        )


def spread(found: Sequence[Rows]) -> Spread:
    """Returns the spread of some changes, each with the recall of its topics."""
    means = [_mean(list(rows.values())) for rows in found]
    by_topic: dict[str, list[Recall]] = defaultdict(list)
    for rows in found:
        for name, recall in rows.items():
            by_topic[name].append(recall)
    topics = [_mean(rows) for rows in by_topic.values()]
    return Spread(
        mean=_mean(topics),
        sd=tuple(map(pstdev, zip(*means, strict=True))),
        least=tuple(min(topic[AT.index(at)] for topic in topics) for at in LEAST_AT),
        crawls=sum(map(len, found)),
    )


def parts(found: Found) -> Iterator[tuple[str, Way, Spread]]:
    """Yields the spread of each part in each way; ``labels`` and ``constants`` by their change."""
    grouped: dict[tuple[str, Way], list[Rows]] = defaultdict(list)
    for (change, way), rows in found.items():
        grouped[_title(change), way].append(rows)
    for (title, way), group in grouped.items():
        yield title, way, spread(group)


def _title(change: Change) -> str:
    if change.flipped:
        return f"{change.flipped:.0%} of the labels wrong"
    if change.constant is not None:
        return "{} x {:g}".format(*change.constant)
    return change.part


def leave_one_out(found: Found) -> Iterator[tuple[str, Way, Recall]]:
    """Yields, for each constant, the recall of topics with the factor that suits the others best.

    The factors are .5, 1, 2; the best has the highest sum of recall at all four places.
    """
    by_name: dict[tuple[str, Way], dict[float, Rows]] = defaultdict(dict)
    as_is = {way: rows for (change, way), rows in found.items() if change.part == "as it is"}
    for (change, way), rows in found.items():
        if change.constant is not None:
            name, factor = change.constant
            by_name[name, way][factor] = rows
            by_name[name, way][1.0] = as_is[way]
    for (name, way), factors in by_name.items():
        chosen = [_chosen(factors, topic) for topic in as_is[way]]
        yield name, way, _mean(chosen)


def _chosen(factors: Mapping[float, Rows], topic: str) -> Recall:
    def on_others(factor: float) -> tuple[float, bool]:
        rows = factors[factor]
        return sum(sum(rows[name]) for name in rows if name != topic), factor == 1.0

    return factors[max(factors, key=on_others)][topic]


def _mean(rows: Sequence[Recall]) -> Recall:
    return tuple(fmean(column) for column in zip(*rows, strict=True))


def short(shares: Sequence[float]) -> str:
    """Returns shares with two digits: ``.50 1.00``."""
    return " ".join(f"{share:.2f}".lstrip("0") if share < 0.995 else "1.00" for share in shares)
