"""The URL classes of a host: shown as its crawls learned them, pinned, and released."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from itertools import chain, islice

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.drift.alarms import Alarm
from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.messages import Message, read_line
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules, class_of
from crawlclean.cleaning.url_classes.stopping import Account
from crawlclean.cleaning.urls.patterns import patterns_of
from crawlclean.cleaning.urls.shapes import (
    example_of,
    read_template,
    shape_of,
    template_of_words,
    word_slots,
)
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.live_state import StoppedClass
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.jobs.url_classes import (
    HostUrlRules,
    host_rules,
    keep_rules,
    unpacked_rules,
)
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.urls.near_matches import MOST_SHOWN, did_you_mean, near_hosts
from crawlclean.workers.site_models import read_model

COUNTED_S = 1.0
"""How long the URLs of a class are counted: some 80,000 where the processor is free."""

SAMPLED_URLS = 1000  # of each final state, that a template is compared with: 0.1 s


def find_classes(backends: Backends, host: str = "") -> list[UrlClass]:
    """Returns the URL classes of a host, crawl by crawl; none before anything is learned.

    A host whose pages were imported has those of its model.

    Args:
        backends: Queue and store.
        host: Lower-case authority; ``""``: all hosts.

    Raises:
        NotFound: No crawl knows the host.
    """
    with backends.queue(at_rest=True) as frontier:
        if host and not frontier.crawls_of(host):
            imported = _imported(backends, host)
            if imported is not None:
                return imported
        stops = frontier.classes.all_stopped()
        return [
            found
            for crawl, name in _hosts(backends, frontier, host)
            for found in classes_of(frontier, crawl, name, stops)
        ]


def _imported(backends: Backends, host: str) -> list[UrlClass] | None:
    """The classes of a host's model, for each crawl that has stored its pages; None: none has."""
    with backends.store() as store:
        stored = store.models.get(host)
        crawls = store.statistics.crawls_of([host]).get(host, ())
    if not crawls:
        return None
    rules = read_model(stored).url_rules if stored else ()
    return [_learned(crawl, host, rule) for crawl in sorted(crawls) for rule in rules]


def _learned(crawl: str, host: str, rule: UrlRule) -> UrlClass:
    """A class as it was learned."""
    return UrlClass(
        crawl=crawl,
        host=host,
        template=rule.template,
        kind=rule.kind,
        better_form=rule.twin,
        urls=rule.urls,
        pages_seen=rule.pages,
        example=rule.example,
    )


def stopped_classes(backends: Backends, host: str = "") -> list[UrlClass]:
    """Returns the classes and groups that are stopped because their pages brought nothing new.

    Args:
        backends: Queue and store.
        host: Lower-case authority; ``""``: all hosts.

    Raises:
        NotFound: No crawl knows the host.
    """
    with backends.queue(at_rest=True) as frontier:
        if host:
            crawls_with(backends, frontier, host)
        return stops_of(frontier, host)


def stops_of(frontier: Frontier, host: str = "") -> list[UrlClass]:
    """Returns the stopped classes of a host, ``""``: of all; reads no host without any."""
    stops = frontier.classes.all_stopped()
    hosts = dict.fromkeys((each.crawl_id, each.host) for each in stops)
    return [
        found
        for crawl, name in hosts
        if host in ("", name)
        for found in classes_of(frontier, crawl, name, stops)
        if found.stopped and found.kind is None
    ]


def lift_stops(backends: Backends, host: str = "") -> int:
    """Resets the accounts of a host's URL classes in every crawl; returns how many were stopped.

    URLs that ended as a trap stay ended; URLs that are found from now on are fetched. Classes that
    are refused by their kind or by an operator stay refused.

    Args:
        backends: Queue and store.
        host: Lower-case authority; ``""``: all hosts.

    Raises:
        NotFound: No crawl knows the host.
    """
    with backends.queue(at_rest=True) as frontier:
        hosts = list(_hosts(backends, frontier, host))
        lifted = sum(frontier.classes.lift(crawl, name) for crawl, name in hosts)
        _copy_rules(backends, frontier, hosts)
    return lifted


