"""Reads the source of a page into a tree, in one pass.

The parser is libxml2's, by lxml. It builds no tree of its own: its events are read as they come, in
document order (measured: 1.15 times a bare parse, attributes included; building and walking a tree
1.9).

More than 400 lines and one function of 300, because the functions that the parser calls share their
state as one closure: see ADR 13 for what other forms cost.
"""

from __future__ import annotations

import re
from contextlib import suppress
from inspect import signature
from itertools import islice

from lxml import etree

from cleaning.document.limits import (
    Limits,
    attributes_warning,
    cap_attributes,
    cap_depth,
    cap_size,
    cap_tags,
)
from cleaning.document.tree import (
    BREAK,
    CELL,
    CODE,
    HEADING,
    INLINE,
    INVISIBLE,
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
    Picture,
    Tree,
)
from cleaning.page_warnings import PageWarning, WarningKind

# Characters XML has no place for; browsers ignore a NUL in text, the others have no glyph.
_CONTROLS = bytes(range(9)) + b"\x0b\x0c" + bytes(range(14, 32)) + b"\x7f"
_EACH_CONTROL = tuple(bytes((control,)) for control in _CONTROLS)
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_NUMBER = re.compile(r"\s*\+?(\d{1,9})")
_MAX_INDENT = 1000
_PILCROW = "¶"  # leads to its own place wherever it stands, other symbols in headings alone
_MAX_SYMBOL_CHARS = 4  # white space and a selector of its looks included
_PIECE_BYTES = 1 << 16
# The variable pages made by scripts keep their data in.
_STATE = re.compile(
    r"\s{0,99}(?:window|self|globalThis|var)[\s.\[]{1,3}['\"]?(__[A-Z][A-Z_]{0,40})"
)
# What a <link> is for that leads to no page.
_FILES = frozenset(
    ("stylesheet", "icon", "shortcut icon", "apple-touch-icon", "preload", "modulepreload",
     "prefetch", "preconnect", "dns-prefetch")
)  # fmt: skip
_STATE_IDS = frozenset(("__NEXT_DATA__", "__NUXT_DATA__"))
_MAX_DATA_CHARS = 256_000
_MAX_NOSCRIPT_CHARS = 400
_SIGNATURE = signature(lambda _tag, _names: None)  # lxml would find it out for each page anew
_LIMITS = Limits()
_MAX_DEPTH = 2048  # libxml2's own limit for a tree; it compares an end tag with all open elements


def parse(html: str, limits: Limits | None = None) -> Tree:
    """The tree of a decoded source with its runs, blocks, links and pictures; never raises.

    Args:
        html: The whole source.
        limits: Caps on size, attributes and depth.
    """
    limits = limits or _LIMITS
    html, warnings = cap_size(html, limits)
    # As bytes: lxml refuses a str with an XML declaration, and bytes spare it one conversion.
    body = html.encode("utf-8", "replace")
    # To look for each is quicker than to copy a page that has none.
    if any(control in body for control in _EACH_CONTROL):
        body = body.translate(None, _CONTROLS)
    for cap in (cap_tags, cap_attributes):
        body, more = cap(body, limits)
        warnings += more
    try:
        tree = _read(body, limits)
    except _TooDeep:
        tree, warning = _read_shallow(body, limits)
        warnings += (warning,)
    tree.warnings = warnings + tree.warnings
    return tree


def _read_shallow(body: bytes, limits: Limits) -> tuple[Tree, PageWarning]:
    """The tree of a source whose deepest tags are left out, and what is said of them."""
    shallow, warning = cap_depth(body, limits)
    with suppress(_TooDeep):
        return _read(shallow, limits), warning
    shallow, warning = cap_depth(body, limits, ends_count=False)
    return _read(shallow, limits), warning


def _read(body: bytes, limits: Limits) -> Tree:
    """The tree of a source in UTF-8.

    Raises:
        _TooDeep: Elements nest deeper than ``_MAX_DEPTH``.
    """
    tree = Tree(
        block_tags=["html"], block_parents=[-1], block_names=[""], block_ends=[1], block_lines=[0]
    )
    reader = _Reader(tree, limits)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, target=reader)
    # Piece by piece, because an error in the reader ends the parse at the end of a piece only.
    with suppress(etree.XMLSyntaxError, ValueError):  # the source holds no element
        for start in range(0, len(body), _PIECE_BYTES):
            parser.feed(body[start : start + _PIECE_BYTES])
        parser.close()
    reader.let_go()
    return tree


