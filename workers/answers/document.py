"""The page ``docs/json.md``: the fields of every JSON line, with meanings, from their types."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

from crawlclean import __dist__
from crawlclean.workers.answers.schema import (
    ANSWERS,
    VERSIONED,
    all_types,
    field_meanings,
    field_types,
    is_left_out,
    member_meanings,
    summary,
)


def json_markdown() -> str:
    """Returns the page: ``introduction.md``, the lines of each command, the types within them."""
    begin = Path(__file__).with_name("introduction.md").read_text("utf-8")
    lines = [
        begin.replace("{program}", __dist__),
        "## Lines\n",
        "| command | a line is |",
        "|---|---|",
    ]
    for name, wanted in ANSWERS.items():
        kinds = " or ".join(f"[{each.__name__}](#{each.__name__.lower()})" for each in wanted)
        lines.append(f"| `{name}` | {kinds} |")
    known = all_types([each for wanted in ANSWERS.values() for each in wanted])
    lines.append("\n`export --fields A,B` prints these fields alone.\n")
    lines.append("## Objects\n")
    lines += [object_markdown(each) for each in known if not issubclass(each, Enum)]
    lines.append("## Values\n")
    lines += [values_markdown(each) for each in known if issubclass(each, Enum)]
    return "\n".join(lines)


def object_markdown(of: type) -> str:
    """The section of a type with fields: its meaning, a table of its fields."""
    lines = [f"### {of.__name__}\n", f"{escaped(summary(of))}\n"]
    lines += ["| field | type | meaning |", "|---|---|---|"]
    if issubclass(of, VERSIONED):
        lines.append("| `schema` | 1 | version of the form |")
    meanings = field_meanings(of)
    for name, schema in field_types(of).items():
        left_out = " *(may be left out)*" if is_left_out(of, name) else ""
        meaning = escaped(meanings[name])
        lines.append(f"| `{name}` | {type_markdown(schema)}{left_out} | {meaning} |")
    return "\n".join(lines) + "\n"


def values_markdown(of: type[Enum]) -> str:
    """The section of an enum: its meaning, a table of its values."""
    lines = [
        f"### {of.__name__}\n",
        f"{escaped(summary(of))}\n",
        "| value | meaning |",
        "|---|---|",
    ]
    lines += [f"| `{value}` | {escaped(text)} |" for value, text in member_meanings(of).items()]
    return "\n".join(lines) + "\n"


def type_markdown(schema: dict[str, Any]) -> str:
    """Describes a field's schema: ``list of [Link](#link)``, ``text or null``."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(type_markdown(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if "prefixItems" in schema:
        return "[" + ", ".join(type_markdown(each) for each in schema["prefixItems"]) + "]"
    if schema.get("type") == "array":
        return f"list of {type_markdown(schema['items'])}"
    if schema.get("type") == "object":
        keys = schema.get("propertyNames")
        named = f" by {type_markdown(keys)}" if keys else ""
        return f"object of {type_markdown(schema['additionalProperties'])}{named}"
    if schema.get("format"):
        return "day" if schema["format"] == "date" else "time"
    names = {"string": "text", "boolean": "true or false", "null": "null"}
    kind = str(schema.get("type", "any value"))
    return names.get(kind, kind)


def escaped(text: str) -> str:
    """A docstring's text in a table of Markdown: no column ends, code as code, no tag."""
    return text.replace("``", "`").replace("|", "\\|").replace("<", "&lt;")
