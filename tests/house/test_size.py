"""The code of the product stays below its ceilings, and its ways stay short.

``ceilings.json`` has the figures. Whoever needs more raises one in the commit that needs it, and
says there what users got for it; ``python -m tests.house.test_size`` lowers those that have fallen.
The way of a URL depends on the moment (who retries, who is heard): it has three files to spare, and
its functions are not counted.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.structure.sizes import lua_lines, python_lines
from benchmarks.structure.structure import measure

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("ceilings.json")
CEILINGS: dict[str, Any] = json.loads(FILE.read_text("utf-8"))


@cache
def measured() -> dict[str, Any]:
    """The figures of this checkout."""
    found = measure(ROOT)
    return {name: found[name] for name in CEILINGS}


def flat(figures: dict[str, Any], above: str = "") -> dict[str, int]:
    """Figures by their whole names: ``{"ways hosts files": 31}``."""
    found: dict[str, int] = {}
    for name, value in figures.items():
        whole = f"{above} {name}".strip()
        found |= flat(value, whole) if isinstance(value, dict) else {whole: value}
    return found


@pytest.mark.parametrize("figure", flat(CEILINGS))
def test_a_figure_is_not_above_its_ceiling(figure: str) -> None:
    assert flat(measured()).get(figure, 0) <= flat(CEILINGS)[figure]


def test_every_room_has_a_ceiling() -> None:
    assert flat(measured()).keys() - flat(CEILINGS).keys() == {"ways URL functions"}


def test_docstrings_comments_and_blanks_are_no_code() -> None:
    assert python_lines('"""A\n\nB."""\n\n# c\nx = (1,\n     2)  # d\n') == 2
    assert lua_lines("-- a\n\nlocal x = 1 -- b\n") == 1


def lowered(ceilings: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Ceilings that are nowhere above what was found; those of what is gone are gone."""
    least: dict[str, Any] = {}
    for name, ceiling in ceilings.items():
        if name == "URL":
            least[name] = ceiling
        elif name in found:
            inner = isinstance(ceiling, dict)
            least[name] = lowered(ceiling, found[name]) if inner else min(ceiling, found[name])
    return least


if __name__ == "__main__":
    FILE.write_text(json.dumps(lowered(CEILINGS, measured()), indent=1) + "\n", "utf-8")
