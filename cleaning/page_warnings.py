"""What was capped, guessed or given up while a page was read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WarningKind(StrEnum):
    """What was capped, guessed or given up while a page was read."""

    REPLACED_CHARACTERS = "replaced_characters"  # bytes that no charset explains
    WRONG_CHARSET = "wrong_charset"  # a declared charset was overruled
    CAPPED_SIZE = "capped_size"
    CAPPED_ATTRIBUTES = "capped_attributes"
    CAPPED_DEPTH = "capped_depth"
    CAPPED_LINKS = "capped_links"
    CAPPED_IMAGES = "capped_images"
    CAPPED_TEXT = "capped_text"
    LONG_BASE = "long_base"  # a <base href> too long to be multiplied by all links
    BAD_LINKS = "bad_links"  # hrefs that no reading turns into a URL
    NEEDS_JAVASCRIPT = "needs_javascript"  # its text is made in the browser


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWarning:
    """One thing that was capped, guessed or given up; ``count`` says how often."""

    kind: WarningKind
    detail: str = ""
    count: int = 1
