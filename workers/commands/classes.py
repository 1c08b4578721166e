"""`classes`: what the URLs of a host lead to, and what an operator says of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from cleaning.errors import ConfigError, NotFound
from cleaning.url_classes.rules import FORBID, UrlRule
from cleaning.urls.patterns import patterns_of
from cleaning.urls.shapes import read_template, template_of_words
from storage.queue.frontier import Frontier
from workers.commands.control import any_queue
from workers.config import Settings
from workers.jobs.url_classes import HostRules, host_rules, keep_rules, learned_rules
from workers.output.printing import print_json, printable, table

HEAD = ("KIND", "URLS", "SEEN", "PAGES", "WITH NEWS", "CLASS")
Found = tuple[str, UrlRule, HostRules, int, int]  # crawl, rule, its host's, pages, those with news


def list_classes(settings: Settings, host: str, *, as_json: bool, most: int | None = None) -> int:
    """Prints the classes of a host's URLs in every crawl that knows it, at ``most`` of each.

    Raises:
        NotFound: No crawl knows the host.
    """
    with any_queue(settings) as frontier:
        crawls = _crawls(frontier, host)
        found = [
            (crawl, rule, known, *yields)
            for crawl in crawls
            for known in (host_rules(frontier, crawl, host),)
            for rule, yields in _with_yields(frontier, crawl, host, known)
        ]
    if as_json:
        for crawl, rule, known, pages, with_news in found:
            print_json(
                {
                    "crawl": crawl,
                    "template": rule.template,
                    "kind": rule.kind,
                    "better_form": rule.twin,
                    "urls": rule.urls,
                    "pages_seen": rule.pages,
                    "pattern_pages": pages,
                    "pattern_pages_with_news": with_news,
                    "refused": known.refused.get(rule.template, ""),
                    "example": rule.example,
                }
            )
        return 0
    if not found:
        sys.stdout.write(f"no classes of {host} are known yet\n")
    for crawl in crawls:
        mine = [each for each in found if each[0] == crawl]
        if mine:
            sys.stdout.write(f"URL classes in {crawl}\n" + _as_text(mine[:most]))
        if most is not None and len(mine) > most:
            sys.stdout.write(f"{len(mine) - most} more: `classes {host}`\n")
    return 0


def _as_text(found: Sequence[Found]) -> str:
    """A line for each class, its template last, and why it is not fetched on the next."""
    rows = [HEAD] + [
        (str(rule.kind), str(rule.urls), str(rule.pages), str(pages), str(news), rule.template)
        for _, rule, _, pages, news in found
    ]
    head, *lines = table(rows).splitlines()
    said = [f"{head}\n"]
    for line, (_, rule, known, _, _) in zip(lines, found, strict=True):
        refused = known.refused.get(rule.template)
        said.append(f"{line}\n" + (f"    not fetched: {printable(refused)}\n" if refused else ""))
    return "".join(said)


def pin_classes(settings: Settings, host: str, pins: Mapping[str, str]) -> int:
    """Keeps what an operator says of classes of a host: a kind, ``forbid``, or ``""`` for nothing.

    What waits in the queue ends, or goes on, by it; the order of what waits stays.

    Raises:
        ConfigError: A template that no URL has.
        NotFound: No crawl knows the host.
    """
    for template in pins:
        if not template.startswith("/") or template_of_words(*read_template(template)) != template:
            raise ConfigError(f"{template} is no template of URLs; `classes {host}` lists them")
    with any_queue(settings) as frontier:
        crawls = _crawls(frontier, host)
        for template, word in pins.items():
            frontier.classes.pin(host, template, word)
        for crawl in crawls:
            keep_rules(frontier, crawl, host, learned_rules(frontier, crawl, host))
    for template, word in pins.items():
        done = (
            "forgotten" if not word else "fetched no more" if word == FORBID else f"of kind {word}"
        )
        sys.stdout.write(f"{template}: {done}\n")
    return 0


def _crawls(frontier: Frontier, host: str) -> list[str]:
    crawls = frontier.crawls_of(host)
    if not crawls:
        raise NotFound(f"no crawl knows the host {host}; `hosts` lists them")
    return crawls


def _with_yields(
    frontier: Frontier, crawl: str, host: str, known: HostRules
) -> Iterator[tuple[UrlRule, tuple[int, int]]]:
    """The rules, each with the account of the pattern its URLs have (`traps --all`)."""
    rows = {row.pattern: (row.pages, row.with_news) for row in frontier.traps.rows(crawl, host)}
    for rule in known.rules:
        pattern = patterns_of(f"http://{host}{rule.example}").pattern if rule.example else ""
        yield rule, rows.get(pattern, (0, 0))
