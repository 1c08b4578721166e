"""Making many records at once.

The constructor of a frozen dataclass sets each field by a call of ``object.__setattr__``, for a
``Link`` three times what the rest of making it costs. Here a twin of the class, with the same slots
and without the freeze, is filled by plain assignments and then declared to be of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, make_dataclass
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


def build_all(kind: type[T], *columns: Iterable[Any]) -> tuple[T, ...]:
    """The same objects as by the ordinary constructor, one for each row.

    Args:
        kind: A frozen, slotted dataclass without ``__post_init__``.
        columns: For each of its fields, in their order, the values of all objects.
    """
    made = list(map(_twin_of(kind), *columns))  # type: ignore[arg-type]  # classes are hashable
    for each in made:
        each.__class__ = kind
    return tuple(made)


@lru_cache(maxsize=16)
def _twin_of(kind: type[Any]) -> Callable[..., Any]:
    # Without defaults: a column that is left out is an error.
    return make_dataclass(kind.__name__, [field.name for field in fields(kind)], slots=True)
