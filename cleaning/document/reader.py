"""Parses the source of a page into a ``Tree``, in one pass.

The parser is libxml2's, by lxml. It builds no tree of its own: its events are handled in document
order (measured: 1.15 times a bare parse, attributes included; building and walking a tree 1.9).

The file is longer than 700 lines: all its functions write one state, event by event.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from itertools import islice
from typing import Protocol

from lxml import etree

from crawlclean.cleaning.document.styles import SheetNames, hides
from crawlclean.cleaning.document.tree import (
    BREAK,
    CELL,
    CODE,
    HEADING,
    INLINE,
    LANDMARKS,
    LINK,
    MARK,
    MARKS,
    MONOSPACE,
    PICTURE,
    REGION,
    ROLES,
    ROOT,
    SETTING,
    Anchor,
    Limits,
    Picture,
    Tree,
    attributes_warning,
    cap_attributes,
    cap_depth,
    cap_size,
    cap_tags,
)
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind

# Characters XML has no place for; browsers ignore a NUL in text, the others have no glyph.
_CONTROLS = bytes(range(9)) + b"\x0b\x0c" + bytes(range(14, 32)) + b"\x7f"
_EACH_CONTROL = tuple(bytes((control,)) for control in _CONTROLS)
_SCREENS = frozenset(("", "all", "screen"))
_READINGS = frozenset(("rt", "rp", "rtc"))
# Brackets around tools of a heading, and how the address of a link to no page begins.
_OPENING, _CLOSING, _NO_PAGE = ("[", "【", "［"), "]】］", "javascript:"
_SHADOW_ROOTS = frozenset(("shadowrootmode", "shadowroot"))  # the second one in older browsers
# Scripts that are formulas, and what the class of a formula's drawn form begins with.
_FORMULAS, _DRAWN = ("math/tex", "math/asciimath"), "MathJax"
_DISPLAYED_TEX = re.compile(r"\{\\(?:display|text)style (.*)\}", re.S)
_NUMBER = re.compile(r"\s*\+?(\d{1,9})")
_MAX_INDENT = 1000  # characters of white space before a line that are kept; code has fewer
_PILCROW = "¶"  # leads to its own place wherever it stands, other symbols in headings alone
_MAX_SYMBOL_CHARS = 4  # white space and a selector of its looks included
_PIECE_BYTES = 1 << 16  # 64 KB: more calls cost time, and an error is noticed at a piece's end
# The variable pages made by scripts keep their data in.
_STATE = re.compile(
    r"\s{0,99}(?:window|self|globalThis|var)[\s.\[]{1,3}['\"]?(__[A-Z][A-Z_]{0,40})"
)
# ``rel`` of a <link> that leads to no page.
_FILES = frozenset(
    ("stylesheet", "icon", "shortcut icon", "apple-touch-icon", "preload", "modulepreload",
     "prefetch", "preconnect", "dns-prefetch")
)  # fmt: skip
_STATE_IDS = frozenset(("__NEXT_DATA__", "__NUXT_DATA__"))
# Of JSON-LD: behind it a script is left out whole, and its values with it.
_MAX_DATA_CHARS = 256_000
_MAX_NOSCRIPT_CHARS = 1000  # of it that are kept: the length and the request are all that is asked
# A request to switch scripts on has fewer characters, a frame of a page without its text too.
_LEAST_NOSCRIPT_CHARS = 400
_LEAST_TITLE_CHARS = 4  # shorter words begin many titles
_MAX_SILENT_CHARS = 200  # of visible text beside it: a message such as "Loading"
_NOSCRIPT = re.compile(rb"</?noscript\b[^>]*>", re.I)
_SIGNATURE = signature(lambda _tag, _names: None)  # lxml would inspect ``start`` for each page
_LIMITS = Limits()
_MAX_DEPTH = 2048  # libxml2's own limit for a tree; it compares an end tag with all open elements


class Target(Protocol):
    """Receives the events of the parser."""

    def start(self, tag: str, attributes: dict[str, str], /) -> None:
        """Handles the start of an element."""

    def end(self, tag: str, /) -> None:
        """Handles the end of an element."""

    def data(self, text: str, /) -> None:
        """Handles a piece of text."""

    def close(self) -> None:
        """Handles the end of the source."""


Follow = Callable[[Tree, Target], Target]
"""Makes a target that passes each event on to the given one, which fills the tree."""


def parse(html: str, limits: Limits | None = None, follow: Follow | None = None) -> Tree:
    """Parses a decoded source into runs, blocks, links and pictures; never raises.

    Args:
        html: The whole source.
        limits: Caps on size, attributes and depth.
        follow: Makes a target that sees all events too; called again where a source is read twice.
    """
    limits = limits or _LIMITS
    html, warnings = cap_size(html, limits)
    # As bytes: lxml refuses a str with an XML declaration, and bytes spare it one conversion.
    body = html.encode("utf-8", "replace")
    # Searching for each control is quicker than copying a page without any.
    has_controls = any(control in body for control in _EACH_CONTROL)
    if has_controls:
        body = body.translate(None, _CONTROLS)
    for cap in (cap_tags, cap_attributes):
        body, more = cap(body, limits)
        warnings += more
    try:
        tree = _read(body, limits, follow)
        if _is_without_scripts(tree):
            tree = _read(_NOSCRIPT.sub(b"", body), limits, follow)
    except _TooDeep:
        tree, warning = _read_shallow(body, limits, follow)
        warnings += (warning,)
    tree.warnings = warnings + tree.warnings
    tree.has_controls = has_controls
    return tree


def _is_without_scripts(tree: Tree) -> bool:
    """Whether hardly any text is visible but that for browsers without scripts, and this is a page.

    It is long, or has the page's title: forums that draw themselves by scripts write the whole page
    there, for search engines.
    """
    scripts = tree.scripts
    if not scripts.has_title and len(scripts.noscript) < _LEAST_NOSCRIPT_CHARS:
        return False
    return sum(map(len, tree.texts)) < _MAX_SILENT_CHARS and (
        scripts.has_title or len("".join(scripts.noscript.split())) >= _LEAST_NOSCRIPT_CHARS
    )


def _read_shallow(body: bytes, limits: Limits, follow: Follow | None) -> tuple[Tree, PageWarning]:
    """Parses a source without its deepest tags; returns the tree and the warning of the cut."""
    shallow, warning = cap_depth(body, limits)
    with suppress(_TooDeep):
        return _read(shallow, limits, follow), warning
    shallow, warning = cap_depth(body, limits, ends_count=False)
    return _read(shallow, limits, follow), warning


def _read(body: bytes, limits: Limits, follow: Follow | None) -> Tree:
    """Parses a source in UTF-8.

    Raises:
        _TooDeep: Elements nest deeper than ``_MAX_DEPTH``.
    """
    tree = Tree(
        block_tags=["html"], block_parents=[-1], block_names=[""], block_ends=[1], block_lines=[0]
    )
    reader = _Reader(tree, limits)
    target = reader if follow is None else follow(tree, reader)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, target=target)
    # Piece by piece, because an error in the reader ends the parse at the end of a piece only.
    with suppress(etree.XMLSyntaxError):  # the source holds no element
        for start in range(0, len(body), _PIECE_BYTES):
            parser.feed(body[start : start + _PIECE_BYTES])
        parser.close()
    reader.release()
    return tree


class _TooDeep(Exception):  # noqa: N818 - it never leaves this module
    """Elements nest so deep that the parser's own stack would make broken sources slow."""


