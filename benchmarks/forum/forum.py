"""Forums: topic pages by their URLs, the class of the posts, and the posts themselves.

``make bench-forum`` measures every part and keeps the result; ``ARGS="--quick usc"`` prints a part.
A part is a function that returns a piece of the result; new parts go into ``PARTS``. Rules are
learned on some pages and scored on others.
"""

from __future__ import annotations

import sys

from benchmarks.forum import (
    post_classes as forum_classes_of_posts,
    posts as forum_posts,
    urls as forum_urls,
    usc as forum_usc,
)
from benchmarks.kit.parts import Part, choose_parts
from benchmarks.kit.results import keep, show
from benchmarks.site import urls as site_urls

PARTS: dict[str, Part] = {
    "usc": forum_usc.measure,
    "ksf": forum_classes_of_posts.measure,
    "posts": forum_posts.measure,
    "million": forum_usc.measure_million,
    "classes": forum_urls.measure,
    "site_classes": site_urls.measure,
    "million_classes": forum_urls.measure_million,
}


def main() -> int:
    """Measures the named parts, or all."""
    a = choose_parts("URL classes and posts of real forum engines.", PARTS, "nothing is kept")
    result = a.measure(PARTS)
    if a.quick:
        show(result)
    else:
        keep("forum", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
