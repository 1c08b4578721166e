"""Changes of hosts as answers: `model`, `hosts HOST`, and the API."""

from __future__ import annotations

from crawlclean.storage.store.models import DriftEvent
from crawlclean.workers.answers.hosts import Drift
from crawlclean.workers.answers.making import answer_of


def drift_answer(event: DriftEvent) -> Drift:
    """A change of a host as an answer."""
    alarm = event.alarm
    return answer_of(
        Drift,
        alarm,
        model_version=event.model_version,
        observed=round(alarm.observed, 4),
        classes=dict(alarm.classes),
        examples=tuple(alarm.examples),
        outcome=event.outcome,
        new_version=event.new_version,
        detail=event.detail,
    )
