"""A host learned from n pages: quality of text, links and images on its other pages.

``make bench-site`` measures every part and keeps the result; ``ARGS="text links"`` measures and
prints these parts; ``--quick`` uses fewer pages and sizes.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.kit.parts import Part, choose_parts
from benchmarks.kit.results import keep, show
from benchmarks.site.drift import measure_drift
from benchmarks.site.links import measure_hosts, measure_template
from benchmarks.site.noise import measure_noise
from benchmarks.site.pages import Site, whole_sites
from benchmarks.site.text import DRAWS, SIZES, TESTED, Draw, draws_of, measure_text
from crawlclean import learn_site
from crawlclean.cleaning.learn.views import MAX_SAMPLE

PARTS = ("text", "links", "hosts", "noise", "order", "cost", "drift")
ORDERS = 10
QUICK_SIZES = (3, 20)


def measure_order(sites: Sequence[Site]) -> dict[str, Any]:
    """Returns, by site, how many models of ten shuffled orders are equal."""
    equal = {}
    for site in sites:
        expected = learn_site(site.pages).to_json()
        count = 0
        for seed in range(ORDERS):
            pages = list(site.pages)
            random.Random(seed).shuffle(pages)  # noqa: S311 - an order
            count += learn_site(pages).to_json() == expected
        equal[site.name] = f"{count} of {ORDERS}, {len(site.pages)} pages"
    return equal


def measure_cost(sites: Sequence[Site]) -> dict[str, Any]:
    """Returns the CPU time of learning from a full sample, and the size of the model."""
    cost = {}
    for site in sites:
        chance = random.Random(1)  # noqa: S311 - a sample
        pages = chance.sample(site.pages, min(MAX_SAMPLE, len(site.pages)))
        times = []
        for _ in range(3):
            begun = time.process_time()
            model = learn_site(pages)
            times.append(time.process_time() - begun)
        chars = sum(len(page.html) for page in pages)
        cost[site.name] = {
            "cpu_s": round(min(times), 3),
            "html_chars": chars,
            "model_bytes": len(model.to_json().encode()),
            "places": [place.path for place in model.body_rule.places],
        }
    return cost


def _as_entry(name: str, part: Part) -> dict[str, Any]:
    return {name: part()}


def main() -> int:
    """Measures the named parts, or all."""
    a = choose_parts(
        "Quality with a model learned from n pages of a host.", PARTS, "fewer pages, not kept"
    )
    sizes = QUICK_SIZES if a.quick else SIZES
    with whole_sites() as sites:
        draws: list[Draw] = draws_of(sites, 1 if a.quick else DRAWS)
        parts: dict[str, Part] = {
            "text": lambda: measure_text(draws, sizes),
            "links": lambda: measure_template(draws, sizes),
            "hosts": measure_hosts,
            "noise": measure_noise,
            "order": lambda: measure_order(sites),
            "cost": lambda: measure_cost(sites),
            "drift": lambda: measure_drift(sites, quick=a.quick),
        }
        named = {name: partial(_as_entry, name, part) for name, part in parts.items()}
        sizes_of_draws = {"draws": len(draws), "tested_pages_a_draw": TESTED}
        result = {**sizes_of_draws, **a.measure(named)}
    if a.quick or a.named:
        show(result)
    else:
        keep("site", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
