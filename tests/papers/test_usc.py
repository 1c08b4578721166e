"""USC: the paper's printed vectors and distances, the resolver, and Algorithm 3 whole."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.papers import knn_dpc
from crawlclean.cleaning.papers.usc import (
    Form,
    Params,
    dissimilarity,
    first_difference,
    form_of,
    number_blocks,
    resolve,
    split_blocks,
    usc,
)

PRINTED = (
    "http://example.com/query.php?id=001&grade=100",
    "http://example.com/query.php?id=001&grade=99",
    "http://example.com/query.php?id=002&grade=100",
    "http://example.com/query.php?id=002&grade=99",
    "http://example.com/query.php?id=003",
)
FORUM = [
    *(f"http://bbs.example/thread-{n}-1.html" for n in range(1, 41)),
    *(f"http://bbs.example/board-{n}.html" for n in range(1, 9)),
    *(f"http://bbs.example/member/{name}" for name in ("ann", "bob", "chen", "dora")),
    *(f"http://bbs.example/do.php?act=reply&id={n}" for n in range(1, 41)),
]
PAPER = Params(max_values=None)

urls_of = st.from_regex(r"http://a\.b/[a-c1-3]{0,3}([-/?=&][a-c1-3]{0,3}){0,4}", fullmatch=True)


def test_the_printed_vectors() -> None:
    """Tables 1 and 2, S(u1) to S(u5)."""
    assert number_blocks(map(split_blocks, PRINTED)) == [
        ((1, 1), (1, 2), (1, 3), (2, 4), (1, 5), (2, 6)),
        ((1, 1), (1, 2), (1, 3), (2, 4), (1, 5), (2, 7)),
        ((1, 1), (1, 2), (1, 3), (2, 8), (1, 5), (2, 6)),
        ((1, 1), (1, 2), (1, 3), (2, 8), (1, 5), (2, 7)),
        ((1, 1), (1, 2), (1, 3), (2, 9), (0, 0), (0, 0)),
    ]


def test_the_printed_dissimilarities() -> None:
    """Equations 3 and 4: D = 5!/4! = 5 and 5!/2! = 60."""
    first = ((1, 1), (1, 2), (1, 3), (1, 4), (1, 5))
    second = ((1, 1), (1, 2), (1, 3), (1, 1), (1, 2))
    third = ((1, 1), (2, 2), (1, 3), (1, 4), (1, 5))
    assert first_difference(first, second) == 4
    assert dissimilarity(5, 4) == 5
    assert first_difference(first, third) == 2
    assert dissimilarity(5, 2) == 60


def test_identical_urls_have_no_distance() -> None:
    vector = number_blocks([("a", "1")])[0]
    assert first_difference(vector, vector) == 3
    assert dissimilarity(2, 3) == 0


def test_blocks_behind_scheme_and_host() -> None:
    assert split_blocks("https://a.b:80/x-1/?p=&q=2z") == ("x", "1", "", "p", "", "q", "2z")
    assert split_blocks("http://a.b/topic/135/") == ("topic", "135")
    assert split_blocks("http://a.b") == split_blocks("http://a.b/") == ()


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("show.php?id=1", Form.DYNAMIC),
        ("thread-12-1.html", Form.PSEUDO_STATIC),
        ("index.php/topic,155.0.html", Form.PSEUDO_STATIC),
        ("news/2017/a.html", Form.STATIC),
        ("t/287", Form.STATIC),
        ("", Form.STATIC),
    ],
)
def test_the_three_forms_of_addresses(path: str, form: Form) -> None:
    assert form_of(f"http://a.b/{path}") is form


def test_a_rule_holds_the_types_and_values_of_each_position() -> None:
    """Equations 7 and 8: the least D over the combinations."""
    rule = resolve([split_blocks(url) for url in PRINTED], PAPER)
    assert rule.distance(split_blocks("http://x.y/query.php?id=001")) == 0
    assert rule.distance(split_blocks("http://x.y/query.php?id=003&grade=99")) == 0
    assert rule.distance(split_blocks("http://x.y/query.php?id=004&grade=99")) == dissimilarity(
        6, 4
    )
    assert rule.distance(split_blocks("http://x.y/query.php?id=001&grade=99&z=1")) == dissimilarity(
        8, 7
    )


def test_a_position_of_many_values_becomes_a_wildcard_of_their_type() -> None:
    rows = [split_blocks(url) for url in PRINTED]
    rule = resolve(rows, Params(max_values=2))
    assert rule.distance(("query", "php", "id", "004", "grade", "99")) == 0
    assert rule.distance(("query", "php", "id", "x4", "grade", "99")) > 0


@given(st.lists(urls_of, min_size=1, max_size=6), urls_of, st.sampled_from([None, 0, 1]))
def test_the_regular_expression_takes_what_the_rule_takes(
    urls: list[str], url: str, most: int | None
) -> None:
    rule = resolve([split_blocks(one) for one in urls], Params(max_values=most))
    assert (rule.pattern().fullmatch(url) is not None) == (rule.distance(split_blocks(url)) == 0)
    assert all(rule.pattern().fullmatch(one) for one in urls)


def test_the_topic_pages_of_a_forum() -> None:
    """Algorithm 3 with wildcards: threads that were not sampled are found too."""
    two = Params(clustering=knn_dpc.Params(centres=(0, 40)))
    found = usc([*FORUM, "http://bbs.example/thread-900-1.html"], FORUM[0], two)
    assert found == [*FORUM[:40], "http://bbs.example/thread-900-1.html"]


def test_only_addresses_of_the_given_form_are_clustered() -> None:
    assert not any("?" in url for url in usc(FORUM, FORUM[0], PAPER))
    assert usc(FORUM, FORUM[-1], Params()) == FORUM[-40:]


def test_a_topic_page_outside_the_list_is_enough() -> None:
    assert usc([], "http://bbs.example/thread-1-1.html") == []
    assert usc(["http://bbs.example/"], "http://bbs.example/thread-1-1.html") == []
