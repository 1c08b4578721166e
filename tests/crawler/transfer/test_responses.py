"""What came of a request: each exception has its reason, each status its consequence."""

from __future__ import annotations

import pytest
from OpenSSL.SSL import Error as TlsError
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
)
from twisted.internet import error as twisted_error

from crawlclean.cleaning.errors import FetchError, PageTooLarge
from crawlclean.crawler.transfer.responses import (
    KeptConnectionLostError,
    content_type,
    failure_of,
    judge_answer,
    judge_failure,
    may_be_page,
    outcome_of,
    unreachable_of,
)
from crawlclean.storage.crawl_types import (
    Failure,
    FailureReason,
    FetchResult,
    PageRole,
    ResponseOutcome,
    Retry,
    Unreachable,
)

NO_ROUTE: type[Exception] = twisted_error.NoRouteError
NO_CONNECTION: type[Exception] = twisted_error.TimeoutError
HTML = (("Content-Type", "text/html"),)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (CannotResolveHostError("x"), FailureReason.DNS),
        (DownloadTimeoutError("took longer than 2 s"), FailureReason.TIMEOUT),
        (DownloadCancelledError("expected 99 larger than 9"), FailureReason.TOO_LARGE),
        (PageTooLarge("over the limit"), FailureReason.TOO_LARGE),
        (FetchError("ends early"), FailureReason.BROKEN_ANSWER),
        (IgnoreRequest("for another cause"), FailureReason.BROKEN_ANSWER),
        (TlsError([("a", "b", "c")]), FailureReason.TLS),
        (DownloadFailedError("[('SSL routines', '', 'wrong version number')]"), FailureReason.TLS),
        (DownloadConnectionRefusedError("refused"), FailureReason.CONNECT),
        (DownloadFailedError("lost"), FailureReason.CONNECT),
        (OSError("Not a gzipped file"), FailureReason.BROKEN_ANSWER),
        (EOFError(), FailureReason.BROKEN_ANSWER),
        (None, FailureReason.BROKEN_ANSWER),
    ],
)
def test_the_reason_of_an_exception(error: BaseException | None, reason: FailureReason) -> None:
    failure = failure_of(error, "a.example", refused=False)
    assert failure.reason is reason
    assert failure.detail
    assert "\n" not in failure.detail


def test_a_refused_address_is_the_reason_whatever_was_raised() -> None:
    failure = failure_of(CannotResolveHostError("x"), "printer.lan", refused=True)
    assert failure.reason is FailureReason.ADDRESS_REFUSED
    assert "printer.lan" in failure.detail
    assert "--allow-private" in failure.detail


@pytest.mark.parametrize("reason", list(FailureReason))
def test_what_cannot_get_better_is_not_tried_again(reason: FailureReason) -> None:
    retry = judge_failure(Failure(reason=reason, detail="why"), 1, 3)
    if reason in (
        FailureReason.ADDRESS_REFUSED,
        FailureReason.TOO_LARGE,
        FailureReason.CERTIFICATE,
    ):
        assert retry is None
    else:
        assert retry is not None
        assert (retry.url_wait_ms, retry.host_wait_ms) == (1000, 0)
        assert retry.detail == f"{reason}: why"
    assert judge_failure(Failure(reason=reason), 3, 3) is None


