"""One page: its record, the verdicts on its texts, its way through the crawls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crawlclean.cleaning.document.silent_html import Mark, silent_html
from crawlclean.cleaning.errors import ConfigError, NotFound, PageError
from crawlclean.cleaning.records import CleanRecord, Verdict
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.cleaning.why import explain
from crawlclean.storage.crawl_types import FailureReason, UrlRow, UrlState
from crawlclean.workers.operations.pages.judged_page import (
    JudgedPage,
    NewReading,
    judge_page,
    newest_reading,
    raw_page,
)
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.urls.explaining import Explanation, explain_from
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.now.moments import Moment, moments_of
from crawlclean.workers.operations.watching.views.crawls import crawl_names
from crawlclean.workers.site_models import SiteModels

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


def find_stored_page(backends: KeptBackends, text: str) -> str | None:
    """Returns the id of a page that some crawl has ended; None when none has.

    Args:
        backends: Queue and store.
        text: A URL, with or without scheme, or the beginning of a page id.

    Raises:
        InvalidUrl: The text is neither.
    """
    with backends.store() as store:
        try:
            found = find_page(store, text if is_page_id(text) else with_scheme(store, text))
        except NotFound:
            return None
        return found if store.urls.rows(found, crawl_names(backends)) else None


def explain_unknown(backends: KeptBackends, text: str) -> Explanation:
    """Returns the way of a URL that waits, or why no crawl took it; links are searched briefly.

    Raises:
        NotFound: No page has this id.
        InvalidUrl: The text is not an http(s) URL.
    """
    with backends.store() as store:
        return explain_from(backends.sources(store), text)


def find_page_details(backends: KeptBackends, page_id: str, crawl: str = "") -> PageDetails:
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
        way = explain_from(backends.sources(store), page_id)
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
            moments=moments_of(store, host_of(rows[0].url), rows, way.topics),
            is_poison=any(map(_is_poison, rows)),
        )


def _is_poison(row: UrlRow) -> bool:
    mark = f"{FailureReason.POISON}: "
    return row.state is UrlState.FAILED and any(each.detail.startswith(mark) for each in row.log)


def clean_again(backends: KeptBackends, page_id: str, crawl: str = "") -> NewReading:
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
    backends: KeptBackends, page_id: str, crawl: str, titles: Mapping[str, str], styles: str
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
