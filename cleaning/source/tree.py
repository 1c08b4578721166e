"""One parse and one walk of a page: its runs of visible text, its links, its pictures.

The parser is libxml2's, by lxml; the walk follows the tree in document order without recursion and
notes everything later steps ask about, so that no step has to look at the tree again:

* a *run* is a piece of visible text with the link it lies in and the line it stands on; block
  elements and ``<br>`` end a line;
* an *anchor* is an ``<a>`` or ``<area>`` with an href, with the runs it spans;
* a *picture* is an ``<img>`` with the number of runs before it.

Text of script, style, noscript, template, title, select, textarea, iframe and svg is not visible;
links and pictures in them are noted all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree

from cleaning.records import PageWarning, WarningKind
from cleaning.source.limits import Limits, cap_attributes, cap_depth, cap_size, cap_tags

_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center",
        "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
        "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
        "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary",
        "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_HIDDEN = frozenset(
    {
        "script", "style", "noscript", "template", "title", "select", "textarea", "iframe",
        "noframes", "svg", "object",
    }
)  # fmt: skip
_REGIONS = frozenset(("nav", "header", "footer", "aside"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_HEAD = frozenset(("meta", "link", "base", "frame", "iframe"))
# Characters XML has no place for; browsers ignore a NUL in text, the others have no glyph.
_CONTROLS = bytes(range(9)) + b"\x0b\x0c" + bytes(range(14, 32)) + b"\x7f"
# What the walk does with an element; the others only hold text.
_BLOCK, _LINK, _PICTURE, _SETTING, _INVISIBLE = range(5)
_ROLES: dict[object, int] = {
    **dict.fromkeys(_BLOCKS, _BLOCK),
    **dict.fromkeys(("a", "area"), _LINK),
    "img": _PICTURE,
    **dict.fromkeys(_HEAD - {"iframe"}, _SETTING),
    **dict.fromkeys(_HIDDEN, _INVISIBLE),
}
_MARKER_CHARS = 16  # longest heading that can be a start marker


@dataclass(slots=True)
class Anchor:
    """One ``<a>`` or ``<area>`` with an href.

    Attributes:
        element: The lxml element.
        href: The raw attribute.
        start: Number of runs before it.
        end: Number of runs up to its end; its own are ``runs[start:end]``.
        region: Innermost nav, header, footer or aside around it, ``""`` outside.
        is_marked: Whether it stands in the block that a start marker opens.
    """

    element: etree._Element
    href: str
    start: int
    end: int
    region: str
    is_marked: bool


@dataclass(slots=True)
class Picture:
    """One ``<img>``: its element, the runs before it, its anchor's index (-1: none), its region."""

    element: etree._Element
    run: int
    anchor: int
    region: str


