"""Judges how a request ended, and hands its result to the queue.

The verdicts: keep the response, try again, or give up with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from OpenSSL.SSL import Error as TlsError
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Headers
from twisted.internet.error import ConnectError, ConnectionClosed

from cleaning.errors import FetchError, PageTooLarge
from crawler.politeness import (
    RETRY_STATUSES,
    UNANSWERED,
    backoff_ms,
    outcome_of_status,
    retry_after_ms,
    slow_down_ms,
)
from crawler.transfer.certificates import WrongCertificate
from storage.crawl_types import Failure, FailureReason, FetchResult, Lease, PageRole
from storage.politeness_policy import ResponseOutcome, Retry, Unreachable

CODING_HEADERS = frozenset({"content-encoding", "transfer-encoding"})
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
UNSPECIFIC_TYPES = frozenset({"", "text/plain", "application/octet-stream", "unknown/unknown"})
PAGE_TYPES = HTML_TYPES | FEED_TYPES | UNSPECIFIC_TYPES
WRAPPED = re.compile(r"\[?<twisted\.python\.failure\.Failure [\w.]+: (.*?)>\]?", re.DOTALL)
PATIENT_ATTEMPTS = 7  # more tries for a URL whose host asks us to slow down
IMAGE_TYPES = re.compile(r"image/|(?:binary|application)/octet-stream|(?:application|text)/xml")
FINAL = frozenset(
    {FailureReason.ADDRESS_REFUSED, FailureReason.TOO_LARGE, FailureReason.CERTIFICATE}
)
REFUSED_CERTIFICATE = "certificate verify failed"  # OpenSSL's text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The spider's only item: a lease, its result, and the pause the response asks of its host.

    The result has no repr: Scrapy logs items that fail, and bodies are never logged.
    """

    lease: Lease
    result: FetchResult = field(repr=False)
    host_wait_ms: int = 0


class KeptConnectionLostError(DownloadFailedError):
    """A connection that was kept after a response was closed before the next response began.

    Servers close connections that were idle for some seconds. A request that is under way at this
    moment is lost, and neither the host nor its URL is at fault.
    """


class _Finisher(Protocol):
    async def finish(self, fetched: Fetched) -> None: ...


class QueuePipeline:
    """Scrapy's item pipeline: puts every result into the queue, which ends the lease."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> QueuePipeline:
        """Creates the pipeline of a crawler."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Puts one result into the queue and drops it from memory."""
        await cast(_Finisher, self._crawler.spider).finish(item)
        return None


def header_pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Decodes a response's headers, without Content-Encoding and Transfer-Encoding."""
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        if name.lower().decode("latin-1") not in CODING_HEADERS
        for value in values
    )


