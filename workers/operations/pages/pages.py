"""One stored page: its verdicts, what the newest model would make of it, and its way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crawlclean.cleaning.confidence import doubts_of
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.silent_html import Mark, silent_html
from crawlclean.cleaning.errors import ConfigError, NotFound, PageError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import read
from crawlclean.cleaning.records import CleanRecord, Verdict
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.cleaning.why import explain_reading
from crawlclean.storage.crawl_types import FailureReason, UrlRow, UrlState
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.visits import difference
from crawlclean.workers.answers.moments import UrlHistory
from crawlclean.workers.answers.topics import TopicVerdict
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawls import crawl_names
from crawlclean.workers.operations.parts import Part, part_of
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.urls.explaining import Waits, explain_from
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.site_models import SiteModels

MOST_CHARS = 8 << 20
"""Longest source that is judged while somebody waits: about two seconds."""

LEAST_PART_CHARS = 4
"""Shortest text that is searched for in the text that somebody asks about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPage:
    """A stored page, read again with the model that made its record.

    Attributes:
        raw: Its archived answer.
        record: The stored record; None when a hook dropped it, or the page failed.
        again: The record of this reading.
        verdicts: Of this reading, in document order.
        doubts: What makes its body less sure than others.
        is_same: Whether this reading gives the text of the stored record: its verdicts are those
            of the record then.
    """

    raw: RawPage
    record: CleanRecord | None
    again: CleanRecord
    verdicts: tuple[Verdict, ...]
    doubts: Message
    is_same: bool


def judge_page(store: Store, page_id: str, crawl: str | None = None) -> JudgedPage:
    """Reads a stored page again, with the model that made its record.

    Args:
        store: Holds record, answer and models.
        page_id: 32 hex digits.
        crawl: Only of this crawl; None: the newest of all.

    Raises:
        NotFound: No answer is archived.
        ConfigError: The answer is too long, or the model is of a format that cannot be read.
    """
    raw = store.answers.page(page_id, crawl)
    if raw is None:
        raise NotFound(Message("raw_gone"))
    if len(raw.html) > MOST_CHARS:
        raise ConfigError(f"the answer has {len(raw.html):,} characters, more than is read here")
    record = store.records.get(page_id, crawl)
    model = _model(store, raw.host, record.model_version if record else 0)
    reading, found = explain_reading(raw, model)
    again, doubts = reading.record, doubts_of(reading.evidence)
    is_same = record is not None and (record.title, record.body, record.posts) == (
        again.title,
        again.body,
        again.posts,
    )
    return JudgedPage(
        raw=raw, record=record, again=again, verdicts=found, doubts=doubts, is_same=is_same
    )


def newest_reading(backends: Backends, page_id: str, crawl: str = "") -> tuple[int, list[str]]:
    """Compares the record of a page with a reading under the newest model; stores nothing.

    Returns:
        Version of that model, 0: the host has none; and lines of a unified diff of what a person
        sees, empty: no difference.

    Raises:
        NotFound: No answer of the page is archived.
        ConfigError: The answer is too long.
    """
    with backends.store() as store:
        judged = judge_page(store, page_id, crawl or None)
        before, after = judged.record or judged.again, judged.again
        version = store.models.newest(before.host)
        if version != after.model_version:
            after = read(judged.raw, _model(store, before.host, version)).record
    return version, difference(before, after)


def judge_url(backends: Backends, target: str) -> JudgedPage:
    """Returns ``judge_page`` of a URL, or of the beginning of a page id.

    Args:
        backends: Queue and store.
        target: ``www.example.com/a.html`` or ``4f1193``.

    Raises:
        NotFound: No answer of it is archived.
        ConfigError: The answer is too long.
    """
    with backends.store() as store:
        name = target if is_page_id(target) else with_scheme(store, target)
        page_id = find_page(store, name)
        try:
            return judge_page(store, page_id)
        except NotFound:
            hint = f"`why {name}` shows its steps"
            raise NotFound(f"no answer of {name} is archived; {hint}") from None


