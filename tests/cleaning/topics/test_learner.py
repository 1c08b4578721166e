from __future__ import annotations

import math
from hashlib import blake2b

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.topics.learner import (
    FIRST_RANK,
    LAST_RANK,
    LinkExample,
    LinkModel,
    rank_of,
)
from crawlclean.cleaning.topics.links import FIXED, MAX_IDS, MAX_WORDS


def page_id(number: int) -> str:
    return blake2b(str(number).encode(), digest_size=16).hexdigest()


examples = st.builds(
    LinkExample,
    page_id=st.integers(0, 50).map(page_id),
    ids=st.lists(st.integers(0, MAX_IDS - 1), max_size=16).map(tuple),
    label=st.floats(allow_nan=True, allow_infinity=True),
    weight=st.floats(allow_nan=True, allow_infinity=True),
    words=st.lists(st.text(max_size=3), max_size=3).map(tuple),
    text=st.text(max_size=9),
    names=st.just(("host:a.test",)),
)


@given(
    st.lists(examples, max_size=20).flatmap(
        lambda each: st.tuples(st.just(each), st.permutations(each))
    )
)
def test_a_batch_teaches_the_same_in_every_order(
    batches: tuple[list[LinkExample], list[LinkExample]],
) -> None:
    first, second = (LinkModel().learn(batch) for batch in batches)
    assert first.to_bytes() == second.to_bytes()
    assert all(math.isfinite(mean) and abs(mean) <= 6 for mean in first.means)
    assert LinkModel.from_bytes(first.to_bytes()) == first


def batch(label: float) -> list[LinkExample]:
    return [LinkExample(page_id=page_id(n), ids=(0, 300, 600), label=label) for n in range(20)]


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_that_are_all_the_same_keep_weights_bounded(label: float) -> None:
    model = LinkModel()
    for _ in range(200):
        model = model.learn(batch(label))
    z, sd = model.score((0, 300, 600))
    assert (z > 2) == (label == 1.0)
    assert (z < -4) == (label == 0.0)
    assert max(map(abs, model.means)) <= 6
    assert 0 < sd < 1


def test_labels_that_are_no_numbers_teach_nothing() -> None:
    assert LinkModel().learn(batch(math.nan)) == LinkModel()


def test_a_feature_of_relevant_pages_rises_above_one_of_others() -> None:
    model = LinkModel()
    for turn in range(10):
        rows = [
            LinkExample(
                page_id=page_id(100 * turn + number),
                ids=(0, 300 + number % 2),
                label=0.9 if number % 2 else 0.1,
            )
            for number in range(20)
        ]
        model = model.learn(rows)
    assert model.score((0, 301))[0] > model.score((0, 300))[0] + 2


def test_the_vocabulary_grows_by_the_titles_words_and_is_bounded() -> None:
    model = LinkModel().with_words(["地震"])
    assert model.ids([("bias", "a:地震", "a:救援")]) == (0, 2560)
    rows = [
        LinkExample(page_id=page_id(1), ids=(0,), label=1.0, words=("救援", "地震", "余震")),
        LinkExample(page_id=page_id(2), ids=(0,), label=1.0, words=("救援",)),
    ]
    assert model.learn(rows).words == ("地震", "救援", "余震")
    full = model.with_words(map(str, range(5000)))
    assert len(full.words) == MAX_WORDS
    assert max(max(full.ids([(f"a:{word}",)])) for word in full.words) < MAX_IDS


def test_weights_are_named_for_people() -> None:
    model = LinkModel()
    host = model.ids([("host:a.test",)])
    rows = [
        LinkExample(page_id=page_id(n), ids=(0, *host), label=1.0, names=("host:a.test",))
        for n in range(5)
    ]
    found = {name: (weight, sd) for name, weight, sd in model.learn(rows).weights()}
    assert set(found) == {"bias", "host:a.test"}
    weight, sd = found["host:a.test"]
    assert weight > 0
    assert 0 < sd < 1


def test_bytes_that_are_no_model_are_refused() -> None:
    for data in (b"", b"\x00", b"\x95\x01\x02\x90\x80\x81\xcd\xff\xff\x92\x01\x01"):
        with pytest.raises(ValueError, match=r".*"):
            LinkModel.from_bytes(data)


