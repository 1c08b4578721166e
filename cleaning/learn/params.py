"""The thresholds by which a host's rules are learned, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyParams:
    """When a path is the place of bodies, and what is left out there.

    Attributes:
        least_pages: Fewest pages a path must explain.
        least_share: The same as a share of the pages with a body.
        max_places: Most paths.
        often_share: Share of its text in bodies from which all lines at a path are.
        seldom_share: Share up to which none is, where ``seldom_pages`` pages leave some out.
        seldom_pages: See above.
        line_chars: Longest line about the body (source, time, buttons).
        most_share: Share of a page's body that a block of its chain holds more than.
        repeat_weight: What a character that repeats counts against a block, others count 1.
        many_weight: Worth of a block that is one of many at its path.
        plain_weight: The same of a path of tags alone: it is on pages of every kind, and explains
            those with long bodies of all of them at once.
        near_best: Share of a page's best F1 from which a path explains it.
        sharpness: Power of that share; a path that is a little too wide on every page must not win
            by a few pages of another kind.
        once: Most blocks of a path on a page, on average, that stand in one place.
        template_share: Share of repeats in a text from which it is template.
        present_share: Share of the explained pages that a left-out part stands on.
        steady_share: The same for parts that are left out by their place alone.
        links_share: Share of linked text from which a part is a list of links.
        kept_share: Share of its text in bodies up to which a part may be left out.
        prose_chars: Own characters of a line, on average, that make a part without names prose:
            what a site says below its articles is kept, modules have names.
        least_heading_chars: Characters in headings of their own that pages with a part have on
            average, from which it is not left out whole.
        menu_links: Links of a part, on average, that make it a menu.
        numbers_share: Share of characters that are no line numbers, up to which a part is such.
    """

    least_pages: int = 2
    least_share: float = 0.04
    max_places: int = 8
    often_share: float = 0.5
    seldom_share: float = 0.3
    seldom_pages: int = 5
    line_chars: int = 60
    most_share: float = 0.5
    repeat_weight: float = 0.5
    many_weight: float = 0.9
    plain_weight: float = 0.5
    near_best: float = 0.97
    sharpness: float = 20.0
    once: float = 1.3
    template_share: float = 0.7
    present_share: float = 0.3
    steady_share: float = 0.7
    links_share: float = 0.7
    kept_share: float = 0.1
    prose_chars: float = 20.0
    least_heading_chars: float = 2.0
    menu_links: float = 3.0
    numbers_share: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceParams:
    """When the links or images at a path are of one kind.

    Attributes:
        least_pages: Fewest pages with some there.
        least_count: Fewest of them.
        least_share: Share of the kind that the pages alone call most of them.
        heading_chars: Longest line that is a heading of related links.
        max_headings: Most such headings of a model.
        max_places: Most places of a model.
    """

    least_pages: int = 2
    least_count: int = 3
    least_share: float = 0.7
    heading_chars: int = 40
    max_headings: int = 20
    max_places: int = 400
