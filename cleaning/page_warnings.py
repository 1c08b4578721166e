"""Warnings of a page: what the cleaner capped, guessed or gave up."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class WarningKind(StrEnum):
    """The kind of a warning."""

    REPLACED_CHARACTERS = "replaced_characters"  # bytes that no charset explains
    WRONG_CHARSET = "wrong_charset"  # a declared charset was overruled
    CUT_SHORT = "cut_short"  # the response ended before its declared length
    CAPPED_SIZE = "capped_size"  # the source is longer than is read
    CAPPED_ATTRIBUTES = "capped_attributes"  # a tag has more attributes than are read
    CAPPED_DEPTH = "capped_depth"  # tags are nested deeper than is read
    CAPPED_LINKS = "capped_links"  # more links than a record keeps
    CAPPED_IMAGES = "capped_images"  # more images than a record keeps
    CAPPED_TEXT = "capped_text"  # more text than a record keeps
    LONG_BASE = "long_base"  # a <base href> too long to be joined to every link
    BAD_LINKS = "bad_links"  # hrefs that cannot be resolved to a URL
    LOST_FIELD = "lost_field"  # a defect of this program cost the record one field
    HOOK_FAILED = "hook_failed"  # a record step of another package failed and changed nothing
    EMPTY_BODY = "empty_body"  # the page has much text, and no part of it is its body
    TEMPLATE_BODY = "template_body"  # the body was dropped: the host's other pages have it, too
    NEEDS_JAVASCRIPT = "needs_javascript"  # the page's text is made by scripts


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWarning:
    """A warning of one kind.

    Attributes:
        kind: What was capped, guessed or given up.
        detail: A few words for a person, such as ``kept the first 20000``; may be empty.
        count: How often; of a cap, how many were dropped.
    """

    kind: WarningKind
    detail: str = ""
    count: int = 1
