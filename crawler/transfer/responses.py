"""Judges how a request ended.

The verdicts: keep the response, try again, or give up with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from OpenSSL.SSL import Error as TlsError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Headers, Response
from twisted.internet.error import ConnectError, ConnectionClosed
from twisted.python.failure import Failure as TwistedFailure

from crawlclean.cleaning.errors import FetchError, PageTooLarge
from crawlclean.cleaning.messages import Message
from crawlclean.crawler.transfer.certificates import WrongCertificate
from crawlclean.storage.crawl_types import (
    Failure,
    FailureReason,
    FetchResult,
    PageRole,
    ResponseOutcome,
    Retry,
    Unreachable,
)

# Waits of hosts and URLs after failures, and the outcome of a response for the host's clock.
#
# The clocks are in the queue, shared by all spiders.

RETRY_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
SLOW_DOWN_STATUSES = frozenset({429, 503})
FIRST_WAIT_MS = 1_000  # before the second attempt: a moment of overload is over by then
LONGEST_WAIT_MS = 300_000  # 5 minutes: a last URL keeps its crawl open for so long
LONGEST_RETRY_AFTER_MS = 3_600_000  # an hour: a host may ask for years
UNANSWERED = frozenset(
    {
        FailureReason.DNS,
        FailureReason.ADDRESS_REFUSED,
        FailureReason.CONNECT,
        FailureReason.TIMEOUT,
        FailureReason.INTERNAL,
    }
)


def backoff_ms(attempt: int) -> int:
    """Returns the wait of a URL after its ``attempt``-th failure, ms: 1,000, 4,000 ... 300,000."""
    return int(min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 4 ** (attempt - 1)))


def retry_after_ms(headers: Sequence[tuple[str, str]], now: datetime | None = None) -> int | None:
    """Reads Retry-After (``"120"`` or an HTTP date) as ms, at most an hour; None without one."""
    value = next((v.strip() for k, v in headers if k.lower() == "retry-after"), "")
    if value.isascii() and value.isdigit():
        return min(int(value[:9]) * 1000, LONGEST_RETRY_AFTER_MS)
    try:
        until = parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # the zone of a date may be any number
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    wait = (until - (now or datetime.now(UTC))).total_seconds() * 1000
    return max(0, min(int(wait), LONGEST_RETRY_AFTER_MS))


def slow_down_ms(status: int, headers: Sequence[tuple[str, str]], attempt: int) -> int:
    """Returns the pause that a response with 429 or 503 asks of us, ms; 0 for other statuses."""
    if status not in SLOW_DOWN_STATUSES:
        return 0
    return retry_after_ms(headers) or backoff_ms(attempt)


def outcome_of(result: FetchResult) -> ResponseOutcome:
    """Classifies the result of a request for the host's clock."""
    if result.failure and result.failure.reason in UNANSWERED:
        return ResponseOutcome.NONE
    return outcome_of_status(result.status)


def outcome_of_status(status: int) -> ResponseOutcome:
    """Classifies an HTTP status for the host's clock; 0 means an unreadable response."""
    if status in SLOW_DOWN_STATUSES:
        return ResponseOutcome.SLOW_DOWN
    return ResponseOutcome.ANSWERED if 200 <= status < 400 else ResponseOutcome.ERROR


