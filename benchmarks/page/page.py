"""One page: the quality of what ours and other tools find in it, and what it costs.

``make bench-page`` measures every part and keeps the result; ``ARGS="--quick"`` prints ours alone,
``ARGS="body cost"`` measures parts and leaves what is kept of the others, each with its commit.
A part is a function that gives a piece of the result; new ones are added to ``PARTS``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.kit.parts import choose_parts
from benchmarks.kit.results import commit, keep, kept, show
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
}


def main() -> int:
    """Measures the parts that are named, or all."""
    a = choose_parts("Quality and cost of cleaning one page.", PARTS, "ours alone, not kept")
    chosen = a.named or tuple(PARTS)
    result: dict[str, Any] = {} if a.quick or not a.named else kept("page")
    for name in chosen:
        sys.stderr.write(f"{name}\n")
        result |= PARTS[name](a.quick)
    if a.quick:
        show(result)
    else:
        result["commits"] = result.get("commits", {}) | dict.fromkeys(chosen, commit())
        keep("page", result)
        sys.stderr.write("now make bench-plots bench-methods, for the document\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
