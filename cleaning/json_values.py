"""Values as JSON bytes with the version of their form in front, and back, by msgspec.

A value is a JSON object that begins with its schema: ``{"schema":1,"url":...}``. Reading checks
types, enums and times (ISO 8601, ``Z``). It raises ``SchemaMismatch`` for a newer schema, and
``StoreDamaged`` for bytes that this program cannot have written.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from crawlclean.cleaning.errors import SchemaMismatch, StoreDamaged

# Replacement of lone surrogates, half characters that UTF-8 cannot encode: ``"\ud800"``.
#
# JSON inside a page may contain them (``"author": "\ud800"``); the HTML parser never returns any.
# They become U+FFFD once, where a record is made, so that every later writer can encode the record.

_SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """Returns a text with U+FFFD for every lone surrogate."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


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


SCHEMA = 1
"""Version of every stored JSON form; raise it when an older reader would misread."""

PREFIX = b'{"schema":%d,' % SCHEMA
"""What JSON of our version begins with."""

DAMAGE = (
    ValueError,  # msgspec's errors are among them
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""Errors that reading foreign bytes may raise."""


def _as_text(value: Any) -> str:
    """A text of a class of texts (``Message``), which msgspec does not write."""
    if isinstance(value, str):
        return value[:]
    raise NotImplementedError  # msgspec names the type


_ENCODER = msgspec.json.Encoder(enc_hook=_as_text)
_T = TypeVar("_T")


class _Schema(msgspec.Struct):
    schema: int


_SCHEMA = msgspec.json.Decoder(_Schema)


def dump(value: Any) -> bytes:
    """Compact UTF-8 JSON; lone surrogates, which no UTF-8 can carry, become U+FFFD."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_as_text)
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return replace_surrogates(text).encode()


def load(data: bytes | str) -> Any:
    """Decodes JSON that ``dump`` wrote.

    Raises:
        StoreDamaged: The bytes are no JSON.
    """
    try:
        return msgspec.json.decode(data)
    except DAMAGE as error:
        raise StoreDamaged(f"stored JSON cannot be read: {error}") from error


def dump_versioned(value: Any) -> bytes:
    """The JSON object of a dataclass or struct, its schema in front: ``{"schema":1,"url":...}``."""
    return PREFIX + dump(value)[1:]


def load_versioned(data: bytes | str, decoder: msgspec.json.Decoder[_T], what: str) -> _T:
    """Decodes JSON that ``dump_versioned`` wrote; ``what`` names the value in errors.

    Raises:
        SchemaMismatch: A newer program wrote it.
        StoreDamaged: This program never wrote it.
    """
    raw = data.encode() if isinstance(data, str) else data
    try:
        if not raw.startswith(PREFIX):
            version = _SCHEMA.decode(raw).schema
            if version < 1:
                raise StoreDamaged("stored JSON names no schema version")
            if version > SCHEMA:
                raise SchemaMismatch(
                    f"stored data has schema {version}, this program reads up to {SCHEMA}: "
                    "use the newer version that wrote it"
                )
        return decoder.decode(raw)
    except DAMAGE as error:
        raise StoreDamaged(f"a stored {what} cannot be read: {error}") from error


def json_object(value: Any) -> dict[str, Any]:
    """The object that ``dump_versioned`` writes, to be extended: enums as text, times ISO 8601."""
    return {"schema": SCHEMA, **msgspec.to_builtins(value, str_keys=True, enc_hook=_as_text)}


def utc(at: datetime) -> datetime:
    """The time in UTC; a naive time counts as UTC.

    Within hours of year 1 or 9999, where UTC has no such time, it keeps its offset.
    """
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC)
    except OverflowError:
        return at