def pin_classes(backends: Backends, host: str, pins: Mapping[str, str]) -> None:
    """Stores an operator's decisions for URL classes of a host, in every crawl.

    Waiting URLs of a class end, or are fetched, by the decision; the order of the queue stays.

    Args:
        backends: Queue and store.
        host: Lower-case authority, as ``example.com``.
        pins: The decision of each template: a kind (``article``), ``forbid``, or ``""`` to forget
            an earlier decision.

    Raises:
        ConfigError: A text that is not a template.
        NotFound: No crawl knows the host, or no URL of the host is of the class.
    """
    for template in pins:
        if not template.startswith("/") or template_of_words(*read_template(template)) != template:
            raise ConfigError(f"{template} is not a URL template; `classes {host}` lists them")
    with backends.queue(at_rest=True) as frontier:
        crawls = crawls_with(backends, frontier, host)
        _check_templates(backends, frontier, [(crawl, host) for crawl in crawls], pins)
        for template, word in pins.items():
            frontier.classes.pin(host, template, word)
        for crawl in crawls:
            keep_rules(frontier, crawl, host)
        _copy_rules(backends, frontier, [(crawl, host) for crawl in crawls])


def _copy_rules(backends: Backends, frontier: Frontier, hosts: Iterable[tuple[str, str]]) -> None:
    """Copies the rules of (crawl, host) from the queue to the store, as workers do."""
    with backends.store() as store:
        for crawl, host in hosts:
            store.rules.put(crawl, host, frontier.classes.known(crawl, host))


def _check_templates(
    backends: Backends,
    frontier: Frontier,
    hosts: Sequence[tuple[str, str]],
    templates: Iterable[str],
) -> None:
    """Checks that (crawl, host) have classes, or URLs, of some templates.

    Raises:
        NotFound: They do not; a decision would have no effect. The message names like classes.
    """
    known: set[str] = set()
    for crawl, host in hosts:
        rules = host_rules(frontier, crawl, host)  # with the decisions so far
        known.update(rule.template for rule in rules.rules)
    missing = [template for template in templates if template not in known]
    if not missing:
        return
    with backends.store() as store:
        rows = [
            row
            for crawl, host in hosts
            for state in UrlState
            for row in store.urls.sample(crawl, host, state, SAMPLED_URLS)
        ]
    known.update(template_of_url(row.url) for row in rows)
    for template in missing:
        rule = UrlRules([UrlRule(kind=UrlKind.OTHER, template=template)])
        waiting = chain.from_iterable(frontier.classes.pending(*each) for each in hosts)
        urls = chain((row.url for row in rows), (found.url for found in waiting))
        if not any(map(rule.find, urls)):
            near = get_close_matches(template, sorted(known), MOST_SHOWN, 0.5)
            raise NotFound(f"no URL of {hosts[0][1]} is of class {template}{did_you_mean(near)}")


class ClassSize(Struct, frozen=True, kw_only=True):
    """How many URLs of a host are of some classes.

    Attributes:
        records: Pages of them with a record.
        waiting: URLs of them that wait.
        fed: Waiting URLs of each other class that only pages of these lead to, the most first:
            ``{"/cal/{n}.html?d={n}": 4210}``.
        is_whole: Whether all URLs of the host were looked at; otherwise there may be more.
    """

    records: int
    waiting: int
    fed: Mapping[str, int]
    is_whole: bool


def class_size(
    store: Store,
    frontier: Frontier | None,
    crawls: Sequence[str],
    host: str,
    templates: Collection[str],
) -> ClassSize:
    """Counts the URLs of classes of a host in some crawls, for ``COUNTED_S`` at most.

    Args:
        store: Holds the ended ones.
        frontier: Holds the waiting ones; None: none is counted.
        crawls: Names of the crawls.
        host: Lower-case authority.
        templates: Of the classes: ``["/news/{n}.html"]``.
    """
    rules = UrlRules(UrlRule(kind=UrlKind.OTHER, template=each) for each in templates)
    until, records, is_whole, own = time.monotonic() + COUNTED_S, 0, True, ""
    waiting: Counter[str] = Counter()
    finders: dict[str, set[str]] = defaultdict(set)
    for crawl in crawls:
        learned = host_rules(frontier, crawl, host) if frontier else HostUrlRules()
        for end in store.urls.ended(crawl, host):
            records += end.state is UrlState.RECORD and rules.find(end.url) is not None
            if time.monotonic() > until:
                is_whole = False
                break
        for found in frontier.classes.pending(crawl, host) if frontier else ():
            name, finder = (
                own if rules.find(url) else rule.template if rule else template_of_url(url)
                for url in (found.url, found.referrer or found.url)
                for rule in (learned.find(url),)
            )
            waiting[name] += 1
            finders[name].add(finder)
            if time.monotonic() > until:
                is_whole = False
                break
    fed = {
        name: count
        for name, count in waiting.most_common()
        if name != own and own in finders[name] and finders[name] <= {own, name}
    }
    return ClassSize(records=records, waiting=waiting[own], fed=fed, is_whole=is_whole)


