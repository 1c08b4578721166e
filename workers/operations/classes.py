"""The URL classes of a host: what its crawls learned, and what an operator decides of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cleaning.errors import ConfigError, NotFound
from cleaning.records import UrlKind
from cleaning.urls.patterns import patterns_of
from cleaning.urls.shapes import read_template, template_of_words
from storage.queue.frontier import Frontier
from workers.config import Settings
from workers.jobs.url_classes import host_rules, keep_rules
from workers.operations.backends import any_queue


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlClass:
    """One class of a host's URLs, as one crawl knows it.

    Attributes:
        crawl: Name of the crawl.
        template: Path and query of its URLs, with a slot for what differs: ``/thread-{n}.html``.
        kind: What its URLs lead to.
        better_form: Template of the better URL of the same page, ``""`` without one.
        urls: URLs of the class when it was learned.
        pages_seen: Pages that the kind was learned from.
        pattern_pages: Pages in the novelty account of its pattern (``traps --all``).
        pattern_pages_with_news: Those of them that brought something new.
        refused: Why the class is not fetched; ``""`` when it is fetched.
        example: Path and query of one of its URLs.
    """

    crawl: str
    template: str
    kind: UrlKind
    better_form: str
    urls: int
    pages_seen: int
    pattern_pages: int
    pattern_pages_with_news: int
    refused: str
    example: str


def find_classes(settings: Settings, host: str) -> list[UrlClass]:
    """Returns the classes of a host's URLs, crawl by crawl; none when nothing is learned yet.

    Raises:
        NotFound: No crawl knows the host.
    """
    with any_queue(settings) as frontier:
        crawls = crawls_with(frontier, host)
        return [found for crawl in crawls for found in _classes_of(frontier, crawl, host)]


def pin_classes(settings: Settings, host: str, pins: Mapping[str, str]) -> None:
    """Keeps an operator's decision for classes of a host, in every crawl.

    URLs of a class that wait in the queue end, or are fetched, by the decision; the order of the
    queue stays.

    Args:
        settings: Where the queue is.
        host: Lower-case authority, as ``example.com``.
        pins: The decision of each template: a kind (``article``), ``forbid``, or ``""`` to forget
            an earlier decision.

    Raises:
        ConfigError: A template that no URL has.
        NotFound: No crawl knows the host.
    """
    for template in pins:
        if not template.startswith("/") or template_of_words(*read_template(template)) != template:
            raise ConfigError(f"{template} is no template of URLs; `classes {host}` lists them")
    with any_queue(settings) as frontier:
        crawls = crawls_with(frontier, host)
        for template, word in pins.items():
            frontier.classes.pin(host, template, word)
        for crawl in crawls:
            keep_rules(frontier, crawl, host)


def crawls_with(frontier: Frontier, host: str) -> list[str]:
    """Returns the names of the crawls that know a host.

    Raises:
        NotFound: None does.
    """
    crawls = frontier.crawls_of(host)
    if not crawls:
        raise NotFound(f"no crawl knows the host {host}; `hosts` lists them")
    return crawls


def _classes_of(frontier: Frontier, crawl: str, host: str) -> Iterator[UrlClass]:
    """Yields the classes that a crawl has learned, each with the novelty account of its pattern."""
    known = host_rules(frontier, crawl, host)
    rows = {row.pattern: (row.pages, row.with_news) for row in frontier.classes.rows(crawl, host)}
    for rule in known.rules:
        pattern = patterns_of(f"http://{host}{rule.example}").pattern if rule.example else ""
        pages, with_news = rows.get(pattern, (0, 0))
        yield UrlClass(
            crawl=crawl,
            template=rule.template,
            kind=rule.kind,
            better_form=rule.twin,
            urls=rule.urls,
            pages_seen=rule.pages,
            pattern_pages=pages,
            pattern_pages_with_news=with_news,
            refused=known.refused.get(rule.template, ""),
            example=rule.example,
        )
