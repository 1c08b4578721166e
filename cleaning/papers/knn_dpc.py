"""Paper 5, KNN-DPC: clusters around points of high density that are far from any denser point.

Source: the clustering used by Liu Rui, Tan Wentao, Fu Yuanbin, Wang Hong: 一种通用论坛信息提取方法
(General Method of Forum Information Extraction). Journal of Chinese Computer Systems
(小型微型计算机系统), 2018, 39(7), article 1000-1220(2018)07-1398-07, after Xie, Gao, Xie (2016) and
Rodriguez, Laio (2014).

Equation or listing of the paper                            Function
eq. 5   rho_i = sum of exp(-d_ij) over the K nearest        ``densities``
eq. 6   delta_i = least distance to a denser point          ``decision_graph``
Alg. 1  KNN-PDC clustering                                  ``cluster``
Alg. 1  decision graph, centres of high rho and delta       ``decision_graph``, ``choose_centres``
Alg. 2  breadth first search                                ``search_breadth_first``

Readings:

* Eq. 5 wins over the listing's "sum of distance".
* Distances are integers and may be huge (eq. 4 is a factorial), so that exp(-d) underflows from 746
  on. Densities are compared exactly, by the counts of neighbours at each distance, the nearest
  first; distances so close that many far neighbours could outweigh a near one are summed first.
* ``Ties.ALL``: every point as near as the K-th neighbour is a neighbour. ``Ties.ORDER``: exactly K
  points are; of equally near points the first in the list.
* Of equally dense points the first in the list is the denser. delta of the densest point is the
  largest distance to it. Of equally near denser points the densest is followed.
* The paper picks centres from the graph by eye: ``centres``. Else the points before the largest gap
  in rho * delta are taken, or ``centre_count`` points.
* Alg. 2 prints the condition of joining with the wrong index: r joins if d(q, r) is at most the
  mean distance of r's neighbours. The neighbours of a centre join its cluster unless they belong to
  another; a centre always belongs to its own.
* The paper leaves outliers out (``Outliers.LEAVE``); ours follow the nearest denser point.

Cost: O(n^2 log n) here, on any distance. ``prefix_tree`` clusters URLs by their dissimilarity in
near-linear time, with equal results.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Protocol

_FLOAT_ENDS = 10**300  # above it a whole number has no float, and the density is 0


class Ties(StrEnum):
    """The treatment of points as near as the K-th neighbour."""

    ALL = "all"
    ORDER = "order"


class Outliers(StrEnum):
    """The treatment of points that no search reaches."""

    LEAVE = "leave"
    FOLLOW = "follow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The paper names no values: K is tuned by hand per forum, centres are picked by eye.

    Attributes:
        neighbours: K (Alg. 1).
        ties: Which of equally near points are neighbours.
        outliers: Whether outliers stay out, as in the paper, or follow a denser point.
        centres: Numbers of the centres, picked from the graph; None chooses by rho * delta.
        centre_count: Number of centres to choose; None takes those before the largest gap.
    """

    neighbours: int = 5
    ties: Ties = Ties.ALL
    outliers: Outliers = Outliers.FOLLOW
    centres: tuple[int, ...] | None = None
    centre_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionGraph:
    """The decision graph; each list has one entry a point.

    Attributes:
        rank: Rank by density: rho_i > rho_j if and only if rank_i > rank_j.
        log_density: ln rho.
        distance: delta.
        denser: Number of the nearest denser point; of the densest point its own number.
    """

    rank: Sequence[int]
    log_density: Sequence[float]
    distance: Sequence[int]
    denser: Sequence[int]


class Space(Protocol):
    """Points with a distance, as the algorithm needs them."""

    def __len__(self) -> int:
        """Returns the number of points."""

    def neighbours(self, point: int, params: Params) -> list[tuple[int, int]]:
        """Returns (neighbour, distance) of the K nearest points, by distance, then number."""

    def decision_graph(self, params: Params) -> DecisionGraph:
        """Returns rho and delta of each point (eq. 5 and 6)."""

    def search(self, centres: Sequence[int], params: Params) -> list[int]:
        """Returns for each point the index of the centre that reaches it, else -1 (Alg. 2)."""


