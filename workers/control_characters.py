"""Removes control characters from text of the web, for terminals and logs."""

from __future__ import annotations

import re

# Terminal control codes, line breaks, bidirectional overrides, and lone surrogates, which no
# encoding can write.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
CONTROL_IN_TEXT = re.compile(CONTROL.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f"))


def printable(text: str, *, keep_lines: bool = False) -> str:
    """Replaces every control character by a space; ``keep_lines`` keeps LF and tab."""
    return (CONTROL_IN_TEXT if keep_lines else CONTROL).sub(" ", text)
