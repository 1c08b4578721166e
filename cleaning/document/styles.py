"""What the styles of a page hide from its readers."""

from __future__ import annotations

import re
from functools import lru_cache

# What a style hides: also what it puts off the screen or cuts to nothing. An opacity of 0 is none,
# for texts are faded in. Few styles have one of these words, which are quicker to look for.
_HIDING_WORDS = ("none", "hidden", ":-", ": -", "rect(")
_HIDING = re.compile(
    r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*hidden|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]"
    r"|(?:left|top|text-indent)\s*:\s*-\d{4}|(?P<flat>(?:max-)?(?:height|width)\s*:\s*0(?:px)?\s*(?:;|$)))"
)
# Of an inline element or a paragraph: parts have it so that no gaps are between the parts inside.
_NO_SIZE = re.compile(r"(?<![\w-])font-size\s*:\s*0(?:px|pt|r?em|%)?\s*(?:!|;|$)")
_MAX_STYLE_CHARS = 1000  # of an element's style
_DISPLAY = re.compile(r"(?<![\w-])display\s*:\s*(none)?")
# What may hold braces that are none of a rule's: an escape, a comment, a string. So read to the end
# of the sheet, or line, if they have no end of their own.
_ASIDE = re.compile(
    r"""\\.|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|<!--|-->""", re.S
)
_NAME = re.compile(r"[.#][\w-]+")
# A selector of one name, ``.name``, ``#name`` or ``p.name``: others depend on what is around.
_ONE_NAME = re.compile(r"\s*(\w*)([.#][\w-]+)\s*")


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


class SheetNames:
    """The classes and ids, ``.jammer`` or ``#stamp``, that a page's style sheets hide.

    Each has a rule of its own on all screens, ``.jammer{display:none}``. One that a rule of any
    sheet shows is not hidden: ``.panel.open``, or on wide screens.

    Attributes:
        hidden: The tags of each name's hidden elements, ``""`` for all.
        sizeless: The tags of those whose own words have no size, which hides words in a line.
    """

    def __init__(self) -> None:
        self.hidden: dict[str, set[str]] = {}
        self.sizeless: dict[str, set[str]] = {}
        self._shown: set[str] = set()
        self._words: set[str] = set()  # all of both without their marks

    def read(self, css: str) -> None:
        """Adds the names of one sheet. Cost: linear."""
        if "display" not in css and "font-size" not in css:
            return
        depth = 0
        for piece in _ASIDE.sub(" ", css).split("}"):
            depth += piece.count("{")
            # Most rules say neither, and a plain search tells so in a tenth of the time.
            if "display" in piece or "font-size" in piece:
                heads, brace, declarations = piece.rpartition("{")
                if brace:
                    self._read_rule(heads.rpartition("{")[2], declarations, depth)
            depth = max(depth - 1, 0)
        self._words = {name[1:] for name in (*self.hidden, *self.sizeless)}

    def _read_rule(self, selectors: str, declarations: str, depth: int) -> None:
        displays = _DISPLAY.findall(declarations)
        if not all(displays):
            names = _NAME.findall(selectors)
            self._shown.update(names)
            for name in names:
                self.hidden.pop(name, None)
        elif displays and depth == 1:
            _add_single_names(self.hidden, selectors, self._shown)
        if depth == 1 and _NO_SIZE.search(declarations):
            _add_single_names(self.sizeless, selectors, set())

    def hide(self, tag: str, classes: str, identity: str, *, is_inline: bool) -> bool:
        """Returns whether the sheets hide an element, or the words of an inline one."""
        words = classes.split()
        if identity not in self._words and self._words.isdisjoint(words):
            return False
        sheets = (self.hidden, self.sizeless) if is_inline else (self.hidden,)
        return any(
            not {"", tag}.isdisjoint(names.get(name, ()))
            for names in sheets
            for name in (f"#{identity}", *(f".{each}" for each in words))
        )


def _add_single_names(found: dict[str, set[str]], selectors: str, without: set[str]) -> None:
    selectors = selectors.rpartition(";")[2]  # an @import before it
    if "(" not in selectors:  # of :not(.open, .wide) the commas part no selectors
        for match in map(_ONE_NAME.fullmatch, selectors.split(",")):
            if match and match[2] not in without:
                found.setdefault(match[2], set()).add(match[1].lower())
