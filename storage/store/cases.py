"""Reported verdicts: what somebody says a page's cleaning got wrong, with the page as it was.

Workers report pages on which some of them died; such a page is not cleaned again here.

A case is about one part of a page: a text, a link, an image, or a field of its record. It holds
the page's bytes, the model that cleaned it, and what the cleaner found, so that it can be exported
as a golden folder when the crawl has fetched the page anew or its model is gone. It goes with its
crawl or host (``delete_crawl``, ``delete_host``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from storage.store.codec import from_microseconds, to_microseconds
from storage.store.ports import Scan, Tables
from storage.store.record_blobs import compress, decompress
from storage.store.row_types import RowType

MOST_CASES = 10_000
"""Cases kept; some 15 KB each."""
MOST_CASE_BYTES = 8 << 20
"""Bytes of a page and of what was found on it, packed; MongoDB's documents end at 16 MB."""


class CaseSubject(StrEnum):
    """What part of a page a case is about."""

    TEXT = "text"  # one text of the page, by its number among the verdicts
    TITLE = "title"  # the title of the record
    AUTHOR = "author"  # its author
    PUBLISHED_AT = "published_at"  # its time of publication
    KIND = "kind"  # the kind of the page
    LINK = "link"  # one link, by its number in the record
    IMAGE = "image"  # one image, by its number in the record
    CRASH = "crash"  # the whole page: workers died while they cleaned it


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A reported verdict.

    Attributes:
        case_id: 16 hex digits; the same for the same part of the same page, so that a second
            report of it replaces the first.
        page_id: 32 hex digits.
        crawl_id: The crawl that fetched the page.
        host: Lower-case authority.
        url: URL of the page.
        subject: What part of the page it is about.
        place: Number of the text, link or image, from 0; -1 of a field.
        text: The text, or the URL of the link or image; ``""`` of a field.
        start: Characters of the body before the text, white space apart; -1 of other parts.
        chars: Characters of the text, white space apart; 0 of other parts.
        was: What the cleaner found: ``navigation``, ``2026-10-05T18:30:00+08:00``; ``""``: nothing.
        rule: The rule that decided: ``link_list``; ``""`` of a field.
        wanted: What is right, in the same words; of a text ``body`` or ``not_body``.
        note: Why, in words for a person.
        who: Who reported it: ``session 4f11``.
        at: When it was reported.
        digest: 16 hex digits, equal for cases of the same bytes, cleaned the same way.
    """

    case_id: str
    page_id: str
    crawl_id: str
    host: str
    url: str
    subject: CaseSubject
    place: int
    text: str
    start: int
    chars: int
    was: str
    rule: str
    wanted: str
    note: str
    who: str
    at: datetime
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePage:
    """The page of a case as it was.

    Attributes:
        url: Its URL.
        fetched_at: End of the response.
        content_type: The Content-Type header; ``""`` without one.
        body: The response's bytes.
        model: The host's model that cleaned it, as JSON text; ``""``: none.
        found: What the cleaner found, as JSON text; ``""``: cleaning it killed workers.
    """

    url: str
    fetched_at: datetime
    content_type: str
    body: bytes
    model: str
    found: str

    @property
    def digest(self) -> str:
        """16 hex digits of bytes, model and what was found."""
        parts = (self.content_type.encode(), self.body, self.model.encode(), self.found.encode())
        return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()[:16]


def case_id_of(page_id: str, digest: str, subject: CaseSubject, place: int) -> str:
    """The id of the case about a part of a page."""
    return sha256(f"{page_id} {digest} {subject} {place}".encode()).hexdigest()[:16]


_CASE = RowType(Case, "case", start="start_char")
_PAGE_COLUMNS = ("url", "fetched_at", "content_type", "body", "model", "found")


class Cases:
    """The member ``cases``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def put(self, case: Case, page: CasePage) -> None:
        """Stores a case; one about the same part is replaced."""
        self._tables.put(
            "cases",
            {
                **_CASE.row(case),
                "fetched_at": to_microseconds(page.fetched_at),
                "content_type": page.content_type,
                **packed(page),
            },
        )

    def get(self, case_id: str) -> Case | None:
        """One case; None when it is not stored."""
        found = self._tables.get("cases", [(case_id,)], _CASE.columns)
        return next(map(_CASE.read, found.values()), None)

    def page(self, case_id: str) -> CasePage | None:
        """The page of a case; None when the case is not stored.

        Raises:
            StoreDamaged: It cannot be read.
        """
        found = self._tables.get("cases", [(case_id,)], _PAGE_COLUMNS).get((case_id,))
        if found is None:
            return None
        url, fetched_at, content_type, body, model, text = found
        return CasePage(
            url=url,
            fetched_at=from_microseconds(fetched_at),
            content_type=content_type,
            body=decompress(bytes(body)),
            model=decompress(bytes(model)).decode(),
            found=decompress(bytes(text)).decode(),
        )

    def read(self, before: int | None = None, limit: int = 50) -> list[Case]:
        """Cases, the newest first.

        Args:
            before: Only those that were reported before this time, microseconds since 1970 UTC.
            limit: At most this many, >= 1.
        """
        after = () if before is None else (before,)
        wanted = Scan("cases", _CASE.columns, {}, ("at",), backwards=True, after=after, limit=limit)
        return [_CASE.read(row) for row in self._tables.scan(wanted)]

    def of_page(self, page_id: str) -> list[Case]:
        """The cases of a page, the oldest first."""
        found = self._tables.scan(Scan("cases", _CASE.columns, {"page_id": page_id}))
        return sorted(map(_CASE.read, found), key=lambda case: case.at)

    def count(self) -> int:
        """Number of cases."""
        return self._tables.count("cases", {})

    def delete(self, case_id: str) -> bool:
        """Deletes a case; False when there was none."""
        return bool(self._tables.delete("cases", {"case_id": case_id}))


def packed(page: CasePage) -> dict[str, bytes]:
    """The large values of a page, compressed; a whole case has at most ``MOST_CASE_BYTES``."""
    return {
        "body": compress(page.body),
        "model": compress(page.model.encode()),
        "found": compress(page.found.encode()),
    }
