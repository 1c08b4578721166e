"""The URL classes of a host during a crawl.

1. Rules are learned from a sample of the stored records, after 10, 20, 40, ...
   ended pages. They order the host's queue, and the URL filter applies them to every link.
2. Ended pages are judged by their novelty: new text, or new URLs of other classes. A class whose
   pages bring nothing new is stopped (a spider trap).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from crawlclean.cleaning.messages import Message, read_line
from crawlclean.cleaning.url_classes.rules import (
    LIST_RANK,
    UrlRule,
    UrlRules,
    class_of,
    followed_inside,
    rank_of,
    refused_templates,
    with_pins,
)
from crawlclean.cleaning.url_classes.stopping import (
    FEW_NEW,
    MAX_NEW_CLASSES,
    MOST_DULL,
    PageYield,
    asked_of,
    content_fingerprints,
    fingerprint_of,
    judge,
)
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.cleaning.urls.patterns import patterns_of
from crawlclean.storage.crawl_types import CrawlSpec, Discovery, Outcome, PageRole, UrlState
from crawlclean.storage.store.hosts import KeptRules

if TYPE_CHECKING:  # `why` reads the rules of a store without the queue's client
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.queue.url_classes import UrlClassLedger
    from crawlclean.storage.store.protocol import Store

log = logging.getLogger(__name__)

# Ended pages of a host after which its classes are learned again.
LEARN_AT = tuple(10 * 2**n for n in range(20))
SAMPLED = 400  # of each final state
DULL_RANK = 98  # behind the ranks of all kinds and depths
FORM_RANK = 65  # from here on: users, forms, buttons; sitemaps, whose pages links lead to as well
MAX_FOUND = 20_000  # URLs whose rules are cached
MOVED = "redirects to"  # the step of a decision log whose detail is the target
SAME_PAGE = "the same page is "  # before the address of the record of an excluded page
ROOT_CLASS: tuple[str, ...] = ("/",)  # class of a URL on another host, or of a site's root
JUDGED = frozenset({UrlState.RECORD, UrlState.REDIRECT})  # a failure may be the server's


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUrlRules:
    """The URL rules of one host in a crawl: which URLs are refused, rewritten, ranked.

    Attributes:
        host: Lower-case authority; ``""`` for no host.
        rules: The learned rules with the operators' pins.
        refused: Templates that are not fetched, and why: ``/reply.php?id={n}``.
        stopped: Classes and groups that are stopped by their pages, and why: ``/cal/*``,
            ``/cal/**``; templates of the rules stand there, too, each with a mark before it.
    """

    host: str = ""
    rules: UrlRules = field(default_factory=UrlRules)
    refused: dict[str, str] = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)
    _found: dict[str, UrlRule | None] = field(default_factory=dict, repr=False, compare=False)

    def find(self, url: str) -> UrlRule | None:
        """Returns the rule of a normalized URL; cached, because pages of a host repeat links."""
        if not self.rules:
            return None
        if url not in self._found:
            if len(self._found) >= MAX_FOUND:
                self._found.clear()
            self._found[url] = self.rules.find(url)
        return self._found[url]

    def better_form(self, url: str) -> str | None:
        """Returns the better URL of the same page; None when none is known."""
        rule = self.find(url)
        return self.rules.better_form(url) if rule is not None and rule.twin else None

    def is_refused(self, url: str) -> bool:
        """Whether a normalized URL is of a class that is stopped or refused."""
        if self.stopped and any(each in self.stopped for each in patterns_of(url)):
            return True
        rule = self.find(url) if self.refused else None
        return rule is not None and rule.template in self.refused

    def why_refused(self, url: str) -> str:
        """Returns class and reason of a refused URL: ``/cal/*: no novelty``; ``""`` otherwise."""
        for each in patterns_of(url) if self.stopped else ():
            if each in self.stopped:
                return Message("of", each, read_line(self.stopped[each]))
        rule = self.find(url)
        why = self.refused.get(rule.template, "") if rule is not None else ""
        return Message("of", rule.template, why) if rule is not None and why else ""

    def rank(self, url: str, rank: int) -> int:
        """Returns the rank of a URL by its kind; ``rank`` when the kind is not known."""
        rule = self.find(url)
        known = rank_of(rule) if rule is not None else None
        return rank if known is None else known


def host_rules(frontier: Frontier, crawl_id: str, host: str) -> HostUrlRules:
    """Returns the rules and stopped classes of a host in a crawl."""
    return unpacked_rules(host, frontier.classes.known(crawl_id, host))


def unpacked_rules(host: str, kept: KeptRules) -> HostUrlRules:
    """Returns the rules and stopped classes of a host, as the queue or the store holds them."""
    rules = with_pins(_unpacked(kept.rules), kept.pins)
    return HostUrlRules(
        host=host,
        rules=rules,
        refused=refused_templates(rules, kept.pins),
        stopped=kept.stopped,
    )


def _unpacked(rules: str) -> UrlRules:
    try:
        return UrlRules.from_json(rules) if rules else UrlRules()
    except (RecursionError, ValueError):  # of another version of this program: learned again soon
        return UrlRules()


def is_due(before: int, after: int) -> bool:
    """Whether classes are learned when the ended pages of a host rise from before to after."""
    return any(before < pages <= after for pages in LEARN_AT)


def learn_classes(
    frontier: Frontier,
    store: Store,
    spec: CrawlSpec,
    host: str,
    rules: UrlRules | None = None,
) -> None:
    """Keeps the URL rules of a host for a crawl, and orders the host's queue by them.

    Args:
        frontier: The queue.
        store: Holds the pages.
        spec: Of the crawl.
        host: Lower-case authority.
        rules: The rules; None: they are learned from a sample of the host's stored pages.
    """
    crawl_id = spec.crawl_id
    learned = rules or _learned(store, crawl_id, host)
    known = HostUrlRules(host=host, rules=keep_rules(frontier, crawl_id, host, learned))
    ranked = 0
    if samples_classes(spec):

        def place_of(found: Discovery) -> int:
            return found.rank if found.rank == DULL_RANK else known.rank(found.url, found.rank)

        ranked = frontier.classes.rerank(crawl_id, host, place_of)
    extra = {"host": host, "classes": len(known.rules), "ranked": ranked}
    log.info("url classes", extra=extra)


def _learned(store: Store, crawl_id: str, host: str) -> UrlRules:
    """Learns the URL rules of a host from a sample of its stored pages."""
    # Not with this module: `run` and `why` judge URLs without the learner.
    from crawlclean.cleaning.url_classes.classes import PageFacts, facts_of_record
    from crawlclean.cleaning.url_classes.learning import learn_url_rules

    facts = [facts_of_record(r) for r in store.records.sample(crawl_id, host, SAMPLED)]
    moved = store.urls.sample(crawl_id, host, UrlState.REDIRECT, SAMPLED)
    moved += store.urls.sample(crawl_id, host, UrlState.EXCLUDED, SAMPLED)
    for row in moved:
        told = (s.detail for s in row.log if s.step == MOVED or SAME_PAGE in s.detail)
        target = next(told, "").rpartition(SAME_PAGE)[2]
        is_page = row.page_id == page_id(row.url)
        if target and target != row.url and is_page:
            facts.append(PageFacts(url=normalize(row.url), moved_to=normalize(target)))
    return learn_url_rules(facts)


def keep_rules(
    frontier: Frontier, crawl_id: str, host: str, learned: UrlRules | None = None
) -> UrlRules:
    """Stores a host's rules, and which templates spiders refuse or follow; returns rules with pins.

    Args:
        frontier: The queue.
        crawl_id: The crawl.
        host: Lower-case authority.
        learned: New rules; None when only operators' pins changed.
    """
    while True:
        known, version = frontier.classes.versioned(crawl_id, host)
        kept = _unpacked(known.rules) if learned is None else learned
        rules = with_pins(kept, known.pins)
        refused = refused_templates(rules, known.pins)
        followed = followed_inside(rules, refused)
        text = kept.to_json()
        if frontier.classes.keep(crawl_id, host, version, text, refused, followed):
            return rules


def page_yields(outcomes: Sequence[Outcome], new: Mapping[int, Sequence[str]]) -> list[PageYield]:
    """Returns what each judged page brought.

    Failures are not judged, because a server may be ill for a while; nor are sitemaps, nor
    revisits, whose links are known. A seed has no class, because an operator wanted it.

    Args:
        outcomes: Pages in the order in which they ended.
        new: URLs that are new to the crawl, by the index of the outcome that found them.
    """
    return [
        _yield_of(outcome, new.get(index, ()))
        for index, outcome in enumerate(outcomes)
        if outcome.queued.role is PageRole.PAGE
        and outcome.state in JUDGED
        and outcome.queued.was is None
    ]


def judge_yields(
    ledger: UrlClassLedger, spec: CrawlSpec, host: str, yields: Sequence[PageYield]
) -> dict[str, str]:
    """Adds what pages of a host brought to its accounts; returns the classes this stops, and why.

    Waiting URLs of a class whose first pages were dull and led nowhere come behind all others.

    Args:
        ledger: Keeps the accounts.
        spec: Of the crawl of the pages.
        host: Their host.
        yields: One for each page, in the order in which they ended.
    """
    decide = partial(judge, pages=yields, limit=spec.trap_pages, is_sampled=samples_classes(spec))
    verdict = ledger.judge(spec.crawl_id, host, asked_of(yields), decide)
    if verdict.faded and samples_classes(spec):

        def place_of(found: Discovery) -> int:
            return DULL_RANK if class_of(found.url) in verdict.faded else found.rank

        ledger.rerank(spec.crawl_id, host, place_of)
    return verdict.stopped


def samples_classes(spec: CrawlSpec) -> bool:
    """Whether kinds and classes of URLs order a crawl: with a depth levels do, a topic's model."""
    return spec.max_depth is None and not spec.topic


def with_samples(
    ledger: UrlClassLedger, spec: CrawlSpec, host: str, found: Sequence[Discovery]
) -> list[Discovery]:
    """Orders the URLs that pages of a host found by what their classes have brought.

    One URL of each class that has hardly been fetched waits no longer than a list: behind endless
    lists it would show too late, or never, what it brings. Those of dull classes that
    lead nowhere come last.
    """
    places: dict[str, list[int]] = {}
    for place, each in enumerate(found if samples_classes(spec) else ()):
        is_page = each.role is PageRole.PAGE and each.url.split("/", 3)[2] == host
        if is_page and (pattern := class_of(each.url)):
            places.setdefault(pattern, []).append(place)
    ranked = list(found)
    accounts = ledger.accounts(spec.crawl_id, host, list(places)) if places else []
    for account, there in zip(accounts, places.values(), strict=True):
        if account.is_dull_end:
            for place in there:
                ranked[place] = replace(ranked[place], rank=DULL_RANK)
        elif account.pages < MOST_DULL and LIST_RANK < ranked[there[0]].rank < FORM_RANK:
            ranked[there[0]] = replace(ranked[there[0]], rank=LIST_RANK)
    return ranked


def _yield_of(outcome: Outcome, new: Sequence[str]) -> PageYield:
    page, record = outcome.queued, outcome.record
    content = content_fingerprints(record) if record else None
    own = patterns_of(page.url)
    found = _classes_of(new, page.host)
    path, mark, _ = page.url.partition("?")
    return PageYield(
        patterns=own if page.depth else (),
        text=content.text if content else None,
        bare=content.bare if content else None,
        address=fingerprint_of(("address", page.url)),
        finder=fingerprint_of(("address", page.provenance.referrer or "")),
        variant=fingerprint_of((path, str(content.text) if content else page.url)),
        has_query=bool(mark),
        found=tuple(patterns for name, patterns in found.items() if own[:1] != (name,)),
        found_own=own[:1] != () and own[0] in found,
        found_many=len(new) > FEW_NEW,
    )


def _classes_of(urls: Sequence[str], host: str) -> dict[str, tuple[str, ...]]:
    """Returns each class of some URLs with its groups: ``{"/cal/*": ("/cal/*", "/cal/**")}``."""
    found: dict[str, tuple[str, ...]] = {}
    for url in urls:
        is_here = url.split("/", 3)[2] == host
        patterns = (patterns_of(url) if is_here else ()) or ROOT_CLASS
        found.setdefault(patterns[0], patterns)
        if len(found) > MAX_NEW_CLASSES:
            break
    return found
