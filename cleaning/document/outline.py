"""The elements of a page for CSS and XPath, beside its ``Tree``: which lines has an element?

Only pages for which a person wrote selectors pay for it. An element is known by the runs that it
spans, so that a selector of any element gives lines of the tree. Hostile pages cannot make a
selector endless: elements behind the first 10,000 and below 64 levels are part of the element
around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from lxml import etree

from crawlclean.cleaning.document.reader import Target
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.errors import ConfigError

MAX_SELECTOR_CHARS = 1000  # the longest of 1,700 published rules of sites has 400
_MAX_ELEMENTS = 10_000  # articles have 500 to 5,000; a selector takes 3 s on the worst page
_MAX_DEPTH = 64  # pages nest thirty; libxml2 merges what it finds below each one around
_MAX_WALKS = 1  # in predicates: each multiplies a selector's time by a page's size or depth
_WALKS = re.compile(r"//|\b(?:descendant|ancestor)\b")
_TOO_FAR = re.compile(r"\b(?:preceding|following)\s*::")
_CALL = re.compile(r"([\w:-]+)\s*\(")
# Those of XPath 1.0; those that programs add to libxml2 would be known here alone.
_FUNCTIONS = frozenset(
    ("boolean", "ceiling", "comment", "concat", "contains", "count", "false", "floor", "id", "lang",
     "last", "local-name", "name", "node", "normalize-space", "not", "number", "position", "round",
     "starts-with", "string", "string-length", "substring", "substring-after", "substring-before",
     "sum", "text", "translate", "true", "and", "div", "mod", "or")
)  # fmt: skip
_SIBLINGS = re.compile(r"-sibling\s*::")
_FIRST = re.compile(r"\[\s*1\s*\]|position\(\) = 1\b")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]")
_NO_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STEADY = re.compile(r"[A-Za-z](?:[A-Za-z_-]{0,40})")  # a name with a number is of one page
_MAX_NAMES = 2  # classes that tell an element; more are its looks
_MAX_VALUE_CHARS = 2000  # of a value that a selector gives: titles and names are shorter


def selector(text: str) -> etree.XPath:
    """Returns a selector for use: XPath from ``/``, ``(`` or a function, else CSS.

    Raises:
        ConfigError: It is neither, or could take too long on some page.
    """
    if len(text) > MAX_SELECTOR_CHARS:
        raise ConfigError(f"a selector has at most {MAX_SELECTOR_CHARS} characters")
    return _compiled(text.strip())


@lru_cache(maxsize=1024)  # hosts with overrides have some ten selectors
def _compiled(text: str) -> etree.XPath:
    is_path = text[:1] in ("/", "(") or _CALL.match(text) is not None
    path = text if is_path else _of_css(text)
    plain = _QUOTED.sub("''", path)
    called = {name.rpartition("::")[2] for name in _CALL.findall(plain)}
    if unknown := called - _FUNCTIONS:
        raise ConfigError(f"{text} calls {min(unknown)}(), which is no function of XPath")
    depth, inside, outside = 0, "", ""
    for char in plain:
        depth += (char == "[") - (char == "]")
        inside += char if depth else " "
        outside += "" if depth else char
    # All siblings behind each of thousands are no step: 17 s for 4,000.
    siblings = len(_SIBLINGS.findall(outside)) > len(_FIRST.findall(plain))
    if siblings or _TOO_FAR.search(plain) or len(_WALKS.findall(inside)) > _MAX_WALKS:
        raise ConfigError(
            f"{text} could take minutes on a large page: use fewer // in [ ], and "
            "//p[preceding-sibling::h2] for h2 ~ p"
        )
    try:
        compiled = etree.XPath(path, smart_strings=False, regexp=False)
        compiled(etree.Element("html"))  # finds what only its use shows, as a prefix
    except etree.XPathError as error:
        raise ConfigError(f"{text} is no XPath: {error}") from None
    return compiled


def _of_css(text: str) -> str:
    from cssselect import HTMLTranslator, SelectorError  # hosts without overrides need none

    try:
        return HTMLTranslator().css_to_xpath(text)
    except SelectorError as error:
        raise ConfigError(f"{text} is no CSS selector: {error}") from None


class Outline:
    """The elements of one page; ``follow`` is given to ``reader.parse``, which fills them."""

    def __init__(self) -> None:
        """Has no element yet."""
        self._begin(Tree())

    def _begin(self, tree: Tree) -> None:
        self._tree = tree
        self._root = etree.Element("html")
        self._spans: dict[etree._Element, list[int]] = {self._root: [0, 0]}

    def follow(self, tree: Tree, target: Target) -> Target:
        """Begins anew with a tree that the parser is to fill."""
        self._begin(tree)
        return _Builder(tree, target, self._root, self._spans)

    def find(self, text: str) -> list[etree._Element | str]:
        """Returns the elements and the texts that a selector finds, in document order.

        Raises:
            ConfigError: It is no selector.
        """
        try:
            found = selector(text)(self._root)
        except etree.XPathError:  # such as a sum of texts; on other pages it may be right
            return []
        if isinstance(found, list):
            return [each for each in found if each in self._spans or isinstance(each, str)]
        return [found] if isinstance(found, str) else []

    def around(self, line: int) -> Iterator[etree._Element]:
        """Yields the elements that have all runs of a line, the outermost first."""
        first, end = self._tree.line_runs(line)
        return (x for x, span in self._spans.items() if span[0] <= first and end <= span[1])

    def lines_of(self, element: etree._Element | str) -> Iterator[int]:
        """Yields the lines of which an element has more than half of the text."""
        tree = self._tree
        first, end = self._spans.get(element, (0, 0))
        chars: Counter[int] = Counter()
        for run in range(first, end):
            chars[tree.line_of[run]] += len(tree.texts[run])
        for line, inside in chars.items():
            if 2 * inside > sum(len(tree.texts[run]) for run in range(*tree.line_runs(line))):
                yield line


def value_of(found: etree._Element | str, *attributes: str) -> str:
    """Returns a text that a selector found, or the first of these attributes, or the text in it.

    White space is collapsed; at most 2,000 characters.
    """
    text = found
    if not isinstance(found, str):
        values = (found.get(name) for name in attributes)
        text = next(filter(None, values), None) or " ".join(found.itertext())
    return " ".join(text.split())[:_MAX_VALUE_CHARS]


def named(element: etree._Element) -> str:
    """Returns CSS of an element by its tag, id and classes; ``""`` where it has no steady ones."""
    own, names = element.get("id", ""), element.get("class", "").split()
    parts = [f"#{own}"] * bool(_STEADY.fullmatch(own))
    parts += [f".{name}" for name in names if _STEADY.fullmatch(name)][:_MAX_NAMES]
    return element.tag + "".join(parts) if parts else ""


class _Builder:
    """Makes an element of each start tag once the reader of the tree has handled it."""

    def __init__(
        self,
        tree: Tree,
        target: Target,
        root: etree._Element,
        spans: dict[etree._Element, list[int]],
    ) -> None:
        self._tree, self._target, self._spans = tree, target, spans
        self._open = [root]
        self._last: etree._Element | None = None  # the element before the text, None: inside
        self._pieces: list[str] = []

    def start(self, tag: str, attributes: dict[str, str], /) -> None:
        """Handles the start of an element."""
        self._target.start(tag, attributes)
        self._end_text()
        parent = self._open[-1]
        if tag == "html" or self._is_full():
            self._open.append(parent)
            return
        kept = {
            name: _NO_XML.sub("", value)
            for name, value in attributes.items()
            if name[:1].isalpha() and not _NO_NAME.search(name)
        }
        element = etree.SubElement(parent, _NO_NAME.sub("-", tag), kept)
        count = len(self._tree.texts)
        self._spans[element] = [count, count]
        self._open.append(element)
        self._last = None

    def end(self, tag: str, /) -> None:
        """Handles the end of an element."""
        self._target.end(tag)
        self._end_text()
        if len(self._open) > 1:
            element = self._open.pop()
            self._spans[element][1] = len(self._tree.texts)
            self._last = element if element is not self._open[-1] else self._last

    def data(self, text: str, /) -> None:
        """Handles a piece of text."""
        self._target.data(text)
        self._pieces.append(text)

    def close(self) -> None:
        """Handles the end of the source."""
        self._target.close()
        for element in self._open:
            self._spans[element][1] = len(self._tree.texts)

    def _is_full(self) -> bool:
        return len(self._spans) >= _MAX_ELEMENTS or len(self._open) > _MAX_DEPTH

    def _end_text(self) -> None:
        """Adds the text since the last tag to the elements, where these have not ended."""
        text = _NO_XML.sub("", "".join(self._pieces))
        self._pieces.clear()
        if not text or self._is_full():
            return
        if self._last is None:
            self._open[-1].text = (self._open[-1].text or "") + text
        else:
            self._last.tail = (self._last.tail or "") + text
