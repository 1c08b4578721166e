"""The spider: fetches leased URLs and puts the responses into the queue; never parses a page.

The way of a lease: ``start`` -> ``_fetch`` (refused, or sent) -> ``answered`` or ``_unanswered`` ->
``_retry`` or ``_end``. One task goes this way: Scrapy's engine, which would start a hundred tasks
for each response, has the process, the signals and nothing to do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response

from crawlclean.cleaning.document.document import CUT_SHORT_HEADER
from crawlclean.cleaning.errors import FetchError, PageTooLarge, QueueUnavailable, StorageError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.urls.normal_form import resolve
from crawlclean.crawler.addresses.guard import is_web_port
from crawlclean.crawler.addresses.public import is_public
from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.fetch_log import FetchLog
from crawlclean.crawler.hosts_file import HostOverrides
from crawlclean.crawler.leasing import LeaseSource, OutageDetector
from crawlclean.crawler.robots import MAX_BYTES as MAX_ROBOTS_BYTES, end_robots, user_agent
from crawlclean.crawler.transfer.certificates import WrongCertificate
from crawlclean.crawler.transfer.content_encoding import undo_codings
from crawlclean.crawler.transfer.downloading import BoundedDownloadHandler
from crawlclean.crawler.transfer.requests import LeaseFilter, RequestBuilder, elapsed_ms
from crawlclean.crawler.transfer.responses import (
    address_refused,
    content_type,
    failure_of,
    header_pairs,
    is_cut,
    is_redirect,
    judge_answer,
    judge_failure,
    judge_self_redirect,
    may_be_wanted,
    outcome_of,
    slow_down_ms,
    unreachable_of,
    was_reached,
)
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CertificateFault,
    Failure,
    FailureReason,
    FetchResult,
    Lease,
    LeaseDecision,
    PageRole,
    ResponseOutcome,
    Retry,
    Unreachable,
)
from crawlclean.storage.opening import why_over
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.fetch_queue import FetchQueue

log = logging.getLogger(__name__)

ROBOTS_HOPS = 5  # RFC 9309: follow at least five redirects
STATUSES = range(100, 1000)  # an HTTP status has three digits
DETAIL_CHARS = 500  # of an exception, kept as the detail of a failure
NETWORK_PATIENCE = 6  # times the patience with a host
SHORT_BODY_BYTES = 16 << 10  # read with the headers, and cheaper than a new connection
INLINE_BYTES = 64 << 10  # larger bodies are decompressed in a thread


class SiteSpider(Spider):
    """Fetches leased URLs until the process is stopped."""

    name = "site"

    def __init__(
        self, redis_url: str, config: CrawlConfig, storage: StorageConfig, hosts: HostOverrides
    ) -> None:
        super().__init__()
        queue = FetchQueue(redis_url, storage, config.host_patience_s)
        self._network = OutageDetector(NETWORK_PATIENCE * config.host_patience_s)
        self.source = LeaseSource(
            queue, config.concurrency, partial(why_over, storage), self._network
        )
        self._queue = queue
        self._user_agent = user_agent(config)
        self._requests = RequestBuilder(hosts, config)
        self._guard = self._requests.guard
        self._filter = LeaseFilter(queue, self.source, self._requests, self._user_agent)
        self._max_attempts = config.max_attempts
        # A machine with neither a queue nor a data folder has no log.
        has_folder = storage.is_embedded or storage.data.is_dir()
        path = storage.data / "logs" / "fetch.log" if has_folder else None
        self._log = FetchLog(path, config.fetch_log_bytes)
        self._ending: set[asyncio.Task[None]] = set()
        self._reporting: asyncio.Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> SiteSpider:
        """Creates the spider of a crawler by the arguments of ``__init__``."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stop_needless_download, signals.headers_received)
        crawler.signals.connect(spider.stop_at_enough, signals.bytes_received)
        crawler.signals.connect(spider.finish, signals.spider_closed)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Fetches every lease, each in a task of its own; yields no request to Scrapy."""
        log.info("spider started", extra={"user_agent": self._user_agent})
        self._downloads = BoundedDownloadHandler(self.crawler)
        self._reporting = asyncio.ensure_future(self._log.report())
        async for lease in self.source.leases():
            self._run_beside(lease, self._fetch(lease))
        return
        yield  # Scrapy wants an asynchronous generator

    async def _fetch(self, lease: Lease) -> None:
        """Sends the request of a lease, unless it is refused or must wait, and ends the lease."""
        refusal = await self._filter.failure_of(lease)
        if refusal:
            await self._end(lease, FetchResult(failure=refusal), asked=False)
            return
        if lease.needs_address and not await self._has_turn(lease):
            return
        request: Request | None = self._requests.request(lease, lease.url)
        while request:
            try:
                response = await self._downloads.download_request(request)
            except Exception as error:  # of libraries: what it is about is judged
                await self._unanswered(lease, error, request.meta)
                return
            response.request = request
            request = await self.answered(lease, response)

    async def _has_turn(self, lease: Lease) -> bool:
        """Whether the request of a host that shares the clock of its IP address may be sent.

        The queue takes the lease back while another host of the address holds the clock.
        """
        address = await self._requests.address(lease)
        return not address or await self.source.locate(lease, address)

    def _run_beside(
        self, lease: Lease, work: Coroutine[Any, Any, None], *, is_last: bool = False
    ) -> None:
        """Starts work for one lease in a task; an exception there ends the lease."""

        def ended(task: asyncio.Task[None]) -> None:
            self._ending.discard(task)
            error = None if task.cancelled() else task.exception()
            if error:
                log.error("a lease failed", exc_info=error, extra={"url": lease.url})
                if not is_last:
                    self._run_beside(lease, self._fail(lease, error), is_last=True)

        task = asyncio.ensure_future(work)
        self._ending.add(task)
        task.add_done_callback(ended)

    def stop_needless_download(self, headers: Headers, body_length: Any, request: Request) -> None:
        """Stops a download whose media type does not fit the role of its URL.

        A short one is over before; the stop would break off the next request of its connection.
        """
        lease: Lease | None = request.meta.get("lease")
        if isinstance(body_length, int) and body_length <= SHORT_BODY_BYTES:
            return
        if lease and not may_be_wanted(lease.role, content_type(header_pairs(headers))):
            raise StopDownload(fail=False)

    def stop_at_enough(self, data: bytes, request: Request) -> None:
        """Stops the download of a robots.txt after ``MAX_ROBOTS_BYTES``."""
        lease: Lease | None = request.meta.get("lease")
        if lease is None or lease.role is not PageRole.ROBOTS:
            return
        request.meta["received"] = request.meta.get("received", 0) + len(data)
        if request.meta["received"] > MAX_ROBOTS_BYTES:
            raise StopDownload(fail=False)

    async def answered(self, lease: Lease, response: Response) -> Request | None:
        """Judges an HTTP response: keep, try again, or give up; returns a request to follow."""
        self._network.answered()
        headers = header_pairs(response.headers)
        # The resolver lets no other address pass; this checks the address of the connection.
        address = None if "proxy" in response.meta else response.ip_address
        if address is not None and not lease.allow_private and not is_public(str(address)):
            await self._end(lease, FetchResult(failure=address_refused(str(address))))
            return None
        if response.status not in STATUSES:
            detail = Message("no_status", response.status)
            why = Failure(reason=FailureReason.BROKEN_ANSWER, detail=detail)
            await self._without_answer(lease, why, response.meta)
            return None
        lease, new_cookies = await self._with_cookies(lease, response)
        moved = self._moved_robots(lease, response)
        if moved:
            self._log.add(lease, response.status, 0, elapsed_ms(response.meta), "redirect")
            await asyncio.sleep(lease.pause_ms / 1000)
            return moved
        verdict = judge_answer(
            response.status, headers, lease.role, lease.attempt, self._max_attempts
        )
        if verdict is None and is_redirect(response.status, headers):
            location = response.headers.get("Location") or b""
            if resolve(response.url, location.decode("utf-8", "replace")) == lease.url:
                verdict = judge_self_redirect(new_cookies, lease.attempt, self._max_attempts)
        if isinstance(verdict, Retry):
            await self._retry(lease, verdict, response.meta, response.status)
            return None
        if verdict is None and is_cut(response):
            # The same bytes at every attempt are what the server has: browsers show them.
            is_last = lease.attempt >= self._max_attempts and response.body
            if not (is_last and lease.role in (PageRole.PAGE, PageRole.SITEMAP)):
                why = Failure(reason=FailureReason.BROKEN_ANSWER, detail=Message("cut_short"))
                await self._without_answer(lease, why, response.meta)
                return None
            headers += ((CUT_SHORT_HEADER, "1"),)
        try:
            is_kept = verdict is None and not is_redirect(response.status, headers)
            body = await self._body(lease, response) if is_kept else b""
        except (FetchError, PageTooLarge) as error:
            why = failure_of(error, lease.host, refused=False)
            await self._without_answer(lease, why, response.meta)
            return None
        result = FetchResult(
            status=response.status,
            headers=headers,
            body=body,
            elapsed_ms=elapsed_ms(response.meta),
            failure=verdict,
            certificate=self._fault(response.meta),
        )
        host_wait_ms = slow_down_ms(response.status, headers, lease.attempt)
        await self._end(lease, result, host_wait_ms=host_wait_ms)
        return None

    async def _with_cookies(self, lease: Lease, response: Response) -> tuple[Lease, list[str]]:
        """Keeps the cookies of a response; returns (the lease with them, names of new ones)."""
        cookies = self._requests.cookies_after(lease, response)
        if cookies == lease.cookies:
            return lease, []
        await self.source.ask(self._queue.keep_cookies, lease, cookies)
        known = {(each.name, each.path) for each in lease.cookies}
        new = [each.name for each in cookies if (each.name, each.path) not in known]
        return replace(lease, cookies=cookies), new

    async def _body(self, lease: Lease, response: Response) -> bytes:
        """Decodes the body of a response."""
        if "Content-Encoding" not in response.headers:
            return response.body
        is_rules = lease.role is PageRole.ROBOTS
        limit = MAX_ROBOTS_BYTES + 1 if is_rules else self._requests.max_bytes(lease)
        work = partial(
            undo_codings,
            response.body,
            [
                ("Content-Encoding", v.decode("latin-1"))
                for v in response.headers.getlist("Content-Encoding")
            ],
            limit,
            head_only=is_rules,
        )
        # A few kilobytes may decompress to the largest size, which takes long.
        return await asyncio.to_thread(work) if len(response.body) > INLINE_BYTES else work()

    def _moved_robots(self, lease: Lease, response: Response) -> Request | None:
        """Returns the request for the target of a redirected robots.txt, else None."""
        hops: int = response.meta.get("hops", 0)
        location = response.headers.get("Location")
        if (
            lease.role is not PageRole.ROBOTS
            or not 300 <= response.status < 400
            or not location
            or hops >= ROBOTS_HOPS
        ):
            return None
        target = resolve(response.url, location.decode("utf-8", "replace"))
        if not target:
            return None
        if not self._requests.admits(lease, target) or not is_web_port(urlsplit(target).port):
            return None
        # A new request: credentials for the first host are not for the second.
        begun = response.meta["begun"] + lease.pause_ms / 1000
        return self._requests.request(lease, target, begun=begun, hops=hops + 1)

    async def _unanswered(self, lease: Lease, error: Exception, meta: dict[str, Any]) -> None:
        """Judges a request without a usable response: try again, or give up."""
        hostname = urlsplit(lease.url).hostname or ""
        unsure = self._guard.unsure(hostname)
        refused = not lease.allow_private and self._guard.refused(hostname)
        why = failure_of(
            error,
            lease.host,
            refused=refused,
            unsure=unsure,
            certificate=meta.get("certificate"),
        )
        away = unreachable_of(error, why, unsure=unsure)
        meta["was_reached"] = was_reached(away, why)
        if away:
            await self._maybe_away(lease, why, away, meta)
        else:
            await self._without_answer(lease, why, meta)

    async def _maybe_away(
        self, lease: Lease, why: Failure, away: Unreachable, meta: dict[str, Any]
    ) -> None:
        """Gives the lease back, without counting the attempt, while the host may come back."""
        if away in (Unreachable.HOST, Unreachable.URL):
            is_ours = self._network.failed(lease.host, is_known=lease.is_known)
            away = Unreachable.NETWORK if is_ours else away
        decision = await self.source.excuse(lease, away, why.line)
        if decision is LeaseDecision.ELSEWHERE:
            self._network.left_to_others(lease.host, why.line)
        if decision is LeaseDecision.COUNTS:
            await self._without_answer(lease, why, meta)
        elif decision is LeaseDecision.GONE:
            await self._end(lease, FetchResult(elapsed_ms=elapsed_ms(meta), failure=why))
        else:
            self._log.add(lease, 0, 0, elapsed_ms(meta), f"away {why.line}")

    async def _without_answer(self, lease: Lease, why: Failure, meta: dict[str, Any]) -> None:
        # Without an address there is no robots.txt to wait for: the pages fail with the same cause.
        nameless = lease.role is PageRole.ROBOTS and why.reason is FailureReason.DNS
        attempts = 1 if nameless else self._max_attempts
        verdict = judge_failure(why, lease.attempt, attempts)
        if verdict:
            await self._retry(lease, verdict, meta)
            return
        fault = self._fault(meta)
        result = FetchResult(elapsed_ms=elapsed_ms(meta), failure=why, certificate=fault)
        # Without the mark the answer began: it was cut, or no HTTP.
        await self._end(lease, result, was_reached=meta.get("was_reached", True))

    def _fault(self, meta: dict[str, Any]) -> CertificateFault | None:
        """Returns what is wrong with the certificate of a request's host, and counts it."""
        wrong: WrongCertificate | None = meta.get("certificate")
        if wrong is None:
            return None
        self.source.counters[Counter.WRONG_CERTIFICATES] += 1
        return wrong.fault

    async def _fail(self, lease: Lease, error: BaseException | None) -> None:
        """Ends a lease as failed after an exception; without this it would be held for ever."""
        if isinstance(error, QueueUnavailable):
            return  # the spider ends, and the housekeeper takes back the leases of its session
        detail = " ".join(f"{type(error).__name__}: {error}".split())[:DETAIL_CHARS]
        why = Failure(reason=FailureReason.INTERNAL, detail=detail)
        try:
            await self._end(lease, FetchResult(failure=why))
        except StorageError as refused:
            log.warning("a lease cannot be ended", extra={"reason": str(refused)})
            self.source.give_back(lease)

    async def _retry(
        self, lease: Lease, verdict: Retry, meta: dict[str, Any], status: int = 0
    ) -> None:
        self._log.add(lease, status, 0, elapsed_ms(meta), f"retry {verdict.detail}")
        await self.source.nack(lease, verdict, elapsed_ms=elapsed_ms(meta), status=status)

    async def _end(
        self,
        lease: Lease,
        result: FetchResult,
        *,
        asked: bool = True,
        host_wait_ms: int = 0,
        was_reached: bool = False,
    ) -> None:
        self._log.ended(lease, result, asked=asked)
        if lease.role is not PageRole.ROBOTS:
            outcome = outcome_of(result) if asked else ResponseOutcome.UNASKED
            await self.source.put(lease, result, outcome=outcome, host_wait_ms=host_wait_ms)
            return
        await self.source.ask(
            end_robots,
            self._queue,
            lease,
            result,
            self._user_agent,
            asked=asked,
            was_reached=was_reached,
        )
        self.source.counters[Counter.ROBOTS_READ] += 1
        self.source.end(lease)

    async def finish(self) -> None:
        """Ends the session when what is being fetched has ended."""
        while self._ending:
            await asyncio.wait(self._ending)
        await self.end_session()

    async def end_session(self) -> None:
        """Gives back the leases that are still held when the spider closes."""
        await self.source.close()
        if self._reporting:
            self._reporting.cancel()
        self._log.close()
