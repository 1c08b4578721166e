"""Words of the screen Now."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "now.title": ("Now", "当前状况"),
}
