"""One fetched page before it is parsed: its bytes decoded once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cleaning.document.charset import decode
from cleaning.page_warnings import PageWarning
from cleaning.records import Provenance
from cleaning.urls.normal_form import host_of
from cleaning.urls.normal_form import page_id as page_id_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPage:
    """One fetched page, decoded once, not yet parsed.

    Build it with ``from_bytes``; the constructor is for pages that are text already.

    Attributes:
        url: Absolute URL the bytes came from, as fetched.
        host: Lower-case authority without the default port.
        status: HTTP status, 100-599.
        headers: (name, value) pairs in order, as received.
        fetched_at: When the answer ended; aware UTC.
        html: The decoded source, whole.
        encoding: Python's name of the charset that decoded it.
        referrer: URL of the page that linked here, or None.
        depth: Links from the nearest seed, >= 0.
        provenance: How a crawl came here, or None outside a crawl.
        warnings: What decoding had to guess or replace.
    """

    url: str
    host: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    fetched_at: datetime
    html: str
    encoding: str
    referrer: str | None = None
    depth: int = 0
    provenance: Provenance | None = None
    warnings: tuple[PageWarning, ...] = ()

    @classmethod
    def from_bytes(
        cls,
        url: str,
        body: bytes,
        content_type: str | None = None,
        fetched_at: datetime | None = None,
        status: int = 200,
        headers: tuple[tuple[str, str], ...] = (),
        referrer: str | None = None,
        depth: int = 0,
        provenance: Provenance | None = None,
    ) -> RawPage:
        """The page with its bytes decoded by ``document.charset``.

        Args:
            url: Absolute http(s) URL.
            body: The answer's bytes after content coding is undone.
            content_type: The Content-Type header; taken from ``headers`` when None.
            fetched_at: Aware datetime; the epoch when None, so that the same bytes always give
                the same record.

        Raises:
            InvalidUrl: ``url`` is no absolute http(s) URL.
            TypeError: ``body`` is text.
        """
        if isinstance(body, str):
            raise TypeError("body is str: give bytes (clean_html takes both)")
        if content_type is None:
            content_type = next((v for k, v in headers if k.lower() == "content-type"), None)
        text = decode(body, content_type)
        return cls(
            url=url,
            host=host_of(url),
            status=status,
            headers=tuple(headers),
            fetched_at=(fetched_at or datetime.fromtimestamp(0, UTC)).astimezone(UTC),
            html=text.html,
            encoding=text.encoding,
            referrer=referrer,
            depth=depth,
            provenance=provenance,
            warnings=text.warnings,
        )

    @property
    def page_id(self) -> str:
        """128-bit hex of the URL's normal form (32 lower-case digits)."""
        return page_id_of(self.url)