def content_type(headers: Sequence[tuple[str, str]]) -> str:
    """Returns the media type of a response, ``text/html``: lower case, no parameters; or ``""``."""
    value = next((v for k, v in headers if k.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()


def may_be_page(media_type: str) -> bool:
    """Whether a response may be a page or a feed; the worker looks into unspecific types."""
    return media_type in PAGE_TYPES


def may_be_wanted(role: PageRole, media_type: str) -> bool:
    """Whether a response of this type suits the role of its URL."""
    if role is PageRole.IMAGE:
        return bool(IMAGE_TYPES.match(media_type)) or media_type in UNSPECIFIC_TYPES
    return role is not PageRole.PAGE or may_be_page(media_type)


def address_refused(name: str) -> Failure:
    """The failure of a host name or an address (``10.0.0.1``) that this crawl may not reach."""
    detail = f"{name} is a private or loopback address (allow it with --allow-private)"
    return Failure(reason=FailureReason.ADDRESS_REFUSED, detail=detail)


def failure_of(
    error: BaseException | None,
    host: str,
    *,
    refused: bool,
    unsure: bool = False,
    certificate: WrongCertificate | None = None,
) -> Failure:
    """Classifies the exception that ended a request without a usable response.

    Args:
        error: The exception.
        host: The host of the request.
        refused: The address guard refused every address of the host name.
        unsure: The lookup of the host name failed, though the name may have an address.
        certificate: What is wrong with the host's certificate, or None.
    """
    text = " ".join(WRAPPED.sub(r"\1", str(error)).split()) or type(error).__name__
    if refused:
        return address_refused(host)
    if isinstance(error, CannotResolveHostError):
        what = "could not be looked up" if unsure else "has no address"
        return Failure(reason=FailureReason.DNS, detail=f"the name {host} {what}")
    if isinstance(error, DownloadTimeoutError):
        return Failure(reason=FailureReason.TIMEOUT, detail=text)
    if isinstance(error, PageTooLarge):
        return Failure(reason=FailureReason.TOO_LARGE, detail=text)
    if isinstance(error, FetchError) or _is_no_answer(error):
        return Failure(reason=FailureReason.BROKEN_ANSWER, detail=text)
    if isinstance(error, DownloadCancelledError):
        return Failure(reason=FailureReason.TOO_LARGE, detail="the response is over the size limit")
    if isinstance(error, ResponseDataLossError):
        return Failure(reason=FailureReason.BROKEN_ANSWER, detail="the response was cut short")
    if certificate and REFUSED_CERTIFICATE in text:
        detail = f"the certificate of {host} is refused: {certificate.detail}"
        return Failure(reason=FailureReason.CERTIFICATE, detail=detail)
    if isinstance(error, TlsError) or "SSL" in text or "certificate" in text:
        return Failure(reason=FailureReason.TLS, detail=text)
    if isinstance(error, (DownloadConnectionRefusedError, DownloadFailedError, ConnectError)):
        return Failure(reason=FailureReason.CONNECT, detail=text)
    return Failure(reason=FailureReason.BROKEN_ANSWER, detail=f"{type(error).__name__}: {text}")


def _is_no_answer(error: BaseException | None) -> bool:
    """Whether the connection worked, but had no HTTP or ended within the response."""
    reasons = getattr(getattr(error, "__cause__", None), "reasons", ())
    return any(
        not isinstance(reason.value, (ConnectionClosed, TlsError, OSError)) for reason in reasons
    )


def unreachable_of(
    error: BaseException | None, failure: Failure, *, unsure: bool
) -> Unreachable | None:
    """Returns the party that may have failed when a request got no response; None for others."""
    if isinstance(error, KeptConnectionLostError):
        return Unreachable.CONNECTION
    if failure.reason is FailureReason.DNS:
        return Unreachable.HOST if unsure else Unreachable.NAME
    if failure.reason is FailureReason.TIMEOUT:
        cause = getattr(error, "__cause__", None)
        return Unreachable.HOST if isinstance(cause, ConnectError) else Unreachable.URL
    if failure.reason is FailureReason.CONNECT:
        return Unreachable.URL if isinstance(error, DownloadFailedError) else Unreachable.HOST
    return None


def judge_failure(failure: Failure, attempt: int, max_attempts: int) -> Retry | None:
    """Returns another attempt for a request without a response, or None to give up."""
    if failure.reason in FINAL or attempt >= max_attempts:
        return None
    return Retry(
        detail=f"{failure.reason}: {failure.detail}",
        url_wait_ms=backoff_ms(attempt),
        host_wait_ms=0,
        outcome=ResponseOutcome.NONE if failure.reason in UNANSWERED else ResponseOutcome.ERROR,
    )


def judge_answer(
    status: int,
    headers: Sequence[tuple[str, str]],
    role: PageRole,
    attempt: int,
    max_attempts: int,
) -> Retry | Failure | None:
    """Returns None to keep a response, another attempt, or the final failure."""
    if status in RETRY_STATUSES:
        slow_ms = slow_down_ms(status, headers, attempt)
        # A busy host waits, not its URL: the URL comes first when the host's wait is over, and has
        # more attempts than other URLs.
        patient = slow_ms and role is not PageRole.ROBOTS
        if attempt < max_attempts + (PATIENT_ATTEMPTS if patient else 0):
            return Retry(
                detail=f"status {status}",
                url_wait_ms=0
                if slow_ms
                else max(backoff_ms(attempt), retry_after_ms(headers) or 0),
                host_wait_ms=slow_ms,
                outcome=outcome_of_status(status),
            )
        return Failure(reason=FailureReason.HTTP_STATUS, detail=f"status {status}")
    if status >= 400 or status < 200:
        return Failure(reason=FailureReason.HTTP_STATUS, detail=f"status {status}")
    if status >= 300:
        return None  # the worker follows the Location header
    media_type = content_type(headers)
    if may_be_wanted(role, media_type):
        return None
    reason = FailureReason.NOT_IMAGE if role is PageRole.IMAGE else FailureReason.NOT_HTML
    return Failure(reason=reason, detail=f"the response is {media_type}")
