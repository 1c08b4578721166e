from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.records import PageKind, UrlKind
from crawlclean.cleaning.revisits import (
    BOUNDS,
    DAY,
    HOUR,
    ClassSums,
    Found,
    VisitKind,
    VisitState,
    after_visit,
    is_old_article,
    next_interval_s,
    unpack_state,
    visit_kind,
)

KINDS = st.sampled_from(list(VisitKind))
GAPS = st.floats(1, 500 * DAY)
VISITS = st.lists(st.tuples(st.sampled_from(list(Found)), GAPS), max_size=40)
STATES = st.builds(VisitState, KINDS, changes=st.floats(0, 200), time_s=st.floats(0, 3_000 * DAY))
SUMS = st.builds(ClassSums, changes=st.floats(0, 1e6), time_s=st.floats(0, 1e6 * DAY))


def run(kind: VisitKind, visits: list[tuple[Found, float]]) -> tuple[VisitState, ClassSums]:
    state, sums = VisitState(kind), ClassSums()
    for found, gap in visits:
        state, more = after_visit(state, sums, found, gap)
        sums = sums.plus(more)
    return state, sums


@given(KINDS, VISITS)
def test_the_interval_stays_within_the_bounds_of_the_kind(
    kind: VisitKind, visits: list[tuple[Found, float]]
) -> None:
    state, sums = run(kind, visits)
    wait = next_interval_s(state, sums)
    if state.gone >= 3:
        assert wait is None
    elif state.gone:
        assert wait in (1 * DAY, 30 * DAY)
    else:
        assert wait is not None
        most = max(BOUNDS[kind].most_s, 30 * DAY if state.failures else 0)
        assert BOUNDS[kind].least_s <= wait <= most


@given(STATES, SUMS, GAPS, GAPS)
def test_a_change_brings_the_next_visit_nearer_than_none_and_a_long_quiet_gap_puts_it_off(
    state: VisitState, sums: ClassSums, gap: float, more: float
) -> None:
    def wait(found: Found, gap_s: float) -> float:
        after, added = after_visit(state, sums, found, gap_s)
        return next_interval_s(after, sums.plus(added)) or 0

    assert wait(Found.CHANGED, gap) <= wait(Found.UNCHANGED, gap) + 1e-6
    least, most = sorted((gap, more))
    assert wait(Found.UNCHANGED, least) <= wait(Found.UNCHANGED, most) + 1e-6


@given(STATES, SUMS, SUMS)
def test_a_busier_class_is_visited_sooner(
    state: VisitState, sums: ClassSums, more: ClassSums
) -> None:
    busier = sums._replace(changes=sums.changes + more.changes)
    assert (next_interval_s(state, busier) or 0) <= (next_interval_s(state, sums) or 0)


@given(
    STATES,
    st.integers(0, 65_535),
    st.integers(0, 7),
    st.integers(0, 255),
    st.integers(0, 2**32 - 1),
)
def test_a_packed_state_comes_back(
    state: VisitState, visits: int, row: int, gone: int, content: int
) -> None:
    full = replace(state, visits=visits, in_a_row=row, gone=gone, content=content)
    back = unpack_state(full.packed())
    assert replace(back, changes=0, time_s=0) == replace(full, changes=0, time_s=0)
    assert back.changes == pytest.approx(full.changes)
    assert back.time_s == pytest.approx(full.time_s)
    assert len(full.packed()) == 24


def test_a_packed_state_of_others_is_damage() -> None:
    with pytest.raises(StoreDamaged):
        unpack_state(b"x")


def test_a_page_without_visits_waits_for_the_first_interval_of_its_kind() -> None:
    for kind, bounds in BOUNDS.items():
        assert next_interval_s(VisitState(kind), ClassSums()) == pytest.approx(bounds.first_s)
    old = next_interval_s(VisitState(VisitKind.ARTICLE), ClassSums(), is_old=True)
    assert old == pytest.approx(28 * DAY)


def test_intervals_follow_the_page() -> None:
    every_hour = [(Found.CHANGED, 2.0 * HOUR)] * 20
    assert (next_interval_s(*run(VisitKind.LIST, every_hour)) or 0) < 3 * HOUR
    never = [(Found.UNCHANGED, 6.0 * HOUR)] * 40
    assert (next_interval_s(*run(VisitKind.LIST, never)) or 0) > 2 * DAY
    quiet_now = [*every_hour, *[(Found.UNCHANGED, 6.0 * HOUR)] * 60]
    assert (next_interval_s(*run(VisitKind.LIST, quiet_now)) or 0) > 8 * HOUR


def test_a_page_of_a_known_class_begins_with_the_interval_of_the_class() -> None:
    _, sums = run(VisitKind.LIST, [(Found.CHANGED, 12.0 * HOUR)] * 5)
    _, calm = run(VisitKind.LIST, [(Found.UNCHANGED, 24.0 * HOUR)] * 20)
    fresh = VisitState(VisitKind.LIST)
    assert (next_interval_s(fresh, sums) or 0) < (next_interval_s(fresh, calm) or 0) / 10


def test_failures_put_visits_off_and_end_with_an_answer() -> None:
    state, sums = VisitState(VisitKind.LIST), ClassSums()
    waits = []
    for _ in range(12):
        state, _ = after_visit(state, sums, Found.FAILED, HOUR)
        waits.append(next_interval_s(state, sums) or 0)
    assert waits == sorted(waits)
    assert waits[-1] == 30 * DAY
    state, _ = after_visit(state, sums, Found.UNCHANGED, HOUR)
    assert (next_interval_s(state, sums) or 0) < DAY


def test_only_articles_grow_old() -> None:
    article = VisitState(VisitKind.ARTICLE, born_day=100)
    assert not is_old_article(article, 129.0 * DAY)
    assert is_old_article(article, 131.0 * DAY)
    assert not is_old_article(replace(article, kind=VisitKind.THREAD), 900.0 * DAY)
    assert not is_old_article(replace(article, born_day=0), 900.0 * DAY)


def test_kinds_of_urls() -> None:
    assert visit_kind(PageKind.ARTICLE, UrlKind.INDEX) is VisitKind.ARTICLE
    assert visit_kind(PageKind.INDEX, UrlKind.OTHER) is VisitKind.BOARD
    assert visit_kind(PageKind.INDEX, UrlKind.OTHER, is_seed=True) is VisitKind.LIST
    assert visit_kind(PageKind.THREAD, UrlKind.OTHER) is VisitKind.THREAD
    assert visit_kind(None, UrlKind.INDEX) is VisitKind.BOARD
    assert visit_kind(None, UrlKind.FEED) is VisitKind.LIST
    assert visit_kind(None, UrlKind.OTHER, is_sitemap=True) is VisitKind.SITEMAP
