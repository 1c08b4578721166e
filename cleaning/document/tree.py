"""The tree of a parsed page, as flat lists: runs of visible text, blocks, links and pictures.

``reader`` fills them in document order. Later steps read nothing but the lists, never the source:

* a *run* is a piece of visible text with the link it lies in and the line it stands on; block
  elements and ``<br>`` end a line;
* a *block* is a block element with its tag, its names, its parent and its lines;
* an *anchor* is an ``<a>`` or ``<area>`` with an href, with the runs it spans;
* a *picture* is an ``<img>`` with the number of runs before it;
* a *mark* is the emphasis of a run: strong, emphasis, monospace.

White space is kept in ``<pre>`` and inline code: a run there may begin and end with it, and a
``<br>`` in ``<pre>`` is the line break its next run begins with.

Text of script, style, noscript, template, title, select, textarea, iframe, svg, canvas, audio and
video is not visible, nor are readings (ruby) and what a style hides inside a line; links and
pictures in them are listed all the same, and so are JSON-LD and the signs of a page made by
scripts. A declared shadow root is visible. A formula is one run, its source. A permalink, one
symbol in a heading that leads to a place in the page, is an anchor without a run; tools at the end
of a heading are a line of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from msgspec import Struct

from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind

# Caps on a source before it is parsed; each cap that applies gives a warning.
#
# Four things make a parser slow or memory-hungry, or hide text from it:
#
# - a source of any size;
# - millions of tags: each costs some 700 bytes;
# - a tag with thousands of attributes: each costs some 150 bytes at once. Looked for in long
#   sources alone, tag by tag only after a cheap test;
# - elements nested deeper than 2,048: libxml2 compares each end tag with all open elements. Looked
#   for only after the parser met them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a source is read.

    Attributes:
        max_chars: Characters of the source.
        max_tags: Start and end tags; the source behind them is not read.
        max_attributes: Attributes of one tag.
        max_depth: Nesting of elements.
        max_text_chars: Visible text; words cost five times their letters while they are counted.
        max_title_chars: Characters of the title.
    """

    max_chars: int = 64 * 2**20
    max_tags: int = 500_000
    max_attributes: int = 256
    max_depth: int = 1000
    max_text_chars: int = 10 * 2**20
    max_title_chars: int = 1000


# One attribute as the HTML standard reads it: a quote opens a value only behind ``=``, elsewhere it
# is part of a name. Possessive throughout: linear time.
_ATTRIBUTE_SOURCE = (
    rb"(?:=[^\s/>=]*+|[^\s/>=]++)"
    rb"(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\s>]++)?)?"
)
_ATTRIBUTE = re.compile(_ATTRIBUTE_SOURCE)
# A group without a bound would remember every attribute of a tag: a tag is read in pieces.
_PIECE_SOURCE = rb"(?:[\s/]++|" + _ATTRIBUTE_SOURCE + rb"){1,1000}"
_PIECE = re.compile(_PIECE_SOURCE + rb">?")
_TAG = re.compile(
    rb"(?P<comment><!--)"
    rb"|(?P<raw><(?:script|style)\b[^>]*+>)"
    rb"|<[A-Za-z][^\s/>]*+(?:" + _PIECE_SOURCE + rb")?>?",
    re.I,
)
_RAW_END = re.compile(rb"</(?:script|style)\b", re.I)
_LONG_TAG = re.compile(rb"<[A-Za-z][^>]{512}[^>]*+")
_HIDDEN_END = re.compile(rb"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)")
_LONG_SOURCE_BYTES = 1_000_000  # of shorter ones the attributes of one tag take some 30 MB at most
# A name ends at white space, slash or ``>``: ``<meta文>`` is no void element.
_START_OR_END = re.compile(rb"<(/?)([A-Za-z][^\s/>]*+)[^>]*+(?:>|\Z)")
_BEGINNINGS = frozenset((b"<", b"/", b"!", b"-", b"?"))  # ends of ``<``, ``</`` and ``<!--``
# Void elements do not add to the depth.
_VOID = frozenset(
    name.encode()
    for name in {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
        "source", "track", "wbr",
    }
)  # fmt: skip
# Elements that end before the next one of their tag, where no other element stands between.
_ENDED_BY_THE_NEXT = frozenset((b"p", b"li", b"option"))


def cap_size(html: str, limits: Limits) -> tuple[str, tuple[PageWarning, ...]]:
    """Cuts a source at the largest size; returns the source and warnings."""
    if len(html) <= limits.max_chars:
        return html, ()
    detail = Message("read_chars", limits.max_chars, len(html))
    return html[: limits.max_chars], (PageWarning(kind=WarningKind.CAPPED_SIZE, detail=detail),)


