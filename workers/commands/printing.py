"""How commands print: JSON lines and plain tables."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any


def print_json(data: Mapping[str, Any]) -> None:
    """One object on one line of standard output."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False) + "\n")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with aligned columns; Han characters count two columns wide."""
    if not rows:
        return ""
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[i] - _width(cell)) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
