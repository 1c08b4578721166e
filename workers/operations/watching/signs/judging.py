"""Judges hosts and crawls: from the evidence of one moment to signs. Nothing is read here.

``evidence.py`` reads, ``signs.py`` puts these signs beside those of processes, space and models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Final
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.storage.crawl_types import CrawlCounts, FailureReason, UrlRow, UrlState
from crawlclean.storage.live_state import Hold, HostTrouble, WaitingHost, WaitReason
from crawlclean.storage.store.overview import HostRow, PageRow
from crawlclean.workers.operations.hosts.classes import template_of_url


class SignKind(StrEnum):
    """What is wrong, in the order in which signs are told."""

    SILENT = "silent"  # a process is not heard: it hangs, was stopped, or its machine is gone
    ROOM = "room"  # the disk, the quota or the queue's memory is nearly full, or will be
    RECEIVER = "receiver"  # messages do not arrive
    POISON = "poison"  # a page killed workers and was set aside
    SEED = "seed"  # a page where a crawl begins gave no record
    WALL = "wall"  # a host's pages have lost their bodies, and nothing better is learned
    FORMS = "forms"  # a host answers with one page again and again: a login, a captcha
    STILL = "still"  # a crawl that has work got no page
    REFUSES = "refuses"  # requests to a host fail: 429, 503, no response, other errors
    SLOWER = "slower"  # a crawl fetches less than half of what it did in the hour before
    HARVEST = "harvest"  # far fewer pages of a topic are relevant than before
    GROWS = "grows"  # URLs of a crawl grow much faster than pages, which have no text of their own
    REPEATS = "repeats"  # the newest pages of a host, or of one of its classes, repeat others
    SHRUNK = "shrunk"  # a crawl ended with far fewer pages than one before with its seeds
    CHANGED = "changed"  # a host changed, and was learned anew
    PAUSED = "paused"  # somebody paused a host


_BAD = frozenset({SignKind.SILENT, SignKind.RECEIVER, SignKind.POISON, SignKind.WALL,
                  SignKind.FORMS, SignKind.STILL})  # fmt: skip
"""Signs of what does not mend itself; the others may be meant."""

_OF_OTHERS = frozenset({SignKind.SILENT, SignKind.ROOM, SignKind.RECEIVER, SignKind.POISON})
"""Signs of processes, of the machine, and of single pages; a host whose seed failed is not fine."""

_HOLDS_OF_HOSTS = frozenset({WaitReason.SLOW_DOWN, WaitReason.AWAY, WaitReason.GONE,
                             WaitReason.RETRY, WaitReason.ROBOTS})  # fmt: skip
"""What a host whose requests fail waits for."""

_PAGES: Final[Mapping[SignKind, str]] = {
    SignKind.SILENT: "/queues",
    SignKind.ROOM: "/space",
    SignKind.RECEIVER: "/receivers",
    SignKind.POISON: "/failures/group?{failures}",
    SignKind.SEED: "/failures?{failures}",
    SignKind.STILL: "/crawls/{crawl}",
    SignKind.SLOWER: "/crawls/{crawl}",
    SignKind.SHRUNK: "/crawls/{crawl}",
    SignKind.HARVEST: "/topics/{crawl}/tuning",
}
"""Where a sign is shown; the others at their host."""


class Sign(Struct, frozen=True, kw_only=True):
    """One sign.

    Attributes:
        kind: What is wrong.
        host: The host; of a process, that whose pages it holds; ``""``: none.
        crawl_id: The crawl; ``""``: every one.
        target: The process, ``machine.4711``; the URL class, ``/cal/{n}/{n}.html``; the seed; the
            receiver; ``""``: the host or crawl.
        n: Pages without their body, of bodies that are back the newest pages with one; pages of the
            class; failed pages, requests, seeds; pages that the process holds; the new version of
            the model; bytes that are free; pages fetched a minute; URLs that came; relevant pages;
            messages that wait.
        of: Of so many: bytes of the disk or the quota; pages since the change, or the newest;
            records that the re-cleaning looked at; seeds; pages fetched a minute before; pages
            fetched while URLs came; pages of the crawl before; judged pages.
        since: When it began; None: not known.
        lasts_s: For how long a process is silent, a crawl got no page, URLs came; until the room
            is full; seconds.
        who: Who paused the host.
        why: Why, in the words of who did, or as logged; a value of ``WaitReason`` or of an enum of
            the kind's own.
        left: Pages that are still without a body; records of older versions; bytes that dropping
            the raw pages of ``crawl_id`` frees; relevant pages at the share of before.
        status: HTTP status of the failure; 0: none.
        again_since: Since when pages are to be fetched again; None: not known.
        example: A page that shows it; ``""``: none is known.
        is_back: Whether the newest pages have bodies again.
        is_mended: Whether nothing is left to do.
        operation: Number of the re-cleaning that mended it; 0: none.
        at_work: Number of a re-cleaning, or a dry run, that waits or goes on; 0: none.
        others: Signs of the kind that the list leaves out behind this one.
        offers: The actions that mend it, in the order in which they are done.
    """

    kind: SignKind
    host: str = ""
    crawl_id: str = ""
    target: str = ""
    n: int = 0
    of: int = 0
    since: datetime | None = None
    lasts_s: float = 0.0
    who: str = ""
    why: str = ""
    left: int = 0
    status: int = 0
    again_since: datetime | None = None
    example: str = ""
    is_back: bool = False
    is_mended: bool = False
    operation: int = 0
    at_work: int = 0
    others: int = 0
    offers: Sequence[str] = ()

    @property
    def level(self) -> str:
        """Its colour: ``bad``, ``warn``, ``ok``; ``info``: it is as it should be."""
        if self.is_mended:
            return "ok"
        if self.kind is SignKind.SLOWER and self.why == WaitReason.NOTHING_LEFT:
            return "info"
        is_bad = self.kind in _BAD or (self.kind is SignKind.SEED and self.n == self.of)
        return "bad" if is_bad and not self.is_back else "warn"

    @property
    def is_trouble(self) -> bool:
        """Whether somebody should act; a pause is meant."""
        return self.level in ("bad", "warn") and self.kind is not SignKind.PAUSED

    @property
    def is_of_host(self) -> bool:
        """Whether it says that a host is not fine."""
        return bool(self.host) and self.kind not in _OF_OTHERS

    @property
    def page(self) -> str:
        """Path of the console's page that shows it."""
        cause = self.why if self.kind is SignKind.SEED else FailureReason.POISON.value
        query = {"crawl": self.crawl_id, "host": self.host, "cause": cause}
        if self.kind is SignKind.POISON:
            query["status"] = "0"
        return _PAGES.get(self.kind, "/hosts/{host}").format(
            crawl=quote(self.crawl_id), host=quote(self.host, safe=":"), failures=urlencode(query)
        )


