"""A host is watched: do its newer pages still fit the model they are cleaned with?

Four signs speak for a change, each with evidence that a person can read:

- *bodies*: pages of known URL classes have their body elsewhere or none, on the whole host or in
  one class; a short body that shares lines with other pages (an interstitial) counts as none;
- *frame*: the links that stand on most pages are gone;
- *new classes*: pages of URL classes the model has not seen have their bodies at unknown places;
- *age*: the model is old and pages came since.

The first three are sums by Page (``drift/cusum.py``); where a sum was last 0 the change began. A
sum that is 0 is not kept, so a host that fits costs a few bytes. The caller counts the records of a
host: ``total`` is how many there were so far.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct, field

from cleaning.drift.alarms import Alarm, DriftSign
from cleaning.drift.cusum import LEAST_EXPECTED, THRESHOLD, next_score
from cleaning.drift.model_fit import PageFit
from cleaning.model.site_model import SiteModel

MAX_RUNS = 32  # classes with evidence at a time
MAX_CLASSES = 12  # that are told apart in one run
MAX_EXAMPLES = 5
MAX_SHORT = 8  # short bodies that are remembered
LEAST_PAGES = 8  # that do not fit
# Pages a model was learned from that newer ones can be compared with: one of fewer, the first of
# a crawl, has seen a corner of the host.
LEAST_TAUGHT = 20
MOST_AGE = timedelta(days=30)  # of a model
LEAST_NEW = 20  # records since a model was made that are worth a new one for its age
OTHERS_FIT = 3  # pages of other classes that fit, from which a change is one class's own


class Run(Struct, array_like=True):
    """Pages since a sum was last 0; ``classes`` is pages and misfits of each URL class."""

    score: float = 0.0
    since: datetime | None = None
    pages: int = 0
    misfits: int = 0
    empty: int = 0
    expected: float = 0.0
    classes: dict[str, tuple[int, int]] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    def add(self, page: PageFit, *, expected: float, fits: bool) -> None:
        """Adds a page."""
        self.score = next_score(self.score, expected, fits=fits)
        self.pages += 1
        self.expected += expected
        if page.pattern in self.classes or len(self.classes) < MAX_CLASSES:
            pages, misfits = self.classes.get(page.pattern, (0, 0))
            self.classes[page.pattern] = pages + 1, misfits + (not fits)
        if not fits:
            self.misfits += 1
            self.since = min(self.since or page.fetched_at, page.fetched_at)
            self.empty += page.is_empty
            if len(self.examples) < MAX_EXAMPLES:
                self.examples += (page.url,)


class Watch(Struct, array_like=True):
    """What is known of how a host's newer pages fit one version of its model.

    Attributes:
        version: The version.
        begun: Records of the host when the version was first used.
        quiet: Records of the host before which nothing is judged.
        born: Records of the host when its present layout began; 0 is its first one.
        runs: Evidence, by sign and class.
        short: Conspicuously short bodies seen last: number of the page, numbers of the lines.
        alarm: What was found and is not yet dealt with.
    """

    version: int = 0
    begun: int = 0
    quiet: int = 0
    born: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    short: tuple[tuple[int, ...], ...] = ()
    alarm: Alarm | None = None

    def to_text(self) -> str:
        """Returns the watch as JSON of a few KB at most; equal text for equal values."""
        return _ENCODER.encode(self).decode()

    @classmethod
    def from_text(cls, text: str) -> Watch:
        """Returns the watch that ``to_text`` wrote; an empty one for any other text."""
        if not text:
            return cls()
        try:
            return _WATCH.decode(text)
        except (RecursionError, ValueError):  # of another version
            return cls()

    def judge(
        self,
        pages: Iterable[PageFit],
        model: SiteModel,
        total: int,
    ) -> Alarm | None:
        """Adds pages; the alarm they complete, which stays until ``settle``.

        Args:
            pages: Newer than the model, cleaned with it.
            model: An older version than is watched says nothing more.
            total: Records of the host with these.
        """
        if self.alarm is not None or model.version < self.version:
            return None
        if model.version > self.version:
            self.version, self.begun, self.runs, self.short = model.version, total, {}, ()
        if total <= self.quiet:
            return None
        for page in pages:
            if model.page_count >= LEAST_TAUGHT:
                self._add(page)
            found = self._found(page) if self.runs else None
            self.alarm = found or self._aged(page, model, total)
            if self.alarm is not None:
                return self.alarm
        return None

    def settle(self, version: int, total: int, quiet: int, young: int | None = None) -> None:
        """The alarm is dealt with.

        Args:
            version: That in use now.
            total: Records of the host.
            quiet: How many more of them are not judged.
            young: How many of its last records are of a layout that is new.
        """
        if version > self.version:
            self.version, self.begun = version, total
        if young is not None:
            self.born = total - young
        self.quiet, self.runs, self.short, self.alarm = total + quiet, {}, (), None

    def _add(self, page: PageFit) -> None:
        is_plain = page.at_place and (page.framed or not page.frame_share) and not page.short
        if is_plain and not self.runs:
            return  # as nearly all are
        at_place = page.at_place and not self._is_repeat(page)
        if page.is_known:
            self._sum(_BODIES, page, page.place_share, at_place)
            if page.pattern:
                self._sum(f"{_BODIES} {page.pattern}", page, page.place_share, at_place)
            self._sum(_FRAME, page, page.frame_share, page.framed)
        elif not (page.is_empty or page.is_list):
            self._sum(_NEW, page, page.place_share, at_place)

    def _sum(self, name: str, page: PageFit, expected: float, fits: bool) -> None:
        if expected < LEAST_EXPECTED:
            return
        run = self.runs.get(name)
        if run is None:
            if fits or (" " in name and len(self.runs) >= MAX_RUNS):
                return
            run = self.runs[name] = Run()
        run.add(page, expected=expected, fits=fits)
        if run.score <= 0.0:
            del self.runs[name]

    def _is_repeat(self, page: PageFit) -> bool:
        """Whether pages of other names had a line of a short body a moment ago."""
        if not page.short:
            return False
        number, lines = zlib.crc32((page.name or page.url).encode()), set(page.short)
        others = [each for each in self.short if each[0] != number]
        self.short = (*others[1 - MAX_SHORT :], (number, *page.short))
        return any(not lines.isdisjoint(each[1:]) for each in others)

    def _found(self, page: PageFit) -> Alarm | None:
        names = (_BODIES, f"{_BODIES} {page.pattern}", _FRAME, _NEW)
        for name in names:
            run = self.runs.get(name)
            if run is not None and run.score >= THRESHOLD and run.misfits >= LEAST_PAGES:
                return _alarm(name, run, page.fetched_at)
        return None

    def _aged(self, page: PageFit, model: SiteModel, total: int) -> Alarm | None:
        since, new = model.learned_at, total - self.begun
        if page.fetched_at - since < MOST_AGE or new < LEAST_NEW:
            return None
        return Alarm(sign=DriftSign.AGE, since=since, at=page.fetched_at, pages=new, misfits=0)


_ENCODER = msgspec.json.Encoder(order="sorted")
_WATCH = msgspec.json.Decoder(Watch)
_BODIES, _FRAME, _NEW = DriftSign.BODIES.value, DriftSign.FRAME.value, DriftSign.NEW_CLASSES.value


def _alarm(name: str, run: Run, at: datetime) -> Alarm:
    sign, _, url_class = name.partition(" ")
    changed = {pattern: misfits for pattern, (_, misfits) in run.classes.items() if misfits}
    others = sum(pages for pages, misfits in run.classes.values() if not misfits)
    is_all = sum(changed.values()) == run.misfits
    if sign == _BODIES and len(changed) == 1 and is_all and others >= OTHERS_FIT:
        url_class = next(iter(changed))
    return Alarm(
        sign=DriftSign(sign),
        url_class=url_class,
        since=run.since or at,
        at=at,
        pages=run.pages,
        misfits=run.misfits,
        empty=run.empty,
        expected=round(run.expected / run.pages, 4),
        classes=tuple(sorted(changed.items(), key=lambda item: (-item[1], item[0]))),
        examples=tuple(run.examples),
    )
