"""Models of hosts and their changes as answers: `model`, `learn`, `hosts HOST`, and the API."""

from __future__ import annotations

import json
from collections.abc import Iterable

from crawlclean.storage.store.models import DriftEvent, ModelVersion, StoredModel
from crawlclean.workers.answers.hosts import Drift, ModelAnswer, ModelLine
from crawlclean.workers.answers.making import answer_of


def model_in_full(
    stored: StoredModel, versions: Iterable[ModelVersion], drifts: Iterable[DriftEvent]
) -> ModelAnswer:
    """A version of a host's model as an answer, with all versions and changes of the host."""
    return answer_of(
        ModelAnswer,
        stored.about,
        model=json.loads(stored.text),
        versions=tuple(answer_of(ModelLine, each) for each in versions),
        drifts=tuple(map(drift_answer, drifts)),
    )


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
