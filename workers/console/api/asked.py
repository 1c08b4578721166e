"""Reads what a request of the API gives: the query, or the body, as a value of its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from flask import request

from crawlclean.workers.console.api.problems import refuse

JSON = "application/json"
T = TypeVar("T")


def check_text() -> None:
    """Refuses an address that is no UTF-8, which Flask would read with other letters.

    Raises:
        HTTPException: 400.
    """
    try:
        request.environ.get("PATH_INFO", "").encode("latin-1").decode()
        unquote_to_bytes(request.query_string).decode()
    except UnicodeError:
        refuse(400, "the address is not UTF-8")


def read_query(wanted: type | None) -> list[Any]:
    """The query as a value of its type, in a list; ``[]`` where there is none."""
    known = {field.name for field in fields(wanted)} if wanted else set()
    for name in request.args:
        if name not in known:
            refuse(400, f"{name[:40]}: unknown; known are {', '.join(sorted(known)) or 'none'}")
        if len(request.args.getlist(name)) > 1:
            refuse(400, f"{name}: given twice")
    if wanted is None:
        return []
    return [_converted(lambda: msgspec.convert(request.args.to_dict(), wanted, strict=False))]


def read_body(wanted: type | None, raw: bytes) -> list[Any]:
    """The body as a value of its type, in a list; ``[]`` where there is none."""
    if wanted is None:
        if raw not in (b"", b"{}"):
            refuse(400, "this address takes no body")
        return []
    if request.mimetype != JSON:
        refuse(415, f"the body must be {JSON}")
    value = _converted(lambda: msgspec.json.decode(raw))
    known = {field.name for field in fields(wanted)}
    for name in value if isinstance(value, dict) else ():
        if name not in known:
            refuse(400, f"{name[:40]}: unknown; known are {', '.join(sorted(known))}")
    return [_converted(lambda: msgspec.convert(value, wanted))]


def _converted(convert: Callable[[], T]) -> T:
    try:
        return convert()
    except (ValueError, RecursionError) as error:  # msgspec's are among them
        told, _, where = str(error).partition(" - at `$.")
        name = where.rstrip("`")
        refuse(400, f"{name}: {told}" if name else told)
