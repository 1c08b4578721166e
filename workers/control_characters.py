"""Text from the web without the characters that a terminal or a log obeys."""

from __future__ import annotations

import re

# What a terminal obeys instead of showing it, what breaks a line, what turns the order of
# characters around, and what no encoding can carry.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
CONTROL_IN_TEXT = re.compile(CONTROL.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f"))


def printable(text: str, *, keep_lines: bool = False) -> str:
    """The text with a space for every control character; ``keep_lines``: but LF and tab."""
    return (CONTROL_IN_TEXT if keep_lines else CONTROL).sub(" ", text)
