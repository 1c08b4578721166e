"""The web of a topic benchmark, read from the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names.

A part of ``topic.py``. The folder has (its README is the format):

- ``topics.json``: portal pages, number of reachable pages, and the topics, each with its query,
  three example pages and the relevant pages;
- ``graph.jsonl.gz``: ``{page, title, out: [[target, anchor texts joined by " | "], ...]}``;
- ``dead.jsonl.gz``: ``{page, dead: [[host/path, anchor], ...]}``, links that are answered with 404;
- ``pages.jsonl.gz``: ``{page, title, body, ...}``.

A page is named ``host/file``.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

VARIABLE = "CRAWLCLEAN_BENCH_TOPIC"

OutLinks = tuple[tuple[str, str], ...]
"""Targets with their anchor text, in the order of the page: ``(("a.test/1.html", "News"),)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """The text of a page, as a record has it."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTopic:
    """A topic with its gold.

    Attributes:
        name: Its name in the data.
        query: The words of the user.
        examples: Names of the example pages; never targets.
        relevant: Names of all relevant pages.
    """

    name: str
    query: str
    examples: tuple[str, ...]
    relevant: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Web:
    """Pages and links.

    Attributes:
        portal: The pages from which every crawl begins; fetched at no cost.
        links: The links of each page.
        dead: The links of each page that no server answers.
        texts: The text of each page.
        topics: The topics.
        missing: Targets in ``links`` that no server answers; none unless asked for.
    """

    portal: tuple[str, ...]
    links: dict[str, OutLinks]
    dead: dict[str, OutLinks]
    texts: dict[str, PageText]
    topics: tuple[BenchTopic, ...]
    missing: frozenset[str] = frozenset()

    @cached_property
    def reachable(self) -> frozenset[str]:
        """Names of the pages that links lead to from the portal, without the portal itself."""
        found = set(self.portal)
        todo = list(self.portal)
        while todo:
            for target, _ in self.links.get(todo.pop(), ()):
                if target not in found and target in self.links:
                    found.add(target)
                    todo.append(target)
        return frozenset(found - set(self.portal) - self.missing)

    def with_dead_links(self) -> Web:
        """Returns a copy whose dead links are followed, behind the others of their page."""
        missing = frozenset(target for out in self.dead.values() for target, _ in out)
        missing -= self.links.keys()
        links = {page: (*out, *self.dead.get(page, ())) for page, out in self.links.items()}
        links.update(dict.fromkeys(sorted(missing), ()))
        return replace(self, links=links, missing=missing)

    def targets(self, topic: BenchTopic) -> frozenset[str]:
        """Names of the pages that a crawl of the topic should find."""
        return topic.relevant.difference(topic.examples) & self.reachable

    def changed(self, seed: int, *, hosts: float = 0.0, anchors: float = 0.0) -> Web:
        """Returns a copy with hosts left out, links in another order and anchor texts blanked.

        Args:
            seed: Of the choice.
            hosts: Share of hosts that are left out.
            anchors: Share of links without anchor text.
        """
        choice = random.Random(seed)  # noqa: S311 - a repeatable choice
        names = sorted({page.partition("/")[0] for page in self.links} - {_host(self.portal[0])})
        gone = set(choice.sample(names, round(hosts * len(names))))
        links = {}
        for page, out in self.links.items():
            if _host(page) in gone:
                continue
            kept = [
                (target, "" if choice.random() < anchors else text)
                for target, text in out
                if _host(target) not in gone
            ]
            if page in self.portal:
                choice.shuffle(kept)
            links[page] = tuple(kept)
        return replace(self, links=links)


def _host(page: str) -> str:
    return page.partition("/")[0]


def folder() -> Path:
    """Returns the folder of the data; ends the program with a message when none is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        sys.exit(f"no topics to crawl: set {VARIABLE} to a folder (benchmarks/topic/web.py)")
    return Path(named)


def read_web(place: Path) -> Web:
    """Reads the data of a folder."""
    head = json.loads((place / "topics.json").read_text("utf-8"))
    return Web(
        portal=tuple(head["portal"]),
        links={row["page"]: _links(row["out"]) for row in _rows(place / "graph.jsonl.gz")},
        dead={row["page"]: _links(row["dead"]) for row in _rows(place / "dead.jsonl.gz")},
        texts={
            row["page"]: PageText(title=row["title"] or row.get("h1", ""), body=row["body"])
            for row in _rows(place / "pages.jsonl.gz")
        },
        topics=tuple(
            BenchTopic(
                name=row["id"],
                query=row["query"],
                examples=tuple(row["examples"]),
                relevant=frozenset(row["relevant"]),
            )
            for row in head["topics"]
        ),
    )


def _links(rows: list[list[str | None]]) -> OutLinks:
    return tuple((target or "", text or "") for target, text in rows)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if file.exists():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
