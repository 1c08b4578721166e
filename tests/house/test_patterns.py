"""Every pattern of the product means the same on every Python from 3.11.0."""

import ast
import importlib
import pkgutil
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crawlclean

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the parser's modules are private: no other shows repeats
    from re import _constants as codes, _parser as parser  # type: ignore[attr-defined] # no stubs

ROOT = Path(__file__).parents[2]
PACKAGES = ("cleaning", "storage", "crawler", "workers", "crawlclean")
SINGLE = (codes.ANY, codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.RANGE)


def is_single(item: Any) -> bool:
    """Whether a parsed pattern is one character or one class: its possessive repeat is right."""
    if len(item) != 1:
        return False
    code, value = item[0]
    if code is codes.SUBPATTERN:
        return value[0] is None and is_single(value[-1])
    return code in SINGLE


def wrong_constructs(item: Any) -> Iterator[str]:
    """Yields the constructs that Python 3.11.0 to 3.11.4 match wrongly (gh-100061, gh-106052)."""
    if isinstance(item, parser.SubPattern):
        for code, value in item:
            if code is codes.ATOMIC_GROUP:
                yield "atomic group"
            if code is codes.POSSESSIVE_REPEAT and not is_single(value[2]):
                yield "possessive group"
            yield from wrong_constructs(value)
    elif isinstance(item, tuple | list):
        for part in item:
            yield from wrong_constructs(part)


def patterns() -> Iterator[tuple[str, str | bytes, int]]:
    """Yields place, source and flags of each pattern that a module of the product holds."""
    names = [m.name for m in pkgutil.walk_packages(crawlclean.__path__, "crawlclean.")]
    for name in (n for n in names if not n.endswith("__main__")):
        for attribute, value in vars(importlib.import_module(name)).items():
            if isinstance(value, re.Pattern):
                yield f"{name}.{attribute}", value.pattern, value.flags


def test_no_pattern_repeats_a_group_possessively() -> None:
    found = {
        place: sorted(set(wrong))
        for place, source, flags in patterns()
        if (wrong := list(wrong_constructs(parser.parse(source, flags & ~re.DEBUG))))
    }
    assert found == {}


def test_no_literal_of_the_product_holds_an_atomic_or_possessive_group() -> None:
    """Patterns that are put together or compiled in a function: their pieces are literals."""
    wrong = re.compile(r"\(\?>|(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")
    classes = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*+\]?")
    found = []
    for path in sorted(p for room in PACKAGES for p in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                if "(?" in text and wrong.search(classes.sub("x", text)):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


@pytest.mark.parametrize("source", [r"(?>a)", r"(?:ab)*+", r"(?:a?b){1,3}+", r"x(?:(a))?+"])
def test_the_check_finds_groups(source: str) -> None:
    assert list(wrong_constructs(parser.parse(source)))


@pytest.mark.parametrize("source", [r"a*+", r"[^-]++", r"(?:a)?+", r"\s{1,63}+x", r"(?:ab)+"])
def test_the_check_passes_single_characters(source: str) -> None:
    assert not list(wrong_constructs(parser.parse(source)))
