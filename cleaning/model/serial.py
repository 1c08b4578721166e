"""Frozen dataclasses to plain JSON values and back, by their field types alone.

A field named ``on`` (a set of pages as a number) is written in hexadecimal digits: the numbers of a
hundred pages are longer than other readers of JSON can take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from cleaning.url_classes.rules import UrlRules

FORMAT = 5  # 1 had no rules, 2 none of posts, 3 nothing to compare newer pages with, 4 no lengths


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, UrlRules):
        return value.to_data()
    if is_dataclass(value):
        return {
            each.name: f"{getattr(value, each.name):x}"
            if each.name == "on"
            else plain(getattr(value, each.name))
            for each in fields(value)
            if each.init
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


def read_fields(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass from what ``plain`` made of it.

    Raises:
        KeyError, TypeError, ValueError: The data are of another shape.
    """
    hints = _hints(cls)
    return {
        name: int(data[name], 16) if name == "on" else _read(kind, data[name])
        for name, kind in hints.items()
    }


@lru_cache(maxsize=64)
def _hints(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {each.name: hints[each.name] for each in fields(cls) if each.init}


def _read(kind: Any, data: Any) -> Any:
    if kind is UrlRules:
        return UrlRules.from_data(data)
    origin = get_origin(kind)
    if origin is UnionType:  # of one kind and None
        return None if data is None else _read(get_args(kind)[0], data)
    if origin is tuple:
        inner = get_args(kind)
        if not isinstance(data, list):
            raise TypeError("a list is expected")
        if inner[-1] is Ellipsis:
            return tuple(_read(inner[0], item) for item in data)
        return tuple(_read(each, item) for each, item in zip(inner, data, strict=True))
    if origin is not None:  # Mapping[str, ...]
        value = get_args(kind)[1]
        return {str(key): _read(value, item) for key, item in data.items()}
    if kind is datetime:
        return datetime.fromisoformat(data).astimezone(UTC)
    if not isinstance(kind, type):
        raise TypeError(f"no reader of {kind}")
    if is_dataclass(kind):
        return kind(**read_fields(kind, data))
    if issubclass(kind, Enum):
        return kind(data)
    if kind is float and isinstance(data, int):
        return float(data)
    if not isinstance(data, kind):
        raise TypeError(f"{kind.__name__} is expected")
    return data
