"""Watch a host: do its newer pages still fit the model they are cleaned with?

Four signs of a change (``DriftSign``), each with evidence that a person can check:

- *bodies*: pages of known URL classes have their body at an unknown place or none, on the whole
  host or in one class; a short body that shares lines with other pages (an interstitial) counts as
  none;
- *frame*: the links that stand on most pages are gone;
- *new classes*: the pages of URL classes that the sample had none of have their bodies at unknown
  places;
- *age*: the model is older than 30 days and 20 new records have come.

The first three are cumulative sums of yes-or-no observations (x: the page fits the model).

| Page 1954 | here |
|---|---|
| z = ln f1(x) / f0(x) | ``log_ratio`` |
| S = max(0, S + z), alarm when S >= h | ``next_score``, ``THRESHOLD`` |
| a change began where S was last 0 (maximum likelihood) | ``Run.since`` |
| mean observations to a false alarm >= e^h | 10^8, the reason of ``THRESHOLD`` |

Source: E. S. Page, "Continuous inspection schemes", Biometrika 41 (1954), 100-115. The bound on
false alarms: G. Lorden, "Procedures for reacting to a change in distribution", Annals of
Mathematical Statistics 42 (1971), 1897-1908, theorem 2.

Readings: a page fits with probability ``expected`` before a change (f0) and with ``REMAINING``
times that after it (f1). The expectation differs from page to page, which neither argument minds.
An expectation above ``MOST_EXPECTED`` counts as that: a small sample cannot promise more, and one
page would weigh too much. The bound holds for independent pages that fit at least as often as
expected; the pages of a crawl come in runs, so the threshold is measured, too
(``benchmarks/site/drift.py``).

Cost: O(1) a page. A sum that is 0 is not kept, so a host that fits costs a few bytes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from msgspec import Struct, field

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.drift.model_fit import PageFit
from crawlclean.cleaning.model.site_model import SiteModel

THRESHOLD = math.log(1e8)  # Page's h
REMAINING = 0.5  # share of the pages that fitted that still do after a change
MOST_EXPECTED = 0.95  # see the readings
LEAST_EXPECTED = 0.5  # pages expected to fit less often are no evidence
MAX_RUNS = 32  # sums above 0 at a time
MAX_CLASSES = 12  # URL classes counted apart in one run
MAX_EXAMPLES = 5
MAX_SHORT = 8  # short bodies that are remembered
LEAST_PAGES = 8  # misfits of an alarm
# Pages a model was learned from, below which newer pages are not compared with it: the first model
# of a crawl has seen a corner of the host.
LEAST_TAUGHT = 20
MOST_AGE = timedelta(days=30)  # of a model
LEAST_NEW = 20  # records since a model was learned that are worth replacing an old model
OTHERS_FIT = 3  # fitting pages of other classes, from which a change is one class's alone


def log_ratio(expected: float, *, fits: bool) -> float:
    """Page's z of one observation: above 0 for a change, below 0 against, 0 for no evidence.

    Args:
        expected: Probability that the page fits on an unchanged host, 0..1.
        fits: Whether the page fits.
    """
    if expected < LEAST_EXPECTED:
        return 0.0
    before = min(expected, MOST_EXPECTED)
    after = REMAINING * before
    return math.log(after / before) if fits else math.log((1 - after) / (1 - before))


def next_score(score: float, expected: float, *, fits: bool) -> float:
    """Page's sum after one more observation, >= 0."""
    return max(0.0, score + log_ratio(expected, fits=fits))


class Run(Struct, array_like=True):
    """The pages since a sum was last 0.

    Attributes:
        score: Page's sum S, above 0.
        since: When the first misfit was fetched.
        pages: Number of pages.
        misfits: Pages that do not fit.
        empty: Misfits without a body.
        expected: Sum of the expected probabilities to fit.
        classes: Pages and misfits by URL class: ``{"/news/*.html": (12, 9)}``.
        examples: URLs of the first five misfits.
    """

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
    """The state of a host's watch: how its newer pages fit one version of its model.

    The caller counts the records of the host; ``total`` is their number so far.

    Attributes:
        version: The model version.
        begun: ``total`` when the version was first used.
        quiet: Nothing is judged until ``total`` exceeds this.
        born: ``total`` when the present layout began; 0 for the first layout.
        runs: Sums above 0 by sign, or sign and class: ``bodies``, ``bodies /news/*.html``.
        short: The last eight conspicuously short bodies: CRC-32 of the page's name, then of lines.
        alarm: The alarm that is not settled, or None.
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
        """Adds pages; returns the alarm they complete, if any, which stays until ``settle``.

        Args:
            pages: Pages newer than the model and cleaned with it.
            model: The model; a version older than the watched one is ignored.
            total: Records of the host, these pages included.
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
        """Ends an alarm and all evidence.

        Args:
            version: The model version now in use.
            total: Records of the host.
            quiet: Number of next records that are not judged.
            young: Number of last records with a new layout; None for the old layout.
        """
        if version > self.version:
            self.version, self.begun = version, total
        if young is not None:
            self.born = total - young
        self.quiet, self.runs, self.short, self.alarm = total + quiet, {}, (), None

    def _add(self, page: PageFit) -> None:
        """Adds a page to the sums its URL class and its body count for."""
        is_plain = page.at_place and (page.framed or not page.frame_share) and not page.short
        if is_plain and not self.runs:
            return  # the usual page: a fit without any sum to lower
        at_place = page.at_place and not self._is_repeat(page)
        if page.is_known:
            self._sum(_BODIES, page, page.place_share, at_place)
            if page.pattern:
                self._sum(f"{_BODIES} {page.pattern}", page, page.place_share, at_place)
            self._sum(_FRAME, page, page.frame_share, page.framed)
        elif not (page.is_empty or page.is_list):
            self._sum(_NEW, page, page.place_share, at_place)

    def _sum(self, name: str, page: PageFit, expected: float, fits: bool) -> None:
        """Adds a page to one sum; a misfit begins the sum, a sum that falls to 0 ends."""
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
        """Whether one of the last short bodies, of another page, shares a line with this one."""
        if not page.short:
            return False
        number, lines = zlib.crc32((page.name or page.url).encode()), set(page.short)
        others = [each for each in self.short if each[0] != number]
        self.short = (*others[1 - MAX_SHORT :], (number, *page.short))
        return any(not lines.isdisjoint(each[1:]) for each in others)

    def _found(self, page: PageFit) -> Alarm | None:
        """The alarm of a sum that has reached the threshold, or None."""
        names = (_BODIES, f"{_BODIES} {page.pattern}", _FRAME, _NEW)
        for name in names:
            run = self.runs.get(name)
            if run is not None and run.score >= THRESHOLD and run.misfits >= LEAST_PAGES:
                return _alarm(name, run, page.fetched_at)
        return None

    def _aged(self, page: PageFit, model: SiteModel, total: int) -> Alarm | None:
        """The alarm of a model that is old by the time of a page, or None."""
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
