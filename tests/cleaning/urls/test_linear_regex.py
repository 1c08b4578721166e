"""Patterns in linear time: they match as Python's own do, and no text makes them slow."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.url_choice import MAX_PATTERN_CHARS, MAX_STATES, LinearRegex

ATOMS = st.sampled_from(
    [
        *("a", "b", "A", "中", "/", ".", "[ab]", "[^a中]", "[0-9_]", "^", "$", "(?:)"),
        *(r"\d", r"\W", r"\s", r"\b", r"\B", r"\.", r"\A", r"\Z", r"[\[]", r"[\w-]"),
    ]
)
REPEATS = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}"])


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, REPEATS).map(lambda two: f"(?:{two[0]}){two[1]}"),
        inner.map(lambda one: f"({one})"),
        inner.map(lambda one: f"(?i:{one})"),
    )


PATTERNS = st.recursive(ATOMS, nested, max_leaves=8)


@settings(max_examples=500, deadline=None)
@given(PATTERNS, st.lists(st.text("abAB中文_/. 09", min_size=1, max_size=12), max_size=5))
def test_a_pattern_matches_what_python_matches(pattern: str, texts: list[str]) -> None:
    ours, theirs = LinearRegex(pattern), re.compile(pattern)
    for text in texts * 2:  # the second time by the moves that are kept
        assert ours.search(text) == bool(theirs.search(text)), (pattern, text)


def test_flags_at_the_begin_hold_for_all_of_a_pattern() -> None:
    assert LinearRegex(r"(?a)^\W$").search("中")
    assert not LinearRegex(r"(?a)\d").search("٣")
    assert LinearRegex(r"(?i)^/NEWS/[A-C]$").search("/news/b")
    assert LinearRegex("(?x) /news/  # comment").search("/news/")


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        ("(a+)+$", "a"),
        ("(a|a)*b", "a"),
        ("(?:a*)*(?:a*)*b", "a"),
        (".*a.*a.*a.*a.*b", "a"),
        (r"(\w+\s?)*!", "ab "),
        (r"^(/[^/]+)+\.html\?$", "/ab"),
    ],
)
def test_no_url_makes_a_pattern_slow(pattern: str, unit: str) -> None:
    compiled, text = LinearRegex(pattern), unit * 1365  # 4,096 characters, the longest URL
    begun = time.process_time()
    for _ in range(10):
        assert not compiled.search(text + "\x00")
    assert time.process_time() - begun < 1.0


def test_the_states_that_are_kept_are_bounded() -> None:
    compiled = LinearRegex("a.{200}b")
    for n in range(20):
        compiled.search("".join("ab"[(n * i * i // 7) % 2] for i in range(500)))
    assert len(compiled._states) <= MAX_STATES + 500


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("/a(", "missing ), unterminated subpattern at position 3"),
        ("*", "nothing to repeat at position 1"),
        ("[z-a]", "bad character range z-a at position 2"),
        (r"(a)\1", "a reference to a group"),
        ("(?!a)b", "looking ahead or behind"),
        ("(?<=a)b", "looking ahead or behind"),
        ("(?>a)b", "an atomic group"),
        ("a++", "a possessive repetition"),
        ("(?:a{100}){100}", "too large"),
        ("(?:(?:){60000}){60000}", "too large"),
        ("a{99999999999}", "a repetition is too large"),
        ("(" * 490 + ")" * 490, "nested too deeply"),
        ("a" * (MAX_PATTERN_CHARS + 1), "1,001 characters, at most 1,000"),
    ],
)
def test_what_cannot_be_matched_is_refused_at_once(pattern: str, problem: str) -> None:
    begun = time.process_time()
    with pytest.raises(ConfigError, match=re.escape(problem)):
        LinearRegex(pattern)
    assert time.process_time() - begun < 1.0