CODING_HEADERS = frozenset({"content-encoding", "transfer-encoding"})
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
PAGE_TYPES = HTML_TYPES | FEED_TYPES
# What certainly is something else. The worker looks into all others: names that are no media type
# (`text`, `html`, `content`), download types, types that nobody has registered.
OTHER_TYPES = re.compile(
    r"(?:image|audio|video|font|model|multipart)/"
    r"|text/(?:css|csv|calendar|vcard|(?:x-)?(?:java|ecma)script)"
    r"|application/(?:pdf|rtf|ms\w|postscript|wasm|mp4|ogg|sql|x?-?yaml|pkcs|pgp|java-archive|"
    r"(?:x-)?(?:java|ecma)script|(?:.*\+)?(?:json|zip|gzip)|"
    r"x-(?:tar|g?zip|bzip|rar|7z|sh|font|msdownload|shockwave|mpegurl|bittorrent|iso)|"
    r"vnd\.(?!.*\bxhtml\b))"
)
NO_CONTENT = frozenset({204, 205})
PATIENT_ATTEMPTS = 7  # more tries for a URL whose host asks us to slow down
IMAGE_TYPES = re.compile(r"image/|(?:binary|application)/octet-stream|(?:application|text)/xml")
FINAL = frozenset(
    {FailureReason.ADDRESS_REFUSED, FailureReason.TOO_LARGE, FailureReason.CERTIFICATE}
)
REFUSED_CERTIFICATE = "certificate verify failed"  # OpenSSL's text


class KeptConnectionLostError(DownloadFailedError):
    """A connection that was kept after a response was closed before the next response began.

    Servers close connections that were idle for some seconds. A request that is under way at this
    moment is lost, and neither the host nor its URL is at fault.
    """


def header_pairs(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Decodes a response's headers, without Content-Encoding and Transfer-Encoding."""
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        if name.lower().decode("latin-1") not in CODING_HEADERS
        for value in values
    )


def content_type(headers: Sequence[tuple[str, str]]) -> str:
    """Returns the media type of a response, ``text/html``: lower case, no parameters; or ``""``.

    What a browser takes for the end of the type ends it: ``text/html charset=utf-8``.
    """
    value = next((v for k, v in headers if k.lower() == "content-type"), "")
    return re.split(r"[;,\s]", value.strip(), maxsplit=1)[0].lower()


def is_redirect(status: int, headers: Sequence[tuple[str, str]]) -> bool:
    """Whether a response is a 3xx with a Location; one without is shown by browsers as a page."""
    return 300 <= status < 400 and any(k.lower() == "location" and v.strip() for k, v in headers)


def may_be_page(media_type: str) -> bool:
    """Whether a response may be a page or a feed; the worker looks into what this lets pass."""
    return media_type in PAGE_TYPES or not OTHER_TYPES.match(media_type)


def may_be_wanted(role: PageRole, media_type: str) -> bool:
    """Whether a response of this type suits the role of its URL."""
    if role is PageRole.IMAGE:
        is_unsaid = media_type == "text/plain" or "/" not in media_type
        return is_unsaid or bool(IMAGE_TYPES.match(media_type))
    return role is not PageRole.PAGE or may_be_page(media_type)


def is_cut(response: Response) -> bool:
    """Whether a response ended before its Content-Length, or without its last chunk."""
    return "dataloss" in response.flags


def address_refused(name: str) -> Failure:
    """The failure of a host name or an address (``10.0.0.1``) that this crawl may not reach."""
    return Failure(reason=FailureReason.ADDRESS_REFUSED, detail=Message("private", name))


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
    said = [str(reason.value) for reason in _reasons(error)] or [str(error)]
    text = " ".join(" ".join(said).split()) or type(error).__name__
    if refused:
        return address_refused(host)
    if isinstance(error, CannotResolveHostError):
        return no_address(host, unsure=unsure)
    if isinstance(error, DownloadTimeoutError):
        return Failure(reason=FailureReason.TIMEOUT, detail=text)
    if isinstance(error, PageTooLarge):
        return Failure(reason=FailureReason.TOO_LARGE, detail=text)
    if isinstance(error, FetchError) or _is_no_answer(error):
        return Failure(reason=FailureReason.BROKEN_ANSWER, detail=text)
    if isinstance(error, DownloadCancelledError):
        return Failure(reason=FailureReason.TOO_LARGE, detail=Message("over_limit"))
    if certificate and REFUSED_CERTIFICATE in text:
        detail = Message("certificate", host, certificate.detail)
        return Failure(reason=FailureReason.CERTIFICATE, detail=detail)
    if isinstance(error, TlsError) or "SSL" in text or "certificate" in text:
        return Failure(reason=FailureReason.TLS, detail=text)
    if isinstance(error, (DownloadConnectionRefusedError, DownloadFailedError, ConnectError)):
        return Failure(reason=FailureReason.CONNECT, detail=text)
    return Failure(reason=FailureReason.BROKEN_ANSWER, detail=f"{type(error).__name__}: {text}")


