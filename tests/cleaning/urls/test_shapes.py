"""The shape of a URL and the templates made of it."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.cleaning.urls.shapes import (
    LONG,
    read_template,
    shape_of,
    template_of_words,
)

H = "http://a.example"


@pytest.mark.parametrize(
    ("path", "key", "values"),
    [
        ("/", "/", ()),
        ("/thread-7-1-2.html", "/{w}-{n}-{n}-{n}.html", ("thread", "7", "1", "2")),
        ("/view.php?tid=7&mod=x", "/{w}.php?mod={w}&tid={n}", ("view", "x", "7")),
        ("/view.php?&mod=x;tid=7", "/{w}.php?mod={w}&tid={n}", ("view", "x", "7")),
        ("/how-to-use_redis", "/{w}", ("how-to-use_redis",)),
        ("/a/4f3a9b", "/{w}/{x}", ("a", "4f3a9b")),
        ("/t/%E5%85%AC-b-12/", "/{w}/{s}-{n}/", ("t", "%E5%85%AC-b", "12")),
        ("/x?q=a%20b&p=", "/{w}?p=&q={s}", ("x", "a%20b")),
        ("/x?t-12.html", "/{w}?{w}-{n}.{w}", ("x", "t", "12", "html")),
    ],
)
def test_shapes(path: str, key: str, values: tuple[str, ...]) -> None:
    assert shape_of(normalize(H + path)) == (key, values)


def test_a_very_long_address_has_no_shape() -> None:
    assert shape_of(f"{H}/{'a/' * 600}").key == LONG
    assert shape_of(f"{H}/{'1-' * 60}").key == LONG
    assert shape_of(f"{H}/{'%E4%B8%AD' * 900}").key == "/{s}", "900 characters"
    assert shape_of(f"{H}/{'%E4%B8%AD' * 1000}").key == LONG


PATHS = st.text("abzZ019/._-;=?&%2FE", max_size=60).map(lambda text: normalize(f"{H}/{text}"))


@example(f"{H}/0.E_E", 0)
@given(PATHS, st.integers(0, 2**40 - 1))
def test_a_template_is_read_as_it_was_written(url: str, chosen: int) -> None:
    shape = shape_of(url)
    values = enumerate(shape.values)
    fixed = tuple((i, v) for i, v in values if v.isalpha() and chosen >> i & 1)
    assert read_template(template_of_words(shape.key, fixed)) == (shape.key, fixed)
