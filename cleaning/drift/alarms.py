"""Drift alarms: the sign of a host's change and the pages that show it.

They stand apart from the watch that raises them, so that storing or printing an alarm does not load
the cleaner.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DriftSign(StrEnum):
    """What no longer fits the model."""

    BODIES = "bodies"  # bodies of known URL classes are elsewhere or missing
    FRAME = "frame"  # the links on most pages are gone
    NEW_CLASSES = "new_classes"  # pages of a kind that is met later do not fit
    AGE = "age"  # the model is old


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """The evidence for a host's change.

    Attributes:
        sign: What no longer fits.
        url_class: The only URL class that has changed, such as ``/news/*.html``; ``""`` for the
            whole host.
        since: When the first misfit was fetched; for an old model, when it was learned.
        at: When the last page was fetched.
        pages: Pages from ``since`` to ``at``.
        misfits: Pages of these that do not fit.
        empty: Misfits without a body.
        expected: Share of these pages that should fit by the model's sample, 0..1.
        classes: URL classes of the misfits with their numbers, the most frequent first:
            ``(("/news/*.html", 9), ("/", 1))``.
        examples: URLs of at most five misfits.
    """

    sign: DriftSign
    url_class: str = ""
    since: datetime
    at: datetime
    pages: int
    misfits: int
    empty: int = 0
    expected: float = 0.0
    classes: tuple[tuple[str, int], ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def observed(self) -> float:
        """Share of the pages that fit, 0..1."""
        return 1 - self.misfits / self.pages if self.pages else 0.0