@pytest.mark.parametrize(
    ("status", "headers", "attempt", "verdict"),
    [
        (429, (), 1, (0, 1000)),
        (429, (("Retry-After", "7"),), 1, (0, 7000)),
        (429, (("Retry-After", "0"),), 1, (0, 1000)),
        (429, (("Retry-After", "soon"),), 2, (0, 4000)),
        (503, (("Retry-After", "2"),), 2, (0, 2000)),
        (503, (("Retry-After", "99999999"),), 1, (0, 3_600_000)),
        (500, (), 1, (1000, 0)),
        (500, (("Retry-After", "9"),), 1, (9000, 0)),
        (408, (), 2, (4000, 0)),
        (504, (), 2, (4000, 0)),
        (429, (), 3, (0, 16_000)),
        (429, (), 10, FailureReason.HTTP_STATUS),
        (503, (), 10, FailureReason.HTTP_STATUS),
        (404, HTML, 1, FailureReason.HTTP_STATUS),
        (403, HTML, 1, FailureReason.HTTP_STATUS),
        (451, HTML, 1, FailureReason.HTTP_STATUS),
        (501, HTML, 1, FailureReason.HTTP_STATUS),
        (999, HTML, 1, FailureReason.HTTP_STATUS),
        (199, HTML, 1, FailureReason.HTTP_STATUS),
        (301, (("Location", "/x"),), 1, None),
        (302, (), 1, None),
        (304, (), 1, None),
        (200, HTML, 1, None),
        (203, HTML, 1, None),
        (204, (), 1, FailureReason.HTTP_STATUS),
        (205, HTML, 1, FailureReason.HTTP_STATUS),
        (302, (("Content-Type", "image/png"),), 1, FailureReason.NOT_HTML),
        (200, (("content-type", "TEXT/HTML ; charset=gbk"),), 1, None),
        (200, (("Content-Type", "application/xhtml+xml"),), 1, None),
        (200, (("Content-Type", "text/plain"),), 1, None),
        (200, (("Content-Type", ""),), 1, None),
        (200, (), 1, None),
        (200, (("Content-Type", "image/png"),), 1, FailureReason.NOT_HTML),
        (200, (("Content-Type", "application/json"),), 1, FailureReason.NOT_HTML),
        (200, (("Content-Type", "application/pdf"),), 1, FailureReason.NOT_HTML),
    ],
)
def test_the_consequence_of_an_answer(
    status: int,
    headers: tuple[tuple[str, str], ...],
    attempt: int,
    verdict: Retry | FailureReason | tuple[int, int] | None,
) -> None:
    judged = judge_answer(status, headers, PageRole.PAGE, attempt, 3)
    if isinstance(verdict, FailureReason):
        assert isinstance(judged, Failure)
        assert judged.reason is verdict
    elif isinstance(verdict, tuple):
        assert isinstance(judged, Retry)
        assert (judged.url_wait_ms, judged.host_wait_ms) == verdict
    else:
        assert judged == verdict


def test_sitemaps_and_robots_may_have_any_type() -> None:
    for role in (PageRole.SITEMAP, PageRole.ROBOTS):
        assert judge_answer(200, (("Content-Type", "image/png"),), role, 1, 3) is None


def test_media_types() -> None:
    assert content_type([("X", "y"), ("CONTENT-TYPE", " Text/HTML;charset=x ")]) == "text/html"
    assert content_type([]) == ""
    assert may_be_page("application/octet-stream")
    assert not may_be_page("video/mp4")


def caused(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "unsure", "away"),
    [
        (CannotResolveHostError("x"), True, Unreachable.HOST),
        (CannotResolveHostError("x"), False, Unreachable.NAME),
        (DownloadConnectionRefusedError("refused"), False, Unreachable.HOST),
        (NO_ROUTE("no route"), False, Unreachable.HOST),
        (DownloadFailedError("lost"), False, Unreachable.URL),
        (KeptConnectionLostError("lost"), False, Unreachable.CONNECTION),
        (KeptConnectionLostError("SSL error"), False, Unreachable.CONNECTION),
        (DownloadTimeoutError("took longer than 2 s"), False, Unreachable.URL),
        (caused(DownloadTimeoutError("no connection"), NO_CONNECTION()), False, Unreachable.HOST),
        (TlsError([("a", "b", "c")]), False, None),
        (DownloadCancelledError("too large"), False, None),
    ],
)
def test_what_may_be_away(error: BaseException, unsure: bool, away: Unreachable | None) -> None:
    failure = failure_of(error, "a.example", refused=False, unsure=unsure)
    assert unreachable_of(error, failure, unsure=unsure) is away


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        (FetchResult(status=200), ResponseOutcome.ANSWERED),
        (FetchResult(status=301), ResponseOutcome.ANSWERED),
        (FetchResult(status=404), ResponseOutcome.ERROR),
        (FetchResult(status=429), ResponseOutcome.SLOW_DOWN),
        (FetchResult(failure=Failure(reason=FailureReason.TIMEOUT)), ResponseOutcome.NONE),
        (FetchResult(failure=Failure(reason=FailureReason.TLS)), ResponseOutcome.ERROR),
        (
            FetchResult(status=200, failure=Failure(reason=FailureReason.NOT_HTML)),
            ResponseOutcome.ANSWERED,
        ),
    ],
)
def test_how_a_request_ended_for_the_clock(result: FetchResult, outcome: ResponseOutcome) -> None:
    assert outcome_of(result) is outcome