# A host: how requests fail, and what its newest pages are.

FEWEST_REQUESTS = 3
"""429, 503 or no response, in a row but for some answers: one or two are of any busy host."""

FEWEST_ERRORS = 20
"""Other errors in a row without an answer between them: a list of dead links has a few."""

TROUBLE_S = 60.0  # a host that restarts is back by then
LONG_REST_S = 300.0  # a pause that the host asked for, and that somebody wants to know of
OVER_S = 900.0  # after the last failure nobody knows how the host is
GONE = frozenset({404, 410})  # an answer about the page, not about the host
_STATUS = re.compile(r"\b([1-5]\d\d)\b")

NEWEST = 50
"""Pages of a host, or of a class, that are looked at."""

REPEATED_SHARE = 0.9  # a host whose pages are for reading has others, too
SAME = 3  # of a host's newest pages: two links to one form are in many frames
SAME_LISTS = 10  # lists come in rows, and a line below them may be their only text
FORMER = 10  # pages of a host before its forms: a host of forms is as it was


class HostEvidence(Struct, frozen=True, kw_only=True):
    """What is known of a host.

    Attributes:
        host: Lower-case authority.
        trouble: How requests fail; None: they do not.
        pages: Its pages of the last hour among the newest of the store, newest first.
        row: Its figures; None before anything of it is stored.
    """

    host: str
    trouble: HostTrouble | None = None
    pages: Sequence[PageRow] = ()
    row: HostRow | None = None


def judge_host(known: HostEvidence, now: datetime) -> Iterator[Sign]:
    """Yields what is wrong with a host."""
    if known.trouble and (sign := _refuses(known.trouble, known.row, now)):
        yield sign
    if sign := _forms(known) or _repeats(known, now):
        yield sign


def _refuses(trouble: HostTrouble, row: HostRow | None, now: datetime) -> Sign | None:
    found = _STATUS.search(trouble.why)
    status = int(found[1]) if found else 0
    is_error = trouble.outcome == "error"
    lasts_s = (max(trouble.newest, trouble.until) - trouble.since).total_seconds()
    few = trouble.requests < (FEWEST_ERRORS if is_error else FEWEST_REQUESTS)
    if not trouble.crawls or (is_error and status in GONE):
        return None
    if (now - max(trouble.newest, trouble.until)).total_seconds() > OVER_S:
        return None
    if (few or lasts_s < TROUBLE_S) and (trouble.until - now).total_seconds() < LONG_REST_S:
        return None
    offers = ("try_page", "pause_host") if row else ("pause_host",)  # no page: none to try
    if trouble.outcome == "slow_down":
        offers = ("slow_host", *offers)
    return Sign(
        kind=SignKind.REFUSES, host=trouble.host, crawl_id=trouble.crawls[0], n=trouble.requests,
        since=trouble.since, why="status" if status and trouble.outcome != "none" else "none",
        who=trouble.why, status=status,
        offers=offers,
    )  # fmt: skip


