"""A page as HTML that is silent: it fetches nothing, runs nothing, and leads nowhere.

A person can look at a stranger's page in a frame without a request, a connection or a look-up of a
name. Tags and attributes are written that are known to be harmless; all others are left out:

- no scripts, links, metas, bases; text inside of unknown and framing elements (``<iframe>``,
  ``<noscript>``) stays, because a page may never end them;
- no attribute with an address; the addresses of links and images are their titles, as text;
- styles without anything that is fetched.

The events of the parser that fills the page's ``Tree`` are written as they come, so that blocks and
lines have the same numbers: a block element has its number as ``data-block``, and the text of a
marked line stands in ``<v-t>``. Cost: linear; the caps are those of the reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from crawlclean.cleaning.document.reader import Target, parse
from crawlclean.cleaning.document.tree import CODE, INLINE, ROLES, Tree

# Style sheets without anything that a browser would fetch.
#
# What may fetch is not searched for; what cannot is known: a declaration or a selector stays when
# it holds no function but harmless ones (``rgb``, ``calc``, ``:nth-child``), no address, and
# belongs to no rule that names a file. Escapes are decoded and comments removed first, so that the
# text that is looked at is the text that a browser reads.

_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|([^0-9a-fA-F])|$)")
_ENDS = re.compile(r"([;{}])")
_FUNCTION = re.compile(r"(?<![\w-])([\w-]*+)\(")
_HARMLESS = frozenset(
    {
        "", "and", "or", "not", "is", "where", "has", "lang", "dir", "nth-child", "nth-of-type",
        "nth-last-child", "nth-last-of-type", "rgb", "rgba", "hsl", "hsla", "calc", "min", "max",
        "clamp", "var", "translate", "translatex", "translatey", "translate3d", "rotate", "scale",
        "scalex", "scaley", "skew", "matrix", "cubic-bezier", "steps", "linear-gradient",
        "repeating-linear-gradient", "radial-gradient", "minmax", "repeat", "fit-content",
        "attr", "counter", "counters", "blur", "brightness", "contrast", "drop-shadow",
        "grayscale", "opacity", "saturate", "rect", "inset", "circle", "polygon",
    }
)  # fmt: skip
_RULES = re.compile(r"@\s*(?!(?:media|supports|keyframes|page|layer|container)\b)", re.I)


def silent_style(css: str) -> str:
    """Returns a style sheet, or the declarations of an attribute, without what is fetched.

    ``a{color:red;background:url(/x.png)}`` gives ``a{color:red;}``. Escapes are decoded, ``<`` and
    controls are removed. Cost: linear.
    """
    text = _without_comments(css)
    if "\\" in text:
        text = _ESCAPE.sub(_decoded, text)
        text = text.replace("\\", " ")
    text = text.replace("<", " ").replace("\0", " ")
    text = _without_comments(text)  # escapes may have written new ones
    return "".join(each if len(each) < 2 or _is_silent(each) else " " for each in _ENDS.split(text))


def _is_silent(piece: str) -> bool:
    """Whether a piece between ``;``, ``{`` and ``}`` fetches nothing and has no address."""
    if "//" in piece or ("@" in piece and _RULES.search(piece)):
        return False
    if "(" not in piece:
        return True
    return all(name.lower() in _HARMLESS for name in _FUNCTION.findall(piece))


def _without_comments(css: str) -> str:
    if "/*" not in css:
        return css
    kept: list[str] = []
    place = 0
    while (start := css.find("/*", place)) >= 0:
        kept += (css[place:start], " ")
        end = css.find("*/", start + 2)
        if end < 0:
            return "".join(kept)
        place = end + 2
    kept.append(css[place:])
    return "".join(kept)


def _decoded(match: re.Match[str]) -> str:
    digits, character = match.groups()
    if digits:
        number = int(digits, 16)
        return chr(number) if 0 < number < 0xD800 or 0xDFFF < number < 0x110000 else " "
    return "" if character in ("\n", "\f", "\r", None) else str(character)


MARK_ID = "v"
"""A mark's number is the id of its first ``<v-t>`` behind this: ``v17``."""

_TAGS = frozenset(
    {
        "a", "abbr", "acronym", "address", "article", "aside", "b", "bdi", "bdo", "big",
        "blockquote", "br", "caption", "center", "cite", "code", "col", "colgroup", "dd", "del",
        "details", "dfn", "dir", "div", "dl", "dt", "em", "fieldset", "figcaption", "figure",
        "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "i", "img",
        "ins", "kbd", "label", "legend", "li", "main", "mark", "menu", "nav", "nobr", "ol", "p",
        "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span", "strike",
        "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time",
        "tr", "tt", "u", "ul", "var", "wbr",
    }
)  # fmt: skip
_INSTEAD = {"form": "div", "button": "span", "dialog": "div", "option": "div", "optgroup": "div"}
_VOID = frozenset({"br", "col", "hr", "img", "wbr"})
_ATTRIBUTES = frozenset(
    {
        "align", "bgcolor", "border", "cellpadding", "cellspacing", "class", "color", "colspan",
        "dir", "face", "height", "hidden", "id", "lang", "nowrap", "open", "reversed", "rowspan",
        "size", "span", "start", "style", "title", "type", "valign", "value", "width", "alt",
    }
)  # fmt: skip
_DROPPED_TEXT = frozenset({"script", "title", "xml"})
_MAX_TITLE_CHARS = 300  # of an element's title, which has an address of any length
_MAX_STYLE_CHARS = 2_000_000  # of all sheets; cut in pieces they take twenty times their size


