"""What a host's change is reported as: the sign, and the pages that show it.

Apart from the watch that raises alarms: whoever stores or prints one does not load the cleaner.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DriftSign(StrEnum):
    """What no longer fits."""

    BODIES = "bodies"
    FRAME = "frame"
    NEW_CLASSES = "new_classes"
    AGE = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """What speaks for a change.

    Attributes:
        sign: What no longer fits.
        url_class: The only class that has changed; ``""`` when it is the host.
        since: When the first page was fetched that did not fit; of an old model when it was made.
        at: When the last page was fetched.
        pages: Pages since then.
        misfits: Those that do not fit.
        empty: Those of them without a body.
        expected: Share of such pages that fit when the model was learned, 0..1.
        classes: URL classes of those that do not fit, with their number, most first.
        examples: URLs of some of them.
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
