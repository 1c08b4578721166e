"""The rules of a site model, each with the pages of the sample that taught it (``on``).

``path`` is written as in ``model.paths``: ``html/body/div.main``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from crawlclean.cleaning.posts.posts import PostSlots, Shape
from crawlclean.cleaning.records import ImageKind, LinkKind


class PageSet(int):
    """A bit mask of pages: bit ``i`` stands for page ``i`` of ``SiteModel.sample``.

    0b101 is the first and the third page. JSON has the hexadecimal digits, ``"5"``: the masks of a
    hundred pages are numbers that most readers of JSON round.
    """


class DropReason(StrEnum):
    """Why a part inside a body's block is dropped from the body."""

    REPEATS = "repeats"  # its text is on most pages
    LINKS = "links"  # a list of links
    LINE_NUMBERS = "line_numbers"  # 1, 2, 3 beside a listing
    COMMENTS = "comments"  # by class or id, and in no body found on a page alone
    ABOUT_BODY = "about_body"  # one short line at a steady path: source, time, buttons


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A part that is dropped from bodies.

    Attributes:
        path: Path of the part.
        reason: Why it is dropped.
        most_chars: Most characters outside links in one such part of the sample.
        on: The pages with the part.
        lines: CRC-32 of the lines that it may have (``model.paths.line_key``), sorted; empty for
            any. A paragraph's or nameless part's path alone proves nothing.
    """

    path: str
    reason: DropReason
    most_chars: int
    on: PageSet
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPlace:
    """A path of bodies.

    Attributes:
        path: Path of the body's block.
        on: The pages whose body the path explains.
        seen_on: Number of pages that have a block at the path.
        classes: URL classes of the explained pages with their numbers, sorted:
            ``(("/news/*.html", 12),)``.
        dropped: The parts inside that are dropped.
    """

    path: str
    on: PageSet
    seen_on: int
    classes: tuple[tuple[str, int], ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyRule:
    """The paths of a host's bodies.

    Attributes:
        places: The paths, the one that explains most pages first.
        threads: URL classes of pages whose body is posts, with their numbers, sorted.
    """

    places: tuple[BodyPlace, ...] = ()
    threads: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateText:
    """A repeated text as ``model.paths.line_key`` writes it: ``共有#条评论``."""

    text: str
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The repeated text of a host's pages.

    Attributes:
        lines: Repeated lines, the most frequent first.
        own: CRC-32 of those that bodies keep (``model.paths.line_key``), sorted: a notice below
            articles, the text of reprints. The others stand around bodies of other text.
        title_prefixes: Beginnings of titles with their mark: ``山城网 - ``.
        title_suffixes: Ends of titles with their mark: ``_山城网``.
    """

    lines: tuple[TemplateText, ...] = ()
    own: tuple[int, ...] = ()
    title_prefixes: tuple[TemplateText, ...] = ()
    title_suffixes: tuple[TemplateText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlace:
    """A path whose links are mostly of one kind.

    Attributes:
        path: Path of the innermost block around the links.
        kind: The commonest kind of the links by the pages alone.
        share: Share of the links that are of this kind, 0..1.
        repeats: Mean m2 of their URLs by the pages that have them at the path, 0..1.
        on: The pages with links at the path.
    """

    path: str
    kind: LinkKind
    share: float
    repeats: float
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlace:
    """A path whose images are mostly of one kind; the fields are those of ``LinkPlace``."""

    path: str
    kind: ImageKind
    share: float
    repeats: float
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """URLs on many of a host's pages, and the places of noise.

    Attributes:
        links: URL -> redundancy m2 (paper 3, eq. 3; the host is the page's), 0..1.
        images: Image URL -> redundancy m2, 0..1.
        link_places: The places of links of any kind but RELATED.
        image_places: The places of images.
    """

    links: Mapping[str, float] = field(default_factory=dict)
    images: Mapping[str, float] = field(default_factory=dict)
    link_places: tuple[LinkPlace, ...] = ()
    image_places: tuple[ImagePlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedRule:
    """The places of related links."""

    places: tuple[LinkPlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRule:
    """The parts of posts in a host's threads.

    Attributes:
        shape: The names of the parts with the texts of posts.
        slots: The slots of author, time and floor around the texts.
        pages: Number of pages that taught the rule.
    """

    shape: Shape
    slots: PostSlots
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassShares:
    """The pages of one URL class in the sample, and how many of them fit the model.

    Attributes:
        pattern: The URL class (``urls.patterns``): ``/news/*.html``.
        pages: Number of its pages in the sample.
        at_place: Pages whose body is at a place of the body rule or is posts.
        framed: Pages with at least half of the host's frame, the links on most pages.
    """

    pattern: str
    pages: int
    at_place: int
    framed: int

    @classmethod
    def total(cls, classes: Iterable[ClassShares]) -> ClassShares:
        """The sum of some classes, of no pattern."""
        found = list(classes)
        return cls(
            pattern="",
            pages=sum(each.pages for each in found),
            at_place=sum(each.at_place for each in found),
            framed=sum(each.framed for each in found),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The fit of the sample, with which newer pages are compared to detect drift.

    Attributes:
        classes: The URL classes of the sample, sorted.
        short_chars: Half of the first quartile of the body lengths; shorter bodies are conspicuous.
        shared_lines: CRC-32 of the lines in several bodies, sorted.
    """

    classes: tuple[ClassShares, ...] = ()
    short_chars: int = 0
    shared_lines: tuple[int, ...] = ()
