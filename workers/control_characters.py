"""Removes control characters from text of the web, for terminals and logs; makes URLs readable."""

from __future__ import annotations

import re

from crawlclean.cleaning.urls.shapes import readable

# Terminal control codes, line breaks, bidirectional marks, overrides and isolates, and lone
# surrogates, which no encoding can write.
CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
CONTROL_IN_TEXT = re.compile(CONTROL.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f"))


def printable(text: str, *, keep_lines: bool = False) -> str:
    """Replaces every control character by a space; ``keep_lines`` keeps LF and tab."""
    return (CONTROL_IN_TEXT if keep_lines else CONTROL).sub(" ", text)


def readable_line(text: str) -> str:
    """Returns a line for people: without control characters, the URLs in it in readable form.

    ``http://a.example/%E4%B8%AD`` becomes ``http://a.example/中``, which every command reads as the
    same URL. JSON and logs have the exact URL.
    """
    return printable(readable(text))
