"""Answers from what the store, the queue or an operation gives."""

from __future__ import annotations

from inspect import signature
from typing import Any, TypeVar

_T = TypeVar("_T")


def answer_of(answer: type[_T], source: Any, **own: object) -> _T:
    """Makes an answer of the fields that it shares with another type by name.

    Args:
        answer: The type of the answer.
        source: What has fields: ``UrlRow(url="http://a.example/", status=404, ...)``.
        own: Fields that the source does not have, or has otherwise.
    """
    names = signature(answer).parameters.keys() - own.keys()
    shared = names & signature(type(source)).parameters.keys()
    return answer(**{name: getattr(source, name) for name in shared}, **own)
