"""KSF: equations 9 to 11, Algorithms 4 and 5, and the rules the paper leaves to its users."""

from __future__ import annotations

import math

import pytest

from crawlclean.cleaning.papers.ksf import (
    Params,
    TextLine,
    drop_near_equal,
    drop_template,
    extract_class,
    inverse_document_frequency,
    is_stopped,
    learn_class,
    read_lines,
    term_frequency,
    vote,
    weigh_words,
)

PAGE = """<html><head><title>x</title></head><body><div class="top">Board index of the site</div>
<div class="post"><b class="who">{who}</b> joined in 2017
<div class="text  main">{text}<br>{more}<i>!</i></div><script>var a = "no text";</script></div>
<div class="foot">Powered by a forum</div></body></html>"""
TOPICS = [
    ("ann", "potatoes need loose earth", "plant them early"),
    ("bob", "my bicycle lost its chain", "which oil helps"),
    ("cid", "winter tyres or chains today", "snow falls tomorrow"),
    ("dee", "reading poems aloud again", "poets write verses"),
    ("eve", "cheese from mountain goats", "milk turns sour"),
]
PAGES = [PAGE.format(who=who, text=text, more=more) for who, text, more in TOPICS]


def test_term_frequency() -> None:
    """Equation 9: two of four occurrences in all pages."""
    assert term_frequency(2, 4) == 0.5


def test_inverse_document_frequency_may_be_zero_or_below() -> None:
    """Equation 10."""
    assert inverse_document_frequency(5, 1) == pytest.approx(math.log(2.5))
    assert inverse_document_frequency(5, 4) == 0
    assert inverse_document_frequency(5, 5) < 0


def test_the_weight_of_words() -> None:
    """Equation 11: a b in one page, b c c in another, d in a third."""
    weights = weigh_words([["a", "b"], ["b", "c", "c"], ["d"]])
    assert weights[0]["a"] == pytest.approx(math.log(3 / 2))
    assert weights[0]["b"] == pytest.approx(0.5 * math.log(3 / 3))
    assert weights[1]["c"] == pytest.approx(math.log(3 / 2))


def test_the_most_named_candidate_wins() -> None:
    """Algorithm 4."""
    assert vote(["a", "b", "b", "a", "b"]) == "b"
    assert vote(["a", "b"]) == "a"
    assert vote([]) is None


def test_lines_know_the_class_around_them() -> None:
    """Algorithm 5, line 5."""
    lines = read_lines(PAGES[0])
    assert lines[0] == TextLine(text="Board index of the site", location="top")
    assert TextLine(text="joined in 2017", location="post") in lines
    assert TextLine(text="plant them early", location="text main") in lines
    assert not any("no text" in line.text or line.text == "x" for line in lines)


@pytest.mark.parametrize("text", ["ok", "2017-06-12 10:00 posted", "---- 12", "Reply here"])
def test_stop_rules(text: str) -> None:
    params = Params(stop_words=frozenset(("reply here",)))
    assert is_stopped(TextLine(text=text, location=""), params)
    assert not is_stopped(TextLine(text="a sentence of a post", location=""), params)


def test_lines_that_begin_alike_are_template() -> None:
    one = [TextLine(text=text, location="") for text in ("posted by ann", "posted by bob", "hello")]
    other = [TextLine(text="posters on walls", location="")]
    assert [len(page) for page in drop_template([one, other], Params())] == [1, 0]
    assert [len(page) for page in drop_template([one, other], Params(key_chars=7))] == [1, 1]
    across = Params(key_chars=7, within_page=False)
    assert [len(page) for page in drop_template([one, other], across)] == [3, 1]


def test_pages_that_repeat_another_are_left_out() -> None:
    pages = [read_lines(html) for html in (PAGES[0], PAGES[1], PAGES[0])]
    assert len(drop_near_equal(pages, Params())) == 2


@pytest.mark.parametrize("keywords", [None, 5, 40])
def test_the_class_of_the_posts(keywords: int | None) -> None:
    """Algorithm 5 whole."""
    assert learn_class(PAGES, str.split, Params(keywords=keywords)) == "text main"
    assert extract_class(PAGES[0], "text main") == [
        "potatoes need loose earth\nplant them early\n!"
    ]


def test_nothing_to_learn_from() -> None:
    assert learn_class([], str.split) is None
    assert learn_class(["", "<p>"], str.split) is None
    assert extract_class("", "a") == []