class PairwiseSpace:
    """Points with any integer distance, each pair compared."""

    def __init__(self, size: int, distance: Callable[[int, int], int]) -> None:
        self._rows = [[distance(i, j) for j in range(size)] for i in range(size)]

    def __len__(self) -> int:
        """Returns the number of points."""
        return len(self._rows)

    def neighbours(self, point: int, params: Params) -> list[tuple[int, int]]:
        """Returns (neighbour, distance) of the K nearest points, by distance, then number."""
        row = self._rows[point]
        order = sorted((far, j) for j, far in enumerate(row) if j != point)
        found = order[: params.neighbours]
        if params.ties is Ties.ALL and found:
            found = [pair for pair in order if pair[0] <= found[-1][0]]
        return [(j, far) for far, j in found]

    def decision_graph(self, params: Params) -> DecisionGraph:
        """Returns rho and delta of each point (eq. 5 and 6)."""
        counts = []
        for i in range(len(self)):
            by_distance: dict[int, int] = {}
            for _, far in self.neighbours(i, params):
                by_distance[far] = by_distance.get(far, 0) + 1
            counts.append(tuple(by_distance.items()))
        rank, log_density = densities(counts, len(self))
        distance, denser = [], []
        for i, row in enumerate(self._rows):
            above = [j for j in range(len(row)) if (rank[j], -j) > (rank[i], -i)]
            best = min(above, key=lambda j: (row[j], -rank[j], j), default=i)
            distance.append(row[best] if above else max(row))
            denser.append(best)
        return DecisionGraph(rank=rank, log_density=log_density, distance=distance, denser=denser)

    def search(self, centres: Sequence[int], params: Params) -> list[int]:
        """Runs algorithm 2 as printed."""
        return search_breadth_first(self, centres, params)


def densities(
    counts: Iterable[tuple[tuple[int, int], ...]], size: int
) -> tuple[list[int], list[float]]:
    """Returns the rank and ln rho of each point (eq. 5).

    Args:
        counts: For each point (distance, number of neighbours), growing: ``((0, 3), (6, 2))``.
        size: Number of points, which bounds the neighbours of a point.
    """
    most = math.log(max(size, 2))
    known: dict[tuple[tuple[int, int], ...], tuple[tuple[tuple[float, float], ...], float]] = {}
    keys = []
    for one in counts:
        if one not in known:
            known[one] = _density(one, most)
        keys.append(known[one])
    order = {key: rank for rank, key in enumerate(sorted({key for key, _ in keys}))}
    return [order[key] for key, _ in keys], [log for _, log in keys]


def _density(
    counts: tuple[tuple[int, int], ...], most: float
) -> tuple[tuple[tuple[float, float], ...], float]:
    """A key that sorts exactly like rho, and ln rho."""
    key: list[tuple[float, float]] = []
    start = last = None
    for distance, count in counts:
        # Behind a wide gap no number of neighbours outweighs one before it.
        if start is None or last is None or distance - last > most:
            start = distance
            key.append((-start, 0.0))
        key[-1] = (-start, key[-1][1] + count * math.exp(start - distance))
        last = distance
    if not key:
        return (), -math.inf
    nearest = -key[0][0]
    log_density = -math.inf if nearest > _FLOAT_ENDS else math.log(key[0][1]) - nearest
    return tuple(key), log_density


def choose_centres(graph: DecisionGraph, params: Params) -> tuple[int, ...]:
    """Returns the given centres, else the points of greatest rho * delta."""
    if params.centres is not None:
        return params.centres
    gamma = [
        log + math.log(distance) if distance else -math.inf
        for log, distance in zip(graph.log_density, graph.distance, strict=True)
    ]
    order = sorted(range(len(gamma)), key=lambda i: (-gamma[i], -graph.rank[i], i))
    if params.centre_count is not None:
        return tuple(order[: params.centre_count])
    if len(order) < 2 or gamma[order[0]] == -math.inf:
        return tuple(order[:1])
    # Divided by the greatest value, so that exp does not underflow for the first points.
    scaled = [math.exp(gamma[i] - gamma[order[0]]) for i in order]
    gaps = [before - behind for before, behind in pairwise(scaled)]
    return tuple(order[: gaps.index(max(gaps)) + 1])


def search_breadth_first(space: Space, centres: Sequence[int], params: Params) -> list[int]:
    """Returns for each point the index of its centre in ``centres``, -1 for none (Alg. 2)."""
    label = [-1] * len(space)
    for number, centre in enumerate(centres):
        label[centre] = number
    for number, centre in enumerate(centres):
        queue: deque[int] = deque()
        for point, _ in space.neighbours(centre, params):
            if label[point] < 0:
                label[point] = number
                queue.append(point)
        while queue:
            for point, distance in space.neighbours(queue.popleft(), params):
                if label[point] >= 0:
                    continue
                own = [far for _, far in space.neighbours(point, params)]
                if distance * len(own) <= sum(own):
                    label[point] = number
                    queue.append(point)
    return label


def cluster(space: Space, params: Params | None = None) -> list[int]:
    """Returns the cluster of each point, -1 for an outlier: ``[0, 0, 1, -1]`` (Alg. 1).

    Args:
        space: The points.
        params: None takes K = 5 and chooses the centres.
    """
    params = params or Params()
    graph = space.decision_graph(params)
    label = space.search(choose_centres(graph, params), params)
    if params.outliers is Outliers.LEAVE:
        return label
    for point in sorted(range(len(label)), key=lambda i: (-graph.rank[i], i)):
        if label[point] < 0:
            label[point] = label[graph.denser[point]]
    return label