class _State:
    """State of the reader between two events of the parser.

    Attributes:
        pieces: Pieces of the text since the last tag.
        links_around: Anchor around each open ``<a>``; None for one without href.
        regions_around: Region around each open region.
        marks_around: Marks around each open inline element that marks its text.
        open_headings: First run of each open heading.
        open_codes: Block of each open ``<pre>``.
        roles: Role of each tag; tags unknown to HTML are added when met.
        block: The innermost open block.
        line: The present line, -1 before the first.
        anchor: The innermost open link, -1 outside.
        region: The innermost open region, ``""`` outside.
        marked: Marks of the present text, as bits (``tree.STRONG | tree.EMPHASIS``).
        indent: White space before the next run, in code.
        at_line_start: Whether the next run begins a line.
        depth: Number of open elements.
        hidden: Number of open elements that hide their text.
        hidden_tag: Tag of the outermost of these.
        is_veiled: Whether these are inline elements hidden by their looks alone.
        around: (depth, tag, hidden and is_veiled outside) of each open element that changed these.
        hider_depth: The depth of the innermost of these, -1 without.
        sheets: Classes and ids that the page's own styles hide.
        formula: Pieces of the open formula, None outside.
        formula_depth: The depth of its element, of the last one outside.
        tex: Its source, as far as it is known.
        formula_end: Number of runs behind the last formula of markup, -1 before.
        is_watching: Whether hidden names or formulas of markup have been met.
        begun: Tag of the element whose first text comes next.
        is_data: Whether the present script is JSON-LD.
        is_of_screens: Whether the present style is of screens.
        room: Characters of visible text that may still be kept.
        data_room: Characters of JSON-LD that may still be kept.
        cut: Characters of visible text that were left out.
        cut_tags: Tags whose attributes were capped.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pieces: list[str] = []
        self.links_around: list[int | None] = []
        self.regions_around: list[str] = []
        self.marks_around: list[int] = []
        self.open_headings: list[int] = []
        self.open_codes: list[int] = []
        self.roles = ROLES.copy()
        self.block = 0
        self.line = self.anchor = -1
        self.region = self.indent = self.begun = self.hidden_tag = ""
        self.marked = self.depth = self.hidden = self.cut = self.cut_tags = 0
        self.at_line_start = True
        self.is_data = self.is_of_screens = self.is_veiled = self.is_watching = False
        self.around: list[tuple[int, str, int, bool]] = []
        self.hider_depth = self.formula_end = self.formula_depth = -1
        self.sheets = SheetNames()
        self.formula: list[str] | None = None
        self.tex = ""
        self.room = limits.max_text_chars
        self.data_room = _MAX_DATA_CHARS


class _Reader:
    """Fills a tree from the parser's events, which come in document order.

    The parser calls functions for the start and end of each element and for each text. They are
    closures: local names for the lists of the tree cost less than attributes.
    """

    def __init__(self, tree: Tree, limits: Limits) -> None:
        state = _State(limits)
        end_text = _text_reader(tree, state)
        start, end = _start_reader(tree, state, end_text), _end_reader(tree, state, end_text)
        vars(start)["__signature__"] = _SIGNATURE
        self.start, self.end, self.data = start, end, state.pieces.append

        def close() -> None:
            _close(tree, state, end_text)

        self.close = close
        self._closures = start, end, close, end_text

    def release(self) -> None:
        """Drops the references to the tree.

        A parser and its context hold each other and their target until the garbage collector
        runs; freeing the tree then costs as much again as filling it.
        """
        for closure in self._closures:
            for cell in closure.__closure__ or ():
                del cell.cell_contents


def _text_reader(tree: Tree, s: _State) -> Callable[[], None]:
    """Returns the function that adds the text since the last tag as a run of the present line."""
    texts, anchor_of, line_of, marks = tree.texts, tree.anchor_of, tree.line_of, tree.marks
    line_starts, line_blocks = tree.line_starts, tree.line_blocks
    pieces, open_codes = s.pieces, s.open_codes

    def end_text() -> None:
        text = pieces[0] if len(pieces) == 1 else "".join(pieces)
        pieces.clear()
        if s.hidden:
            _end_hidden_text(tree, s, text)
            return
        if text.isspace():
            if not (open_codes or s.marked & MONOSPACE):
                # Between inline elements it is a space, elsewhere nothing.
                if not s.at_line_start and texts[-1][-1] != " ":
                    texts[-1] += " "
                return
            if s.at_line_start:
                s.indent = (s.indent + text)[-_MAX_INDENT:]
                return
        if len(text) > s.room:
            s.cut += len(text) - s.room
            text = text[: s.room]
            if not text:
                return
        s.room -= len(text)
        if s.at_line_start:
            s.line += 1
            line_starts.append(len(texts))
            line_blocks.append(s.block)
            s.at_line_start = False
            if s.indent:
                text = s.indent + text
                s.indent = ""
        if s.marked:
            marks[len(texts)] = s.marked
        texts.append(text)
        line_of.append(s.line)
        anchor_of.append(s.anchor)

    return end_text


def _end_hidden_text(tree: Tree, s: _State, text: str) -> None:
    """Notes the use of a hidden text: JSON-LD, script state, noscript, title."""
    scripts, limits = tree.scripts, s.limits
    if s.begun == "script" and s.formula is None:
        scripts.chars += len(text)
        if s.is_data:
            if len(text) <= s.data_room:
                s.data_room -= len(text)
                scripts.data.append(text)
        elif not scripts.state and (state := _STATE.match(text)):
            scripts.state = state[1]
    elif s.begun == "style":
        if s.is_of_screens:
            s.sheets.read(text)
            s.is_watching = s.is_watching or bool(s.sheets.hidden or s.sheets.sizeless)
    elif s.formula is not None:
        if s.begun == "tex":
            s.tex = text
        elif s.around[-1][1] in ("math", "script"):
            s.formula.append(text.strip())
    elif s.hidden_tag == "noscript":
        if len(scripts.noscript) < _MAX_NOSCRIPT_CHARS:
            text = text[:_MAX_NOSCRIPT_CHARS]
            scripts.noscript += text
            title = " ".join(text.split())
            is_title = len(title) >= _LEAST_TITLE_CHARS and tree.title.startswith(title)
            scripts.has_title = scripts.has_title or is_title
    elif s.begun == "title" and not tree.title:
        title_room = 4 * limits.max_title_chars  # white space is yet to be collapsed
        title = " ".join(text[:title_room].split())
        tree.title = title[: limits.max_title_chars]
        if len(text) > title_room or len(title) > limits.max_title_chars:
            _warn(tree, f"read {len(tree.title)} characters of the title", 1)


def _start_reader(
    tree: Tree, s: _State, end_text: Callable[[], None]
) -> Callable[[str, dict[str, str]], None]:
    """Returns the function that handles the start of an element."""
    texts, anchors, inlines, roles = tree.texts, tree.anchors, tree.inlines, s.roles
    tags, parents, names = tree.block_tags, tree.block_parents, tree.block_names
    ends, first_lines = tree.block_ends, tree.block_lines
    pieces, open_codes, links_around = s.pieces, s.open_codes, s.links_around
    most_attributes = s.limits.max_attributes

    def start(tag: str, attributes: dict[str, str]) -> None:
        if pieces:
            # Nearly half of all texts are white space between blocks.
            if s.at_line_start and len(pieces) == 1 and pieces[0].isspace() and not open_codes:
                pieces.clear()
            else:
                end_text()
        s.depth += 1
        if s.depth > _MAX_DEPTH:
            raise _TooDeep
        if len(attributes) > most_attributes:
            attributes = dict(islice(attributes.items(), most_attributes))
            s.cut_tags += 1
        s.begun = tag
        try:
            role = roles[tag]
        except KeyError:
            role = roles[tag] = INLINE
        if role <= CODE:
            s.at_line_start = True
            if attributes:
                get = attributes.get
                name, other = get("class"), get("id")
                names.append((f"{name} {other}" if name else other) if other else name or "")
                if "style" in attributes or "align" in attributes:
                    _note_style(tree, attributes)
                if (
                    s.sheets.hidden or "hidden" in attributes or "style" in attributes
                ) and _is_hidden(tree, s, tag, attributes):
                    tree.hidden_blocks.append(len(tags))
                if "role" in attributes or "aria-modal" in attributes:
                    _note_landmark(tree, attributes)
            else:
                names.append("")
            if s.is_veiled:
                # What holds parts is no word in a line: the part is judged as one that is hidden.
                _hide(s, tag, 0)
                if tree.hidden_blocks[-1:] != [len(tags)]:
                    tree.hidden_blocks.append(len(tags))
            parents.append(s.block)
            s.block = len(tags)
            tags.append(tag)
            ends.append(0)
            first_lines.append(s.line + 1)
            if role:
                _start_block(tree, s, role, tag, attributes)
        elif role is LINK:
            href = attributes.get("href")
            if href is None:
                links_around.append(None)
                return
            links_around.append(s.anchor)
            s.anchor = len(anchors)
            run = len(texts)
            anchors.append(Anchor(attributes, href, run, run, s.region, s.block))
        elif role is INLINE:
            if attributes and not s.hidden:
                if (
                    s.is_watching
                    or "style" in attributes
                    or "hidden" in attributes
                    or attributes.get("class", "").startswith(_DRAWN)
                ):
                    _start_inline(tree, s, tag, attributes)
                else:
                    inlines.append((tag, attributes, len(texts)))
        else:
            _start_other(tree, s, role, tag, attributes)

    return start


def _note_style(tree: Tree, attributes: dict[str, str]) -> None:
    """Notes that the next block is hidden or centred by its own attributes."""
    style = attributes.get("style")
    if style is None:
        if attributes["align"].lower() == "center":
            tree.centred_blocks.append(len(tree.block_tags))
    elif "center" in style:
        tree.centred_blocks.append(len(tree.block_tags))


def _start_inline(tree: Tree, s: _State, tag: str, attributes: dict[str, str]) -> None:
    """Notes a visible inline element with attributes; of a hidden one, nothing but a time."""
    if _is_hidden(tree, s, tag, attributes):
        _hide(s, tag, 1)
        s.is_veiled = True
        if tag != "time":  # which has its value as an attribute
            return
    tree.inlines.append((tag, attributes, len(tree.texts)))


def _is_hidden(tree: Tree, s: _State, tag: str, attributes: dict[str, str]) -> bool:
    """Whether an element is hidden by its attributes or by the page's own styles.

    So is the drawn form of a formula, whose source is text; no panel of tabs is.
    """
    get = attributes.get
    style, names, is_inline = get("style"), get("class", ""), s.roles[tag] > CODE
    if is_inline:
        is_behind = "aria-hidden" in attributes and s.formula_end == len(tree.texts)
        if is_behind or names.startswith(_DRAWN):
            return True
        if "-" in tag:
            return False  # <x-slide> and the like stand for parts of a page
    if get("role") == "tabpanel":
        return False
    if style and hides(style, is_inline=is_inline or tag == "p"):
        return True
    if "hidden" in attributes and get("hidden") != "until-found":
        return True
    return s.sheets.hide(tag, names, get("id", ""), is_inline=is_inline)


def _hide(s: _State, tag: str, hidden: int) -> None:
    """Notes that an element hides its text, or shows what is hidden around it (hidden 0)."""
    if not s.hidden:
        s.hidden_tag = tag
    s.around.append((s.depth, tag, s.hidden, s.is_veiled))
    s.hider_depth = s.depth
    s.hidden = s.hidden + 1 if hidden else 0
    s.is_veiled = False


def _note_landmark(tree: Tree, attributes: dict[str, str]) -> None:
    """Notes the tag that the ARIA role of the next block stands for; its first word counts."""
    role, _, _ = attributes.get("role", "").strip().lower().partition(" ")
    if attributes.get("aria-modal") == "true":
        role = "dialog"
    if role in LANDMARKS:
        tree.landmarks[len(tree.block_tags)] = LANDMARKS[role]


def _start_block(tree: Tree, s: _State, role: int, tag: str, attributes: dict[str, str]) -> None:
    """Notes the start of a heading, region, code block, table cell or numbered list."""
    if role is HEADING:
        s.open_headings.append(len(tree.texts))
    elif role is REGION:
        s.regions_around.append(s.region)
        s.region = tag
    elif role is CODE:
        s.open_codes.append(s.block)
        tree.code_blocks.append(s.block)
    elif role is CELL:
        if "colspan" in attributes or "rowspan" in attributes:
            columns = _number(attributes.get("colspan"))
            rows = _number(attributes.get("rowspan"))
            if columns > 1 or rows > 1:
                tree.spans[s.block] = columns, rows
    elif "start" in attributes:
        tree.list_starts[s.block] = _number(attributes["start"])


def _start_other(tree: Tree, s: _State, role: int, tag: str, attributes: dict[str, str]) -> None:
    """Notes an element that is neither a block nor a link."""
    if role is BREAK:
        s.at_line_start = True
        (tree.breaks if tag == "br" else tree.rules).append(len(tree.line_starts))
        if s.open_codes:
            s.indent = (s.indent + "\n")[-_MAX_INDENT:]
    elif role is MARK:
        s.marks_around.append(s.marked)
        s.marked |= MARKS[tag]
        if attributes:
            if not s.hidden:
                _start_inline(tree, s, tag, attributes)
            if s.open_codes and tag == "code" and "class" in attributes:
                tree.code_names.setdefault(s.open_codes[-1], attributes["class"])
    elif role is PICTURE:
        picture = Picture(attributes, len(tree.texts), s.anchor, s.region, s.block)
        tree.pictures.append(picture)
    elif role is SETTING:
        if tag == "meta":
            _note_meta(tree, attributes)
        elif attributes.get("rel") not in _FILES:
            tree.head.append((tag, attributes, len(tree.anchors)))
    elif role is ROOT:
        # Behind its end another one may begin; all are one root.
        s.at_line_start = True
        tree.attributes = tree.attributes or attributes
    elif tag == "rb":
        if s.hidden_tag in _READINGS:  # a reading before it has no end tag
            _hide(s, tag, 0)
    elif not (tag == "template" and not _SHADOW_ROOTS.isdisjoint(attributes)):
        _hide(s, tag, 1)
        if tag == "script":
            s.is_data = "ld+json" in attributes.get("type", "")
            if "src" in attributes:
                tree.scripts.files += 1
            elif attributes.get("id", "") in _STATE_IDS:
                tree.scripts.state = attributes["id"]
            elif attributes.get("type", "").startswith(_FORMULAS):
                s.formula, s.formula_depth = [], s.depth
        elif tag == "math":
            if s.formula is None:
                s.formula, s.tex, s.formula_depth = [], "", s.depth
        elif tag == "annotation":
            if "tex" in attributes.get("encoding", "").lower():
                s.begun = "tex"
        elif tag == "style":
            s.is_of_screens = attributes.get("media", "").lower() in _SCREENS
        elif tag == "iframe":
            tree.head.append((tag, attributes, len(tree.anchors)))


def _note_meta(tree: Tree, attributes: dict[str, str]) -> None:
    """Notes a ``<meta>`` while its attributes are at hand; a second pass would cost ten times."""
    get = attributes.get
    content = get("content")
    if not content or content.isspace():
        return
    equiv = get("http-equiv")
    name = get("property") or get("name") or get("itemprop") or equiv
    if name:
        name = name.strip().lower()
        if name in tree.metas:
            tree.more_metas.append((name, content))
        else:
            tree.metas[name] = content
    if equiv:
        tree.head.append(("meta", attributes, len(tree.anchors)))


def _end_reader(tree: Tree, s: _State, end_text: Callable[[], None]) -> Callable[[str], None]:
    """Returns the function that handles the end of an element."""
    texts, anchors, roles = tree.texts, tree.anchors, s.roles
    tags, parents, ends = tree.block_tags, tree.block_parents, tree.block_ends
    pieces, open_codes = s.pieces, s.open_codes
    links_around, marks_around = s.links_around, s.marks_around

    def end(tag: str) -> None:
        if pieces:
            if s.at_line_start and len(pieces) == 1 and pieces[0].isspace() and not open_codes:
                pieces.clear()
            else:
                end_text()
        if s.depth == s.hider_depth:
            _, _, s.hidden, s.is_veiled = s.around.pop()
            s.hider_depth = s.around[-1][0] if s.around else -1
            if s.formula is not None and s.depth == s.formula_depth:
                _end_formula(tree, s, tag, end_text)
        s.depth -= 1
        s.begun = ""
        role = roles[tag]
        if role <= CODE:
            s.at_line_start = True
            block = s.block
            ends[block] = len(tags)
            s.block = parents[block]
            if role:
                _end_block(tree, s, role, tag)
        elif role is LINK:
            around = links_around.pop()
            if around is not None:
                this = anchors[s.anchor]
                if "#" in this.href and this.start == len(texts) - 1:
                    _drop_permalink(tree, s)
                this.end = len(texts)
                s.anchor = around
        elif role is MARK:
            s.marked = marks_around.pop()

    return end


def _end_formula(tree: Tree, s: _State, tag: str, end_text: Callable[[], None]) -> None:
    """Adds a formula to the present line: its source, else what is written in its elements.

    It is shown even if its markup is hidden, for a picture or a drawn form stands beside it. A
    script right behind markup is the same formula once more.
    """
    source = (s.tex or "".join(s.formula or ())).strip()
    before, mark, inside = source.partition("<![CDATA[")
    if mark and before.strip() in ("", "%"):  # a script that is XML too: % <![CDATA[ ... %]]>
        source = inside.removesuffix("]]>").rstrip().removesuffix("%").strip()
    match = _DISPLAYED_TEX.fullmatch(source)
    s.formula = None
    if not source or (s.hidden and not s.is_veiled):
        return
    text = match[1].strip() if match else source
    if tag == "script" and s.formula_end == len(tree.texts):
        tree.texts[-1] = text
        return
    hidden, s.hidden = s.hidden, 0
    s.pieces.append(text)
    end_text()
    s.hidden = hidden
    if tag == "math":
        s.formula_end, s.is_watching = len(tree.texts), True


def _drop_permalink(tree: Tree, s: _State) -> None:
    """Take the last run back when the link around it, to a place, is a permalink."""
    texts, line_starts = tree.texts, tree.line_starts
    text = texts[-1].strip() if len(texts[-1]) <= _MAX_SYMBOL_CHARS else ""
    if not text or any(map(str.isalnum, text)):
        return
    if not (s.open_headings or text == _PILCROW):
        return
    texts.pop()
    tree.line_of.pop()
    tree.anchor_of.pop()
    tree.marks.pop(len(texts), None)
    if line_starts[-1] == len(texts):
        line_starts.pop()
        tree.line_blocks.pop()
        s.line -= 1
        s.at_line_start = True


def _end_block(tree: Tree, s: _State, role: int, tag: str) -> None:
    """Notes the end of a heading, region or code block."""
    if role is HEADING:
        start = s.open_headings.pop()
        tree.headings.append((int(tag[1]), start, _end_heading(tree, s, start)))
    elif role is REGION:
        s.region = s.regions_around.pop()
    elif role is CODE:
        s.open_codes.pop()
        s.indent = ""


def _end_heading(tree: Tree, s: _State, start: int) -> int:
    """The run behind a heading's words: links at its end that are tools get a part of their own.

    Tools stand in brackets behind the words, or lead to no page: ``History [edit]``.
    """
    texts, anchor_of, end = tree.texts, tree.anchor_of, len(tree.texts)
    tool = next((run for run in range(start + 1, end) if anchor_of[run] >= 0), end)
    if tool == end or tree.line_of[tool] != tree.line_of[start] or anchor_of[start] >= 0:
        return end
    before = texts[tool - 1].rstrip()
    is_bracketed = before.endswith(_OPENING) and texts[-1].strip() in _CLOSING
    if is_bracketed and anchor_of[-1] < 0 and (len(before) > 1 or tool > start + 1):
        texts[tool - 1] = before[:-1]
        del texts[-1], anchor_of[-1], tree.line_of[-1]
        tree.marks.pop(len(texts), None)
    elif anchor_of[-1] < 0 or not tree.anchors[anchor_of[tool]].href.startswith(_NO_PAGE):
        return end
    s.line += 1
    tree.line_starts.append(tool)
    tree.line_blocks.append(len(tree.block_tags))
    tree.block_tags.append("nav")
    tree.block_parents.append(s.block)
    tree.block_names.append("")
    tree.block_ends.append(len(tree.block_tags))
    tree.block_lines.append(s.line)
    tree.line_of[tool:] = [s.line] * (len(texts) - tool)
    return tool


def _close(tree: Tree, s: _State, end_text: Callable[[], None]) -> None:
    """Ends all open blocks at the end of the source, and warns of capped input."""
    if s.pieces:
        end_text()
    while s.block >= 0:
        tree.block_ends[s.block] = len(tree.block_tags)
        s.block = tree.block_parents[s.block]
    if s.cut_tags:
        tree.warnings += (attributes_warning(s.limits, s.cut_tags),)
    if s.cut:
        _warn(tree, Message("read_text", s.limits.max_text_chars), s.cut)


def _number(text: str | None) -> int:
    """The number in an attribute, >= 0; 1 without."""
    match = _NUMBER.match(text) if text else None
    return int(match[1]) if match else 1


def _warn(tree: Tree, detail: str, count: int) -> None:
    warning = PageWarning(kind=WarningKind.CAPPED_TEXT, detail=detail, count=count)
    tree.warnings += (warning,)
