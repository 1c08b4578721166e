"""Actions on one host: pause, URL classes, learning, its model, a page of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice, product

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.rules import FORBID
from crawlclean.cleaning.urls.normal_form import host_of, page_id
from crawlclean.storage.crawl_types import CrawlState, PageRole, UrlRow, UrlState
from crawlclean.storage.store.hosts import Slowdown
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Input,
    Note,
    Safety,
    Steps,
    Subject,
    action,
    written,
)
from crawlclean.workers.operations.acting.running import background_notes, start_operation
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_states import (
    change_state,
    slow_host as slow_host_down,
)
from crawlclean.workers.operations.hosts.classes import (
    class_size,
    crawls_with,
    lift_stops,
    pin_classes,
    stops_of,
)
from crawlclean.workers.operations.hosts.host_models import find_version, take_up
from crawlclean.workers.operations.urls.near_matches import with_scheme

HOST, REVERSIBLE, COUNTED = Subject.HOST, Safety.REVERSIBLE, Safety.COUNTED

SAMPLED = 5
"""Pages among which one is tried where no change of the host has named any."""

NOTHING_FETCHES = (
    "no crawl runs on {data}, so nothing fetches. `run {url} --max-pages 1 --data FOLDER` fetches "
    "this page alone into a folder of its own"
)


def _counts(backends: Backends, host: str) -> dict[Fact, int]:
    """The crawls of a host and its waiting URLs; of the store where no crawl runs.

    Raises:
        NotFound: Neither store nor queue knows the host.
    """
    with backends.store() as store, backends.queue_side() as side:
        row, frontier = store.overview.host(host), side.frontier
        crawls = store.statistics.crawls_of([host]).get(host, ())
        if frontier is not None:
            crawls = frontier.crawls_of(host)
        if row is None and not crawls:
            raise NotFound(Message("no_host_listed", host))
        facts = {Fact.CRAWLS: len(crawls)} | ({Fact.RECORDS: row.records} if row else {})
        if frontier is not None:
            facts[Fact.WAITING] = sum(frontier.pending_of(crawl, host) for crawl in crawls)
    return facts


@action(REVERSIBLE, HOST, name="pause_host", inputs=(Input.WHY,), state=CrawlState.PAUSED)
@action(REVERSIBLE, HOST, name="resume_host", state=CrawlState.RUNNING)
def _set_state(backends: Backends, asked: Asked, state: CrawlState) -> Steps:
    is_pause = state is CrawlState.PAUSED
    notes = (Note.ALL_CRAWLS, Note.IN_FLIGHT_GO_ON) if is_pause else (Note.ALL_CRAWLS,)
    yield Effect(_counts(backends, asked.target), notes)
    with backends.store() as store:
        if store.crawls.get(asked.target):
            raise NotFound(f"{asked.target} is a crawl, no host")
    why = " ".join(asked.get("why").split())
    change_state(backends, asked.target, state, who=asked.who, why=why)
    opposite = "resume_host" if is_pause else "pause_host"
    return Effect({Fact.HOSTS: 1}, undo=written(opposite, asked.target))


SLOWER = 2
"""Times the pause of now that is proposed: less spares a host hardly; an undo is a click away."""
LEAST_MS = 5_000
"""The shortest pause that is proposed: a host that shall be spared answers badly at one second."""


@action(REVERSIBLE, HOST, inputs=(Input.DELAY, Input.SLOTS, Input.WHY))
def slow_host(backends: Backends, asked: Asked) -> Steps:
    """Asks the host less often in every crawl; its undo is what held before."""
    host, facts = asked.target, _counts(backends, asked.target)
    with backends.store() as store, backends.queue_side() as side:
        before = store.slowdowns.get(host)
        pause_ms = before.delay_ms or 0 if before else 0
        if side.frontier is not None:
            waits = side.frontier.waits.of([(each, host) for each in side.frontier.crawls_of(host)])
            pause_ms = max(round(1000 * each.pause_s) for each in waits.hosts)
            facts[Fact.PAUSE_MS] = pause_ms
    proposed = {"delay": f"{max(LEAST_MS, SLOWER * pause_ms) / 1000:g}"}
    yield Effect(facts, (Note.ALL_CRAWLS, Note.NEVER_FASTER), chosen=proposed)
    delay_ms, slots = asked.ms("delay"), asked.number("slots") if asked.get("slots") else None
    if (delay_ms is None and slots is None) or slots == 0:
        raise ConfigError("a host is slowed down by a delay, or by requests at a time from 1 on")
    why, now = " ".join(asked.get("why").split()), datetime.now(UTC)
    slowdown = Slowdown(
        host=host, delay_ms=delay_ms, slots=slots, since=now, who=asked.who, why=why
    )
    slow_host_down(backends, host, slowdown)
    return Effect({Fact.HOSTS: 1}, undo=_as_before(host, before))


@action(REVERSIBLE, HOST)
def end_slow_host(backends: Backends, asked: Asked) -> Steps:
    """Asks the host as its crawls and its robots.txt have it."""
    yield Effect(_counts(backends, asked.target), (Note.ALL_CRAWLS,))
    with backends.store() as store:
        before = store.slowdowns.get(asked.target)
    slow_host_down(backends, asked.target, None, asked.who)
    return Effect({Fact.HOSTS: 1}, undo=_as_before(asked.target, before) if before else "")


def _as_before(host: str, before: Slowdown | None) -> str:
    if before is None:
        return written("end_slow_host", host)
    delay = "" if before.delay_ms is None else f"{before.delay_ms / 1000:g}"
    return written("slow_host", host, delay=delay, slots=str(before.slots or ""), why=before.why)


@action(REVERSIBLE, HOST, name="forbid_class", values=("template", "alone"), word=FORBID)
@action(REVERSIBLE, HOST, name="reset_class", values=("template",), word="")
@action(REVERSIBLE, HOST, name="pin_class", values=("template",), inputs=(Input.WORD,))
def _decide(backends: Backends, asked: Asked, word: str | None = None) -> Steps:
    """Stores a decision on a URL class, or on several; its undo is the decision before.

    Templates hold no blanks: several stand with a blank between them. With a class that is
    forbidden those go that only its pages lead to, and that lead to it: the two of a calendar;
    ``alone`` keeps them.
    """
    templates, host = asked.get("template").split(), asked.target
    if not templates:
        raise ConfigError("a URL class needs its template")
    counted = _counts(backends, host)
    with backends.store() as store, backends.queue_side() as side:
        crawls = side.frontier.crawls_of(host) if side.frontier else ()
        crawls = crawls or store.statistics.crawls_of([host]).get(host, ())
        size = class_size(store, side.frontier, crawls, host, templates)
    fed = size.fed if word == FORBID else {}
    templates += [] if asked.get("alone") else fed
    facts = {Fact.CRAWLS: counted[Fact.CRAWLS], Fact.CLASS_RECORDS: size.records}
    if side.frontier is not None:
        more = 0 if asked.get("alone") else sum(fed.values())
        facts[Fact.CLASS_WAITING] = size.waiting + more
    partly = () if size.is_whole else (Note.AT_LEAST,)
    yield Effect(facts, (Note.ALL_CRAWLS, *partly), fed=fed)
    word = asked.get("word") if word is None else word
    if word and word != FORBID and word not in set(UrlKind):
        raise ConfigError(f"{word} is not a kind of URLs; kinds: {', '.join(UrlKind)}")
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        crawls = crawls_with(backends, frontier, host)
        pins = frontier.classes.known(crawls[0], host).pins
        if Fact.CLASS_WAITING not in facts:  # no queue is started for a plan
            size = class_size(store, frontier, crawls, host, templates)
            facts[Fact.CLASS_WAITING] = size.waiting
    before = {pins.get(each, "") for each in templates}
    pin_classes(backends, host, dict.fromkeys(templates, word))
    undo = ""
    if len(before) == 1:
        was = before.pop()
        name = {"": "reset_class", FORBID: "forbid_class"}.get(was, "pin_class")
        values = {"word": was} if name == "pin_class" else {}
        undo = written(name, host, template=" ".join(templates), **values)
    return Effect(facts | {Fact.CRAWLS: len(crawls)}, partly, undo)


@action(REVERSIBLE, HOST)
def lift_traps(backends: Backends, asked: Asked) -> Steps:
    """Fetches stopped URL classes again."""
    facts = _counts(backends, asked.target)
    with backends.queue_side() as side, suppress(ServiceError):  # away: the effect is not counted
        if side.frontier is not None:
            facts[Fact.CLASSES] = len(stops_of(side.frontier, asked.target))
    yield Effect(facts, (Note.ALL_CRAWLS, Note.STAYS_ENDED))
    return Effect({Fact.CLASSES: lift_stops(backends, asked.target)})


@action(COUNTED, HOST)
def learn_host(backends: Backends, asked: Asked) -> Steps:
    """Learns the host from its archive."""
    with backends.store() as store:
        pages = sum(1 for _ in store.hosts.archived(asked.target))
        if not pages:
            raise NotFound(f"the archive holds no page of {asked.target}")
        facts = {Fact.PAGES: pages, Fact.MODEL_VERSION: store.models.newest(asked.target)}
    yield Effect(facts, background_notes(backends))
    return start_operation(backends, "learn", asked, {"host": asked.target})


@action(REVERSIBLE, HOST, name="try_reclean", kind="try_reclean", first=Note.CHANGES_NOTHING)
@action(COUNTED, HOST, name="reclean_host", kind="reclean", first=Note.TRY_FIRST)
def _reclean(backends: Backends, asked: Asked, kind: str, first: Note) -> Steps:
    """Re-cleans the records that older versions of the host's model made, or only compares them."""
    with backends.store() as store:
        version = find_version(store, asked.target, None).about.version
        by_model = store.hosts.by_model(asked.target)
    older = sum(n for each, n in by_model.items() if each < version)
    records = {Fact.RECORDS: sum(by_model.values()), Fact.OLDER_RECORDS: older}
    notes = (first, Note.MORE_THAN_SIGN, *background_notes(backends))
    yield Effect(records | {Fact.MODEL_VERSION: version}, notes)
    return start_operation(backends, kind, asked, {"host": asked.target, "version": version}, older)


