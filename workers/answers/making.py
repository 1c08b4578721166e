"""Answers from what the store, the queue or an operation gives."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T", bound="DataclassInstance")


def answer_of(answer: type[_T], source: Any, **own: object) -> _T:
    """Makes an answer of the fields that it shares with another dataclass by name.

    Args:
        answer: The type of the answer.
        source: A dataclass: ``UrlRow(url="http://a.example/", status=404, ...)``.
        own: Fields that the source does not have, or has otherwise.
    """
    names = {field.name for field in fields(answer)}
    shared = {each.name for each in fields(source)} & names - own.keys()
    return answer(**{name: getattr(source, name) for name in shared}, **own)