def _forms(known: HostEvidence) -> Sign | None:
    """One page without a text of its own in the place of each of the last ones."""
    pages = known.pages
    run = 0
    while run < len(pages) and pages[run].is_form and pages[run].looks == pages[0].looks:
        run += 1
    before = known.row.records - run if known.row else 0
    is_other = run and pages[0].kind is PageKind.OTHER
    if run < (SAME if is_other else SAME_LISTS) or before < FORMER:
        return None
    if sum(page.is_form for page in pages[run:]) > len(pages) / 2:
        return None
    since = pages[run - 1].fetched_at
    return Sign(
        kind=SignKind.FORMS, host=known.host, crawl_id=pages[0].crawl_id, n=run, of=before,
        since=since, again_since=since, example=pages[0].url,
        offers=("pause_host", "try_page", "refetch_host"),
    )  # fmt: skip


def _repeats(known: HostEvidence, now: datetime) -> Sign | None:
    if not known.pages or (now - known.pages[0].fetched_at).total_seconds() > OVER_S:
        return None
    groups = {"": list(known.pages)}
    for page in known.pages:
        groups.setdefault(class_of(page.url) or "/", []).append(page)
    for pages in groups.values():
        newest = [page for page in pages[:NEWEST] if page.text]
        texts = {page.text for page in newest if not page.is_copy}
        n = len(newest) - len(texts)
        if len(pages) >= NEWEST and n > REPEATED_SHARE * NEWEST:
            name = template_of_url(pages[0].url) if pages is not groups[""] else ""
            return _repeated(known, name, n, NEWEST, pages[NEWEST - 1].fetched_at)
    row = known.row
    if row and row.near_duplicates > max(REPEATED_SHARE * row.records, REPEATED_SHARE * NEWEST):
        return _repeated(known, "", row.near_duplicates, row.records, row.first_seen)
    return None


def _repeated(known: HostEvidence, name: str, n: int, of: int, since: datetime | None) -> Sign:
    return Sign(
        kind=SignKind.REPEATS, host=known.host, crawl_id=known.pages[0].crawl_id, target=name,
        n=n, of=of, since=since, offers=("forbid_class",) if name else ("pause_host",),
    )  # fmt: skip


# A crawl: its seeds, its pages, its rate.

STILL_S = 100.0  # a page every few seconds is usual; a sign is to be there within two minutes
RESTS_S = 30.0  # a longer delay is meant: such a crawl rests between its pages
NOW_MINUTES = 3  # of a rate: one alone may be a pause
BEFORE_MINUTES = 10  # a rate of fewer is none to compare with
SLOWER_SHARE = 0.5  # rates of minutes vary by a third
LEAST_RATE = 12.0  # pages a minute: fewer vary by themselves
GROWN = 500  # URLs: any site begins with some hundred
TIMES = 10  # a site whose pages have texts finds fewer new URLs a page, but at its beginning
TEXT_SHARE = 0.1  # of the newest pages that have a text of their own: a calendar has none
FEW_JUDGED = 300  # pages of a topic: fewer may be one dull list
HARVEST_SHARE = 0.25  # of the relevant share before: from list to list it varies by a half
SHRUNK_SHARE = 1 / 3  # a site that is tidied up keeps more
LATELY_S = 6 * 3600.0  # so long the end of a crawl, or of a seed, is news
BEHIND_S = 30.0
"""A job of pages that waits this long: workers are behind, though no limit is reached yet."""

_HOLDS_OF_WORKERS = frozenset({Hold.PAGES, Hold.BYTES})