class _TooDeep(Exception):  # noqa: N818 - it never leaves this module
    """The parser's own stack would make broken sources slow."""


class _Reader:
    """Fills a tree from the parser's events, which come in document order.

    The parser calls four functions per element and text; they share their state as one closure,
    which costs a third less than attributes.
    """

    def __init__(self, tree: Tree, limits: Limits) -> None:
        texts, anchor_of, line_of = tree.texts, tree.anchor_of, tree.line_of
        line_starts, line_blocks = tree.line_starts, tree.line_blocks
        anchors, pictures, head, headings = tree.anchors, tree.pictures, tree.head, tree.headings
        inlines, scripts = tree.inlines, tree.scripts
        metas, more_metas = tree.metas, tree.more_metas
        tags, parents, names = tree.block_tags, tree.block_parents, tree.block_names
        ends, first_lines, hidden_blocks = tree.block_ends, tree.block_lines, tree.hidden_blocks
        centred_blocks, marks, code_blocks = tree.centred_blocks, tree.marks, tree.code_blocks
        pieces: list[str] = []  # of the text since the last tag
        links_around: list[int | None] = []  # anchor around each <a>; None for one without href
        regions_around: list[str] = []
        open_headings: list[int] = []
        open_codes: list[int] = []  # <pre>
        marks_around: list[int] = []  # of each open inline element that marks its text
        marked = 0
        indent = ""  # white space before the next run, where it is kept
        anchor = line = -1
        region = ""
        block = 0
        depth = hidden = cut = cut_tags = 0
        most_attributes = limits.max_attributes
        room = limits.max_text_chars
        title_room = 4 * limits.max_title_chars  # white space is yet to be collapsed
        begun = ""  # the element whose first text comes next
        hidden_tag = ""  # the outermost that hides the present text
        is_data = False  # whether the present script is JSON-LD
        data_room = _MAX_DATA_CHARS
        at_line_start = True
        new_anchor = Anchor.__new__
        roles = ROLES.copy()  # the other tags of this page are added

        def end_hidden_text(text: str) -> None:
            """Note what is of use in a text that is not visible."""
            nonlocal data_room
            if begun == "script":
                scripts.chars += len(text)
                if is_data:
                    if len(text) <= data_room:
                        data_room -= len(text)
                        scripts.data.append(text)
                elif not scripts.state and (state := _STATE.match(text)):
                    scripts.state = state[1]
            elif hidden_tag == "noscript":
                if len(scripts.noscript) < _MAX_NOSCRIPT_CHARS:
                    scripts.noscript += text[:_MAX_NOSCRIPT_CHARS]
            elif begun == "title" and not tree.title:
                title = " ".join(text[:title_room].split())
                tree.title = title[: limits.max_title_chars]
                if len(text) > title_room or len(title) > limits.max_title_chars:
                    _warn(tree, f"read {len(tree.title)} characters of the title", 1)

        def end_text() -> None:
            """Note the text since the last tag as a run of the present line."""
            nonlocal at_line_start, room, cut, indent, line
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            if hidden:
                end_hidden_text(text)
                return
            if text.isspace():
                if not (open_codes or marked & MONOSPACE):
                    # Between inline elements it is a space, elsewhere nothing.
                    if not at_line_start and texts[-1][-1] != " ":
                        texts[-1] += " "
                    return
                if at_line_start:
                    indent = (indent + text)[-_MAX_INDENT:]
                    return
            if len(text) > room:
                cut += len(text) - room
                text = text[:room]
                if not text:
                    return
            room -= len(text)
            if at_line_start:
                line += 1
                line_starts.append(len(texts))
                line_blocks.append(block)
                at_line_start = False
                if indent:
                    text = indent + text
                    indent = ""
            if marked:
                marks[len(texts)] = marked
            texts.append(text)
            line_of.append(line)
            anchor_of.append(anchor)

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal block, depth, begun, at_line_start, cut_tags, anchor
            if pieces:
                # Nearly half of all texts are white space between blocks.
                if at_line_start and len(pieces) == 1 and pieces[0].isspace() and not open_codes:
                    pieces.clear()
                else:
                    end_text()
            depth += 1
            if depth > _MAX_DEPTH:
                raise _TooDeep
            if len(attributes) > most_attributes:
                attributes = dict(islice(attributes.items(), most_attributes))
                cut_tags += 1
            begun = tag
            try:
                role = roles[tag]
            except KeyError:
                role = roles[tag] = INLINE
            if role <= CODE:
                at_line_start = True
                if attributes:
                    get = attributes.get
                    name, other = get("class"), get("id")
                    names.append((f"{name} {other}" if name else other) if other else name or "")
                    if "style" in attributes or "align" in attributes:
                        note_style(attributes)
                else:
                    names.append("")
                parents.append(block)
                block = len(tags)
                tags.append(tag)
                ends.append(0)
                first_lines.append(line + 1)
                if role:
                    start_block(role, tag, attributes)
            elif role is LINK:
                href = attributes.get("href")
                if href is None:
                    links_around.append(None)
                    return
                links_around.append(anchor)
                anchor = len(anchors)
                # As its constructor does, in a third of the time.
                new = new_anchor(Anchor)
                new.attributes = attributes
                new.href = href
                new.start = new.end = len(texts)
                new.region = region
                new.block = block
                anchors.append(new)
            elif role is INLINE:
                if attributes and not hidden:
                    inlines.append((tag, attributes, len(texts)))
            else:
                start_other(role, tag, attributes)

        def note_style(attributes: dict[str, str]) -> None:
            """Note what the next block's own attributes say of its looks."""
            style = attributes.get("style")
            if style is None:
                if attributes["align"].lower() == "center":
                    centred_blocks.append(len(tags))
                return
            if "center" in style:
                centred_blocks.append(len(tags))
            if _HIDING.search(style):
                hidden_blocks.append(len(tags))

        def start_block(role: int, tag: str, attributes: dict[str, str]) -> None:
            """Note what is to be known of a block that is not a plain one."""
            nonlocal region
            if role is HEADING:
                open_headings.append(len(texts))
            elif role is REGION:
                regions_around.append(region)
                region = tag
            elif role is CODE:
                open_codes.append(block)
                code_blocks.append(block)
            elif role is CELL:
                if "colspan" in attributes or "rowspan" in attributes:
                    columns = _number(attributes.get("colspan"))
                    rows = _number(attributes.get("rowspan"))
                    if columns > 1 or rows > 1:
                        tree.spans[block] = columns, rows
            elif "start" in attributes:
                tree.list_starts[block] = _number(attributes["start"])

        def start_other(role: int, tag: str, attributes: dict[str, str]) -> None:
            """Note an element that is neither a block nor a link."""
            nonlocal at_line_start, indent, marked, hidden, hidden_tag, is_data
            if role is BREAK:
                at_line_start = True
                (tree.breaks if tag == "br" else tree.rules).append(len(line_starts))
                if open_codes:
                    indent = (indent + "\n")[-_MAX_INDENT:]
            elif role is MARK:
                marks_around.append(marked)
                marked |= MARKS[tag]
                if attributes:
                    if not hidden:
                        inlines.append((tag, attributes, len(texts)))
                    if open_codes and tag == "code" and "class" in attributes:
                        tree.code_names.setdefault(open_codes[-1], attributes["class"])
            elif role is PICTURE:
                pictures.append(Picture(attributes, len(texts), anchor, region, block))
            elif role is SETTING:
                get = attributes.get
                if tag == "meta":
                    # While its attributes are at hand; to come back to each would cost ten times.
                    if (content := get("content")) and not content.isspace():
                        equiv = get("http-equiv")
                        name = get("property") or get("name") or get("itemprop") or equiv
                        if name:
                            name = name.strip().lower()
                            if name in metas:
                                more_metas.append((name, content))
                            else:
                                metas[name] = content
                        if equiv:
                            head.append((tag, attributes, len(anchors)))
                elif get("rel") not in _FILES:
                    head.append((tag, attributes, len(anchors)))
            elif role is ROOT:
                # Behind its end another one may begin; all are one root.
                at_line_start = True
                tree.attributes = tree.attributes or attributes
            else:
                if not hidden:
                    hidden_tag = tag
                hidden += 1
                if tag == "script":
                    is_data = "ld+json" in attributes.get("type", "")
                    if "src" in attributes:
                        scripts.files += 1
                    elif attributes.get("id", "") in _STATE_IDS:
                        scripts.state = attributes["id"]
                elif tag == "iframe":
                    head.append((tag, attributes, len(anchors)))

        def end(tag: str) -> None:
            nonlocal block, depth, hidden, begun, at_line_start, marked, anchor
            if pieces:
                if at_line_start and len(pieces) == 1 and pieces[0].isspace() and not open_codes:
                    pieces.clear()
                else:
                    end_text()
            depth -= 1
            begun = ""
            role = roles[tag]
            if role <= CODE:
                at_line_start = True
                ends[block] = len(tags)
                block = parents[block]
                if role:
                    end_block(role, tag)
            elif role is LINK:
                around = links_around.pop()
                if around is not None:
                    this = anchors[anchor]
                    if "#" in this.href and this.start == len(texts) - 1:
                        end_place_link()
                    this.end = len(texts)
                    anchor = around
            elif role is MARK:
                marked = marks_around.pop()
            elif role is INVISIBLE:
                hidden -= 1

        def end_place_link() -> None:
            """Take the last run back when the link around it, to a place, is a permalink."""
            nonlocal line, at_line_start
            text = texts[-1].strip() if len(texts[-1]) <= _MAX_SYMBOL_CHARS else ""
            if not text or any(map(str.isalnum, text)):
                return
            if not (open_headings or text == _PILCROW):
                return
            texts.pop()
            line_of.pop()
            anchor_of.pop()
            marks.pop(len(texts), None)
            if line_starts[-1] == len(texts):
                line_starts.pop()
                line_blocks.pop()
                line -= 1
                at_line_start = True

        def end_block(role: int, tag: str) -> None:
            nonlocal region, indent
            if role is HEADING:
                headings.append((int(tag[1]), open_headings.pop(), len(texts)))
            elif role is REGION:
                region = regions_around.pop()
            elif role is CODE:
                open_codes.pop()
                indent = ""

        def close() -> None:
            if pieces:
                end_text()
            nonlocal block
            while block >= 0:
                ends[block] = len(tags)
                block = parents[block]
            if cut_tags:
                tree.warnings += (attributes_warning(limits, cut_tags),)
            if cut:
                _warn(tree, f"read {limits.max_text_chars} characters of visible text", cut)

        def let_go() -> None:
            """Forget the tree.

            A parser and its context hold each other and their target until the garbage collector
            comes; a tree that waited for it would cost as much again as filling it.
            """
            nonlocal tree, texts, anchor_of, line_of, line_starts, line_blocks, anchors, pictures
            nonlocal head, headings, inlines, scripts, metas, more_metas, tags, parents, names, ends
            nonlocal first_lines, hidden_blocks, centred_blocks, marks, code_blocks, roles
            nonlocal end_text, end_hidden_text, note_style, start_block, start_other, end_block
            nonlocal end_place_link
            del tree, texts, anchor_of, line_of, line_starts, line_blocks, anchors, pictures
            del head, headings, inlines, scripts, metas, more_metas, tags, parents, names, ends
            del first_lines, hidden_blocks, centred_blocks, marks, code_blocks, roles
            del end_text, end_hidden_text, note_style, start_block, start_other, end_block
            del end_place_link

        start.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
        self.start, self.end, self.data, self.close = start, end, pieces.append, close
        self.let_go = let_go


def _number(text: str | None) -> int:
    """The number an attribute names, >= 0; 1 without."""
    match = _NUMBER.match(text) if text else None
    return int(match[1]) if match else 1


def _warn(tree: Tree, detail: str, count: int) -> None:
    warning = PageWarning(kind=WarningKind.CAPPED_TEXT, detail=detail, count=count)
    tree.warnings += (warning,)