@given(st.floats(-1e6, 1e6), st.floats(0, 10), st.integers(0, 1000).map(page_id))
def test_a_rank_is_inside_the_topics_range(z: float, sd: float, pid: str) -> None:
    assert FIRST_RANK <= rank_of(z, sd, pid) <= LAST_RANK
    assert rank_of(z, sd, pid) == rank_of(z, sd, pid.encode())


def test_a_more_promising_link_comes_first() -> None:
    ranks = [rank_of(z, 0.0, page_id(1)) for z in (2.0, 0.0, -3.0)]
    assert ranks == [450, 550, 700]


def test_fixed_names_have_room() -> None:
    assert len(FIXED) == len(set(FIXED)) <= 256


def host_batch(turn: int, host: int, label: float) -> list[LinkExample]:
    return [
        LinkExample(page_id=page_id(100 * turn + n), ids=(0, host), label=label) for n in range(20)
    ]


def test_a_host_that_disappoints_falls_below_one_that_no_one_knows() -> None:
    model = LinkModel()
    for turn in range(5):
        model = model.learn(host_batch(turn, 256, 0.0))
    assert model.score((0, 256))[0] < model.score((0, 257))[0] - 1
    rich = LinkModel().learn(host_batch(0, 256, 0.9))
    assert rich.score((0, 256))[0] > rich.score((0, 257))[0] + 0.5
    assert rich.score((0, 256))[0] == pytest.approx(
        sum(weight for _, weight, _ in rich.explain((0, 256)))
    )


def test_titles_teach_words_before_a_link_with_them_was_followed() -> None:
    model = LinkModel()
    for turn in range(3):
        rows = [
            LinkExample(
                page_id=page_id(10 * turn + n),
                ids=(0,),
                label=0.9 * (n % 2),
                words=("余震",) if n % 2 else ("菜谱",),
            )
            for n in range(10)
        ]
        model = model.learn(rows)
    known, other = model.ids([("bias", "a:余震")]), model.ids([("bias", "a:菜谱")])
    assert model.score(known)[0] > model.score(other)[0] + 1


def test_texts_teach_words_that_no_title_of_a_relevant_page_has() -> None:
    """Nmap stands in the text of every relevant page, 今天 in all, 菜谱 in the others."""
    model = LinkModel().with_words(("nmap", "今天", "菜谱", "从未"))
    for turn in range(3):
        rows = [
            LinkExample(
                page_id=page_id(10 * turn + n),
                ids=(0,),
                label=0.9 * (n % 2),
                text=f"今天说说 {'NMAP 扫描' if n % 2 else '菜谱大全'}，与 nmaps 无关",
            )
            for n in range(10)
        ]
        model = model.learn(rows)
    of_topic, usual, other, unseen = (
        model.score(model.ids([("bias", f"a:{word}")]))[0]
        for word in ("nmap", "今天", "菜谱", "从未")
    )
    assert of_topic > usual + 0.3
    assert usual == pytest.approx(unseen, abs=0.1)
    assert usual > other + 0.5
    again = LinkModel.from_bytes(model.to_bytes())
    assert again.score(again.ids([("bias", "a:nmap")]))[0] == of_topic


def test_an_edited_topic_forgets_records_and_half_of_what_is_sure() -> None:
    model = LinkModel().learn(host_batch(0, 256, 0.0)).learn(host_batch(1, 256, 0.0))
    edited = model.loosened()
    assert edited.means == model.means
    assert not edited.records
    assert edited.version == model.version + 1
    assert edited.score((0, 256))[1] >= model.score((0, 256))[1]


@pytest.mark.parametrize("flipped", [0.1, 0.2])
def test_wrong_labels_cost_the_order_little(flipped: float) -> None:
    """Feature 300 + k has the label k / 9; some pages have the opposite."""
    model = LinkModel()
    for turn in range(10):
        rows = []
        for n in range(40):
            pid = page_id(100 * turn + n)
            label = (n % 10) / 9
            if int(pid[:4], 16) < flipped * 65536:
                label = 1 - label
            rows.append(LinkExample(page_id=pid, ids=(0, 600 + n % 10), label=label))
        model = model.learn(rows)
    scores = [model.score((0, 600 + k))[0] for k in range(10)]
    assert min(scores[7:]) > max(scores[:3])