class CrawlEvidence(Struct, frozen=True, kw_only=True):
    """What is known of a running crawl.

    Attributes:
        crawl_id: The crawl.
        counts: Its URLs.
        since: Since when it runs; None: not known.
        newest: When its newest page was fetched; None: it has none.
        fetched: Requests that ended so far, minute by minute, then now; None: not known.
        pending: URLs that wait, of the same times.
        waits: What its examined hosts wait for.
        pages: Its pages of the last hour among the newest of the store, newest first.
        holds: Why nothing is leased at any host.
        oldest_job_s: How long a job of pages waits for a worker.
        judged: Pages judged for its topic in each of these minutes.
        relevant: Of these, relevant ones.
    """

    crawl_id: str
    counts: CrawlCounts
    since: datetime | None = None
    newest: datetime | None = None
    fetched: Sequence[float | None] = ()
    pending: Sequence[float | None] = ()
    waits: Sequence[WaitingHost] = ()
    pages: Sequence[PageRow] = ()
    holds: Sequence[Hold] = ()
    oldest_job_s: float = 0.0
    judged: Sequence[float | None] = ()
    relevant: Sequence[float | None] = ()


def judge_crawl(known: CrawlEvidence, now: datetime) -> Iterator[Sign]:
    """Yields what is wrong with a running crawl."""
    if sign := _still(known, now) or _slower(known):
        yield sign
    if sign := _grows(known) or _harvest(known):
        yield sign


def _still(known: CrawlEvidence, now: datetime) -> Sign | None:
    last = max((at for at in (known.newest, known.since) if at), default=None)
    urls = known.counts.pending - known.counts.images  # visits again and images bring no page
    if last is None or urls <= 0 or known.counts.is_spent:
        return None
    waits = [each for each in known.waits if each.reason is not WaitReason.NOTHING_LEFT]
    lasts_s, cause = (now - last).total_seconds(), _cause(known, waits)
    rests = any(each.pause_s >= RESTS_S for each in waits)
    if lasts_s < STILL_S or rests or cause in (WaitReason.PAUSED, WaitReason.LIMIT):
        return None
    is_one = len(waits) == 1
    return Sign(
        kind=SignKind.STILL, host=waits[0].host if is_one else "", crawl_id=known.crawl_id,
        n=urls, since=last, lasts_s=lasts_s, why=cause,
        offers=("try_page",) if is_one else (),
    )  # fmt: skip


def _slower(known: CrawlEvidence) -> Sign | None:
    """Whether a crawl fetches less than half of what it did before."""
    totals = [total for total in known.fetched[:-1] if total is not None]  # whole minutes
    if len(totals) <= NOW_MINUTES + BEFORE_MINUTES or not known.counts.open:
        return None
    rate = (totals[-1] - totals[-1 - NOW_MINUTES]) / NOW_MINUTES
    before = (totals[-1 - NOW_MINUTES] - totals[0]) / (len(totals) - 1 - NOW_MINUTES)
    if before < LEAST_RATE or rate >= SLOWER_SHARE * before:
        return None
    return Sign(
        kind=SignKind.SLOWER, crawl_id=known.crawl_id, n=round(rate), of=round(before),
        lasts_s=60.0 * NOW_MINUTES, why=_cause(known, known.waits),
    )  # fmt: skip


def _cause(known: CrawlEvidence, waits: Sequence[WaitingHost]) -> str:
    """What holds a crawl up: a hold, ``workers``, or what most of these hosts wait for."""
    if _HOLDS_OF_WORKERS & {*known.holds} or known.oldest_job_s >= BEHIND_S:
        return "workers"
    if known.holds:
        return known.holds[0].value
    reasons = Counter(each.reason for each in waits)
    at_work = {WaitReason.DELAY, WaitReason.IN_FLIGHT, WaitReason.READY, WaitReason.ADDRESS}
    stuck = {each: n for each, n in reasons.items() if each not in at_work}
    if not stuck:
        is_asking = reasons[WaitReason.IN_FLIGHT] > sum(reasons.values()) / 2
        return (WaitReason.IN_FLIGHT if is_asking else WaitReason.READY).value
    return max(stuck.items(), key=lambda each: each[1])[0].value


def _grows(known: CrawlEvidence) -> Sign | None:
    pairs = zip(known.fetched, known.pending, strict=True)
    both = [(done, left) for done, left in pairs if done is not None and left is not None]
    newest = known.pages[:NEWEST]
    of_host = Counter(page.host for page in newest).most_common(1)
    if len(both) < 2 or len(newest) < NEWEST or not of_host:
        return None
    (done, left), (done_now, left_now) = both[max(0, len(both) - 1 - BEFORE_MINUTES)], both[-1]
    came, fetched = left_now - left, done_now - done
    texts = sum(page.has_text for page in newest)
    if came < max(GROWN, TIMES * fetched) or texts > TEXT_SHARE * NEWEST:
        return None
    host = of_host[0][0]
    classes = Counter(template_of_url(page.url) for page in newest if page.host == host)
    return Sign(
        kind=SignKind.GROWS, host=host, crawl_id=known.crawl_id,
        target=classes.most_common(1)[0][0], n=round(came), of=round(fetched),
        left=round(left_now), lasts_s=60.0 * min(len(both) - 1, BEFORE_MINUTES),
        offers=("forbid_class",),
    )  # fmt: skip


