"""JSON Schemas of what the commands print with ``--json``, made from the types of their lines.

``ANSWERS`` names the types; a command may print lines of several. A new field of a type is in the
schema, in ``docs/json.md`` and in the tests, which validate every line that a test reads.

The schemas are those of JSON Schema 2020-12. They are strict: a line of this version of the program
has the fields of its type, all of them except those that are ``UNSET``, and no other.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import inspect as types

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.json_values import SCHEMA, dump, dump_versioned
from crawlclean.cleaning.records import CleanRecord, HostStats, Verdict
from crawlclean.storage.console_tokens import TokenLine
from crawlclean.storage.receiver_types import SentMessage
from crawlclean.storage.store.models import ModelLine
from crawlclean.storage.store.overview import FailureCause
from crawlclean.workers.answers import control, crawls, hosts, notices, topics

ANSWERS: dict[str, tuple[type, ...]] = {
    "run": (crawls.RunSummary,),
    "sites": (crawls.SiteReport,),
    "topic": (
        crawls.RunSummary,
        topics.TopicLine,
        topics.TopicReport,
        topics.LinkWeight,
        topics.PageToMark,
    ),
    "topics": (topics.TopicLine,),
    "join housekeeper": (topics.StoryMessage, notices.NoticesMessage),
    "crawls": (crawls.CrawlLine,),
    "crawl pause": (control.StateChange, control.Paused),
    "crawl resume": (control.StateChange,),
    "crawl stop": (control.StateChange,),
    "crawl purge": (control.Purged, control.PurgePlan),
    "crawl recover": (control.RecoveredCrawl,),
    "crawl retry": (control.RetriedCrawl,),
    "crawl refetch": (control.RefetchedCrawl,),
    "crawl drop-raw": (control.DroppedRaw,),
    "show": (
        CleanRecord,
        hosts.StoredImage,
        hosts.PageVersion,
        hosts.VersionDifference,
    ),
    "why": (
        crawls.UrlTrace,
        crawls.UnknownUrl,
        topics.TopicVerdict,
        topics.StoryLine,
        Verdict,
    ),
    "search": (hosts.SearchHit,),
    "hosts": (hosts.HostLine, hosts.HostAnswer),
    "failures": (crawls.FailedUrl, FailureCause),
    "stories": (topics.StoryLine, topics.StoriesRebuilt),
    "images": (topics.TopicPicture,),
    "classes": (crawls.UrlClass,),
    "model learn": (hosts.LearnedModel,),
    "model show": (hosts.ModelAnswer,),
    "model diff": (hosts.ModelDifferences,),
    "model rollback": (ModelLine,),
    "model why": (hosts.TemplateAnswer,),
    "model check": (hosts.OverrideCheck,),
    "model reclean": (hosts.RecleaningReport,),
    "export": (hosts.ExportedRecord,),
    "clean": (CleanRecord,),
    "console tokens": (TokenLine, control.NewToken),
    "doctor": (control.Check, control.FileCheck),
    "config": (control.SettingLine,),
    "receivers": (notices.ReceiverLine, SentMessage),
}
"""The types of the lines of each command; `export` and `clean` print them without ``--json``.

`join housekeeper` prints nothing: its types are the bodies of a webhook's POST.
"""

VERSIONED = (CleanRecord, HostStats)
"""Types whose lines begin with ``"schema":1``, with all types made from them."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_MEMBER = re.compile(r"^    ([A-Z_\d]+) = \S+  # (.*)$", re.MULTILINE)


def encode(answer: Any) -> bytes:
    """A line of a command as JSON: enums as text, times ending in Z, ``UNSET`` left out."""
    return dump_versioned(answer) if isinstance(answer, VERSIONED) else dump(answer)


def schema_of(command: str) -> dict[str, Any]:
    """The JSON Schema of a line of a command.

    Raises:
        NotFound: The command prints no JSON.
    """
    if command not in ANSWERS:
        known = ", ".join(ANSWERS)
        raise NotFound(f"`{command}` has no JSON; the commands with JSON are {known}")
    wanted = ANSWERS[command]
    references = [_reference(each) for each in wanted]
    return {
        "$schema": DIALECT,
        "title": command,
        **(references[0] if len(references) == 1 else {"anyOf": references}),
        "$defs": {each.__name__: definition(each) for each in all_types(wanted)},
    }


def all_types(wanted: Sequence[type]) -> list[type]:
    """The given types and all that their fields name: classes with fields, and enums."""
    found: dict[type, None] = {}
    waiting = list(wanted)
    while waiting:
        each = waiting.pop(0)
        if each not in found:
            found[each] = None
            waiting += [] if issubclass(each, Enum) else _named_by(_fields(each))
    return list(found)


def field_meanings(of: type) -> dict[str, str]:
    """The meaning of each field of a type, by the docstrings of the type and its bases."""
    meanings: dict[str, str] = {}
    for each in reversed(of.__mro__):
        meanings |= meanings_in(each.__doc__ or "")
    return meanings


