"""KNN-DPC: equations 5 and 6, Algorithms 1 and 2, and their near-linear form on a prefix tree."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.papers.knn_dpc import (
    Outliers,
    PairwiseSpace,
    Params,
    Ties,
    choose_centres,
    cluster,
)
from crawlclean.cleaning.papers.prefix_tree import PrefixTree
from crawlclean.cleaning.papers.usc import dissimilarity, first_difference, number_blocks

LINE = (0, 1, 2, 3, 20, 21, 22, 50)

rows_of = st.lists(
    st.lists(st.sampled_from(["", "a", "b", "1"]), max_size=5).map(tuple), min_size=1, max_size=14
)
params_of = st.builds(
    Params,
    neighbours=st.integers(1, 6),
    ties=st.sampled_from(Ties),
    outliers=st.sampled_from(Outliers),
    centre_count=st.sampled_from([None, 1, 2, 3]),
)


def on_a_line(*places: int) -> PairwiseSpace:
    return PairwiseSpace(len(places), lambda i, j: abs(places[i] - places[j]))


def test_the_density_is_the_sum_over_the_nearest() -> None:
    """Equation 5."""
    graph = on_a_line(*LINE).decision_graph(Params(neighbours=2, ties=Ties.ORDER))
    assert graph.log_density[1] == pytest.approx(math.log(2 * math.exp(-1)))
    assert graph.log_density[0] == pytest.approx(math.log(math.exp(-1) + math.exp(-2)))
    assert graph.log_density[7] == pytest.approx(math.log(math.exp(-28) + math.exp(-29)))
    assert graph.rank[1] == graph.rank[2] == graph.rank[5] > graph.rank[0] > graph.rank[7]


def test_the_distance_to_a_denser_point() -> None:
    """Equation 6: the densest has its largest distance, ties break by order."""
    graph = on_a_line(*LINE).decision_graph(Params(neighbours=2, ties=Ties.ORDER))
    assert list(graph.distance) == [1, 49, 1, 1, 1, 19, 1, 28]
    assert list(graph.denser) == [1, 1, 1, 2, 5, 2, 5, 6]


def test_equally_near_points_are_all_neighbours_or_the_first_ones() -> None:
    space = on_a_line(0, 1, -1, 5)
    everyone = space.neighbours(0, Params(neighbours=1, ties=Ties.ALL))
    first = space.neighbours(0, Params(neighbours=1, ties=Ties.ORDER))
    assert everyone == [(1, 1), (2, 1)]
    assert first == [(1, 1)]


def test_clusters_grow_from_their_centres_and_outliers_stay_out_or_follow() -> None:
    """Algorithms 1 and 2."""
    params = Params(neighbours=2, ties=Ties.ORDER, centre_count=2, outliers=Outliers.LEAVE)
    space = on_a_line(*LINE)
    assert set(choose_centres(space.decision_graph(params), params)) == {1, 5}
    assert cluster(space, params) == [0, 0, 0, 0, 1, 1, 1, -1]
    follow = Params(neighbours=2, ties=Ties.ORDER, centre_count=2)
    assert cluster(space, follow) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_centres_as_picked_from_the_graph() -> None:
    params = Params(neighbours=1, centres=(5,), outliers=Outliers.LEAVE)
    assert cluster(on_a_line(*LINE), params) == [-1, -1, -1, -1, 0, 0, 0, -1]


def test_automatic_centres_stand_before_the_largest_gap() -> None:
    space = on_a_line(*LINE)
    params = Params(neighbours=2, ties=Ties.ORDER)
    # gamma = rho * delta: 36.1, 14.0, then below 1.
    assert choose_centres(space.decision_graph(params), params) == (1,)


def test_densities_that_underflow_are_still_ordered() -> None:
    """exp(-746) is 0 in floating point."""
    space = PairwiseSpace(3, lambda i, j: 0 if i == j else 1000 * (i + j))
    graph = space.decision_graph(Params(neighbours=1))
    assert list(graph.rank) == [1, 1, 0]


def test_nothing_and_one_point() -> None:
    assert cluster(PrefixTree([])) == cluster(PairwiseSpace(0, lambda *_: 0)) == []
    assert cluster(PrefixTree([("a",)])) == cluster(PairwiseSpace(1, lambda *_: 0)) == [0]


@given(rows_of, params_of)
def test_the_prefix_tree_is_equal_to_all_pairs(rows: list[tuple[str, ...]], params: Params) -> None:
    vectors = number_blocks(rows)
    length = len(vectors[0])

    def distance(i: int, j: int) -> int:
        return dissimilarity(length, first_difference(vectors[i], vectors[j]))

    pairs, tree = PairwiseSpace(len(rows), distance), PrefixTree(rows)
    one, other = pairs.decision_graph(params), tree.decision_graph(params)
    assert list(one.rank) == list(other.rank)
    assert list(one.log_density) == list(other.log_density)
    assert list(one.distance) == list(other.distance)
    assert list(one.denser) == list(other.denser)
    for point in range(len(rows)):
        assert pairs.neighbours(point, params) == tree.neighbours(point, params)
    assert cluster(pairs, params) == cluster(tree, params)
