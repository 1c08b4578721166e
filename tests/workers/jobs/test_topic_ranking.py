"""Links that wait get the rank that they would have if they were found now."""

from __future__ import annotations

from hypothesis import given, strategies as st

from crawlclean.cleaning.topics.learner import LinkExample, LinkModel, rank_of
from crawlclean.storage.queue.entries import pack_features
from crawlclean.workers.jobs.topic_learning import score_of

IDS = st.lists(st.integers(0, 4095), min_size=1, max_size=16, unique=True).map(tuple)
MODEL = LinkModel().learn(
    LinkExample(page_id=f"{n:032x}", ids=(0, 300 + n, 700 + n % 7), label=n % 3 / 2)
    for n in range(50)
)


@given(st.lists(st.tuples(st.binary(min_size=16, max_size=16), IDS), max_size=8))
def test_a_waiting_link_has_the_rank_of_a_new_one(
    links: list[tuple[bytes, tuple[int, ...]]],
) -> None:
    packed = [(page, pack_features(ids)) for page, ids in (*links, *links)]
    ranks = [rank_of(*MODEL.score(ids), page.hex()) for page, ids in links]
    assert list(score_of(MODEL)(packed)) == [*ranks, *ranks]