def meanings_in(doc: str) -> dict[str, str]:
    """The meaning of each name that a docstring explains: attributes, or arguments."""
    found = _ATTRIBUTE.findall(inspect.cleandoc(doc))
    return {name: " ".join(text.split()) for name, text in found}


def member_meanings(of: type[Enum]) -> dict[str, str]:
    """The meaning of each value of an enum, by the comment beside it; ``""`` without one."""
    comments = dict(_MEMBER.findall(inspect.getsource(of)))
    return {str(member.value): comments.get(member.name, "") for member in of}


def summary(of: type) -> str:
    """The first line of a type's docstring."""
    return (of.__doc__ or "").partition("\n")[0].strip()


def field_types(of: type) -> dict[str, dict[str, Any]]:
    """The schema of each field of a type."""
    return {field.name: _schema(field.type) for field in _fields(of)}


def needed_fields(of: type) -> list[str]:
    """Fields that have no default."""
    return [field.name for field in _fields(of) if field.required]


def is_left_out(of: type, name: str) -> bool:
    """Whether a line may come without the field."""
    return any(field.name == name and _is_optional(field) for field in _fields(of))


def definition(of: type) -> dict[str, Any]:
    """The schema of a type; the types it names are at ``#/$defs/``."""
    if issubclass(of, Enum):
        return {"description": summary(of), "enum": [member.value for member in of]}
    meanings = field_meanings(of)
    properties = {
        name: {**schema, **({"description": meanings[name]} if name in meanings else {})}
        for name, schema in field_types(of).items()
    }
    required = [field.name for field in _fields(of) if not _is_optional(field)]
    if issubclass(of, VERSIONED):
        properties = {"schema": {"const": SCHEMA}, **properties}
        required.insert(0, "schema")
    return {
        "description": summary(of),
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _fields(of: type) -> tuple[types.Field, ...]:
    """The fields of a type, those first that every line has."""
    found = types.type_info(of)
    if isinstance(found, types.StructType | types.DataclassType):
        return tuple(sorted(found.fields, key=lambda field: not field.required))
    raise TypeError(f"{of.__name__} has no fields")


def _is_optional(field: types.Field) -> bool:
    """Whether a field may be left out: its default is ``UNSET``, which msgspec does not list."""
    return not field.required and field.default is field.default_factory is msgspec.NODEFAULT


def _named_by(fields: Sequence[types.Field]) -> list[type]:
    return [each for field in fields for each in _classes(field.type)]


def _classes(of: types.Type) -> Iterator[type]:
    match of:
        case types.StructType() | types.DataclassType() | types.EnumType():
            yield of.cls
        case types.UnionType():
            for each in of.types:
                yield from _classes(each)
        case types.VarTupleType() | types.ListType():
            yield from _classes(of.item_type)
        case types.TupleType():
            for each in of.item_types:
                yield from _classes(each)
        case types.DictType():
            yield from _classes(of.key_type)
            yield from _classes(of.value_type)


def _reference(of: type) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{of.__name__}"}


_BOUNDS = {
    "ge": "minimum",
    "le": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}
"""Bounds of numbers and texts, as msgspec and as JSON Schema name them."""

_SIMPLE: dict[type[types.Type], dict[str, Any]] = {
    types.IntType: {"type": "integer"},
    types.FloatType: {"type": "number"},
    types.StrType: {"type": "string"},
    types.BoolType: {"type": "boolean"},
    types.NoneType: {"type": "null"},
    types.DateTimeType: {"type": "string", "format": "date-time"},
    types.DateType: {"type": "string", "format": "date"},
    types.AnyType: {},
}


def _schema(of: types.Type) -> dict[str, Any]:
    match of:
        case types.StructType() | types.DataclassType() | types.EnumType():
            return _reference(of.cls)
        case types.UnionType():
            options = [_schema(each) for each in of.types]
            return {"anyOf": options} if len(options) > 1 else options[0]
        case types.LiteralType():
            return {"enum": list(of.values)}
        case types.VarTupleType() | types.ListType():
            return {"type": "array", "items": _schema(of.item_type)}
        case types.TupleType():
            items = [_schema(each) for each in of.item_types]
            size = len(items)
            return {"type": "array", "prefixItems": items, "minItems": size, "maxItems": size}
        case types.DictType():
            keys = _schema(of.key_type) if isinstance(of.key_type, types.EnumType) else {}
            values = _schema(of.value_type)
            named = {"propertyNames": keys} if keys else {}
            return {"type": "object", **named, "additionalProperties": values}
        case types.Metadata():
            return {**_schema(of.type), **(of.extra_json_schema or {})}
    bounds = {named: getattr(of, name, None) for name, named in _BOUNDS.items()}
    return {
        **_SIMPLE[type(of)],
        **{name: each for name, each in bounds.items() if each is not None},
    }
