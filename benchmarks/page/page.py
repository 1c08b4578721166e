"""One page: quality and cost of our extraction, beside other tools.

``make bench-page`` measures every part and keeps the result; ``ARGS="--quick"`` prints our figures
alone; ``ARGS="body cost"`` measures these parts and keeps the results of the others, each part with
its commit. A part is a function that returns a piece of the result; new parts go into ``PARTS``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.kit.parts import choose_parts, measure_kept
from benchmarks.page import body, cost, links, metadata, posts, related, steps

PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "body": body.measure,
    "posts": posts.measure,
    "links": links.measure,
    "related": related.measure,
    "metadata": metadata.measure,
    "kinds": metadata.measure_kinds,
    "steps": steps.measure,
    "cost": cost.measure,
    "shapes": cost.measure_shapes,
}


def main() -> int:
    """Measures the named parts, or all."""
    choice = choose_parts("Quality and cost of cleaning one page.", PARTS, "ours alone, not kept")
    measure_kept(choice, "page", PARTS)
    if not choice.quick:
        sys.stderr.write("update the document: make bench-plots bench-tables\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
