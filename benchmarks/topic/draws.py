"""Draws of simulated topic crawls, several at a time: a part of ``topic.py``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks.kit.serving import unpack_topic
from benchmarks.topic.harvest import Harvest, budget, harvest
from benchmarks.topic.simulator import Order, Simulated, port_of, simulate
from benchmarks.topic.sites import PORT, ServedSites
from benchmarks.topic.web import Web
from crawlclean.cleaning.words import default_segmenter

LOOK_S = 360.0  # after so many seconds a person looks at what a crawl has found


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A simulated crawl: its number, what it found, what it did and cost."""

    number: int
    harvest: Harvest
    simulated: Simulated

    @property
    def costs(self) -> str:
        """Pages, time of the crawl, requests without a page, in words."""
        did = self.simulated
        took_s = did.fetched[-1][0] if did.fetched else 0.0
        early = sum(at_s <= LOOK_S for at_s, _ in did.fetched)
        return (
            f"{len(did.fetched)} answers in {took_s:.0f} s of the crawl, {early} within "
            f"{LOOK_S / 60:.0f} minutes; {did.failed} dead links, {did.unknown_names} look-ups of "
            f"names that do not exist, {did.pending} URLs wait; {did.cpu_s:.0f} s CPU"
        )


def simulate_all(
    web: Web, source: Path, *, examples: bool, delay_s: float, draws: int
) -> Iterator[tuple[str, Draw]]:
    """Yields each draw of each topic with the topic's name, in this order.

    Args:
        web: The pages and topics.
        source: Folder of the data.
        examples: Whether the topics have their example pages.
        delay_s: Pause of a host.
        draws: Of each topic.
    """
    with tempfile.TemporaryDirectory() as name:
        siteroot = unpack_topic(Path(name), source, PORT)
        www = Path(name) / "www"
        _SITES.update((draw, ServedSites(siteroot, www, port_of(draw))) for draw in range(draws))
        orders = [
            Order(
                name=topic.name,
                query=topic.query,
                examples=source / "examples" / topic.name if examples else None,
                seeds=web.portal,
                max_pages=budget(web),
                delay_s=delay_s,
            )
            for topic in web.topics
        ]
        tasks = [(order, draw) for order in orders for draw in range(draws)]
        topics = {topic.name: topic for topic in web.topics}
        default_segmenter()  # its words are read once, before the forks
        # Each draw has a process: what it replaces in the product is for its port.
        with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
            for task, did in zip(tasks, pool.imap(_simulated, tasks), strict=True):
                order, draw = task
                pages = (_SITES[draw].page(url) for _, url in did.fetched)
                found = harvest(web, topics[order.name], pages)
                yield order.name, Draw(number=draw, harvest=found, simulated=did)


_SITES: dict[int, ServedSites] = {}  # by draw; a fork has them


def _simulated(task: tuple[Order, int]) -> Simulated:
    order, draw = task
    with tempfile.TemporaryDirectory() as name:
        return simulate(order, _SITES[draw], Path(name), draw)
