"""Hosts as answers: `hosts HOST`, and the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from crawlclean.workers.answers.hosts import HostAnswer, ImageRequests
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.operations.answering.models import drift_answer

if TYPE_CHECKING:
    from crawlclean.workers.operations.hosts.hosts import HostFigures
    from crawlclean.workers.operations.watching.views.hosts import HostDetails


def host_in_full(
    found: HostFigures | HostDetails,
    *,
    is_paused: bool,
    images: ImageRequests | UnsetType = UNSET,
) -> HostAnswer:
    """One host as an answer, with the requests for its images where they are counted."""
    waits = found.waits
    return answer_of(
        HostAnswer,
        found.stats,
        as_of=found.as_of,
        records_by_model=dict(found.records_by_model),
        image_requests=images,
        is_paused=is_paused,
        waits=tuple(waits.hosts) if waits else UNSET,
        holds=tuple(waits.holds) if waits else UNSET,
        next_visits=dict(found.next_visits),
        drifts=tuple(map(drift_answer, found.drifts)),
    )
