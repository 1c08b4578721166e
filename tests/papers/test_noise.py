"""Noise links: the paper's equations, its Table 1 and worked example, and our readings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.papers.noise import (
    DescribedLink,
    EntropyBase,
    Model,
    Params,
    choose_words,
    entropy_of,
    judge_links,
    learn_vector,
    n_precision,
    n_recall,
    n_sigma,
    redundancy_of,
    score_entropy,
    score_redundancy,
    score_words,
    word_entropies,
)

PICTURES = "http://image2.sina.com.cn"
A1 = "1_1-1-21-180_20031016141652"
B = "zhenwen080703"
C = "zhenwen080705"
A2 = "1_1-1-21-166_20031016155843"
A3 = "1_1-1-23-166_20031016155844"
# Figures 2 and 3: each picture's page, directory and file.
FIGURES = {
    "A1": ("1", "dy/c/2003-10-16", A1),
    "B1": ("1", "sms/change", B),
    "C1": ("1", "sms/change", C),
    "A2": ("2", "dy/c/2003-10-16", A2),
    "A3": ("2", "dy/c/2003-10-16", A3),
    "B2": ("2", "sms/change", B),
    "C2": ("2", "sms/change", C),
}
TABLE_1 = [(name,) for _, _, name in FIGURES.values()]
NOISE = {"B1", "C1", "B2", "C2"}


def pictures(with_folders: bool = False) -> list[DescribedLink]:
    return [
        DescribedLink(
            page=page,
            host="news.sina.com.cn",
            address=f"{PICTURES}/{folder}/{name}.jpg",
            words=(*(folder.split("/") if with_folders else ()), name),
        )
        for page, folder, name in FIGURES.values()
    ]


def test_equation_1_is_the_mean_weight_of_the_common_words() -> None:
    vector = {"sms": 0.9, "ad": 0.6, "首页": 0.3}
    assert score_words(["image2", "sms", "change"], vector) == 0.9
    assert score_words(["sms", "ad", "sms"], vector) == pytest.approx(0.75)
    assert score_words(["dy", "c"], vector) == 0.0


def test_equation_2_is_the_mean_weight_of_the_vector() -> None:
    assert n_sigma({"sms": 0.9, "ad": 0.6, "首页": 0.3}) == pytest.approx(0.6)
    assert n_sigma({}) == math.inf


def test_section_3_1_1_sms_settles_b_and_c() -> None:
    params = Params(vector={"sms": 0.9, "首页": 0.3}, least_share=None, least_entropy=None)
    verdicts = dict(zip(FIGURES, judge_links(pictures(True), params), strict=True))
    assert {name for name, verdict in verdicts.items() if verdict.is_noise} == NOISE
    assert all(verdicts[name].model is Model.M1 for name in NOISE)


@given(st.sets(st.text(min_size=1), min_size=1), st.floats(0.1, 10))
def test_words_of_equal_weight_are_never_above_their_mean(words: set[str], weight: float) -> None:
    vector = dict.fromkeys(words, weight)
    links = [DescribedLink(page="1", host="h", address="a", words=tuple(words))]
    params = Params(vector=vector, least_share=None, least_entropy=None)
    assert score_words(words, vector) == pytest.approx(n_sigma(vector))
    assert weight != n_sigma(vector) or not judge_links(links, params)[0].is_noise


def test_weights_are_learned_from_links_others_judged() -> None:
    noise = [("sms", "change"), ("sms", "x"), ("news", "sms"), ("news", "y")]
    vector = learn_vector(noise, [("news", "z"), ("news",), ("w",)])
    assert vector == {"sms": 1.0, "news": 0.5}


def test_equation_3_as_printed_counts_the_page_itself() -> None:
    assert score_redundancy(2, 2) == 1.0
    assert score_redundancy(1, 1) == 1.0
    assert score_redundancy(1, 4) == 0.25


def test_equation_3_without_the_page_itself_is_silent_for_one_page() -> None:
    assert score_redundancy(1, 1, counts_itself=False) is None
    assert score_redundancy(1, 4, counts_itself=False) == 0.0
    assert score_redundancy(3, 5, counts_itself=False) == 0.5


def test_equation_3_finds_b_and_c_of_figures_2_and_3() -> None:
    shares = dict(zip(FIGURES, redundancy_of(pictures(), counts_itself=False), strict=True))
    assert {name for name, share in shares.items() if share and share > 0.2} == NOISE
    printed = dict(zip(FIGURES, redundancy_of(pictures()), strict=True))
    assert printed["A1"] == 0.5  # above .2 with two pages: the printed form needs more of them


def test_equation_3_counts_by_the_host_of_the_page() -> None:
    other = DescribedLink(page="9", host="else.example", address=f"{PICTURES}/sms/change/{B}.jpg")
    shares = redundancy_of([*pictures(), other], counts_itself=False)
    assert shares[-1] is None
    assert shares[1] == 1.0


def test_table_1_equation_4_is_to_the_base_of_the_number_of_links() -> None:
    entropies = word_entropies(TABLE_1)
    assert entropies[A1] == entropies[A2] == entropies[A3] == 0.0
    assert entropies[B] == pytest.approx(0.3562, abs=5e-5)
    assert entropies[C] == pytest.approx(0.3562, abs=5e-5)


def test_table_1_equation_4_as_printed_gives_one_bit() -> None:
    entropies = word_entropies(TABLE_1, EntropyBase.TWO)
    assert entropies[A1] == 0.0
    assert entropies[B] == pytest.approx(1.0)


def test_equation_4_weighs_links_by_the_words_frequency() -> None:
    entropies = word_entropies([("a", "a", "a"), ("a",)], EntropyBase.TWO)
    assert entropies["a"] == pytest.approx(-0.75 * math.log2(0.75) - 0.25 * math.log2(0.25))


def test_base_n_is_undefined_for_one_link_and_shrinks_with_more() -> None:
    assert word_entropies([("a",)]) == {}
    few, many = word_entropies([("a",), ("a",)]), word_entropies([("a",), ("a",), *[("b",)] * 98])
    assert few["a"] == pytest.approx(1.0)
    assert many["a"] == pytest.approx(math.log(2) / math.log(100))


def test_table_1_equation_5_is_the_mean_over_a_links_words() -> None:
    scores = dict(zip(FIGURES, entropy_of(pictures()), strict=True))
    assert {name for name, score in scores.items() if score} == NOISE
    assert scores["B1"] == pytest.approx(0.3562, abs=5e-5)
    assert score_entropy(["a", "b", "a"], {"a": 1.0, "b": 0.0}) == 0.5
    assert score_entropy([], {"a": 1.0}) is None


def test_words_are_chosen_by_tf_idf() -> None:
    links = [("img", "x", "x"), ("img", "y"), ("img", "z")]
    assert choose_words(links, 1) == [("x", "x"), ("y",), ("z",)]
    assert choose_words(links, None) == links


def test_the_cascade_asks_m1_then_m2_then_m3() -> None:
    links = [
        DescribedLink(page="1", host="h", address="/sms.gif", words=("sms",)),
        DescribedLink(page="1", host="h", address="/nav", words=("首页",)),
        DescribedLink(page="2", host="h", address="/nav", words=("首页",)),
        DescribedLink(page="1", host="h", address="/turn?1", words=("抽奖",)),
        DescribedLink(page="2", host="h", address="/turn?2", words=("抽奖",)),
        DescribedLink(page="2", host="h", address="/own", words=("地震",)),
    ]
    params = Params(vector={"sms": 0.9, "ad": 0.1}, counts_itself=False, least_entropy=0.3)
    found = [verdict.model for verdict in judge_links(links, params)]
    assert found == [Model.M1, Model.M2, Model.M2, Model.M3, Model.M3, None]


def test_one_page_alone_says_nothing_without_the_page_itself() -> None:
    links = [DescribedLink(page="1", host="h", address="/a", words=("a",))]
    assert not judge_links(links, Params(counts_itself=False))[0].is_noise
    assert judge_links(links, Params())[0].model is Model.M2


def test_section_4_precision_and_recall() -> None:
    removed, noise = [True, True, True, False, False], [True, True, False, True, False]
    assert n_precision(removed, noise) == pytest.approx(2 / 3)
    assert n_recall(removed, noise) == pytest.approx(2 / 3)
    assert n_precision([False], [True]) == 1.0
    assert n_recall([True], [False]) == 1.0


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), max_size=20))
def test_entropies_are_bounded(links: list[list[str]]) -> None:
    for value in word_entropies(links).values():
        assert -1e-9 <= value <= 1 + 1e-9
    for value in word_entropies(links, EntropyBase.TWO).values():
        assert value <= math.log2(max(len(links), 1)) + 1e-9
