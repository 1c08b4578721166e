"""A topic's harvest counts stories, with their copies beside."""

from __future__ import annotations

from hypothesis import given, strategies as st

from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.answers.topics import TopicDay
from crawlclean.workers.operations.topics.reading import DAY_US
from crawlclean.workers.operations.topics.reports import (
    HOUR_US,
    MOST_STEPS,
    STEP_PAGES,
    PageRow,
    harvest_of,
)

STORIES = {f"p{n}": (f"s{n % 5}", f"host{n % 3}") for n in range(40)}

PAGES = st.lists(
    st.tuples(
        st.integers(0, 3 * DAY_US), st.integers(0, 79), st.sampled_from("ab"), st.integers(0, 1)
    ),
    unique_by=lambda row: row[1],
).map(lambda rows: [(at, f"p{n}", crawl, relevant, at) for at, n, crawl, relevant in sorted(rows)])


def test_the_page_that_was_fetched_first_counts() -> None:
    pages: list[PageRow] = [
        (1, "p0", "a", 1, 1),
        (2, "alone", "a", 1, 2),
        (3, "p5", "other", 1, 3),  # tells the story of p0, and another crawl has fetched it
        (DAY_US, "p1", "a", 0, DAY_US),
        (DAY_US + 2, "p6", "a", 1, 4),  # p1 tells the same, but is not relevant
    ]
    found = harvest_of(pages, "a", STORIES)
    assert (found.stories, found.copies, found.own_pages) == (3, 1, 4)
    assert found.last_relevant == from_microseconds(DAY_US + 2)
    assert found.told == {"s0": 2}
    assert found.days == (  # of publication
        TopicDay(day="1970-01-01", pages=4, stories=3, copies=1),
        TopicDay(day="1970-01-02", pages=1, stories=0, copies=0),
    )
    assert found.copies_of_host == {"host2": 1}
    assert found.last_hour == 2


@given(PAGES)
def test_all_sums_agree(pages: list[PageRow]) -> None:
    found = harvest_of(pages, "a", STORIES)
    relevant = [page for _, page, _, is_relevant, _ in pages if is_relevant]
    told = {STORIES.get(page, (page, ""))[0] for page in relevant}
    assert (found.stories, found.copies) == (len(told), len(relevant) - len(told))
    assert sum(each.pages for each in found.days) == len(pages)
    assert sum(each.pages for each in found.steps) == found.own_pages
    assert sum(found.copies_of_host.values()) == found.copies
    own = [at for at, _, crawl, *_ in pages if crawl == "a"]
    assert found.last_hour == sum(at > own[-1] - HOUR_US for at in own)


def test_a_large_topic_has_a_bounded_curve() -> None:
    pages = ((n, str(n), "a", int(n % 3 == 0), n) for n in range(STEP_PAGES * MOST_STEPS * 2 + 50))
    found = harvest_of(pages, "a", {})
    assert len(found.steps) <= MOST_STEPS
    assert {each.pages % STEP_PAGES for each in found.steps[:-1]} == {0}
    assert sum(each.stories for each in found.steps) == found.stories
