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
from collections import Counter
from collections.abc import Iterable, Sequence, Set as AbstractSet
from datetime import datetime, timedelta
from itertools import cycle
from typing import NamedTuple

import msgspec
from msgspec import Struct, field

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.model.rules import ClassShares, Expected, Noise
from crawlclean.cleaning.model.site_model import OFTEN, SiteModel
from crawlclean.cleaning.records import BodySource, CleanRecord, Link, PageKind
from crawlclean.cleaning.url_classes.rules import class_of

# The fit of a page to its site model: its body at a learned place, its links in the frame.
#
# The frame is the set of links on most pages. The expected fit is measured on the sample, URL class
# by URL class, while the host is learned; that of the frame by the frame of the other half. A class
# of which k of n pages fit is expected to fit with probability (k + 1) / (n + 2) (Laplace's rule of
# succession), so that a class of few pages promises little. The classes with one page in the
# sample, taken together, stand for the classes with none.

KNOWN_PLACES = frozenset((BodySource.SITE, BodySource.POSTS, BodySource.OVERRIDE))
LEAST_FRAME = 4  # links; a smaller frame is no evidence
FRAME_SHARE = 0.5  # share of the frame's links that a page with the frame has
QUANTILE = 0.25  # quantile of the sample's body lengths that is an ordinary short body
SHORT_SHARE = 0.5  # share of that length below which a body is conspicuously short
LEAST_BODIES = 4  # bodies from which the quantile is taken
LINE_CHARS = 8  # shortest line by which short bodies are compared
MAX_LINES = 4  # lines of a short body that are compared, the longest
MAX_SHARED = 300  # shared lines in a model
LEAST_SINGLE = 8  # classes of one page that can stand for classes without one


class SamplePage(NamedTuple):
    """A page of the sample, read with the model: URL, source of its body, title, body, links."""

    url: str
    source: BodySource
    title: str
    body: str
    links: Sequence[Link]


class PageFit(NamedTuple):
    """How one page fits the model it was cleaned with.

    Attributes:
        url: URL of the page.
        fetched_at: When the response ended.
        pattern: The class of the URL: ``/news/*.html``.
        is_known: Whether the sample had pages of the class.
        at_place: Whether the body stands at a learned place or is posts.
        framed: Whether the page has the host's frame.
        place_share: Expected probability of ``at_place``, 0..1.
        frame_share: Expected probability of ``framed``, 0..1; 0 on a host without a frame.
        is_empty: Whether the page has no body.
        is_list: Whether the page is an INDEX.
        short: Of a conspicuously short body the CRC-32 of up to four lines that are not known to be
            shared, the longest last.
        name: Identity of the page: the URL without its query where the path varies within the
            class, so that one page at URLs with many queries is one.
    """

    url: str
    fetched_at: datetime
    pattern: str
    is_known: bool
    at_place: bool
    framed: bool
    place_share: float
    frame_share: float
    is_empty: bool = False
    is_list: bool = False
    short: tuple[int, ...] = ()
    name: str = ""


def expected_of(readings: Sequence[SamplePage], noise: Noise) -> Expected:
    """Measures on the sample what newer pages of the host are compared with.

    Args:
        readings: The pages of the sample.
        noise: The links that repeat on them.
    """
    classes: dict[str, list[int]] = {}
    for reading, framed in zip(readings, _framed(readings, noise), strict=True):
        counts = classes.setdefault(class_of(reading.url), [0, 0, 0])
        counts[0] += 1
        counts[1] += reading.source in KNOWN_PLACES
        counts[2] += framed
    chars = sorted(len(each.body) for each in readings if each.source in KNOWN_PLACES)
    is_enough = len(chars) >= LEAST_BODIES
    return Expected(
        classes=tuple(
            ClassShares(pattern=pattern, pages=pages, at_place=at_place, framed=framed)
            for pattern, (pages, at_place, framed) in sorted(classes.items())
        ),
        short_chars=int(SHORT_SHARE * chars[int(QUANTILE * len(chars))]) if is_enough else 0,
        shared_lines=_shared(readings),
    )