def matching(verdicts: tuple[Verdict, ...], text: str) -> tuple[Verdict, ...]:
    """Returns the verdicts whose texts hold a text, or lie in it, white space apart; "": all."""
    wanted = "".join(text.split())
    owns = (("".join(each.text.split()), each) for each in verdicts)
    return tuple(
        each
        for own, each in owns
        if wanted in own or (len(own) >= LEAST_PART_CHARS and own in wanted)
    )


def _model(store: Store, host: str, version: int) -> SiteModel | None:
    return SiteModels(store, most=1).version(host, version)


# What happened to a page beside its steps in the queue: models, changes, versions, judgements.

MOST_MOMENTS = 60  # more than a page of a few crawls has; a screen lists them all


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
                text = next((step.detail for step in reversed(row.log) if step.detail), "")
                yield Moment(at=row.finished_at, kind=MomentKind.FAILED, text=text, crawl=crawl)
            continue
        history = store.versions.history(row.page_id, crawl)
        for number, (at, added, removed) in enumerate(history):
            is_first = number == len(history) - 1
            kind = MomentKind.CLEANED if is_first else MomentKind.VERSION
            text = "" if is_first else f"+{added} -{removed}"
            yield Moment(at=at, kind=kind, text=text, crawl=crawl)


def _of_topics(topics: Sequence[TopicVerdict], rows: Sequence[UrlRow]) -> Iterator[Moment]:
    fetched = {row.crawl_id: row.finished_at for row in rows}
    for each in topics:
        at = fetched.get(each.fetched_by)
        if at is not None:
            sign = "≥" if each.relevance >= each.threshold else "<"
            text = f"{each.topic}: {each.relevance:.2f} {sign} {each.threshold:.2f}"
            yield Moment(at=at, kind=MomentKind.JUDGED, text=text, crawl=each.fetched_by)


MOST_BLOCKS = MOST_LINKS = 200
"""Blocks, links and images of a page that one screen shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDetails:
    """One page.

    Attributes:
        page_id: 32 hex digits.
        url: Its URL.
        crawl: The crawl whose record is shown; ``""``: the newest of all.
        way: Its steps in each crawl, and what else is known of it.
        waits: What its URL waits for, as ``explain_from`` returns it.
        record: Its stored record; None without one.
        judged: The page read again; None when it is not archived, or too long.
        why_not: Why it was not read again; ``""`` when it was.
        moments: What happened to it beside its steps, newest first.
        is_poison: Whether workers died on it in its newest fetch.
    """

    page_id: str
    url: str
    crawl: str
    way: UrlHistory
    waits: Waits
    record: CleanRecord | None
    judged: JudgedPage | None
    why_not: str = ""
    moments: Sequence[Moment] = ()
    is_poison: bool = False


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
            raise NotFound(Message("no_page", page_id))
        way, waits = explain_from(backends, page_id)
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
            way=way,
            waits=waits,
            record=record,
            judged=judged,
            why_not=why_not,
            moments=moments_of(store, host_of(rows[0].url), rows, way.topics),
            is_poison=any(map(_is_poison, rows)),
        )


def _is_poison(row: UrlRow) -> bool:
    mark = f"{FailureReason.POISON}: "
    return row.state is UrlState.FAILED and any(each.detail.startswith(mark) for each in row.log)


def list_blocks(verdicts: Sequence[Verdict], shown: str, after: int) -> Part[tuple[int, Verdict]]:
    """Returns some of a page's verdicts, each with its number, at most ``MOST_BLOCKS``.

    Args:
        verdicts: Of the page.
        shown: ``kept``, ``cut``, the value of a kind, or ``""`` for all.
        after: Only blocks behind this number.
    """
    wanted = [
        (number, each)
        for number, each in enumerate(verdicts)
        if number > after and shown in ("", each.kind, "kept" if each.is_kept else "cut")
    ]
    return part_of(wanted, MOST_BLOCKS, lambda pair: (pair[0], ""))


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
        judged = judge_page(store, page_id, crawl or None)
    marks: dict[int, Mark] = {}
    for number, each in enumerate(judged.verdicts):
        title = f"{titles[each.kind.value]}: {titles[each.reason.value]}"
        mark = Mark(number, each.kind.value, f"{title} ({each.by})" if each.by else title)
        for line in range(each.line, each.line + each.lines):
            marks.setdefault(line, mark)
    return silent_html(judged.raw.html, marks, styles)
