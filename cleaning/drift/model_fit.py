"""The fit of a page to its site model: its body at a learned place, its links in the frame.

The frame is the set of links on most pages. The expected fit is measured on the sample, URL class
by URL class, while the host is learned; that of the frame by the frame of the other half. A class
of which k of n pages fit is expected to fit with probability (k + 1) / (n + 2) (Laplace's rule of
succession), so that a class of few pages promises little. The classes with one page in the sample,
taken together, stand for the classes with none.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from crawlclean.cleaning.model.rules import ClassShares, Expected, Noise
from crawlclean.cleaning.model.site_model import OFTEN, SiteModel
from crawlclean.cleaning.records import BodySource, CleanRecord, Link, PageKind
from crawlclean.cleaning.url_classes.rules import class_of

KNOWN_PLACES = frozenset((BodySource.SITE, BodySource.POSTS))
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
        shares = _together(index.shares.values())
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
    halves = [
        frozenset(url for url, share in _link_shares(readings[half::2]).items() if share >= OFTEN)
        for half in (0, 1)
    ]
    frames = [frozenset(noise.links) & half for half in halves]
    return [
        len(frames[1 - number % 2]) >= LEAST_FRAME
        and _is_framed(reading.links, frames[1 - number % 2])
        for number, reading in enumerate(readings)
    ]


def _link_shares(readings: Sequence[SamplePage]) -> dict[str, float]:
    """Returns the share of the pages that link to each URL."""
    counts = Counter(url for each in readings for url in {link.url for link in each.links})
    return {url: count / len(readings) for url, count in counts.items()}


def _is_framed(links: Iterable[Link], frame: frozenset[str]) -> bool:
    """Whether at least half of the frame is among a page's links."""
    found = frame.intersection([link.url for link in links])
    return len(found) >= FRAME_SHARE * len(frame)


def _together(classes: Iterable[ClassShares]) -> ClassShares:
    """The sum of all classes whose pages mostly have bodies."""
    found = [each for each in classes if 2 * each.at_place >= each.pages]
    return ClassShares(
        pattern="",
        pages=sum(each.pages for each in found),
        at_place=sum(each.at_place for each in found),
        framed=sum(each.framed for each in found),
    )


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
