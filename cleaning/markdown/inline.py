"""Inline Markdown of one line: links, emphasis, code spans, images and escaped text.

A character is escaped only where CommonMark 0.31 or GFM would read it as markup. Emphasis is
dropped where Markdown cannot express it: marks may not touch each other, and a mark beside
punctuation needs white space or punctuation on its other side, which 中文**“引用”**后 has not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from crawlclean.cleaning.document.tree import EMPHASIS, MONOSPACE, STRONG, Tree
from crawlclean.cleaning.records import Link, LinkKind

_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|$)|[`~]|(?<!\s)\*|\*(?!\s)|(?<![^\W_])_|_(?![^\W_])|<(?=[a-zA-Z/!?])"
    r"|&(?=#?\w{1,40};)|\](?=[(\[:])|!(?=\[)"
)
_ANY = re.compile(r"[\\`*~_<&\[\]!]")  # most texts have none of these
_IN_LINK = re.compile(r"[\[\]]|" + _SPECIAL.pattern)
_LINE_START = re.compile(
    r"(?P<number>\d{1,9})(?=[.)](?:\s|$))|#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+(?=\s*$)"
    r"|[-|:](?=[-|:\s]*$)|\[(?=[ xX]\](?:\s|$)|.*\]:)"
)
_FIRST = frozenset("0123456789#-+>=|:[")
ANY_MARKUP, FIRST_MARKUP = _ANY.search, _FIRST
_BEFORE_MARKUP = "!]\\&<"
_DESTINATION = re.compile(r"[()\\]|&(?=#?\w{1,40};)")
_NOT_IN_DESTINATION = re.compile(r"[\x00-\x20<>\x7f]")
_UNSAFE = re.compile(r"[\x00-\x20<>\x7f()\\&]")
_BRACKETS = re.compile(r"[\[\]]")
_TICKS = re.compile(r"`+")
_MARKS = {STRONG: "**", EMPHASIS: "*", STRONG | EMPHASIS: "***"}
_UNLINKED = frozenset((LinkKind.AD, LinkKind.FUNCTION))
# A link that is never closed goes around thousands of lines, and each would repeat its address.
_ROOM_CHARS = 20_000
_ROOM_PER_CHAR = 32  # an address of a hundred characters around a text of three


@dataclass(slots=True)
class _Atom:
    """Text of one link, emphasis and font.

    Attributes:
        text: White space collapsed; the Markdown of an image.
        marks: ``STRONG``, ``EMPHASIS``, both, or 0.
        url: Target of the link around the text, ``""`` without one.
        is_code: Whether the text is monospaced.
        is_free: Whether white space stands before it.
        is_image: Whether ``text`` is an image.
    """

    text: str
    marks: int
    url: str
    is_code: bool
    is_free: bool
    is_image: bool = False


class InlineWriter:
    """Writes lines of one page as inline Markdown.

    Addresses that a link repeats, line after line, take at most 20,000 characters and 32 times
    those of the text before them; behind that the link's lines are plain text.
    """

    def __init__(self, tree: Tree, links: Sequence[Link]) -> None:
        self._tree, self._links = tree, links
        self._linked: set[int] = set()  # anchors whose address is written
        self._room = _ROOM_CHARS

    def line(
        self,
        line: int,
        images: Sequence[tuple[int, str]] = (),
        marks: int = 0,
        is_start: bool = True,
    ) -> str:
        """Returns a line as Markdown, without a line break.

        Args:
            line: Number of the line.
            images: (run, Markdown) of the images inside the line, in order: ``(12, "![](u)")``.
            marks: Emphasis of the whole line: ``STRONG``, ``EMPHASIS``, both, or 0.
            is_start: Whether the text will begin a row, where ``1.`` and ``#`` are markup.
        """
        tree = self._tree
        start, end = tree.line_runs(line)
        anchor = tree.anchor_of[start]
        # Most lines are plain text, or one link.
        if not images and not marks and self._is_alike(start, end, anchor):
            url = self._url(anchor) if anchor >= 0 else ""
            source = tree.line_text(line)
            self._room += _ROOM_PER_CHAR * len(source)
            text = escape(source, is_link=bool(url))
            if url:
                return f"[{text}]({destination(url)})" if text else ""
            return start_escaped(text) if is_start else text
        atoms = self._atoms(start, end, images, marks)
        if any(atom.marks for atom in atoms):
            text = _write_marked(atoms)
        else:
            text = _write_links(atoms, False)
        if not is_start or not atoms or atoms[0].url or atoms[0].is_code or atoms[0].is_image:
            return text
        return start_escaped(text)

    def count(self, text: str) -> bool:
        """Counts a text that another has written; always True."""
        self._room += _ROOM_PER_CHAR * len(text)
        return True

    def _is_alike(self, start: int, end: int, anchor: int) -> bool:
        """Whether the runs have no marks, and are all in one link or all in none."""
        marks = self._tree.marks
        if end - start == 1:
            return start not in marks
        return self._tree.anchor_of[start:end].count(
            anchor
        ) == end - start and marks.keys().isdisjoint(range(start, end))

    def plain(self, line: int) -> str:
        """Returns a line as Markdown without emphasis and images, for headings."""
        start, end = self._tree.line_runs(line)
        atoms = self._atoms(start, end, (), 0)
        return _write_links(atoms, False)

    def _atoms(
        self, start: int, end: int, images: Sequence[tuple[int, str]], around: int
    ) -> list[_Atom]:
        tree = self._tree
        texts, anchors, marks_of = tree.texts, tree.anchor_of, tree.marks.get
        atoms: list[_Atom] = []
        is_free = False
        waiting = list(images)
        of_url: dict[str, int] = {}  # marks of each link; 0 for a link with several
        is_mixed = False
        run = start
        while run < end:
            while waiting and waiting[0][0] <= run:
                atoms.append(_Atom(waiting.pop(0)[1], 0, "", False, is_free, True))
                is_free = False
            bits, anchor = marks_of(run, 0), anchors[run]
            stop = waiting[0][0] if waiting else end
            behind = run + 1
            while behind < stop and anchors[behind] == anchor and marks_of(behind, 0) == bits:
                behind += 1
            source = texts[run] if behind == run + 1 else "".join(texts[run:behind])
            run = behind
            text = " ".join(source.split())
            if not text:
                is_free = True
                continue
            is_free = is_free or source[0].isspace()
            self._room += _ROOM_PER_CHAR * len(text)
            url = self._url(anchor) if anchor >= 0 else ""
            marks = (bits | around) & (STRONG | EMPHASIS)
            is_code = bits & MONOSPACE > 0
            if is_code and atoms and atoms[-1].is_code and not is_free:
                marks = atoms[-1].marks  # code spans may not touch
            if url and of_url.setdefault(url, marks) != marks:
                of_url[url] = 0
                is_mixed = True
            atoms.append(_Atom(text, marks, url, is_code, is_free))
            is_free = source[-1].isspace()
        atoms += [_Atom(text, 0, "", False, True, True) for _, text in waiting]
        if is_mixed:
            for atom in atoms:
                if atom.url:
                    atom.marks = of_url[atom.url]
        return atoms

    def _url(self, anchor: int) -> str:
        link = self._links[anchor] if anchor < len(self._links) else None
        # A link to a place of the page itself has no target in the Markdown.
        if link is None or link.kind in _UNLINKED or link.href.startswith("#"):
            return ""
        if anchor in self._linked:
            self._room -= len(link.url)
            if self._room < 0:
                return ""
        self._linked.add(anchor)
        return link.url


def _write_marked(atoms: list[_Atom]) -> str:
    """Atoms with emphasis around each group of equal marks."""
    out: list[str] = []
    before = " "  # the character before the group, a blank at the beginning
    touches = False  # whether a closing mark stands right before the group
    at = 0
    for marks, group in groupby(atoms, key=lambda atom: atom.marks):
        pieces = list(group)
        at += len(pieces)
        after = atoms[at] if at < len(atoms) else None
        next_char = " " if after is None or after.is_free else _first(after)
        if pieces[0].is_free and out:
            out.append(" ")
            before, touches = " ", False
        is_followed = next_char != " "
        last = _last(pieces[-1])
        lead, tail = "", ""
        if marks and not touches:
            lead, tail = _loose_ends(pieces, before, next_char)
        if (
            marks
            and not touches
            and _can_open(lead[-1:] or before, _first(pieces[0]))
            and _can_open(tail[:1] or next_char, _last(pieces[-1]))
        ):
            mark = _MARKS[marks]
            inner = _write_links(pieces, is_followed or bool(tail))
            end = escape(tail, is_followed=is_followed)
            out.append(f"{escape(lead, is_followed=True)}{mark}{inner}{mark}{end}")
            before, touches = (last, False) if tail else ("*", True)
        else:
            pieces[0].text = lead + pieces[0].text
            pieces[-1].text += tail
            out.append(_write_links(pieces, is_followed))
            before, touches = last, False
    return "".join(out)


def _loose_ends(atoms: list[_Atom], before: str, after: str) -> tuple[str, str]:
    """Takes the punctuation that cannot be emphasised off both ends of the atoms; returns it."""
    lead, tail = "", ""
    first, last = atoms[0], atoms[-1]
    if not (first.url or first.is_code or first.is_image):
        end = 0
        while end < len(first.text) - 1 and not _can_open(
            first.text[end - 1] if end else before, first.text[end]
        ):
            end += 1
        lead, first.text = first.text[:end], first.text[end:]
    if not (last.url or last.is_code or last.is_image):
        end = len(last.text)
        while end > 1 and not _can_open(
            last.text[end] if end < len(last.text) else after, last.text[end - 1]
        ):
            end -= 1
        tail, last.text = last.text[end:], last.text[:end]
    return lead, tail


def _write_links(atoms: list[_Atom], is_followed: bool) -> str:
    """Atoms of one emphasis as links and text, without the white space before the first atom."""
    out: list[str] = []
    at, count = 0, len(atoms)
    while at < count:
        begin, url = at, atoms[at].url
        at += 1
        while at < count and atoms[at].url == url:
            at += 1
        if begin and atoms[begin].is_free:
            out.append(" ")
        follows = not atoms[at].is_free if at < count else is_followed
        out.append(_write_link(atoms[begin:at], follows))
    return "".join(out)


def _write_link(atoms: list[_Atom], is_followed: bool) -> str:
    """Atoms of one emphasis and one target as one link, or as text without a target."""
    url = atoms[0].url
    if len(atoms) == 1:
        inner = _write_atom(atoms[0], atoms[0].text, is_followed)
        return f"[{inner}]({destination(url)})" if url else inner
    out: list[str] = []
    at = 0
    for _, group in groupby(atoms, key=lambda atom: (atom.is_code, atom.is_image)):
        pieces = list(group)
        if out and pieces[0].is_free:
            out.append(" ")
        at += len(pieces)
        text = "".join(f" {atom.text}" if n and atom.is_free else atom.text
                       for n, atom in enumerate(pieces))  # fmt: skip
        out.append(_write_atom(pieces[0], text, at < len(atoms) or is_followed))
    inner = "".join(out)
    return f"[{inner}]({destination(url)})" if url else inner


def _write_atom(atom: _Atom, text: str, is_followed: bool) -> str:
    # Code has no escapes: a bracket in a code span could end the text of its link.
    if atom.is_code and not (atom.url and _BRACKETS.search(text)):
        return code_span(text)
    return text if atom.is_image else escape(text, bool(atom.url), is_followed)


def escape(text: str, is_link: bool = False, is_followed: bool = False) -> str:
    """Returns a text with a backslash before each character of markup: ``a\\*b`` for ``a*b``.

    Args:
        text: White space collapsed.
        is_link: Whether the text will stand in square brackets.
        is_followed: Whether markup will follow the text without white space.
    """
    if is_followed and text[-1:] and text[-1] in _BEFORE_MARKUP:
        return escape(text[:-1], is_link) + "\\" + text[-1]
    if not _ANY.search(text):
        return text
    return (_IN_LINK if is_link else _SPECIAL).sub(r"\\\g<0>", text)


def start_escaped(text: str) -> str:
    """Returns a line that begins no heading, item, quote or rule: ``1\\. Mai`` for ``1. Mai``."""
    if text[:1] not in _FIRST or (match := _LINE_START.match(text)) is None:
        return text
    number = match["number"] or ""
    return f"{number}\\{text[len(number) :]}"


def code_span(text: str) -> str:
    """Returns a text as a code span, with one backtick more than any run in it."""
    ticks = "`" * (longest_ticks(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def longest_ticks(text: str) -> int:
    """Returns the length of the longest run of backticks in a text."""
    return max(map(len, _TICKS.findall(text)), default=0)


def destination(url: str) -> str:
    """Returns an absolute URL as the destination of a link: spaces as ``%20``, brackets escaped."""
    if not _UNSAFE.search(url):
        return url
    url = _NOT_IN_DESTINATION.sub(lambda match: f"%{ord(match[0]):02X}", url)
    return _DESTINATION.sub(r"\\\g<0>", url)


def image_of(alt: str, url: str) -> str:
    """Returns an image as Markdown: ``![alt](url)``."""
    return f"![{escape(' '.join(alt.split()), is_link=True)}]({destination(url)})"


def _first(atom: _Atom) -> str:
    """The first character of an atom's Markdown."""
    if atom.is_image:
        return "!"
    return "[" if atom.url else "`" if atom.is_code else atom.text[0]


def _last(atom: _Atom) -> str:
    """The last character of an atom's Markdown."""
    return ")" if atom.url or atom.is_image else "`" if atom.is_code else atom.text[-1]


def _can_open(outside: str, inside: str) -> bool:
    """Whether every CommonMark version reads a mark between two characters as the inner one's."""
    if inside.isspace():
        return False
    if unicodedata.category(inside)[0] not in "PSZC":
        return True
    return outside.isspace() or unicodedata.category(outside)[0] == "P"
