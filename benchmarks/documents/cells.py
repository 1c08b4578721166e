"""Cells of the documents' tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Rows = Iterable[Sequence[object]]


def share(value: float) -> str:
    """Formats a share as the papers do: ``.875``."""
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def with_bounds(figure: dict[str, Any]) -> str:
    """Formats a figure with its 95 % interval: ``.875 (.861-.889)``."""
    low, high = figure["95"]
    return f"{share(figure['value'])} ({share(low)}-{share(high)})"