@dataclass(frozen=True, slots=True)
class Mark:
    """How the text of a line is marked.

    Attributes:
        number: Number of the mark; several lines may share it.
        kind: Value of ``data-kind``: ``navigation``.
        title: What a browser shows when it is pointed at.
    """

    number: int
    kind: str
    title: str


def silent_html(html: str, marks: Mapping[int, Mark] | None = None, styles: str = "") -> str:
    """Returns a page as silent HTML, a whole document.

    Args:
        html: The decoded source.
        marks: The marks of lines, by the number of the line in the page's ``Tree``.
        styles: A style sheet of our own, written as it is behind the page's own.
    """
    writers: list[_Writer] = []

    def follow(tree: Tree, target: Target) -> Target:
        writers.append(_Writer(tree, target, marks or {}))
        return writers[-1]

    parse(html, follow=follow)
    own = f"<style>{styles}</style>" if styles else ""
    return f"<!doctype html>\n{''.join(writers[-1].out)}{own}\n"


class _Writer:
    """Writes each event of the parser once the reader of the tree has handled it."""

    def __init__(self, tree: Tree, target: Target, marks: Mapping[int, Mark]) -> None:
        self.out: list[str] = []
        self._tree, self._target, self._marks = tree, target, marks
        self._pieces: list[str] = []
        self._open: list[str] = []  # the end tag of each open element, "" for one not written
        self._styles = self._dropped = 0
        self._style_room = _MAX_STYLE_CHARS
        self._roots: set[str] = set()  # those of <html> and <body> that are written
        self._seen: set[int] = set()
        self._last = -1, ""  # place of the text of the last run in ``out``, and it without a mark

    def start(self, tag: str, attributes: dict[str, str], /) -> None:
        """Handles the start of an element."""
        before = len(self._tree.texts)
        self._target.start(tag, attributes)
        self._write_text(before)
        written = _INSTEAD.get(tag, tag)
        if tag == "style":
            self._styles += 1
        elif tag in _DROPPED_TEXT:
            self._dropped += 1
        if tag in ("html", "body"):  # each once; they end with the document
            if tag not in self._roots:
                self._roots.add(tag)
                self.out.append(f"<{tag}{self._attributes(tag, attributes)}>")
            written = ""
        elif written not in _TAGS:
            written = ""
        else:
            self.out.append(f"<{written}{self._attributes(tag, attributes)}>")
        self._open.append(f"</{written}>" if written and written not in _VOID else "")

    def end(self, tag: str, /) -> None:
        """Handles the end of an element."""
        before = len(self._tree.texts)
        self._target.end(tag)
        self._write_text(before)
        if tag == "style":
            self._styles -= 1
        elif tag in _DROPPED_TEXT:
            self._dropped -= 1
        if self._open:
            self.out.append(self._open.pop())

    def data(self, piece: str, /) -> None:
        """Handles a piece of text."""
        self._target.data(piece)
        self._pieces.append(piece)

    def close(self) -> None:
        """Handles the end of the source."""
        before = len(self._tree.texts)
        self._target.close()
        self._write_text(before)

    def _write_text(self, before: int) -> None:
        """Writes the text since the last tag, marked if it became a run of a marked line."""
        tree = self._tree
        if len(tree.texts) < before and self._last[0] >= 0:
            # The reader took a permalink back; its line is another one's now.
            place, text = self._last
            self.out[place] = text
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        if self._dropped:
            return
        if self._styles:
            if len(text) <= self._style_room:
                self._style_room -= len(text)
                self.out.append(f"<style>{silent_style(text)}</style>")
            return
        text = escape(text, quote=False)
        mark = self._marks.get(tree.line_of[-1]) if len(tree.texts) > before else None
        self._last = len(self.out), text
        if mark is None:
            self.out.append(text)
            return
        name = ""
        if mark.number not in self._seen:
            self._seen.add(mark.number)
            name = f' id="{MARK_ID}{mark.number}"'
        title = escape(mark.title)
        self.out.append(f'<v-t{name} data-kind="{escape(mark.kind)}" title="{title}">{text}</v-t>')

    def _attributes(self, tag: str, attributes: dict[str, str]) -> str:
        """The harmless attributes of an element, and its number if it is a block."""
        written = []
        address = attributes.get("href" if tag == "a" else "src") if tag in ("a", "img") else None
        for name, value in attributes.items():
            # An id of the page could be taken for a mark's: ``v17``.
            is_mark = name == "id" and value.startswith(MARK_ID) and value[len(MARK_ID) :].isdigit()
            if name not in _ATTRIBUTES or is_mark or (name == "title" and address):
                continue
            if name == "style":
                value = silent_style(value[:_MAX_STYLE_CHARS])
            written.append(f' {name}="{escape(value)}"')
        if address:
            title = f"{attributes.get('title', '')} {address}".strip()[:_MAX_TITLE_CHARS]
            written.append(f' title="{escape(title)}"')
        if tag == "html":
            written.append(' data-block="0"')
        elif ROLES.get(tag, INLINE) <= CODE:
            written.append(f' data-block="{len(self._tree.block_tags) - 1}"')
        return "".join(written)
