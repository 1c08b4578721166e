"""The rules a site model holds, each with the pages of the sample that taught it (``on``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cleaning.posts.slots import PostSlots
from cleaning.posts.threads import Shape
from cleaning.records import ImageKind, LinkKind


class PageSet(int):
    """Pages of a sample: bit ``i`` stands for page ``i`` of ``SiteModel.sample``.

    In JSON its hexadecimal digits, ``"d"`` for pages 0, 2 and 3: a hundred pages make a number
    that most readers of JSON round.
    """


class DropReason(StrEnum):
    """Why a part inside the place of bodies is not of the body."""

    REPEATS = "repeats"  # its text is on most pages
    LINKS = "links"  # a list of links
    LINE_NUMBERS = "line_numbers"  # 1, 2, 3 beside a listing
    COMMENTS = "comments"  # by its names, and no page alone calls it body
    ABOUT_BODY = "about_body"  # one short line in one place: source, time, buttons


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A part that is left out of bodies.

    Attributes:
        path: Where it stands.
        reason: Why it is none of the body.
        most_chars: Most characters outside links that one has on any page.
        on: The pages that have it.
    """

    path: str
    reason: DropReason
    most_chars: int
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyPlace:
    """A path bodies stand at.

    Attributes:
        path: Steps from the root, with ``/`` between (``model.paths``).
        on: The pages whose body it explains.
        seen_on: Number of pages that have a block there.
        classes: URL classes of the pages it explains, with their number, sorted.
        dropped: What is left out in it.
    """

    path: str
    on: PageSet
    seen_on: int
    classes: tuple[tuple[str, int], ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyRule:
    """Where the bodies of a host stand.

    Attributes:
        places: Their paths, the one of most pages first.
        threads: URL classes of pages whose body is posts, with their number, sorted.
    """

    places: tuple[BodyPlace, ...] = ()
    threads: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateText:
    """A text that repeats, numbers in it as ``#``."""

    text: str
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatePart:
    """A path most of whose text repeats; ``share`` of it, 0..1."""

    path: str
    share: float
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What repeats on a host's pages.

    Attributes:
        lines: Lines of text, the most frequent first.
        parts: Outermost paths of such text.
        title_prefixes: What titles begin with, the site's name and a mark.
        title_suffixes: What titles end with.
    """

    lines: tuple[TemplateText, ...] = ()
    parts: tuple[TemplatePart, ...] = ()
    title_prefixes: tuple[TemplateText, ...] = ()
    title_suffixes: tuple[TemplateText, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPlace:
    """A path whose links are mostly of one kind.

    Attributes:
        path: That of the innermost block around the links.
        kind: What the pages alone call most of them.
        share: Share of them, 0..1.
        repeats: Mean share m2 of their addresses by the pages that have them there, 0..1.
        on: The pages with links there.
    """

    path: str
    kind: LinkKind
    share: float
    repeats: float
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlace:
    """The same of images."""

    path: str
    kind: ImageKind
    share: float
    repeats: float
    on: PageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Addresses on many of a host's pages, each with its share m2 in 0..1, and places of noise.

    Source: paper 3, eq. 3; the host is that of the page.
    """

    links: Mapping[str, float] = field(default_factory=dict)
    images: Mapping[str, float] = field(default_factory=dict)
    link_places: tuple[LinkPlace, ...] = ()
    image_places: tuple[ImagePlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedRule:
    """Where related links stand, and under which headings."""

    headings: tuple[TemplateText, ...] = ()
    places: tuple[LinkPlace, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRule:
    """How the posts of a host's threads are found.

    Attributes:
        shape: The parts that hold their texts.
        slots: The places of author, time and floor around them.
        pages: How many pages of the sample taught it.
    """

    shape: Shape
    slots: PostSlots
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassShares:
    """How many pages of one URL class the sample had, and how many of those fit the model.

    Attributes:
        pattern: The class (``urls.patterns``).
        pages: Its pages in the sample.
        at_place: Those whose body was found at a place of bodies, or as posts.
        framed: Those that have at least half of the host's frame: the links on most pages.
    """

    pattern: str
    pages: int
    at_place: int
    framed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What newer pages are compared with to see whether the host has changed.

    Attributes:
        classes: The URL classes of the sample, sorted.
        short_chars: Three quarters of its bodies are at least twice so long.
        shared_lines: Numbers of lines that several of its bodies have, sorted.
    """

    classes: tuple[ClassShares, ...] = ()
    short_chars: int = 0
    shared_lines: tuple[int, ...] = ()
