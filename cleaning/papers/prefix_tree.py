"""KNN-DPC (``knn_dpc``) on the dissimilarity of URLs in near-linear time, by a prefix tree.

D of equation 4 (``usc``) depends only on the length of two vectors' common prefix and falls with
the length, so D is an ultrametric: D(a, c) <= max(D(a, b), D(b, c)). In the prefix tree of all
vectors the distance of two points is that of the deepest node above both, hence

* the K nearest points lie under the lowest node above the point with K others (the point's *ball*),
  and the density follows from the sizes of the nodes on the way to that node;
* the nearest denser point is the densest point of the lowest node with a denser point;
* a breadth first search never leaves the ball of its centre, because the ball of each point in the
  ball lies inside. With ``Ties.ALL`` the search reaches the whole ball.

No tree of objects is built. Rows are sorted; nodes are intervals of rows with a common prefix,
found by one pass with a stack, as in a suffix array.

Cost: O(n log n) for sorting, O(n N) for the rest; arrays of about 60 bytes a point beside the rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import zip_longest

from crawlclean.cleaning.papers.knn_dpc import (
    DecisionGraph,
    Params,
    Ties,
    densities,
    search_breadth_first,
)


def _key(row: Sequence[str]) -> str:
    """A row as one text that sorts like its blocks: ``"thread\\0007"``; no URL contains NUL."""
    return "\0".join(row).rstrip("\0")


def _common_prefixes(keys: Sequence[str], order: Iterable[int], length: int) -> Iterator[int]:
    """Yields the number of blocks in common with the key before; ``length`` for equal keys."""
    before: list[str] = []
    is_first = True
    for point in order:
        blocks = keys[point].split("\0")
        common = 0 if is_first else length
        for i, (a, b) in enumerate(zip_longest(before, blocks, fillvalue="")):
            if a != b:
                common = i
                break
        yield common
        before, is_first = blocks, False


class PrefixTree:
    """URLs by their blocks, as points with the distance D = floor(N! / N_s!).

    Args:
        rows: The blocks of each URL, ``["thread", "7"]``; missing blocks at the end are empty.
        length: N, at least that of the longest row.
    """

    def __init__(self, rows: Iterable[Sequence[str]], length: int = 0) -> None:
        length = max(length, 1)
        keys = []
        for row in rows:
            length = max(length, len(row))
            keys.append(_key(row))
        # Index: blocks of the common prefix; value: D. Equal rows have D = 0.
        self._distances = [1, 0]
        while len(self._distances) <= length:
            self._distances.insert(0, self._distances[0] * (length + 2 - len(self._distances)))
        self._order = array("i", sorted(range(len(keys)), key=keys.__getitem__))
        self._depths = array("H")
        self._firsts, self._ends, self._parents = array("i"), array("i"), array("i")
        self._place = array("i", bytes(4 * len(keys)))
        for place, point in enumerate(self._order):
            self._place[point] = place
        prefixes = array("H", _common_prefixes(keys, self._order, length))
        self._leaf = self._add_nodes(prefixes)

    def __len__(self) -> int:
        """Returns the number of points."""
        return len(self._order)

    def neighbours(self, point: int, params: Params) -> list[tuple[int, int]]:
        """Returns (neighbour, distance) of the K nearest points, by distance, then number."""
        found: list[tuple[int, int]] = []
        place = self._place[point]
        first, end = place, place + 1
        for node, distance, _ in self._levels(place, params):
            rest = [*self._order[self._firsts[node] : first], *self._order[end : self._ends[node]]]
            room = params.neighbours - len(found)
            rest = sorted(rest) if params.ties is Ties.ALL else nsmallest(room, rest)
            found += [(other, distance) for other in rest]
            first, end = self._firsts[node], self._ends[node]
        return found

    def decision_graph(self, params: Params) -> DecisionGraph:
        """Returns rho and delta of each point (eq. 5 and 6)."""
        size, leaf, order = len(self), self._leaf, self._order
        # All points directly under one node have equal density.
        counts: dict[int, tuple[tuple[int, int], ...]] = {}
        for place in range(size):
            if leaf[place] not in counts:
                counts[leaf[place]] = tuple(
                    (distance, count) for _, distance, count in self._levels(place, params)
                )
        by_node = dict(
            zip(counts, zip(*densities(counts.values(), size), strict=True), strict=True)
        )
        del counts
        rank, log_density = array("i", bytes(4 * size)), array("d", bytes(8 * size))
        for place, point in enumerate(order):
            rank[point], log_density[point] = by_node[leaf[place]]
        best = self._densest(rank)
        distance = [0] * size
        denser = array("i", range(size))
        depths, parents, distances = self._depths, self._parents, self._distances
        for place, point in enumerate(order):
            node = top = leaf[place]
            # Only the densest point under a node climbs above the node.
            while node >= 0 and best[node] == point:
                top, node = node, parents[node]
            if node >= 0:
                distance[point], denser[point] = distances[depths[node]], best[node]
            else:
                distance[point] = distances[depths[top]] if top >= 0 else 0
        return DecisionGraph(rank=rank, log_density=log_density, distance=distance, denser=denser)

    def search(self, centres: Sequence[int], params: Params) -> list[int]:
        """Runs algorithm 2; with ``Ties.ALL`` a centre reaches exactly its ball."""
        if params.ties is Ties.ORDER:
            return search_breadth_first(self, centres, params)
        label = [-1] * len(self)
        for number, centre in enumerate(centres):
            label[centre] = number
        for number, centre in enumerate(centres):
            for ball, _, _ in list(self._levels(self._place[centre], params))[-1:]:
                for point in self._order[self._firsts[ball] : self._ends[ball]]:
                    if label[point] < 0:
                        label[point] = number
        return label

    def _levels(self, place: int, params: Params) -> Iterator[tuple[int, int, int]]:
        """Yields (node, distance, number of neighbours) from a point upwards up to K neighbours."""
        node, inside, wanted = self._leaf[place], 1, params.neighbours
        while node >= 0 and wanted > 0:
            size = self._ends[node] - self._firsts[node]
            count = size - inside if params.ties is Ties.ALL else min(size - inside, wanted)
            yield node, self._distances[self._depths[node]], count
            wanted -= count
            inside, node = size, self._parents[node]

    def _add_nodes(self, prefixes: Sequence[int]) -> array[int]:
        """Builds the nodes; returns the lowest node above each row in sorted order, -1 for none.

        Args:
            prefixes: Blocks in common with the row before in sorted order; 0 for the first row.
        """
        depths, parents = self._depths, self._parents
        leaf = array("i", [-1]) * len(prefixes)
        stack: list[int] = []
        for place in range(1, len(prefixes) + 1):
            depth = prefixes[place] if place < len(prefixes) else -1
            start, orphan = place - 1, -1
            if stack and depths[stack[-1]] > depth:
                leaf[place - 1] = stack[-1]
            while stack and depths[stack[-1]] > depth:
                orphan = stack.pop()
                self._ends[orphan], start = place, self._firsts[orphan]
                if stack:
                    parents[orphan] = stack[-1]
            if depth < 0:
                break
            if not stack or depths[stack[-1]] < depth:
                stack.append(len(depths))
                depths.append(depth)
                self._firsts.append(start)
                self._ends.append(0)
                parents.append(-1)
            if orphan >= 0:
                parents[orphan] = stack[-1]
            elif leaf[place - 1] < 0:
                leaf[place - 1] = stack[-1]
        return leaf

    def _densest(self, rank: Sequence[int]) -> array[int]:
        """The densest point under each node; of equally dense points the first in the list."""
        best = array("i", [-1]) * len(self._depths)

        def offer(node: int, point: int) -> None:
            held = best[node]
            if held < 0 or (rank[point], -point) > (rank[held], -held):
                best[node] = point

        for place, point in enumerate(self._order):
            if self._leaf[place] >= 0:
                offer(self._leaf[place], point)
        for node in sorted(range(len(best)), key=self._depths.__getitem__, reverse=True):
            if self._parents[node] >= 0:
                offer(self._parents[node], best[node])
        return best
