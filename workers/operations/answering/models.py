"""Models of hosts and their changes as answers: `model`, `learn`, `hosts HOST`, and the API."""

from __future__ import annotations

from typing import Any

from storage.store.drifts import DriftEvent
from storage.store.models import ModelVersion
from workers.answers.hosts import Drift


def version_fields(about: ModelVersion) -> dict[str, Any]:
    """The fields of a ``ModelLine``, and of all answers made from one, by name."""
    return {
        "host": about.host,
        "version": about.version,
        "learned_at": about.learned_at,
        "saved_at": about.saved_at,
        "page_count": about.page_count,
        "size_bytes": about.size_bytes,
        "reason": about.reason,
        "detail": about.detail,
    }


def drift_answer(event: DriftEvent) -> Drift:
    """A change of a host as an answer."""
    alarm = event.alarm
    return Drift(
        model_version=event.model_version,
        sign=alarm.sign,
        url_class=alarm.url_class,
        since=alarm.since,
        at=alarm.at,
        pages=alarm.pages,
        misfits=alarm.misfits,
        empty=alarm.empty,
        expected=alarm.expected,
        observed=round(alarm.observed, 4),
        classes=dict(alarm.classes),
        examples=tuple(alarm.examples),
        outcome=event.outcome,
        new_version=event.new_version,
        detail=event.detail,
    )
