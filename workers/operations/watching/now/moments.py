"""What happened to a page beside its steps in the queue: models, changes, versions, judgements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crawlclean.storage.crawl_types import UrlRow, UrlState
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.topics import TopicVerdict

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