def fit_of(record: CleanRecord, model: SiteModel) -> PageFit:
    """Returns how a page fits the model that its record was made with.

    Args:
        record: The record of the page.
        model: The site model that cleaned the page.
    """
    index = model.index
    pattern = class_of(record.url)
    shares = index.shares.get(pattern)
    is_known = shares is not None
    if shares is None and index.single.pages >= LEAST_SINGLE:
        shares, is_known = index.single, True  # new classes are usual on this host
    if shares is None:
        # All classes whose pages mostly have bodies.
        found = (each for each in index.shares.values() if 2 * each.at_place >= each.pages)
        shares = ClassShares.total(found)
    has_frame = is_known and len(index.frame) >= LEAST_FRAME
    at_place = record.body_source in KNOWN_PLACES
    is_short = at_place and len(record.body) < model.expected.short_chars
    return PageFit(
        url=record.url,
        fetched_at=record.fetched_at,
        pattern=pattern,
        is_known=is_known,
        at_place=at_place,
        framed=has_frame and _is_framed(record.links, index.frame),
        place_share=_succession(shares.at_place, shares.pages),
        frame_share=_succession(shares.framed, shares.pages) if has_frame else 0.0,
        is_empty=record.body_source is BodySource.NONE,
        is_list=record.kind is PageKind.INDEX,
        short=_short(record, model) if is_short else (),
        name=record.url.partition("?")[0] if "*" in pattern.partition("?")[0] else record.url,
    )


def _framed(readings: Sequence[SamplePage], noise: Noise) -> list[bool]:
    """Whether each page has the frame of the other half of the sample.

    Links that are on most of a sample by chance, as where every page links to half of a small host,
    are on most of these pages, but not on most of the next ones.
    """
    frames = []
    for half in (readings[1::2], readings[::2]):
        counts = Counter(url for each in half for url in {link.url for link in each.links})
        often = {url for url, count in counts.items() if count / len(half) >= OFTEN}
        frames.append(often.intersection(noise.links))
    return [
        len(frame) >= LEAST_FRAME and _is_framed(reading.links, frame)
        for reading, frame in zip(readings, cycle(frames), strict=False)
    ]


def _is_framed(links: Iterable[Link], frame: AbstractSet[str]) -> bool:
    """Whether at least half of the frame is among a page's links."""
    return len(frame & {link.url for link in links}) >= FRAME_SHARE * len(frame)


def _succession(fits: int, pages: int) -> float:
    """Laplace's estimate of the probability that the next page fits."""
    return (fits + 1) / (pages + 2)


def _lines(body: str, title: str) -> list[int]:
    """CRC-32 of the lines of a body that do not overlap with the title, the longest last."""
    lines = [
        line
        for line in body.splitlines()
        if len(line) >= LINE_CHARS and not (title and (line in title or title in line))
    ]
    lines.sort(key=len)
    return [zlib.crc32(line.encode("utf-8", "replace")) for line in lines]


def _shared(readings: Iterable[SamplePage]) -> tuple[int, ...]:
    """CRC-32 of the lines in several bodies, sorted; of over 300 the most frequent."""
    counts: Counter[int] = Counter()
    for each in readings:
        if each.source in KNOWN_PLACES:
            counts.update(set(_lines(each.body, each.title)))
    often = [line for line, n in counts.items() if n > 1]
    often.sort(key=lambda line: (-counts[line], line))
    return tuple(sorted(often[:MAX_SHARED]))


def _short(record: CleanRecord, model: SiteModel) -> tuple[int, ...]:
    """CRC-32 of the longest lines of a short body that no known shared lines equal."""
    known = model.expected.shared_lines
    lines = [n for n in _lines(record.body, record.title) if n not in known]
    return tuple(lines[-MAX_LINES:])


THRESHOLD = math.log(1e8)  # Page's h
REMAINING = 0.5  # share of the pages that fitted that still do after a change
MOST_EXPECTED = 0.95  # see the readings
LEAST_EXPECTED = 0.5  # pages expected to fit less often are no evidence
MAX_RUNS = 32  # sums above 0 at a time
MAX_CLASSES = 12  # URL classes counted apart in one run
MAX_EXAMPLES = 5  # misfits of an alarm that a person opens; each is stored with every sum
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
        for name in (_BODIES, f"{_BODIES} {page.pattern}", _FRAME, _NEW):
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
