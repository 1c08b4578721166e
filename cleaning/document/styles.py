"""What the styles of a page hide from its readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

# What a style hides: also what it puts off the screen or cuts to nothing. An opacity of 0 is none,
# for texts are faded in. Few styles have one of these words, which are quicker to look for.
_HIDING_WORDS = ("none", "hidden", ":-", ": -", "rect(")
_HIDING = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]"
    r"|(?:left|top|text-indent)\s*:\s*-\d{4}|(?P<flat>(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|$)))"
)
# Of an inline element or a paragraph: parts have it so that no gaps are between the parts inside.
_NO_SIZE = re.compile(r"font-size\s*:\s*0(?:px|pt|r?em|%)?\s*(?:!|;|$)")
_MAX_STYLE_CHARS = 1000  # of an element's style
_DISPLAY = re.compile(r"display\s*:\s*(none)?")
_SIZELESS = re.compile(r"font-size\s*:\s*0(?:px)?\s*[;}!]")
_NAME = re.compile(r"[.#]([\w-]+)")
# A selector of one name, ``.name``, ``#name`` or ``p.name``: others depend on what is around.
_ONE_NAME = re.compile(r"\s*\w*[.#]([\w-]+)\s*")
_MAX_RULE_CHARS = 1000  # from the beginning of a rule to what it is displayed as


@lru_cache(maxsize=1024)
def hides(style: str, *, is_inline: bool) -> bool:
    """Returns whether a style attribute hides its element: ``display: none``.

    An element without a height or width is hidden where its overflow is.

    Args:
        style: The attribute.
        is_inline: Whether the element is inline, or a paragraph.
    """
    style = style[:_MAX_STYLE_CHARS].lower()
    if any(word in style for word in _HIDING_WORDS):
        match = _HIDING.search(style)
        if match and (match.lastgroup is None or "overflow" in style):
            return True
    return is_inline and _NO_SIZE.search(style) is not None


def hidden_names(css: str) -> set[str]:
    """Returns the classes and ids that a style sheet hides on all screens: ``{"jammer"}``.

    Each has a rule of its own, ``.jammer{display:none}``. A name that another rule shows is none:
    ``.panel.open``, or on wide screens. Cost: linear.
    """
    hidden: set[str] = set()
    shown: set[str] = set()
    for match, depth, selectors in _rules(css, _DISPLAY):
        if not match[1]:
            shown.update(_NAME.findall(selectors))
        elif depth == 0:
            hidden |= _single_names(selectors)
    return hidden - shown


def sizeless_names(css: str) -> set[str]:
    """Returns the classes and ids whose own words a style sheet gives no size on all screens."""
    found: set[str] = set()
    return found.union(*(_single_names(each) for _, n, each in _rules(css, _SIZELESS) if n == 0))


def _rules(css: str, wanted: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int, str]]:
    """Yields (match, rules around, selectors) of the rules in which a pattern matches, in order."""
    at = depth = 0
    for match in wanted.finditer(css):
        first = max(match.start() - _MAX_RULE_CHARS, 0)
        start = css.rfind("{", first, match.start())
        if start >= at:
            depth += css.count("{", at, start) - css.count("}", at, start)
            at = start
            yield match, depth, css[max(css.rfind(c, first, start) for c in "{}/") + 1 : start]


def _single_names(selectors: str) -> set[str]:
    return {match[1] for match in map(_ONE_NAME.fullmatch, selectors.split(",")) if match}
