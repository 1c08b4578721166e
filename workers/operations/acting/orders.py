"""Actions that start crawls and topics, and that change their orders while they run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Scope, is_crawl_id
from crawlclean.storage.store.rows import spec_to_json
from crawlclean.workers.jobs.topics import order_of
from crawlclean.workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Note,
    Safety,
    Steps,
    Subject,
    action,
    written,
)
from crawlclean.workers.operations.acting.running import background_notes, start_operation
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_orders import (
    ORDER,
    change_order,
    command_of,
    open_order,
    read_order,
    texts_of,
)
from crawlclean.workers.operations.crawling.recovery import leads_further
from crawlclean.workers.operations.topics.crawls import topic_spec
from crawlclean.workers.operations.topics.topics import (
    TopicFlags,
    begin_topic,
    find_topic,
    planned_topic,
)

WORDS = ("query", "exclude_words", "threshold", "pages_per_hour")
"""Values of a topic's order beside those of its crawl."""


def _known(backends: Backends, crawl: str) -> CrawlSpec | None:
    """The order of a crawl, as the store has it; None: none of this name, or a purged one."""
    with suppress(NotFound), backends.store() as store:
        row = store.crawls.get(crawl)
        return row.spec if row and row.state is not CrawlState.PURGED else None
    return None


def _who_crawls(backends: Backends) -> Note:
    """Who crawls what is started now."""
    with backends.queue_side() as side:
        if side.frontier is None:
            return Note.NEEDS_RUN
        if backends.settings.storage.is_embedded:
            return Note.WITH_RUN
        return Note.BY_SERVERS if side.frontier.is_fetching() else Note.NEEDS_SPIDER_LATER


def _new(backends: Backends, spec: CrawlSpec, texts: dict[str, str]) -> Effect:
    """What a crawl that is started would be."""
    who = _who_crawls(backends)
    command = command_of(backends.settings, spec)
    hosts = {url.split("/")[2] for url in spec.seeds}
    facts = {Fact.SEEDS: len(spec.seeds), Fact.HOSTS: len(hosts)}
    return Effect(facts, (who,), chosen=texts, command=command, is_ready=who is not Note.NEEDS_RUN)


@action(Safety.COUNTED, Subject.CRAWL, values=("crawl", *ORDER))
def start_crawl(backends: Backends, asked: Asked) -> Steps:
    """Opens a new crawl; ``crawl`` is its name if the target has none."""
    name = asked.get("crawl").strip() or asked.target
    try:
        if name and not is_crawl_id(name):
            raise ConfigError(Message("no_crawl_name", name))
        spec = read_order(backends.settings, name, asked.values)
        if _known(backends, spec.crawl_id):
            raise ConfigError(Message("crawl_is_there", spec.crawl_id))
        plan = _new(
            backends, spec, texts_of(spec) | {"crawl": spec.crawl_id, "target": spec.crawl_id}
        )
    except ConfigError as error:
        usual = {"scope": str(backends.settings.crawl.scope)}
        yield Effect(chosen=usual, wrong=str(error) if asked.get("seeds") else "", is_ready=False)
        raise
    yield plan
    if not plan.is_ready:
        raise NotFound(Message("nothing_runs", plan.command))
    open_order(backends, spec, asked.who)
    return Effect(plan.facts, plan.notes, written("stop_crawl", spec.crawl_id))


@action(Safety.REVERSIBLE, Subject.CRAWL, values=ORDER)
def edit_crawl(backends: Backends, asked: Asked) -> Steps:
    """Changes the order of a crawl; with seeds all of it, else what is given."""
    before = _known(backends, asked.target)
    if before is None:
        raise NotFound(Message("no_crawl", asked.target))
    is_first = not any(asked.get(each) for each in ORDER)
    try:
        spec = read_order(backends.settings, asked.target, asked.values, before)
    except ConfigError as error:
        yield Effect(wrong=str(error), is_ready=False)
        raise
    changes = _changes(texts_of(before), texts_of(spec))
    wider = leads_further(before, spec)
    yield Effect(
        {Fact.SEEDS: len(spec.seeds), **_left(backends, asked.target)},
        (Note.FROM_NOW_ON, *(Note.LINKS_READ_AGAIN,) * wider, Note.COMMAND_WINS),
        chosen=texts_of(spec) if is_first or not asked.get("seeds") else {},
        changes=changes,
        is_ready=bool(changes),
    )
    return _edited(backends, asked, before, spec, "edit_crawl")


def _edited(
    backends: Backends, asked: Asked, before: CrawlSpec, spec: CrawlSpec, name: str
) -> Effect:
    """Changes the order of a crawl; what it left out before is offered by a worker."""
    change_order(backends, spec, asked.who)
    undo = written(name, asked.target, **texts_of(before))
    if not leads_further(before, spec):
        return Effect({Fact.CRAWLS: 1}, (Note.FROM_NOW_ON,), undo)
    arguments = {"crawl": spec.crawl_id, "before": spec_to_json(before).decode()}
    done = start_operation(backends, "widen", asked, arguments, may_wait=True)
    return Effect(done.facts, done.notes, undo)


