"""Drawings that are kept by their data: charts are the same for everybody until the next sample."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from markupsafe import Markup

MOST_KEPT = 24
"""Three ranges of Now in two languages and some time zones; each some 100 KB."""


class Drawings:
    """Rendered parts of pages by what is in them, those that were asked for last."""

    def __init__(self) -> None:
        """Has drawn nothing."""
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Markup] = OrderedDict()

    def of(self, key: Hashable, draw: Callable[[], Markup]) -> Markup:
        """Returns a drawing, drawn where it is not kept.

        Args:
            key: Everything that it depends on: its data, the language, the time zone.
            draw: Draws it.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        drawing = draw()
        with self._lock:
            self._kept[key] = drawing
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return drawing
