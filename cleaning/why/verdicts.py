"""The verdict on every text of a page, from the decisions that ``clean`` takes.

The page is cleaned once, and the steps note which rule cut which line; nothing is judged a second
time. A block of text is a run of neighbouring lines of one block element with one verdict: an
element whose ``<br>`` separate a caption from a request to follow an account is two blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.raw_page import RawPage
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.code_blocks import find_code
from crawlclean.cleaning.features.trail import Trail
from crawlclean.cleaning.images.captions import Captions
from crawlclean.cleaning.model.places import SitePlaces
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import Reading, read
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.verdict import Verdict, VerdictKind, VerdictReason
from crawlclean.cleaning.why.kinds import kind_of_cut, kind_of_links
from crawlclean.cleaning.why.reasons import Reason, Reasons


@dataclass(frozen=True, slots=True)
class _Line:
    """The verdict on one line, and the post that has it; the fields are those of ``Verdict``."""

    kind: VerdictKind
    reason: Reason
    in_body: bool
    post: int


def verdicts(page: RawPage, model: SiteModel | None = None) -> tuple[Verdict, ...]:
    """Returns why each text of a page was kept or cut, in document order.

    The first one is the title of the record, if it has one. Each visible text is in one verdict;
    the texts with ``in_body`` are the body of the record, those with ``post`` its posts.

    Args:
        page: The decoded page.
        model: The model of the page's host, or None.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    return explain(page, model)[1]


def explain(
    page: RawPage, model: SiteModel | None = None
) -> tuple[CleanRecord, tuple[Verdict, ...]]:
    """Returns the record of a page as ``clean`` gives it, and its verdicts.

    Args:
        page: The decoded page.
        model: The model of the page's host, or None.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    trail = Trail()
    reading = read(page, model, trail=trail)
    judge = _Judge(reading, trail)
    return reading.record, (*judge.title(), *judge.blocks())


class _Judge:
    """Puts together the verdicts of one page."""

    def __init__(self, reading: Reading, trail: Trail) -> None:
        self._record = reading.record
        self._tree: Tree = reading.document.tree
        self._body: Body = reading.body
        self._places: SitePlaces | None = reading.places
        self._reasons = Reasons(self._tree, reading.body, reading.places, trail)
        self._is_kept = frozenset(reading.body.lines)
        self._post_of: dict[int, int] = {}
        self._quotes: set[int] = set()
        self._note_posts()
        self._captions = self._lines_of_captions()
        self._code = self._numbered_code()

    def title(self) -> Iterator[Verdict]:
        """Yields the verdict on the title of the record."""
        if self._record.title:
            yield Verdict(
                path="html/head/title",
                block=-1,
                line=-1,
                lines=0,
                text=self._record.title,
                kind=VerdictKind.TITLE,
                reason=VerdictReason.TITLE,
            )

    def blocks(self) -> Iterator[Verdict]:
        """Yields the verdicts on the visible texts in document order."""
        blocks, count = self._tree.line_blocks, len(self._tree.line_starts)
        first = 0
        while first < count:
            if first in self._code:
                end, code, numbers = self._code[first]
                one = self._of(first)
                yield self._verdict(first, end, one, code)
                cut = _Line(VerdictKind.OTHER, Reason(VerdictReason.LINE_NUMBERS), False, -1)
                yield self._verdict(first, end, cut, numbers)
                first = end
                continue
            block, one = blocks[first], self._of(first)
            end = first + 1
            while (
                end < count
                and blocks[end] == block
                and end not in self._code
                and self._of(end) == one
            ):
                end += 1
            text = "\n".join(map(self._tree.line_text, range(first, end)))
            yield self._verdict(first, end, one, text)
            first = end

    def _verdict(self, first: int, end: int, one: _Line, text: str) -> Verdict:
        block, reason = self._tree.line_blocks[first], one.reason
        return Verdict(
            path=self._reasons.paths.of(block),
            block=block,
            line=first,
            lines=end - first,
            text=text,
            kind=one.kind,
            reason=reason.rule,
            in_body=one.in_body,
            post=one.post,
            score=reason.score,
            against=reason.against,
            by=reason.by,
        )

    def _of(self, line: int) -> _Line:
        """The verdict on a line."""
        in_body, post = line in self._is_kept, self._post_of.get(line, -1)
        if line in self._quotes and post >= 0:
            return _Line(VerdictKind.QUOTE, Reason(VerdictReason.POST_QUOTE), in_body, post)
        reason = self._reasons.of(line)
        if in_body or post >= 0:
            if not in_body:
                reason = Reason(VerdictReason.POST_TEXT)
            kind = VerdictKind.POST if post >= 0 else VerdictKind.BODY
            return _Line(kind, reason, in_body, post)
        if line in self._captions:
            return _Line(VerdictKind.CAPTION, Reason(VerdictReason.CAPTION), False, -1)
        if reason.rule is VerdictReason.TITLE_LINE:
            return _Line(VerdictKind.HEADLINE, reason, False, -1)
        lines = self._reasons.lines
        linked = (
            kind_of_links(self._tree, self._record.links, line)
            if lines.linked[line] > lines.own[line]
            else None
        )
        kind = kind_of_cut(reason.rule, linked, reason.by)
        return _Line(kind, reason, False, -1)

    def _note_posts(self) -> None:
        """Notes which post of the record has which line."""
        thread = self._body.thread
        if not self._record.posts:
            return
        if thread is None:
            self._post_of = dict.fromkeys(self._body.lines, 0)
            return
        for number, place in enumerate(thread.posts):
            self._quotes.update(place.quotes)
            for line in (*place.texts, *place.quotes):
                self._post_of[line] = number

    def _lines_of_captions(self) -> frozenset[int]:
        """The lines that are captions of the record's images."""
        images = self._record.images
        if not any(image.caption for image in images):
            return frozenset()
        captions = Captions(self._tree)
        return frozenset(
            line
            for number, image in enumerate(images)
            if image.caption
            for line in captions.lines_of(number)
        )

    def _numbered_code(self) -> dict[int, tuple[int, str, str]]:
        """First line -> (line behind, code, numbers) of code whose numbers are not in the body."""
        found = {}
        tree, lines = self._tree, self._body.lines
        for code in find_code(tree, lines) if tree.code_blocks or tree.marks else ():
            first, last = lines[code.start], lines[code.end - 1]
            shown = "\n".join(tree.texts[tree.line_starts[first] : tree.line_runs(last)[1]])
            if last - first != code.end - 1 - code.start or _marks(shown) == _marks(code.text):
                continue
            numbers = (row.split(maxsplit=1)[0] for row in shown.split("\n") if row.strip())
            found[first] = last + 1, code.text, " ".join(numbers)
        return found


def _marks(text: str) -> str:
    return "".join(text.split())
