"""Rows of the topics' tables: values of ``storage/topic_types.py`` to columns, and back."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from cleaning.errors import StoreDamaged
from cleaning.json_values import DAMAGE
from cleaning.surrogates import replace_surrogates
from storage.crawl_types import Outcome
from storage.store.codec import from_microseconds, to_microseconds
from storage.store.ports import Row
from storage.store.record_blobs import compress, decompress
from storage.topic_types import (
    JudgedPage,
    StoredLinkModel,
    TopicJudgement,
    TopicRow,
    TopicState,
)

DAY_US = 86_400_000_000
TIME_BITS = 42
"""Bits of a fence below the topic's version: milliseconds since 1970 need 41 until 2039."""

TOPIC = (
    "name", "version", "spec", "state", "crawl_id", "examples", "packed", "created_at", "note",
)  # fmt: skip
MODEL = ("topic", "version", "learned_at", "packed", "page_ids", "hub_ids", "is_marked")
PAGE = (
    "fetched_at", "page_id", "topic", "crawl_id", "url", "host", "title", "version", "relevance",
    "label", "relevant", "parts", "features", "to_learn", "parent", "mark", "learned_in",
)  # fmt: skip
CHANGING = ("relevant", "label", "to_learn")
"""Columns of a page's row that a mark, or learning, keeps from a later judgement."""


def rows_of(outcome: Outcome) -> list[Row]:
    """The rows of ``topic_pages`` of an outcome with a record; none for other outcomes."""
    record, queued = outcome.record, outcome.queued
    if record is None:
        return []
    return [
        page_row(
            JudgedPage(
                page_id=queued.page_id,
                crawl_id=queued.crawl_id,
                url=record.url,
                host=queued.host,
                title=record.title,
                fetched_at=record.fetched_at,
                judgement=judgement,
            )
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


def topic_row(topic: TopicRow) -> Row:
    """The row of ``topics`` of a topic."""
    return {
        "name": topic.name,
        "version": topic.version,
        "spec": replace_surrogates(topic.spec),
        "state": topic.state.value,
        "crawl_id": topic.crawl_id,
        "examples": compress(topic.examples),
        "packed": compress(topic.packed),
        "created_at": to_microseconds(topic.created_at),
        "note": replace_surrogates(topic.note),
    }


def topic_of(row: Sequence[Any]) -> TopicRow:
    """The topic of the values of ``TOPIC``.

    Raises:
        StoreDamaged: This program never wrote these values.
    """
    try:
        return TopicRow(
            name=row[0],
            version=row[1],
            spec=row[2],
            state=TopicState(row[3]),
            crawl_id=row[4],
            examples=decompress(bytes(row[5])),
            packed=decompress(bytes(row[6])),
            created_at=from_microseconds(row[7]),
            note=row[8],
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored topic cannot be read: {error}") from error


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


def model_row(model: StoredLinkModel) -> Row:
    """The row of ``topic_models`` of a link model."""
    return {
        "topic": model.topic,
        "version": model.version,
        "learned_at": to_microseconds(model.learned_at),
        "page_ids": json.dumps(model.page_ids),
        "hub_ids": json.dumps(model.hub_ids),
        "is_marked": int(model.is_marked),
        "packed": compress(model.packed),
    }


def model_of(row: Sequence[Any]) -> StoredLinkModel:
    """The link model of the values of ``MODEL``.

    Raises:
        StoreDamaged: This program never wrote these values.
    """
    try:
        return StoredLinkModel(
            topic=row[0],
            version=row[1],
            learned_at=from_microseconds(row[2]),
            packed=decompress(bytes(row[3])),
            page_ids=tuple(json.loads(row[4])),
            hub_ids=tuple(json.loads(row[5])),
            is_marked=bool(row[6]),
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored link model cannot be read: {error}") from error
