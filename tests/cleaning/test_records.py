"""What programs that read records rely on: values that never change and compare by their fields."""

from __future__ import annotations

import pickle
from typing import Any

import msgspec
import pytest

from crawlclean.cleaning.records import Image, Link, Outlink, Via

MADE: list[Any] = [
    Link(href="/a", url="http://a.example/a", text="甲"),
    Image(src="a.png", url="http://a.example/a.png", width=5),
    Outlink(url="http://a.example/", via=Via.LINK, score=0.5),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_what_is_many_is_a_value(made: Any) -> None:
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert again == made
    assert hash(again) == hash(made)
    assert msgspec.structs.replace(made, url="x") != made
    with pytest.raises(AttributeError):
        made.url = "x"
    with pytest.raises(TypeError):
        type(made)("/a", "http://a.example/a")
