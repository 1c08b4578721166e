"""Rows of the topics' tables: values of ``storage/topic_types.py`` to columns, and back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, replace_surrogates
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.store.codec import from_microseconds, to_microseconds
from crawlclean.storage.store.ports import Row
from crawlclean.storage.store.row_types import RowType
from crawlclean.storage.topic_types import (
    JudgedPage,
    StoredLinkModel,
    TopicJudgement,
    TopicRow,
)

DAY_US = 86_400_000_000
TIME_BITS = 42
"""Bits of a fence below the topic's version: milliseconds since 1970 need 41 until 2039."""

TOPIC = RowType(TopicRow, "topic", packed=("examples", "packed"))
MODEL = RowType(StoredLinkModel, "link model", packed=("packed",))
PAGE = (
    "fetched_at", "page_id", "topic", "crawl_id", "url", "host", "title", "version", "relevance",
    "label", "relevant", "parts", "features", "to_learn", "parent", "mark", "learned_in",
)  # fmt: skip
CHANGING = ("relevant", "label", "to_learn")
"""Columns of a page's row that a mark, or learning, keeps from a later judgement."""


def rows_of(outcome: Outcome) -> list[Row]:
    """The rows of ``topic_pages`` of an outcome."""
    return list(map(page_row, judged_pages(outcome)))


def judged_pages(outcome: Outcome) -> list[JudgedPage]:
    """The judgements of an outcome with a record, with its page; none for other outcomes."""
    record, queued = outcome.record, outcome.queued
    if record is None:
        return []
    return [
        JudgedPage(
            page_id=queued.page_id,
            crawl_id=queued.crawl_id,
            url=record.url,
            host=queued.host,
            title=record.title,
            fetched_at=record.fetched_at,
            judgement=judgement,
        )
        for judgement in outcome.judgements
    ]


def outbox_rows(outcome: Outcome) -> list[Row]:
    """The rows of ``outbox`` of an outcome."""
    now = time.time_ns() // 1000
    return [
        {"topic": each.topic, "kind": kind.value, "page_id": outcome.queued.page_id, "at": now}
        for each in outcome.judgements
        if each.is_relevant and outcome.record is not None
        for kind in each.notify
    ]


def fence(version: int, fetched_at: int) -> int:
    """The fence of a judgement: a newer version of the topic wins, then a newer response.

    Args:
        version: Of the topic, from 1.
        fetched_at: Microseconds since 1970 UTC.
    """
    return (version << TIME_BITS) | (fetched_at // 1000)


def page_row(page: JudgedPage) -> Row:
    """The row of ``topic_pages`` of a judged page, without its mark."""
    fetched_at, judged = to_microseconds(page.fetched_at), page.judgement
    return {
        "topic": judged.topic,
        "page_id": page.page_id,
        "crawl_id": page.crawl_id,
        "url": replace_surrogates(page.url),
        "host": replace_surrogates(page.host),
        "title": replace_surrogates(page.title),
        "fetched_at": fetched_at,
        "day": fetched_at // DAY_US,
        "version": judged.version,
        "fence": fence(judged.version, fetched_at),
        "relevance": judged.relevance,
        "label": judged.label,
        "relevant": int(judged.is_relevant),
        "parts": replace_surrogates(judged.parts),
        "features": b"".join(each.to_bytes(2, "big") for each in judged.features),
        "parent": judged.parent,
        "to_learn": judged.topic if judged.is_example and judged.features else None,
    }


def page_of(row: Sequence[Any]) -> JudgedPage:
    """The page of the values of ``PAGE``.

    Raises:
        StoreDamaged: This program never wrote these values.
    """
    try:
        ids = bytes(row[12])
        return JudgedPage(
            page_id=row[1],
            crawl_id=row[3],
            url=row[4],
            host=row[5],
            title=row[6],
            fetched_at=from_microseconds(row[0]),
            judgement=TopicJudgement(
                topic=row[2],
                version=row[7],
                relevance=row[8],
                label=row[9],
                is_relevant=bool(row[10]),
                parts=row[11],
                features=tuple(
                    int.from_bytes(ids[n : n + 2], "big") for n in range(0, len(ids), 2)
                ),
                is_example=row[13] is not None or row[16] is not None,
                parent=row[14],
            ),
            mark=None if row[15] is None else bool(row[15]),
            learned_in=row[16],
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored judgement cannot be read: {error}") from error