@action(COUNTED, HOST, values=("version",))
def roll_back(backends: Backends, asked: Asked) -> Steps:
    """Takes up an older version of the host's model."""
    version = asked.number("version")
    with backends.store() as store:
        find_version(store, asked.target, version)
        by_model = store.hosts.by_model(asked.target)
        newest = store.models.newest(asked.target)
    older = sum(n for each, n in by_model.items() if each <= newest)
    records = {Fact.RECORDS: sum(by_model.values()), Fact.OLDER_RECORDS: older}
    yield Effect({Fact.MODEL_VERSION: newest} | records, (Note.TRY_FIRST,))
    about = take_up(backends, asked.target, version)
    undo = written("roll_back", asked.target, version=str(newest))
    return Effect({Fact.MODEL_VERSION: about.version}, undo=undo)


@action(REVERSIBLE, HOST, values=("url",))
def try_page(backends: Backends, asked: Asked) -> Steps:
    """Fetches one page of the host once, before anybody resumes it."""
    with backends.store() as store, backends.queue_side() as side:
        frontier, crawls = (
            side.frontier,
            sorted(store.statistics.crawls_of([asked.target]).get(asked.target, ())),
        )
        if not crawls:
            raise NotFound(Message("no_host_listed", asked.target))
        if frontier is None or not frontier.is_fetching():
            url = _chosen(store, asked, crawls).url
            yield Effect({Fact.PAGES: 1}, (Note.NEEDS_SPIDER,), chosen={"url": url})
            raise NotFound(NOTHING_FETCHES.format(data=backends.settings.storage.data, url=url))
        counts = frontier.counts_of(crawls)
        live = (CrawlState.RUNNING, CrawlState.FINISHED)
        running = [name for name in crawls if name in counts and counts[name].state in live]
        if not running:
            raise NotFound(f"no crawl of the host runs: resume one of {', '.join(crawls)} first")
        end = _chosen(store, asked, running)
        yield Effect({Fact.PAGES: 1}, (Note.ONE_REQUEST,), chosen={"url": end.url})
        crawl = next(each for each in running if store.urls.end(end.page_id, each))
        is_waiting = frontier.try_page(crawl, end)
    return Effect({Fact.PAGES: int(is_waiting)}, (Note.ONE_REQUEST,))


def _chosen(store: Store, asked: Asked, crawls: Sequence[str]) -> UrlRow:
    """The page that is asked for; else an example of the host's newest change, else any page.

    Raises:
        ConfigError: The URL is of another host.
        NotFound: No crawl has ended it, or none has ended any page of the host.
    """
    ids: Iterator[str] = _candidates(store, asked.target, crawls)
    if url := asked.get("url"):
        url = with_scheme(store, url)
        if host_of(url) != asked.target:
            raise ConfigError(f"{url} is not a page of {asked.target}")
        ids = iter((page_id(url),))
    for each, crawl in product(ids, crawls):
        end = store.urls.end(each, crawl)
        if end is not None and end.role is PageRole.PAGE:
            return end
    raise NotFound(f"no crawl that runs has fetched {url or f'a page of {asked.target}'} before")


def _candidates(store: Store, host: str, crawls: Sequence[str]) -> Iterator[str]:
    for drift in islice(store.drifts.of(host), 1):
        yield from map(page_id, drift.alarm.examples)
    for state, crawl in product((UrlState.RECORD, UrlState.FAILED), crawls):
        yield from (row.page_id for row in store.urls.sample(crawl, host, state, SAMPLED))
