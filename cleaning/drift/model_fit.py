"""Whether a page is as its host's model says: its body at a place of bodies, its links in the
frame.

What is expected is measured on the sample, URL class by URL class, while the host is learned. A
class of which k of n pages fit is expected to fit with (k + 1) / (n + 2) (Laplace's rule of
succession), so that a class of few pages promises little. Classes that the sample has one page of
speak together for those that it has none of.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from cleaning.model.rules import ClassShares, Expected, Noise
from cleaning.model.site_model import SiteModel, frame_of
from cleaning.records import BodySource, CleanRecord, Link, PageKind
from cleaning.url_classes.rules import class_of

KNOWN_PLACES = frozenset((BodySource.SITE, BodySource.POSTS))


LEAST_FRAME = 4  # links of a frame; a smaller one says nothing
FRAME_SHARE = 0.5  # of them that a page of the frame has
QUANTILE = 0.25  # share of the sample's bodies that are shorter than an ordinary short one
SHORT_SHARE = 0.5  # of its length, below which a body is conspicuously short
LEAST_BODIES = 4  # from which it shows what is short
LINE_CHARS = 8  # of the shortest line by which short bodies are compared
MAX_LINES = 4  # of a short body, the longest
MAX_SHARED = 300  # lines that are known to be shared
LEAST_SINGLE = 8  # classes of one page that speak for classes never seen


class SamplePage(NamedTuple):
    """A page of the sample as it is read with the model."""

    url: str
    source: BodySource
    title: str
    body: str
    links: Sequence[Link]


class PageFit(NamedTuple):
    """How one page fits the model it was cleaned with.

    Attributes:
        url: Its address.
        fetched_at: When its answer ended.
        pattern: The class of its URL.
        is_known: Whether the model was learned from pages of that class.
        at_place: Whether its body stands at a place of bodies, or in posts.
        framed: Whether it has the host's frame.
        place_share: Expected share of such pages whose body does, 0..1.
        frame_share: Expected share of those that have the frame, 0 where there is none to have.
        is_empty: Whether it has no body.
        is_list: Whether it is a list of other pages.
        short: Numbers of the lines of a conspicuously short body that are not known to be shared.
        name: What the address names: the path alone where that tells pages apart, so that one page
            at addresses with many queries is one.
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
    """What newer pages of a host are compared with.

    Args:
        readings: The sample.
        noise: What repeats on it.
    """
    frame = frame_of(noise)
    classes: dict[str, list[int]] = {}
    for reading in readings:
        counts = classes.setdefault(class_of(reading.url), [0, 0, 0])
        counts[0] += 1
        counts[1] += reading.source in KNOWN_PLACES
        counts[2] += _is_framed(reading.links, frame)
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
    """How a page fits the model that its record was made with.

    Args:
        record: The page.
        model: What its host taught.
    """
    index = model.index
    pattern = class_of(record.url)
    shares = index.shares.get(pattern)
    is_known = shares is not None
    if shares is None and index.single.pages >= LEAST_SINGLE:
        shares, is_known = index.single, True  # to this host classes never seen are nothing new
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


def _is_framed(links: Iterable[Link], frame: frozenset[str]) -> bool:
    found = frame.intersection([link.url for link in links])
    return len(found) >= FRAME_SHARE * len(frame)


def _together(classes: Iterable[ClassShares]) -> ClassShares:
    """All classes that have bodies, as one."""
    found = [each for each in classes if 2 * each.at_place >= each.pages]
    return ClassShares(
        pattern="",
        pages=sum(each.pages for each in found),
        at_place=sum(each.at_place for each in found),
        framed=sum(each.framed for each in found),
    )


def _succession(fits: int, pages: int) -> float:
    return (fits + 1) / (pages + 2)


def _lines(body: str, title: str) -> list[int]:
    """Numbers of the lines of a body that are no part of its title, the longest last."""
    lines = [
        line
        for line in body.splitlines()
        if len(line) >= LINE_CHARS and not (title and (line in title or title in line))
    ]
    lines.sort(key=len)
    return [zlib.crc32(line.encode("utf-8", "replace")) for line in lines]


def _shared(readings: Iterable[SamplePage]) -> tuple[int, ...]:
    """Lines of several bodies, those of most if there are too many."""
    counts: Counter[int] = Counter()
    for each in readings:
        if each.source in KNOWN_PLACES:
            counts.update(set(_lines(each.body, each.title)))
    often = [line for line, n in counts.items() if n > 1]
    often.sort(key=lambda line: (-counts[line], line))
    return tuple(sorted(often[:MAX_SHARED]))


def _short(record: CleanRecord, model: SiteModel) -> tuple[int, ...]:
    """What a short body says that bodies of the host are not known to have in common."""
    known = model.expected.shared_lines
    lines = [n for n in _lines(record.body, record.title) if n not in known]
    return tuple(lines[-MAX_LINES:])
