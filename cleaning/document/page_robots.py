"""What a page says to robots: ``<meta name=robots>`` and the header ``X-Robots-Tag``.

``noindex`` asks that the page is not kept, ``nofollow`` that its links are not followed, ``none``
both. Directives for another robot (``googlebot: noindex``) are not for us. All that are for us hold
together, as search engines read them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crawlclean.cleaning.document.document import Document

# Names with a value; before any other colon stands the name of a robot.
VALUED = frozenset(
    ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
)  # fmt: skip
_NAMED = re.compile(r"\s*+([\w.-]++)\s*+:(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRobots:
    """Whether a page asks not to be kept, and whether it asks that no link of it is followed."""

    is_noindex: bool = False
    is_nofollow: bool = False


def page_robots(document: Document, robot: str) -> PageRobots:
    """Returns what a page says to the robot with this name in lower case, and to all robots."""
    said = " ".join((*_of_metas(document, robot), *_of_headers(document, robot)))
    words = set(re.split(r"[\s,;]+", said.lower()))
    return PageRobots(
        is_noindex=not words.isdisjoint(("noindex", "none")),
        is_nofollow=not words.isdisjoint(("nofollow", "none")),
    )


def _of_metas(document: Document, robot: str) -> Iterator[str]:
    tree = document.tree
    for name, content in (*tree.metas.items(), *tree.more_metas):
        if name in ("robots", robot):
            yield content


def _of_headers(document: Document, robot: str) -> Iterator[str]:
    for name, value in document.page.headers:
        if name.lower() == "x-robots-tag":
            named = _NAMED.fullmatch(value)
            if not named or named[1].lower() in VALUED:
                yield value
            elif named[1].lower() == robot:
                yield named[2]
