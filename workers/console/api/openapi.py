"""The description of the API in OpenAPI 3.1, made from its addresses and their types."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from crawlclean import __dist__
from crawlclean.workers.answers.schema import (
    all_types,
    definition,
    field_meanings,
    field_types,
    needed_fields,
)
from crawlclean.workers.console.api.problems import MEDIA_TYPE, Problem
from crawlclean.workers.console.api.registry import JSON, KEY, QUERY, Address
from crawlclean.workers.console.routes import LARGEST

SCHEMAS = "#/components/schemas/"
TOKEN = "token"  # noqa: S105 - the name of the scheme

_PROBLEMS = {
    400: "The request is wrong: `detail` names the field.",
    401: "No token, or none that counts.",
    403: "The token permits less than this needs.",
    404: "There is no such thing, or no crawl in the data folder.",
    409: "The action failed, or the first one with this `Idempotency-Key` has not ended.",
    415: "The body is no JSON.",
    422: "The `Idempotency-Key` was used for another request.",
    429: "Too many requests of this token; `Retry-After` says when to go on.",
    500: "Stored data cannot be read.",
    503: "Queue or store is away; `Retry-After` says when to ask again.",
}
_PLAIN = {"text/plain": {"schema": {"type": "string"}}}
"""Of what the server refuses before the application is asked."""

# Statuses that any address may answer with beside 200.
_ALWAYS = (400, 401, 403, 404, 429, 500, 503)
_OF_ACTIONS = (409, 415, 422)  # and those of what takes a body


def openapi(addresses: Sequence[Address]) -> dict[str, Any]:
    """Returns the description of some addresses."""
    paths: dict[str, dict[str, Any]] = {}
    for address in addresses:
        paths.setdefault(address.template, {})[address.method.lower()] = _operation(address)
    named = [each.answer for each in addresses]
    taken = [each.takes for each in addresses if each.takes]
    types = all_types([*named, *taken, Problem])
    schemas = {each.__name__: definition(each) for each in types if each.__name__ != QUERY}
    for each in (body for body in taken if body.__name__ in schemas):
        schemas[each.__name__]["required"] = needed_fields(each)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{__dist__} console",
            "version": version(__dist__),
            "description": "What the operators' console shows, for programs.",
        },
        "paths": paths,
        "components": {
            "schemas": _at_components(schemas),
            "securitySchemes": {TOKEN: {"type": "http", "scheme": "bearer"}},
        },
        "security": [{TOKEN: []}],
    }


def _operation(address: Address) -> dict[str, Any]:
    summary, _, more = address.about.partition("\n")
    return {
        "operationId": address.name,
        "summary": summary,
        **({"description": more.strip()} if more.strip() else {}),
        "security": [{TOKEN: [address.scope.value]}],
        "parameters": _parameters(address),
        **({"requestBody": _request_body(address.takes)} if _has_body(address) else {}),
        "responses": _responses(address),
    }


def _has_body(address: Address) -> bool:
    return address.method == "POST" and address.takes is not None


def _parameters(address: Address) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _PLACES[of]}
        for name, of in address.places.items()
    ]
    if address.method == "POST":
        return [*found, _KEY]
    if address.takes is None:
        return found
    meanings, needed = field_meanings(address.takes), needed_fields(address.takes)
    for name, schema in field_types(address.takes).items():
        found.append(
            {
                "name": name,
                "in": "query",
                "required": name in needed,
                "description": meanings[name],
                "schema": _at_components(schema),
            }
        )
    return found


_PLACES: dict[type, dict[str, Any]] = {
    str: {"type": "string", "minLength": 1},
    int: {"type": "integer", "minimum": 0, "maximum": LARGEST},
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "A name of this action, chosen by the client; a repeated request repeats it.",
    "schema": {"type": "string", "pattern": f"^{KEY.pattern}$"},
}


def _request_body(of: type | None) -> dict[str, Any]:
    assert of is not None  # noqa: S101 - the caller has looked
    schema = {"$ref": f"{SCHEMAS}{of.__name__}"}
    return {"required": True, "content": {JSON: {"schema": schema}}}


def _responses(address: Address) -> dict[str, Any]:
    answer = {"$ref": f"{SCHEMAS}{address.answer.__name__}"}
    schema = _page(answer) if address.is_page else answer
    found: dict[str, Any] = {
        "200": {"description": "The answer.", "content": {JSON: {"schema": schema}}}
    }
    is_action = address.method == "POST"
    if not is_action:
        found["200"]["headers"] = {"ETag": {"schema": {"type": "string"}}}
        found["304"] = {"description": "Unchanged since the ETag of `If-None-Match`."}
    else:
        found["202"] = {**found["200"], "description": "It goes on: `operation` has its number."}
    content = {MEDIA_TYPE: {"schema": {"$ref": f"{SCHEMAS}{Problem.__name__}"}}}
    for status in (*_ALWAYS, *(_OF_ACTIONS if is_action else ())):
        found[str(status)] = {"description": _PROBLEMS[status], "content": content}
    found["431"] = {"description": "Address and headers are over 64 KB.", "content": _PLAIN}
    return found


def _page(item: dict[str, Any]) -> dict[str, Any]:
    """The schema of a part of a list."""
    return {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": item},
            "next": {
                "description": "Cursor of the next part, for `after`; null at the end.",
                "anyOf": [{"type": "string"}, {"type": "null"}],
            },
            "as_of": {
                "description": "When the figures were computed; null: they are of this moment.",
                "anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}],
            },
        },
        "required": ["items", "next", "as_of"],
        "additionalProperties": False,
    }


def _at_components(schema: Any) -> Any:
    """A schema whose references lead to where OpenAPI keeps schemas."""
    if isinstance(schema, dict):
        return {
            name: f"{SCHEMAS}{each.rpartition('/')[2]}" if name == "$ref" else _at_components(each)
            for name, each in schema.items()
        }
    if isinstance(schema, list):
        return [_at_components(each) for each in schema]
    return schema
