"""One page: its record, the verdicts on its texts, its way through the crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crawlclean.cleaning.document.silent_html import Mark, silent_html
from crawlclean.cleaning.errors import ConfigError, NotFound, PageError
from crawlclean.cleaning.records import CleanRecord, Verdict
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.cleaning.versions import shown_lines
from crawlclean.cleaning.why import explain
from crawlclean.storage.crawl_types import FailureReason, UrlRow, UrlState
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.hosts import PageVersion
from crawlclean.workers.answers.topics import TopicVerdict
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawls import crawl_names
from crawlclean.workers.operations.pages.judged_page import (
    JudgedPage,
    NewReading,
    judge_page,
    newest_reading,
    raw_page,
)
from crawlclean.workers.operations.pages.page_versions import (
    ChangedLine,
    inline_difference,
    two_versions,
    versions_of,
)
from crawlclean.workers.operations.reading import find_page
from crawlclean.workers.operations.urls.explaining import Explanation, explain_from
from crawlclean.workers.site_models import SiteModels

# What happened to a page beside its steps in the queue: models, changes, versions, judgements.

MOST_MOMENTS = 60


class MomentKind(StrEnum):
    """What happened."""

    CLEANED = "cleaned"  # the record that is stored was made of the response of this time
    VERSION = "version"  # a visit found other content
    FAILED = "failed"  # a visit ended without a record
    MODEL = "model"  # the host got a version of its model
    DRIFT = "drift"  # the host was found changed
    JUDGED = "judged"  # a topic judged the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Something that happened to a page.

    Attributes:
        at: When.
        kind: What.
        text: Details in words for a person: ``version 3``, ``+2 -1``.
        values: Values of enums that say more, each with its kind: ``("sign", "bodies")``.
        crawl: Its crawl; ``""``: of the host, or of all crawls.
    """

    at: datetime
    kind: MomentKind
    text: str
    values: tuple[tuple[str, str], ...] = ()
    crawl: str = ""


def moments_of(
    store: Store, host: str, rows: Sequence[UrlRow], topics: Sequence[TopicVerdict]
) -> list[Moment]:
    """Returns what happened to a page, newest first, at most ``MOST_MOMENTS``.

    Args:
        store: The store.
        host: Its host.
        rows: Its outcome in each crawl.
        topics: What topics hold of it; a judgement has the time of the response.
    """
    found = [*_of_host(store, host), *_of_rows(store, rows), *_of_topics(topics, rows)]
    return sorted(found, key=lambda moment: moment.at, reverse=True)[:MOST_MOMENTS]


def _of_host(store: Store, host: str) -> Iterator[Moment]:
    for version in store.models.versions(host):
        yield Moment(
            at=version.saved_at,
            kind=MomentKind.MODEL,
            text=str(version.version),
            values=(("learned", version.reason.value),),
        )
    for drift in (each for each in store.drifts.of(host) if each.is_change):
        values = (("sign", drift.alarm.sign.value), ("outcome", drift.outcome.value))
        yield Moment(at=drift.alarm.at, kind=MomentKind.DRIFT, text="", values=values)


def _of_rows(store: Store, rows: Sequence[UrlRow]) -> Iterator[Moment]:
    for row in rows:
        crawl = row.crawl_id
        if row.state is not UrlState.RECORD:
            if row.state is UrlState.FAILED:
                last = row.log[-1] if row.log else None
                text = f"{last.step} {last.detail}"[:200] if last else ""
                yield Moment(at=row.finished_at, kind=MomentKind.FAILED, text=text, crawl=crawl)
            continue
        history = store.versions.history(row.page_id, crawl)
        for number, version in enumerate(history):
            is_first = number == len(history) - 1
            kind = MomentKind.CLEANED if is_first else MomentKind.VERSION
            text = "" if is_first else f"+{version.added} -{version.removed}"
            yield Moment(at=version.fetched_at, kind=kind, text=text, crawl=crawl)