@dataclass(slots=True)
class Tree:
    """A parsed page; the lists of runs run in parallel.

    Attributes:
        root: The ``<html>`` element.
        texts: Text of each run as in the source, never blank at the start of a line.
        anchor_of: Index in ``anchors`` of the link each run lies in, -1 outside.
        line_of: Line each run stands on, growing.
        anchors: In document order.
        pictures: In document order.
        head: ``<meta>``, ``<link>``, ``<base>``, ``<frame>`` and ``<iframe>`` in document order,
            wherever they stand, each with the number of anchors before it.
        headings: (level 1-6, first run, run after the last).
        title: Text of the first ``<title>``, white space collapsed.
        warnings: What was capped before parsing.
    """

    root: etree._Element
    texts: list[str] = field(default_factory=list)
    anchor_of: list[int] = field(default_factory=list)
    line_of: list[int] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    head: list[tuple[etree._Element, int]] = field(default_factory=list)
    headings: list[tuple[int, int, int]] = field(default_factory=list)
    title: str = ""
    warnings: tuple[PageWarning, ...] = ()

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Visible text of runs ``start`` to ``end``, one line a block, white space collapsed."""
        lines: list[list[str]] = []
        last = -1
        for text, line in zip(self.texts[start:end], self.line_of[start:end], strict=True):
            if line != last:
                lines.append([])
                last = line
            lines[-1].append(text)
        joined = (" ".join("".join(line).split()) for line in lines)
        return "\n".join(line for line in joined if line)


def parse(
    html: str,
    limits: Limits | None = None,
    is_marker: Callable[[str], bool] = lambda _: False,
) -> Tree:
    """The tree of a decoded source with its runs, links and pictures; never raises.

    Args:
        html: The whole source.
        limits: Caps on size, attributes and depth.
        is_marker: Whether a heading's text opens a block of related links; asked for short texts
            outside links only.
    """
    limits = limits or Limits()
    html, warnings = cap_size(html, limits)
    # As bytes: lxml refuses a str with an XML declaration, and bytes spare it one conversion.
    body = _without_ends(html.encode("utf-8", "replace").translate(None, _CONTROLS))
    for cap in (cap_tags, cap_attributes):
        body, more = cap(body, limits)
        warnings += more
    root, is_too_deep = _root(body)
    if is_too_deep:
        body, warning = cap_depth(body, limits)
        root, _ = _root(body)
        warnings += (warning,)
    tree = Tree(root=root, warnings=warnings)
    _walk(tree, is_marker, limits)
    return tree


def _without_ends(body: bytes) -> bytes:
    """The source without the end tags behind which libxml2 would drop text and links."""
    for lower, upper in ((b"</body>", b"</BODY>"), (b"</html>", b"</HTML>")):
        end = lower if lower in body else upper
        _, _, rest = body.partition(end)
        if rest and rest.strip() not in (b"", b"</html>", b"</HTML>"):
            body = body.replace(end, b"")
    return body


def _root(body: bytes) -> tuple[etree._Element, bool]:
    """The root element, and whether the parser gave up for depth."""
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    # The parser stops there, so it is the last entry; the log itself may hold thousands.
    last = parser.error_log.last_error
    too_deep = last is not None and last.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT
    if root is None:
        root = etree.fromstring(b"<html><body></body></html>", etree.HTMLParser())
    return root, too_deep


def _walk(tree: Tree, is_marker: Callable[[str], bool], limits: Limits) -> None:
    """Fill ``tree`` from its root, in document order."""
    texts, anchor_of, line_of = tree.texts, tree.anchor_of, tree.line_of
    open_anchors: list[int] = []
    open_regions: list[str] = []
    open_headings: list[int] = []
    line = hidden = depth = cut = 0
    room = limits.max_text_chars
    at_line_start = True
    # The block a start marker opens: it ends with the element ``marked_depth`` levels down. An
    # element that holds the marker alone is only its frame, then the block is what is around that.
    marked_depth = -1
    marker_level = 0
    has_content_since = False

    role_of = _ROLES.get
    for event, element in etree.iterwalk(tree.root, events=("start", "end")):
        tag = element.tag
        role = role_of(tag)
        if event == "start":
            depth += 1
            if role is None:
                pass
            elif role is _BLOCK:
                line += 1
                at_line_start = has_content_since = True
                if tag in _HEADINGS:
                    open_headings.append(len(texts))
                    if int(tag[1]) <= marker_level:
                        marked_depth = -1
                elif tag in _REGIONS:
                    open_regions.append(tag)
            elif role is _LINK:
                href = element.get("href")
                if href is not None:
                    region = open_regions[-1] if open_regions else ""
                    here = len(texts)
                    open_anchors.append(len(tree.anchors))
                    tree.anchors.append(
                        Anchor(element, href, here, here, region, marked_depth >= 0)
                    )
            elif role is _PICTURE:
                anchor = open_anchors[-1] if open_anchors else -1
                region = open_regions[-1] if open_regions else ""
                tree.pictures.append(Picture(element, len(texts), anchor, region))
            elif role is _SETTING:
                tree.head.append((element, len(tree.anchors)))
            else:
                hidden += 1
                if tag == "title" and not tree.title:
                    tree.title = _title(tree, element, limits)
                elif tag == "iframe":
                    tree.head.append((element, len(tree.anchors)))
            text = element.text
        else:
            depth -= 1
            if role is None:
                pass
            elif role is _BLOCK:
                line += 1
                at_line_start = True
                if tag in _HEADINGS:
                    tree.headings.append((int(tag[1]), open_headings.pop(), len(texts)))
                elif tag in _REGIONS:
                    open_regions.pop()
            elif role is _LINK:
                if element.get("href") is not None:
                    tree.anchors[open_anchors.pop()].end = len(texts)
            elif role is _INVISIBLE:
                hidden -= 1
            if depth < marked_depth:
                marked_depth = -1 if has_content_since else depth
            text = element.tail
        if text is None or hidden:
            continue
        if text.isspace():
            # Between inline elements it is a space, elsewhere nothing.
            if not at_line_start and not texts[-1].endswith(" "):
                texts[-1] += " "
            continue
        if len(text) > room:
            cut += len(text) - room
            text = text[:room]
            if not text:
                continue
        room -= len(text)
        texts.append(text)
        anchor_of.append(open_anchors[-1] if open_anchors else -1)
        line_of.append(line)
        at_line_start = False
        if len(text) < 64 and not open_anchors:
            short = text.strip()
            if len(short) <= _MARKER_CHARS and is_marker(short):
                marked_depth = depth
                # Cards of the block have headings too: only one as high as the marker's ends it.
                marker_level = int(tag[1]) if tag in _HEADINGS else 2
                has_content_since = False
    if cut:
        _warn(tree, f"read {limits.max_text_chars} characters of visible text", cut)


def _title(tree: Tree, element: etree._Element, limits: Limits) -> str:
    pieces: list[str] = []
    room = 4 * limits.max_title_chars  # white space is yet to be collapsed
    for piece in element.itertext():
        pieces.append(piece[:room])
        room -= len(piece)
        if room <= 0:
            break
    title = " ".join("".join(pieces).split())
    if room < 0 or len(title) > limits.max_title_chars:
        title = title[: limits.max_title_chars]
        _warn(tree, f"read {len(title)} characters of the title", 1)
    return title


def _warn(tree: Tree, detail: str, count: int) -> None:
    warning = PageWarning(kind=WarningKind.CAPPED_TEXT, detail=detail, count=count)
    tree.warnings += (warning,)
