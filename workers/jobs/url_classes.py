"""The URL classes of a host during a crawl: learned from what is stored, asked for every link."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field

from cleaning.url_classes.learning import learn_url_rules
from cleaning.url_classes.rules import (
    UrlRule,
    UrlRules,
    followed_inside,
    rank_of,
    refused_templates,
    with_pins,
)
from cleaning.url_classes.sample import PageFacts, facts_of_record
from cleaning.urls.normal_form import normalize, page_id
from storage.crawl_types import CrawlSpec, Discovery, UrlState
from storage.queue.frontier import Frontier
from storage.queue.url_classes import ClassRules
from storage.store.protocol import Store

log = logging.getLogger(__name__)

# Answered pages of a host after which its classes are learned anew.
LEARN_AT = tuple(10 * 2**n for n in range(20))
SAMPLED_RECORDS = 400
SAMPLED_REDIRECTS = 400
MOST_FOUND = 20_000  # URLs whose rules are remembered
MOVED = "redirects to"  # the step of a log that says where


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedUrlRules:
    """The rules of a host as a crawl uses them: those it learned, with operators' words.

    Attributes:
        rules: With what operators said.
        refused: Templates that are not fetched, and why.
    """

    rules: UrlRules = field(default_factory=UrlRules)
    refused: dict[str, str] = field(default_factory=dict)
    _found: dict[str, UrlRule | None] = field(default_factory=dict, repr=False, compare=False)

    def find(self, url: str) -> UrlRule | None:
        """The rule of a URL in normal form; pages of a host repeat links, so it is remembered."""
        if not self.rules:
            return None
        if url not in self._found:
            if len(self._found) >= MOST_FOUND:
                self._found.clear()
            self._found[url] = self.rules.find(url)
        return self._found[url]

    def better_form(self, url: str) -> str | None:
        """The better form of a URL that is another form of a page; None when none is known."""
        rule = self.find(url)
        return self.rules.better_form(url) if rule is not None and rule.twin else None

    def refuses(self, url: str) -> bool:
        """Whether a URL in normal form is of a class that is not fetched."""
        rule = self.find(url) if self.refused else None
        return rule is not None and rule.template in self.refused

    def rank(self, url: str, rank: int) -> int:
        """The place in the queue of a URL, by its kind; ``rank`` where none is known."""
        rule = self.find(url)
        known = rank_of(rule) if rule is not None else None
        return rank if known is None else known


def host_rules(frontier: Frontier, crawl_id: str, host: str) -> LearnedUrlRules:
    """What a crawl knows of a host's classes."""
    known = frontier.classes.known(crawl_id, host)
    rules = with_pins(_unpacked(known.rules), known.pins)
    return LearnedUrlRules(rules=rules, refused=refused_templates(rules, known.pins))


def _unpacked(rules: str) -> UrlRules:
    try:
        return UrlRules.from_data(json.loads(rules)) if rules else UrlRules()
    except (TypeError, ValueError):  # of another version of this program: learned anew soon
        return UrlRules()


def is_due(before: int, after: int) -> bool:
    """Whether classes are learned now that so many pages of a host have ended."""
    return any(before < pages <= after for pages in LEARN_AT)


def learn_classes(frontier: Frontier, store: Store, spec: CrawlSpec, host: str) -> LearnedUrlRules:
    """Learns a host's classes from a sample of what is stored, and orders its queue by them."""
    crawl_id = spec.crawl_id
    facts = [facts_of_record(r) for r in store.records.sample(crawl_id, host, SAMPLED_RECORDS)]
    moved = store.urls.sample(crawl_id, host, UrlState.REDIRECT, SAMPLED_REDIRECTS)
    for row in moved:
        target = next((step.detail for step in row.log if step.step == MOVED), "")
        is_page = row.page_id == page_id(row.url)
        if target and target != row.url and is_page:
            facts.append(PageFacts(url=normalize(row.url), moved_to=normalize(target)))
    keep_rules(frontier, crawl_id, host, learn_url_rules(facts))
    known = host_rules(frontier, crawl_id, host)
    ranked = 0
    if spec.max_depth is None:  # else a crawl goes level by level

        def place_of(found: Discovery) -> int:
            return known.rank(found.url, found.rank)

        ranked = frontier.classes.rank_again(crawl_id, host, place_of)
    extra = {"host": host, "pages": len(facts), "classes": len(known.rules), "ranked": ranked}
    log.info("url classes", extra=extra)
    return known


def keep_rules(
    frontier: Frontier, crawl_id: str, host: str, learned: UrlRules | None = None
) -> None:
    """Keeps a host's rules, and what spiders do not fetch by them and by operators' words.

    Args:
        frontier: The queue.
        crawl_id: The crawl.
        host: Lower-case authority.
        learned: New rules; None when only operators' words changed.
    """
    while True:
        known = frontier.classes.known(crawl_id, host)
        kept = _unpacked(known.rules) if learned is None else learned
        rules = with_pins(kept, known.pins)
        refused = refused_templates(rules, known.pins)
        packed = json.dumps(kept.to_data(), ensure_ascii=False, separators=(",", ":"))
        followed = followed_inside(rules, refused)
        new = ClassRules(rules=packed, refused=refused, followed=followed)
        if frontier.classes.keep(crawl_id, host, known.version, new):
            return