def _harvest(known: CrawlEvidence) -> Sign | None:
    """Whether the newest pages of a topic are far less often relevant than those of the hour."""
    minutes = zip(reversed(known.judged), reversed(known.relevant), strict=True)
    judged = relevant = before = relevant_before = 0
    for of, n in minutes:
        if judged < FEW_JUDGED:
            judged, relevant = judged + round(of or 0), relevant + round(n or 0)
        else:
            before, relevant_before = before + round(of or 0), relevant_before + round(n or 0)
    usual = judged * relevant_before / max(1, before)
    if before < FEW_JUDGED or relevant >= HARVEST_SHARE * usual or not known.counts.pending:
        return None
    return Sign(
        kind=SignKind.HARVEST, crawl_id=known.crawl_id, n=relevant, of=judged, left=round(usual)
    )


def judge_seeds(crawl_id: str, seeds: int, ends: Sequence[UrlRow], now: datetime) -> Sign | None:
    """Whether seeds of a crawl, which runs or has ended, gave no record in the last hours.

    Args:
        crawl_id: The crawl.
        seeds: Its seeds.
        ends: How they ended, as far as they have.
        now: The time.
    """
    failed = [
        row for row in ends
        if (row.state is UrlState.FAILED or row.reason is FailureReason.ROBOTS)
        and (now - row.finished_at).total_seconds() < LATELY_S
    ]  # fmt: skip
    if not failed:
        return None
    row = failed[0]
    return Sign(
        kind=SignKind.SEED, host=row.host, crawl_id=crawl_id, target=row.url, n=len(failed),
        of=seeds, since=row.finished_at, why=row.reason.value if row.reason else "",
        status=row.status, offers=("retry_failed",),
    )  # fmt: skip


def judge_end(
    crawl_id: str, records: int, former: int, at: datetime | None, now: datetime
) -> Sign | None:
    """Whether a crawl ended with far fewer pages than one before with the same seeds.

    Args:
        crawl_id: The crawl that ended.
        records: Its pages.
        former: Those of the one before.
        at: When it ended; None: not known.
        now: The time.
    """
    if former < NEWEST or records >= SHRUNK_SHARE * former or at is None:
        return None
    if (now - at).total_seconds() > LATELY_S:
        return None
    return Sign(kind=SignKind.SHRUNK, crawl_id=crawl_id, n=records, of=former, since=at)


# Room: when the disk or the queue's memory will be full.

SOON_S = 6 * 3600.0  # a night's sleep is longer; a shift is not


def judge_trend(
    what: str, left_s: float | None, free: Sequence[float | None], total: float
) -> Sign | None:
    """Whether a room will be full in some hours.

    Args:
        what: The room: ``disk_soon``, ``memory_soon``.
        left_s: Seconds until it is full by its trend; None: it does not fill.
        free: Bytes that were free, the newest last.
        total: Of so many, of memory.
    """
    if left_s is None or left_s > SOON_S:
        return None
    newest = next(each for each in reversed(free) if each is not None)
    n, of = max(0, round(newest)), round(total)
    return Sign(kind=SignKind.ROOM, why=what, n=n, of=of, lasts_s=left_s)


def without_echoes(signs: Sequence[Sign]) -> list[Sign]:
    """The signs without those of a crawl that waits for a host which has one of its own."""
    refusing = {each.crawl_id for each in signs if each.kind is SignKind.REFUSES}
    return [
        each for each in signs
        if each.kind not in (SignKind.STILL, SignKind.SLOWER)
        or each.why not in _HOLDS_OF_HOSTS or each.crawl_id not in refusing
    ]  # fmt: skip


MOST_OF_A_KIND = 4  # signs: a list of twenty alike hides the other one


def _place(sign: Sign) -> tuple[bool, bool, int]:
    return sign.is_mended, sign.level != "bad", list(SignKind).index(sign.kind)


def in_order(signs: Sequence[Sign]) -> list[Sign]:
    """The worst kind first, mended ones last."""
    return sorted(signs, key=_place)


def shortened(signs: Sequence[Sign]) -> list[Sign]:
    """Some signs of each kind, in order; the last of some has the number of the others."""
    shown = []
    for _, alike in groupby(in_order(signs), _place):
        group = list(alike)
        *first, last = group[:MOST_OF_A_KIND]
        shown += [*first, replace(last, others=max(0, len(group) - MOST_OF_A_KIND))]
    return shown