def size_of(backends: Backends, host: str, templates: Collection[str]) -> ClassSize:
    """Counts the URLs of classes of a host in all crawls that know it, as ``class_size`` does.

    Raises:
        NotFound: No crawl knows the host.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        crawls = crawls_with(backends, frontier, host)
        return class_size(store, frontier, crawls, host, templates)


def template_of_url(url: str) -> str:
    """Returns the template of a URL with all its words: ``/news/{n}.html`` of ``/news/7.html``."""
    shape = shape_of(url)
    words = tuple((slot, shape.values[slot]) for slot in word_slots(shape.key))
    return template_of_words(shape.key, words)


def crawls_with(backends: Backends, frontier: Frontier, host: str) -> list[str]:
    """Returns the names of the crawls that know a host.

    Raises:
        NotFound: None does; the message names like hosts.
    """
    crawls = frontier.crawls_of(host)
    if not crawls:
        with backends.store() as store:
            hint = did_you_mean(near_hosts(store, host))
        raise NotFound(f"no crawl knows the host {host}; `hosts` lists them{hint}")
    return crawls


def _hosts(backends: Backends, frontier: Frontier, host: str) -> Iterator[tuple[str, str]]:
    """Yields (crawl, host) of every host that a crawl knows, or of the one that is named."""
    if host:
        yield from ((crawl, host) for crawl in crawls_with(backends, frontier, host))
        return
    for crawl in frontier.crawl_ids():
        yield from ((crawl, name) for name in frontier.hosts(crawl))


def classes_of(
    frontier: Frontier, crawl: str, host: str, stopped: Iterable[StoppedClass] | None = None
) -> Iterator[UrlClass]:
    """Yields the learned classes, then patterns that are not learned, or stopped.

    Args:
        frontier: The queue.
        crawl: Name of the crawl.
        host: Lower-case authority.
        stopped: All stopped classes; None: they are read.
    """
    stopped = frontier.classes.all_stopped() if stopped is None else stopped
    here = (crawl, host)
    since = {each.pattern: each.since for each in stopped if (each.crawl_id, each.host) == here}
    kept = frontier.classes.known(crawl, host)
    known = unpacked_rules(host, kept)
    accounts = frontier.classes.all_accounts(crawl, host)
    learned: set[str] = set()
    for rule in known.rules:
        example = rule.example or example_of(rule.template)
        patterns = patterns_of(f"http://{host}{example}")
        own = accounts.get(patterns[0]) if patterns else None
        learned.update(patterns[:1])
        stops = [each for each in patterns if each in accounts and kept.stopped.get(each)]
        yield replace(
            _learned(crawl, host, rule),
            operator=kept.pins.get(rule.template, ""),
            pattern_pages=own.pages if own else 0,
            pattern_pages_with_news=own.with_news if own else 0,
            refused=known.refused.get(rule.template, ""),
            stopped=read_line(kept.stopped[stops[0]]) if stops else "",
            stopped_at=since.get(stops[0]) if stops else None,
        )
    for pattern, account in accounts.items():
        why = read_line(kept.stopped.get(pattern, ""))
        if why or not (pattern in learned or pattern.endswith("**")):
            yield _of_account(crawl, host, pattern, account, why, since.get(pattern))


def _of_account(
    crawl: str, host: str, pattern: str, account: Account, why: str, stopped_at: datetime | None
) -> UrlClass:
    """A class that is not learned, or a group, as its pages are counted."""
    return UrlClass(
        crawl=crawl,
        host=host,
        template=pattern,
        pattern_pages=account.pages,
        pattern_pages_with_news=account.with_news,
        stopped=why,
        stopped_at=stopped_at,
    )


# What the console shows of them, without starting a queue.

MOST_CLASSES = 100
"""URL classes of a host, over its crawls."""

YOUNG_URLS = 500
"""Records among which an example of a new URL class is looked for: 5 ms."""

MOST_HOSTS = 20
"""Hosts whose records are looked at for one list."""

EXAMPLES_S = 10.0
"""How old these examples may be."""


def url_classes(backends: Backends, host: str) -> Part[UrlClass]:
    """URL classes of a host in each of its crawls, at most 100; none while no queue runs.

    Raises:
        NotFound: Nothing of the host is stored, and no running queue knows it.
    """
    found: list[UrlClass] = []
    crawls: Collection[str] = ()
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        stops = frontier.classes.all_stopped()
        for crawl in (crawls := frontier.crawls_of(host)):
            found += classes_of(frontier, crawl, host, stops)
    with backends.store() as store:
        if not crawls and store.statistics.get(host) is None:
            raise NotFound(Message("no_host", host))
    return Part(items=_once(with_templates(backends, found[:MOST_CLASSES])))


def _once(classes: Iterable[UrlClass]) -> list[UrlClass]:
    """Each class of a crawl once: that of a decision with the pages that were counted before it."""
    found: dict[tuple[str, str], UrlClass] = {}
    for each in classes:
        key = (each.crawl, each.template)
        known = found.get(key)
        found[key] = each if known is None else replace(
            known,
            pattern_pages=known.pattern_pages + each.pattern_pages,
            pattern_pages_with_news=known.pattern_pages_with_news + each.pattern_pages_with_news,
            stopped=known.stopped or each.stopped,
            stopped_at=known.stopped_at or each.stopped_at,
        )  # fmt: skip
    return list(found.values())


def list_traps(
    backends: Backends,
    crawl: str = "",
    host: str = "",
    after: Place | None = None,
    limit: int = 50,
) -> Part[UrlClass]:
    """Classes and groups that are stopped as spider traps, the last stop first.

    Args:
        backends: Queue and store.
        crawl: Only of this crawl.
        host: Only of this host.
        after: Only classes behind this (milliseconds since 1970 UTC, crawl host class).
        limit: At most this many.

    Raises:
        NotFound: No queue runs.
    """
    with backends.queue() as frontier:
        found = [
            each
            for each in frontier.classes.all_stopped()
            if crawl in ("", each.crawl_id) and host in ("", each.host)
        ]
        behind = [each for each in found if after is None or _place_of_stop(each) < after]
        some = sorted(behind, key=_place_of_stop, reverse=True)[: limit + 1]
        part = part_of(some, limit, _place_of_stop)
        accounts = frontier.classes.accounts_of(part.items)
    items = [
        _of_account(stop.crawl_id, stop.host, stop.pattern, account, why, stop.since)
        for stop, (account, why) in zip(part.items, accounts, strict=True)
    ]
    with suppress(ServiceError):  # away: shown without it
        items = with_templates(backends, items)
    return Part(items=items, after=part.after, total=len(found))


def with_templates(backends: Backends, classes: Sequence[UrlClass]) -> list[UrlClass]:
    """The classes; those that are not learned yet by the template of a URL of theirs.

    So an operator can decide for a class that is minutes old. Only the first hosts are looked at.
    """
    new = [each for each in classes if each.kind is None and not each.template.endswith("**")]
    examples: dict[tuple[str, str, str], str] = {}
    with backends.store() as store:
        for crawl, host in islice(
            dict.fromkeys((each.crawl, each.host) for each in new), MOST_HOSTS
        ):
            ask = partial(_examples_of, store, crawl, host)
            of_host = backends.remembered(("examples", crawl, host), EXAMPLES_S, ask)
            examples |= {(crawl, host, pattern): url for pattern, url in of_host.items()}
    found = []
    for each in classes:
        url = examples.get((each.crawl, each.host, each.template)) if each.kind is None else None
        found.append(replace(each, template=template_of_url(url), example=url) if url else each)
    return found


def _examples_of(store: Store, crawl: str, host: str) -> Mapping[str, str]:
    """URLs of a sample of a host's records, by the pattern of their class."""
    rows = store.urls.sample(crawl, host, UrlState.RECORD, YOUNG_URLS)
    return {next(iter(patterns_of(row.url)), ""): row.url for row in rows}


def changed_class(alarm: Alarm) -> str:
    """The only URL class that has changed, as lists of classes spell it; ``""``: the whole host."""
    fits = (url for url in alarm.examples if class_of(url) == alarm.url_class)
    example = next(fits, "") if alarm.url_class else ""
    return template_of_url(example) if example else alarm.url_class


def _place_of_stop(stopped: StoppedClass) -> Place:
    since_ms = round(stopped.since.timestamp() * 1000)
    return since_ms, f"{stopped.crawl_id} {stopped.host} {stopped.pattern}"
