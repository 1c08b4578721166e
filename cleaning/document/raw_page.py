"""The fetched page before parsing: status, headers, and the body decoded to text once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from crawlclean.cleaning.document.charset import decode
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import Provenance
from crawlclean.cleaning.urls.normal_form import host_of, page_id as page_id_of

CUT_SHORT_HEADER = "X-Cut-Short"
"""Added by the spider to a response that ended early: the archive keeps headers, nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPage:
    """One fetched page, decoded but not parsed.

    Build it with ``from_bytes``; the constructor is for pages that are text already.

    Attributes:
        url: Absolute URL of the response, as fetched.
        host: Lower-case authority without the default port: ``news.example:8080``.
        status: HTTP status, 100-599.
        headers: (name, value) pairs in order, as received.
        fetched_at: End of the response; aware UTC.
        html: The decoded source, whole.
        encoding: Python's name of the charset, such as ``gb18030``.
        referrer: URL of the page that linked here, or None.
        depth: Links from the nearest seed, >= 0.
        provenance: The link that led here, or None outside a crawl.
        warnings: Guessed charset, replaced bytes, a response that was cut short.
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
        """Decodes the body of a response (``document.charset``).

        Args:
            url: Absolute http(s) URL.
            body: The response body after content decoding.
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
        is_cut = any(name == CUT_SHORT_HEADER for name, _ in headers)
        cut = (PageWarning(kind=WarningKind.CUT_SHORT),) if is_cut else ()
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
            warnings=text.warnings + cut,
        )

    @property
    def page_id(self) -> str:
        """Key of the page: 32 hex digits of the hash of its URL's normal form."""
        return page_id_of(self.url)
