"""Changed copies: how much of each figure stays when names, addresses, dates or headings change.

``make bench-robust`` measures every part and keeps the result; ``ARGS="bodies"`` measures a part
and keeps the results of the others, each part with its commit; ``ARGS="--quick bodies"`` takes
every eighth host and keeps nothing. A part is a function that returns a piece of the result; new
parts go into ``PARTS``.

A figure is the mean of hosts (``figures.py``). Beside it stand the copy (``copies.py``) that keeps
the least of it, the least host, and the interval from hosts drawn anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.kit.parts import choose_parts, measure_kept
from benchmarks.robust import bodies, forums, links, sites

PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "bodies": bodies.measure,
    "forums": forums.measure,
    "links": links.measure,
    "sites": sites.measure,
}


def main() -> int:
    """Measures the named parts, or all."""
    choice = choose_parts("Figures on changed copies.", PARTS, "every eighth host, not kept")
    measure_kept(choice, "robust", PARTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