def no_address(host: str, *, unsure: bool = False) -> Failure:
    """The failure of a name without address; ``unsure``: of a look-up that failed."""
    detail = Message("no_lookup" if unsure else "no_address", host)
    return Failure(reason=FailureReason.DNS, detail=detail)


def _is_no_answer(error: BaseException | None) -> bool:
    """Whether the connection worked, but had no HTTP or ended within the response."""
    return any(
        not isinstance(reason.value, (ConnectionClosed, TlsError, OSError))
        for reason in _reasons(error)
    )


def _reasons(error: BaseException | None) -> Sequence[TwistedFailure]:
    """The failures that Twisted collected in the error behind one of Scrapy's."""
    return getattr(getattr(error, "__cause__", None), "reasons", ())


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


def was_reached(away: Unreachable | None, failure: Failure) -> bool:
    """Whether a host may have been reached by a request that got no response."""
    return away in (Unreachable.URL, Unreachable.CONNECTION) or failure.reason in (
        FailureReason.BROKEN_ANSWER,
        FailureReason.TOO_LARGE,
    )


def judge_failure(failure: Failure, attempt: int, max_attempts: int) -> Retry | None:
    """Returns another attempt for a request without a response, or None to give up."""
    if failure.reason in FINAL or attempt >= max_attempts:
        return None
    return Retry(
        detail=failure.line,
        url_wait_ms=backoff_ms(attempt),
        host_wait_ms=0,
        outcome=ResponseOutcome.NONE if failure.reason in UNANSWERED else ResponseOutcome.ERROR,
    )


def judge_self_redirect(
    new_cookies: Sequence[str], attempt: int, max_attempts: int
) -> Retry | Failure:
    """Judges a redirect of a URL to itself: with a new cookie another attempt may get the page."""
    if not new_cookies:
        return Failure(reason=FailureReason.BAD_REDIRECT, detail=Message("own_redirect"))
    names = " ".join(new_cookies)
    if attempt < max(max_attempts, 2):
        return Retry(
            detail=Message("own_redirect_cookies", names),
            url_wait_ms=0,
            host_wait_ms=0,
            outcome=ResponseOutcome.ANSWERED,
        )
    return Failure(reason=FailureReason.BAD_REDIRECT, detail=Message("own_redirect_always", names))


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
                detail=Message("status", status),
                url_wait_ms=0
                if slow_ms
                else max(backoff_ms(attempt), retry_after_ms(headers) or 0),
                host_wait_ms=slow_ms,
                outcome=outcome_of_status(status),
            )
        return Failure(reason=FailureReason.HTTP_STATUS, detail=Message("status", status))
    if status >= 400 or status < 200:
        return Failure(reason=FailureReason.HTTP_STATUS, detail=Message("status", status))
    if status == HTTPStatus.NOT_MODIFIED:
        # Without a condition the worker says so: only it knows the older version.
        return None
    if is_redirect(status, headers) or (status >= 300 and role is not PageRole.PAGE):
        return None  # the worker follows the Location header
    if status in NO_CONTENT:
        return Failure(reason=FailureReason.HTTP_STATUS, detail=Message("no_content", status))
    media_type = content_type(headers)
    if may_be_wanted(role, media_type):
        return None
    reason = FailureReason.NOT_IMAGE if role is PageRole.IMAGE else FailureReason.NOT_HTML
    return Failure(reason=reason, detail=Message("media_type", media_type))
