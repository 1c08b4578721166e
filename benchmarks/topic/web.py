"""The web of a topic benchmark, read from the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names.

A part of ``topic.py``. The folder has (its README is the format):

- ``topics.json``: portal pages, number of reachable pages, and the topics, each with its query,
  three example pages and the relevant pages;
- ``graph.jsonl.gz``: ``{page, title, out: [[target, anchor texts joined by " | "], ...]}``;
- ``pages.jsonl.gz``: ``{page, title, body, ...}``.

A page is named ``host/file``.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.kit.results import require_data

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
        texts: The text of each page.
        topics: The topics.
    """

    portal: tuple[str, ...]
    links: dict[str, OutLinks]
    texts: dict[str, PageText]
    topics: tuple[BenchTopic, ...]

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
        return frozenset(found - set(self.portal))

    def targets(self, topic: BenchTopic) -> frozenset[str]:
        """Names of the pages that a crawl of the topic should find."""
        return topic.relevant.difference(topic.examples) & self.reachable


def folder() -> Path:
    """Returns the folder of the data: that which ``VARIABLE`` names, else the labelled data's."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else require_data("topic")


def read_web(place: Path) -> Web:
    """Reads the data of a folder."""
    head = json.loads((place / "topics.json").read_text("utf-8"))
    return Web(
        portal=tuple(head["portal"]),
        links={row["page"]: _links(row["out"]) for row in _rows(place / "graph.jsonl.gz")},
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
