"""Replacement of lone surrogates, half characters that UTF-8 cannot encode: ``"\\ud800"``.

JSON inside a page may contain them (``"author": "\\ud800"``); the HTML parser never returns any.
They become U+FFFD once, where a record is made, so that every later writer can encode the record.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

from msgspec import Struct, structs

_SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """Returns a text with U+FFFD for every lone surrogate."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def cleaned_value(value: Any) -> Any:
    """Returns a value of records, tuples and texts with U+FFFD for every lone surrogate."""
    if isinstance(value, str):
        return value if isinstance(value, Enum) else replace_surrogates(value)
    if isinstance(value, tuple):
        return tuple(map(cleaned_value, value))
    if isinstance(value, Struct):
        names = value.__struct_fields__
        return structs.replace(value, **{n: cleaned_value(getattr(value, n)) for n in names})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{f.name: cleaned_value(getattr(value, f.name)) for f in fields(value)}
        )
    return value