def _of_topics(topics: Sequence[TopicVerdict], rows: Sequence[UrlRow]) -> Iterator[Moment]:
    fetched = {row.crawl_id: row.finished_at for row in rows}
    for each in topics:
        at = fetched.get(each.fetched_by)
        if at is not None:
            sign = "≥" if each.relevance >= each.threshold else "<"
            text = f"{each.topic}: {each.relevance:.2f} {sign} {each.threshold:.2f}"
            yield Moment(at=at, kind=MomentKind.JUDGED, text=text, crawl=each.fetched_by)


MOST_BLOCKS = 200
MOST_LINKS = 200
"""Blocks, links and images of a page that one screen shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDetails:
    """One page.

    Attributes:
        page_id: 32 hex digits.
        url: Its URL.
        crawl: The crawl whose record is shown; ``""``: the newest of all.
        rows: Its outcome in each crawl.
        way: Its steps in each crawl, and what else is known of it.
        record: Its stored record; None without one.
        judged: The page read again; None when it is not archived, or too long.
        why_not: Why it was not read again; ``""`` when it was.
        moments: What happened to it beside its steps, newest first.
        is_poison: Whether workers died on it in its newest fetch.
    """

    page_id: str
    url: str
    crawl: str
    rows: Sequence[UrlRow]
    way: Explanation
    record: CleanRecord | None
    judged: JudgedPage | None
    why_not: str = ""
    moments: Sequence[Moment] = ()
    is_poison: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockList:
    """A part of the verdicts of a page.

    Attributes:
        blocks: (number in the page, verdict).
        after: Place behind the last one, as in the address; ``""`` at the end.
        by_kind: Blocks of the whole page by kind, the most frequent first.
        kept: Blocks that are kept.
        cut: The others.
    """

    blocks: Sequence[tuple[int, Verdict]]
    after: str
    by_kind: Mapping[str, int]
    kept: int
    cut: int


def find_stored_page(backends: Backends, text: str) -> str | None:
    """Returns the id of a page that some crawl has ended; None when none has.

    Args:
        backends: Queue and store.
        text: A URL, with or without scheme, or the beginning of a page id.

    Raises:
        InvalidUrl: The text is neither.
    """
    with backends.store() as store:
        try:
            found = find_page(store, text)
        except NotFound:
            return None
        return found if store.urls.rows(found, crawl_names(backends)) else None


def find_page_details(backends: Backends, page_id: str, crawl: str = "") -> PageDetails:
    """Returns everything about a page.

    Args:
        backends: Queue and store.
        page_id: 32 hex digits.
        crawl: Whose record; ``""``: the newest of all.

    Raises:
        NotFound: No crawl has ended the page.
    """
    with backends.store() as store:
        rows = store.urls.rows(page_id, crawl_names(backends))
        rows = [row for row in rows if not crawl or row.crawl_id == crawl]
        if not rows:
            raise NotFound(f"no crawl has ended a page {page_id}")
        way = explain_from(backends, page_id)
        judged, why_not = None, ""
        try:
            judged = judge_page(store, page_id, crawl or None)
        except (NotFound, ConfigError, PageError) as error:
            why_not = str(error)
        record = judged.record if judged else store.records.get(page_id, crawl or None)
        return PageDetails(
            page_id=page_id,
            url=rows[0].url,
            crawl=crawl,
            rows=rows,
            way=way,
            record=record,
            judged=judged,
            why_not=why_not,
            moments=moments_of(store, host_of(rows[0].url), rows, way.history.topics),
            is_poison=any(map(_is_poison, rows)),
        )


def _is_poison(row: UrlRow) -> bool:
    mark = f"{FailureReason.POISON}: "
    return row.state is UrlState.FAILED and any(each.detail.startswith(mark) for each in row.log)


def clean_again(backends: Backends, page_id: str, crawl: str = "") -> NewReading:
    """Compares the record of a page with a reading under the newest model; stores nothing.

    Raises:
        NotFound: No answer of the page is archived.
        ConfigError: The answer is too long.
    """
    with backends.store() as store:
        return newest_reading(store, judge_page(store, page_id, crawl or None), page_id)


def list_blocks(verdicts: Sequence[Verdict], shown: str, after: int) -> BlockList:
    """Returns some of a page's verdicts, at most ``MOST_BLOCKS``.

    Args:
        verdicts: Of the page.
        shown: ``kept``, ``cut``, the value of a kind, or ``""`` for all.
        after: Only blocks behind this number.
    """
    wanted = [
        (number, each)
        for number, each in enumerate(verdicts)
        if shown in ("", each.kind, "kept" if each.is_kept else "cut")
    ]
    behind = [pair for pair in wanted if pair[0] > after]
    kept = sum(each.is_kept for each in verdicts)
    return BlockList(
        blocks=behind[:MOST_BLOCKS],
        after=f"{behind[MOST_BLOCKS - 1][0]}~" if len(behind) > MOST_BLOCKS else "",
        by_kind=dict(Counter(each.kind.value for each in verdicts).most_common()),
        kept=kept,
        cut=len(verdicts) - kept,
    )


def silent_page(
    backends: Backends, page_id: str, crawl: str, titles: Mapping[str, str], styles: str
) -> str:
    """Returns the archived answer of a page as silent HTML, its texts marked by their verdicts.

    Args:
        backends: Queue and store.
        page_id: 32 hex digits.
        crawl: Only of this crawl; ``""``: the newest of all.
        titles: Words of each kind and rule, by value.
        styles: A style sheet for the marks.

    Raises:
        NotFound: No answer of the page is archived.
        ConfigError: The answer is too long.
    """
    with backends.store() as store:
        raw = raw_page(store, page_id, crawl or None)
        record = store.records.get(page_id, crawl or None)
        model = SiteModels(store, most=1).version(raw.host, record.model_version if record else 0)
    marks: dict[int, Mark] = {}
    for number, each in enumerate(explain(raw, model)[1]):
        title = f"{titles[each.kind.value]}: {titles[each.reason.value]}"
        mark = Mark(number, each.kind.value, f"{title} ({each.by})" if each.by else title)
        for line in range(each.line, each.line + each.lines):
            marks.setdefault(line, mark)
    return silent_html(raw.html, marks, styles)


# The versions of a page, for the console.

MOST_SHOWN_LINES = 1_000
"""Lines of a difference that one screen shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageVersions:
    """The versions of a page, and the difference of two.

    Attributes:
        url: Its URL.
        versions: Newest first.
        older_at: The older one of two that are compared; None: there is one only.
        newer_at: The newer one.
        lines: Their difference.
        left_out: Lines of the difference behind ``lines``.
    """

    url: str
    versions: Sequence[PageVersion]
    older_at: datetime | None = None
    newer_at: datetime | None = None
    lines: Sequence[ChangedLine] = ()
    left_out: int = 0


def show_versions(
    backends: Backends, page_id: str, crawl: str, wanted: Sequence[datetime]
) -> PageVersions:
    """Returns the versions of a page.

    Args:
        backends: Queue and store.
        page_id: 32 hex digits.
        crawl: Whose; ``""``: of the crawl that fetched it last.
        wanted: Times of two versions to compare; fewer: the newest and the one before.

    Raises:
        NotFound: No record of it is stored.
    """
    versions = versions_of(backends, page_id, crawl)
    if len(versions) < 2:
        return PageVersions(url=versions[0].url, versions=versions)
    page, older, newer = two_versions(backends, page_id, wanted, crawl)
    lines = inline_difference(shown_lines(older), shown_lines(newer))
    return PageVersions(
        url=page.url,
        versions=versions,
        older_at=older.fetched_at,
        newer_at=newer.fetched_at,
        lines=lines[:MOST_SHOWN_LINES],
        left_out=max(0, len(lines) - MOST_SHOWN_LINES),
    )