def _changes(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {each: (old, after[each]) for each, old in before.items() if old != after[each]}


def _left(backends: Backends, crawl: str) -> dict[Fact, int]:
    """What is left of a crawl in its queue; nothing at rest."""
    with backends.queue_side() as side:
        counts = side.frontier.counts_of([crawl]).get(crawl) if side.frontier else None
    return {Fact.WAITING: counts.pending, Fact.IN_FLIGHT: counts.in_flight} if counts else {}


# Topics: their words, and the order of their crawl.


def _flags(asked: Asked) -> TopicFlags:
    """The words that are given.

    Raises:
        ConfigError: One is wrong.
    """
    return TopicFlags(
        query=asked.get("query").strip() or None,
        exclude_words=asked.get("exclude_words").split() or None,
        threshold=_share(asked.get("threshold"), "threshold"),
        pages_per_hour=_share(asked.get("pages_per_hour"), "pages_per_hour"),
    )


def _share(text: str, name: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise ConfigError(f"{name} is not a number: {text}") from None


@action(Safety.COUNTED, Subject.TOPIC, values=("topic", *WORDS, "seeds", "max_pages", "ends"))
def start_topic(backends: Backends, asked: Asked) -> Steps:
    """Creates a topic, and opens its crawl; ``topic`` is its name if the target has none."""
    name, settings = asked.get("topic").strip() or asked.target, backends.settings
    try:
        flags = _flags(asked)
        if not is_crawl_id(name):
            raise ConfigError(Message("no_crawl_name", name))
        if _known(backends, name):
            raise ConfigError(Message("crawl_is_there", name))
        order = read_order(settings, name, asked.values)  # checks that seeds are URLs
        planned = planned_topic(settings, name, flags)
        spec = topic_spec(settings, name, order.seeds, Scope.TOPIC, ())
        spec = replace(spec, max_pages=order.max_pages, ends_at=order.ends_at)
        plan = _new(backends, spec, {"topic": name, "target": name})
    except ConfigError as error:
        yield Effect(wrong=str(error) if asked.get("seeds") else "", is_ready=False)
        raise
    yield plan
    if not plan.is_ready:
        raise NotFound(Message("nothing_runs", plan.command))
    begin_topic(settings, planned, TopicFlags(), lambda _: None)
    open_order(backends, spec, asked.who)
    return Effect(plan.facts, plan.notes, written("pause_topic", name))


@action(Safety.REVERSIBLE, Subject.TOPIC, values=(*WORDS, "seeds", "max_pages", "ends"))
def edit_topic(backends: Backends, asked: Asked) -> Steps:
    """Changes the words of a topic and the order of its crawl; with a query all of it."""
    with backends.store() as store:
        row = find_topic(store, asked.target)
    order, crawl = order_of(row), _known(backends, row.crawl_id)
    before = {
        "query": order.spec.query,
        "exclude_words": " ".join(order.spec.excluded),
        "threshold": f"{order.spec.threshold:g}",
        "pages_per_hour": "" if order.pages_per_hour is None else f"{order.pages_per_hour:g}",
    }
    of_crawl = texts_of(crawl) if crawl else {}
    before |= {each: of_crawl.get(each, "") for each in ("seeds", "max_pages", "ends")}
    try:
        _flags(asked)
        after = {**before, **{each: text for each, text in asked.values.items() if text}}
        if asked.get("query"):
            after |= {each: asked.get(each).strip() for each in ("max_pages", "ends")}
        spec = crawl and read_order(
            backends.settings, row.crawl_id, of_crawl | {
                each: after[each] for each in ("seeds", "max_pages", "ends")
            }, crawl,
        )  # fmt: skip
    except ConfigError as error:
        yield Effect(wrong=str(error), is_ready=False)
        raise
    after |= {each: texts_of(spec)[each] for each in ("seeds", "ends")} if spec else {}
    changes = _changes(before, after)
    words = {each: after[each] for each in WORDS if each in changes}
    notes = [Note.TOPIC_JUDGES_ANEW, *background_notes(backends)] if words else []
    yield Effect(
        {Fact.CRAWLS: 1, **_left(backends, row.crawl_id)},
        (Note.FROM_NOW_ON, *notes),
        chosen=after if not asked.get("query") else {},
        changes=changes,
        is_ready=bool(changes),
    )
    undo = written("edit_topic", asked.target, **before)
    done = Effect({Fact.CRAWLS: 1}, (Note.FROM_NOW_ON,), undo)
    if crawl and spec and spec != crawl:
        change_order(backends, spec, asked.who)
    if not words:
        return done
    arguments = {"topic": asked.target, **words}
    begun = start_operation(backends, "edit_topic", asked, arguments, may_wait=True)
    return Effect(begun.facts, begun.notes, undo)