def cap_tags(body: bytes, limits: Limits) -> tuple[bytes, tuple[PageWarning, ...]]:
    """Cuts a source behind the last allowed tag; returns the source and warnings."""
    if len(body) <= limits.max_tags or body.count(b"<") <= limits.max_tags:
        return body, ()
    end = -1
    for _ in range(limits.max_tags + 1):
        end = body.find(b"<", end + 1)
    detail = Message("read_tags", limits.max_tags, end, len(body))
    return body[:end], (PageWarning(kind=WarningKind.CAPPED_SIZE, detail=detail),)


def cap_attributes(body: bytes, limits: Limits) -> tuple[bytes, tuple[PageWarning, ...]]:
    """Cuts tags of a long UTF-8 source behind the last allowed attribute; returns it and warnings.

    In a short source the attributes cost little until the reader counts them.
    """
    if len(body) <= _LONG_SOURCE_BYTES:
        return body, ()
    # Some tag may have too many attributes, or enough of them hold a ``>`` to hide others.
    may_hide = islice(_HIDDEN_END.finditer(body), limits.max_attributes)
    if not _is_suspicious(body) and sum(1 for _ in may_hide) < limits.max_attributes:
        return body, ()
    pieces: list[bytes] = []
    end = 0
    for start, tag_end in _tags(body):
        # The shortest attribute takes two bytes.
        if tag_end - start < 2 * limits.max_attributes:
            continue
        cut = _end_of_attribute(body[start:tag_end], limits.max_attributes)
        if cut:
            pieces += (body[end : start + cut], b">")
            end = tag_end
    if not pieces:
        return body, ()
    return b"".join((*pieces, body[end:])), (attributes_warning(limits, len(pieces) // 2),)


def _tags(body: bytes) -> Iterator[tuple[int, int]]:
    """Yields start and end of each start tag.

    Comments and the contents of scripts and styles hold no tags and are passed over.
    """
    at = 0
    while match := _TAG.search(body, at):
        at = match.end()
        if match.lastgroup == "comment":
            at = body.find(b"-->", at)
            if at < 0:
                return
        elif match.lastgroup == "raw":
            raw_end = _RAW_END.search(body, at)
            if raw_end is None:
                return
            at = raw_end.start()
        else:
            while body[at - 1 : at] != b">" and (piece := _PIECE.match(body, at)):
                at = piece.end()
            yield match.start(), at


def attributes_warning(limits: Limits, tags: int) -> PageWarning:
    """Builds the warning of tags with too many attributes."""
    detail = Message("attributes", limits.max_attributes)
    return PageWarning(kind=WarningKind.CAPPED_ATTRIBUTES, detail=detail, count=tags)


def cap_depth(body: bytes, limits: Limits, *, ends_count: bool = True) -> tuple[bytes, PageWarning]:
    """Removes the tags that lie too deep, but not their text; returns the source and a warning.

    Args:
        body: The source.
        limits: ``max_depth`` is used.
        ends_count: Whether an end tag closes its element and the next ``<li>`` the last, as they
            mostly do (not in ``<b><div></b>``); without, no source is too deep afterwards.
    """
    depth = dropped = 0
    never_deep = _VOID | _ENDED_BY_THE_NEXT if ends_count else _VOID
    open_names: dict[bytes, int] = {}

    def shallow(match: re.Match[bytes]) -> bytes:
        nonlocal depth, dropped
        name = match[2].lower()
        if name in never_deep:
            return match[0]
        # What stands before a removed tag must not make a new tag with what stands behind it.
        removed = b" " if body[match.start() - 1 : match.start()] in _BEGINNINGS else b""
        if match[1]:
            if not ends_count or not open_names.get(name):
                return match[0] if depth < limits.max_depth else removed
            open_names[name] -= 1
            depth -= 1
            return match[0] if depth < limits.max_depth else removed
        depth += 1
        open_names[name] = open_names.get(name, 0) + 1
        if depth <= limits.max_depth:
            return match[0]
        dropped += 1
        # Links are what a crawl lives on: they stay, and end each other.
        return match[0] if name == b"a" else removed

    return _START_OR_END.sub(shallow, body), PageWarning(
        kind=WarningKind.CAPPED_DEPTH,
        detail=Message("nested", limits.max_depth),
        count=dropped,
    )


def _is_suspicious(body: bytes) -> bool:
    """Whether some tag may have too many attributes, quotes not considered."""
    return any(
        sum(map(match[0].count, (b" ", b"\n", b"\t", b"/", b'"', b"'"))) >= 250
        for match in _LONG_TAG.finditer(body)
    )


def _end_of_attribute(tag: bytes, most: int) -> int:
    """Where the ``most``-th attribute of a tag ends; 0 when the tag has no more attributes."""
    end = 0
    for count, match in enumerate(_ATTRIBUTE.finditer(tag, 1)):  # match 0 is the tag's name
        if count == most:
            end = match.end()
        elif count > most:
            return end
    return 0


# The role of each tag of HTML; tags without a role are inline. Headings, regions, lists with
# numbers, cells and code are blocks that need more work. Blocks come first, so that one comparison
# separates them from all others, and a plain block is the only false role.
BLOCK, HEADING, REGION, NUMBERED, CELL, CODE = range(6)
LINK, INLINE, PICTURE, SETTING, INVISIBLE, BREAK, ROOT, MARK = range(6, 14)

REGIONS = frozenset(("nav", "header", "footer", "aside"))
# The tags that ARIA roles stand for: landmarks of a page, menus, and windows before it.
LANDMARKS = {
    "main": "main",
    **dict.fromkeys(("navigation", "menu", "menubar"), "nav"),
    "contentinfo": "footer",
    "complementary": "aside",
    **dict.fromkeys(("dialog", "alertdialog"), "dialog"),
}
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "button", "caption", "center",
        "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
        "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary",
        "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_INVISIBLE = (
    "script", "style", "noscript", "template", "title", "select", "textarea", "iframe", "noframes",
    "svg", "object", "canvas", "audio", "video", "math", "annotation", "annotation-xml", "rb", "rt",
    "rp", "rtc",
)  # fmt: skip
# Marks of text in inline elements, as bits.
STRONG, EMPHASIS, MONOSPACE = 1, 2, 4
MARKS: dict[str, int] = {
    **dict.fromkeys(("b", "strong"), STRONG),
    **dict.fromkeys(("i", "em"), EMPHASIS),
    **dict.fromkeys(("code", "tt", "samp", "kbd"), MONOSPACE),
}
ROLES: dict[str, int] = {
    **dict.fromkeys(_BLOCKS, BLOCK),
    "ol": NUMBERED,
    **dict.fromkeys(("td", "th"), CELL),
    "pre": CODE,
    **dict.fromkeys(MARKS, MARK),
    **dict.fromkeys(HEADINGS, HEADING),
    **dict.fromkeys(REGIONS, REGION),
    **dict.fromkeys(("a", "area"), LINK),
    **dict.fromkeys(("img", "amp-img"), PICTURE),
    **dict.fromkeys(("br", "hr"), BREAK),
    **dict.fromkeys(("meta", "link", "base", "frame"), SETTING),
    **dict.fromkeys(_INVISIBLE, INVISIBLE),
    "html": ROOT,
}


# They come by hundreds to a page: a Struct is made in half the time, and unseen by the collector.


class Anchor(Struct, gc=False):
    """One ``<a>`` or ``<area>`` with an href.

    Attributes:
        attributes: By name, as in the source.
        href: The raw attribute.
        start: Number of runs before it.
        end: Number of runs up to its end: it spans ``runs[start:end]``.
        region: Innermost nav, header, footer or aside around it, ``""`` outside.
        block: Innermost block around its start.
    """

    attributes: dict[str, str]
    href: str
    start: int
    end: int
    region: str
    block: int


class Picture(Struct, gc=False):
    """One ``<img>``.

    Attributes:
        attributes: By name, as in the source.
        run: Number of runs before it.
        anchor: Index of the anchor around it, -1 outside.
        region: Innermost nav, header, footer or aside around it, ``""`` outside.
        block: Innermost block around it.
    """

    attributes: dict[str, str]
    run: int
    anchor: int
    region: str
    block: int


@dataclass(slots=True)
class Scripts:
    """The scripts of a page.

    Attributes:
        chars: Characters of inline scripts.
        files: Number of ``<script src>``.
        data: JSON-LD scripts, whole, at most 256,000 characters in all.
        state: Name of the variable or script that holds the data of a page made by scripts, such as
            ``__NEXT_DATA__``; ``""`` without.
        noscript: Beginning of the text for browsers without scripts.
        has_title: Whether an element of that text is how the page's title begins.
    """

    chars: int = 0
    files: int = 0
    data: list[str] = field(default_factory=list)
    state: str = ""
    noscript: str = ""
    has_title: bool = False


Weighed = tuple[list[str], list[float], list[float], list[float]]


@dataclass(slots=True)
class Tree:
    """A parsed page; the lists of runs are parallel, and so are those of blocks.

    Attributes:
        attributes: Attributes of ``<html>``.
        texts: Text of each run as in the source, never blank at the start of a line.
        anchor_of: Index in ``anchors`` of the link each run lies in, -1 outside.
        line_of: Line each run stands on, growing.
        anchors: In document order.
        pictures: In document order.
        head: (tag, attributes, number of anchors before it) of ``<link>``, ``<base>``, ``<frame>``,
            ``<iframe>`` and ``<meta http-equiv>`` wherever they stand, in document order; without
            links to style sheets, icons and the like.
        metas: Content of each ``<meta>`` by its lower-case property, name, itemprop or http-equiv,
            as in the source; of equal names the first one with content.
        more_metas: (name, content) of the other metas of equal names.
        inlines: (tag, attributes, runs before it) of inline elements with attributes, no links.
        scripts: Its scripts.
        headings: (level 1-6, first run, run after the last).
        title: Text of the first ``<title>``, white space collapsed.
        warnings: Caps that applied.
        has_controls: Whether the source has control characters, which no text has.
        line_starts: First run of each line; no line is without one.
        known_texts: Remembered results of ``line_text``, ``""`` for lines not asked for; empty
            until the lines are weighed.
        weighed: Texts, own and linked units, and worth of its lines, once ``features.lines`` has
            weighed them; else None.
        line_blocks: Innermost block around each line.
        block_tags: Tag of each block in document order; block 0 is ``<html>``.
        block_parents: Block around each block, -1 for the first.
        block_names: Class and id of each block with a space between: ``post-body p12``; ``""``
            without, and for block 0.
        block_ends: Number of blocks up to the end of each: inside block ``b`` are
            ``b + 1 .. block_ends[b] - 1``.
        block_lines: Number of lines before each block.
        hidden_blocks: Blocks that their attributes or the page's own styles hide, growing.
        landmarks: Block -> tag that its ARIA role stands for (``LANDMARKS``), where it has one.
        centred_blocks: Blocks whose own attributes centre their text, growing.
        marks: Run -> bits of ``MARKS``, for marked runs alone.
        breaks: Number of lines before each ``<br>``.
        rules: Number of lines before each ``<hr>``.
        code_blocks: Each ``<pre>``, growing.
        code_names: Block of a ``<pre>`` -> class of the ``<code>`` in it.
        list_starts: Block of an ``<ol>`` -> its first number, where given.
        spans: Block of a cell -> (columns, rows), where given.
    """

    attributes: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    anchor_of: list[int] = field(default_factory=list)
    line_of: list[int] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    head: list[tuple[str, dict[str, str], int]] = field(default_factory=list)
    metas: dict[str, str] = field(default_factory=dict)
    more_metas: list[tuple[str, str]] = field(default_factory=list)
    inlines: list[tuple[str, dict[str, str], int]] = field(default_factory=list)
    scripts: Scripts = field(default_factory=Scripts)
    headings: list[tuple[int, int, int]] = field(default_factory=list)
    title: str = ""
    warnings: tuple[PageWarning, ...] = ()
    has_controls: bool = False
    line_starts: list[int] = field(default_factory=list)
    known_texts: list[str] = field(default_factory=list)
    weighed: Weighed | None = None
    line_blocks: list[int] = field(default_factory=list)
    block_tags: list[str] = field(default_factory=list)
    block_parents: list[int] = field(default_factory=list)
    block_names: list[str] = field(default_factory=list)
    block_ends: list[int] = field(default_factory=list)
    block_lines: list[int] = field(default_factory=list)
    hidden_blocks: list[int] = field(default_factory=list)
    landmarks: dict[int, str] = field(default_factory=dict)
    centred_blocks: list[int] = field(default_factory=list)
    marks: dict[int, int] = field(default_factory=dict)
    breaks: list[int] = field(default_factory=list)
    rules: list[int] = field(default_factory=list)
    code_blocks: list[int] = field(default_factory=list)
    code_names: dict[int, str] = field(default_factory=dict)
    list_starts: dict[int, int] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)

    def line_runs(self, line: int) -> tuple[int, int]:
        """(first run of a line, run after its last)."""
        starts = self.line_starts
        return starts[line], starts[line + 1] if line + 1 < len(starts) else len(self.texts)

    def line_text(self, line: int) -> str:
        """Text of a line, white space collapsed."""
        known = self.known_texts
        if known and (text := known[line]):
            return text
        start, end = self.line_runs(line)
        source = self.texts[start] if end - start == 1 else "".join(self.texts[start:end])
        text = " ".join(source.split())
        if known:
            known[line] = text
        return text

    def line_end(self, block: int) -> int:
        """The line after the last one of a block element."""
        end = self.block_ends[block]
        return self.block_lines[end] if end < len(self.block_lines) else len(self.line_starts)

    def children(self, block: int) -> Iterator[int]:
        """Yields the blocks directly inside a block, in document order."""
        child, end = block + 1, self.block_ends[block]
        while child < end:
            yield child
            child = self.block_ends[child]

    def line_ends(self) -> list[int]:
        """``line_end`` of each block."""
        starts = [*self.block_lines, len(self.line_starts)]
        return [starts[end] for end in self.block_ends]

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
