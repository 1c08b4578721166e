"""Records made many at a time are those of the ordinary constructor."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, asdict, fields, replace
from typing import Any

import pytest

from cleaning.building import build_all
from cleaning.records import Image, Link, Outlink, Via

ROWS: list[tuple[type[Any], dict[str, Any]]] = [
    (Link, {"href": "/a", "url": "http://a.example/a", "text": "甲"}),
    (Image, {"src": "a.png", "url": "http://a.example/a.png", "width": 5}),
    (Outlink, {"url": "http://a.example/", "via": Via.LINK, "score": 0.5}),
]


@pytest.mark.parametrize(("kind", "values"), ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_they_are_the_same_objects(kind: type[Any], values: dict[str, Any]) -> None:
    ordinary = kind(**values)
    columns = [[getattr(ordinary, field.name)] * 2 for field in fields(kind)]
    first, second = build_all(kind, *columns)
    assert type(first) is kind
    assert first == ordinary == second
    assert hash(first) == hash(ordinary)
    assert repr(first) == repr(ordinary)
    assert asdict(first) == asdict(ordinary)
    assert pickle.loads(pickle.dumps(first)) == ordinary  # noqa: S301 - our own
    assert replace(first, url="x") == replace(ordinary, url="x")
    with pytest.raises(FrozenInstanceError):
        first.url = "x"


def test_no_rows_are_no_objects() -> None:
    assert build_all(Outlink, [], [], [], [], []) == ()


def test_every_field_needs_a_column() -> None:
    with pytest.raises(TypeError):
        build_all(Outlink, ["http://a.example/"], [Via.LINK])
