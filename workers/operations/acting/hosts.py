"""Actions on one host: pause, URL classes, learning, re-cleaning, the version of its model."""

from __future__ import annotations

from contextlib import suppress

from cleaning.errors import ConfigError, NotFound, ServiceError
from cleaning.records import UrlKind
from cleaning.url_classes.rules import FORBID
from storage.crawl_types import CrawlState
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Input,
    Note,
    Plan,
    Safety,
    Subject,
    written,
)
from workers.operations.acting.running import background_notes, start_operation
from workers.operations.backends import any_queue, existing_store, queue_side
from workers.operations.controlling.crawl_states import change_state
from workers.operations.hosts.classes import (
    ClassSize,
    class_size,
    crawls_with,
    lift_stops,
    pin_classes,
    stops_of,
)
from workers.operations.hosts.host_models import find_version, take_up


def _counts(settings: Settings, host: str) -> Plan:
    """The crawls of a host and its waiting URLs; of the store where no crawl runs."""
    facts: dict[Fact, int] = {}
    with existing_store(settings) as store:
        row = store.overview.host(host)
        crawls = store.statistics.crawls_of([host]).get(host, ())
        facts[Fact.CRAWLS] = len(crawls)
        if row is not None:
            facts[Fact.RECORDS] = row.records
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is None:
            if row is None:
                raise NotFound(f"nothing of {host} is stored; `hosts` lists what is")
            return Plan(facts=facts, notes=(Note.ALL_CRAWLS,))
        named = side.frontier.crawls_of(host)
        if row is None and not named:
            raise NotFound(f"no crawl knows the host {host}")
        facts[Fact.CRAWLS] = len(named)
        facts[Fact.WAITING] = sum(side.frontier.pending_of(crawl, host) for crawl in named)
    return Plan(facts=facts, notes=(Note.ALL_CRAWLS,))


def _plan_pause(settings: Settings, asked: Asked) -> Plan:
    plan = _counts(settings, asked.target)
    return Plan(facts=plan.facts, notes=(*plan.notes, Note.IN_FLIGHT_GO_ON))


def _pause(settings: Settings, asked: Asked) -> Done:
    _named_host(settings, asked.target)
    why = " ".join(asked.values.get("why", "").split())
    change_state(settings, asked.target, CrawlState.PAUSED, who=asked.who, why=why)
    return Done(facts={Fact.HOSTS: 1}, undo=written("resume_host", asked.target))


def _resume(settings: Settings, asked: Asked) -> Done:
    _named_host(settings, asked.target)
    change_state(settings, asked.target, CrawlState.RUNNING, who=asked.who)
    return Done(facts={Fact.HOSTS: 1}, undo=written("pause_host", asked.target))


def _named_host(settings: Settings, host: str) -> None:
    """Refuses the name of a crawl: it is another action.

    Raises:
        NotFound: A crawl has this name.
    """
    with existing_store(settings) as store:
        if any(row.spec.crawl_id == host for row in store.crawls.all()):
            raise NotFound(f"{host} is a crawl, no host")


def _template(asked: Asked) -> str:
    """The template that is asked for.

    Raises:
        ConfigError: There is none.
    """
    template = asked.values.get("template", "")
    if not template:
        raise ConfigError("a URL class needs its template")
    return template


def _plan_class(settings: Settings, asked: Asked) -> Plan:
    template, host = _template(asked), asked.target
    plan = _counts(settings, host)
    with existing_store(settings) as store, queue_side(settings, at_rest=False) as side:
        crawls = side.frontier.crawls_of(host) if side.frontier else ()
        crawls = crawls or store.statistics.crawls_of([host]).get(host, ())
        size = class_size(store, side.frontier, crawls, host, template)
    facts = {Fact.CRAWLS: plan.facts[Fact.CRAWLS], **_sizes(size)}
    if side.frontier is None:
        del facts[Fact.CLASS_WAITING]
    return Plan(facts=facts, notes=(*plan.notes, *([] if size.is_whole else [Note.AT_LEAST])))


def _sizes(size: ClassSize) -> dict[Fact, int]:
    return {Fact.CLASS_RECORDS: size.records, Fact.CLASS_WAITING: size.waiting}


def _decide(settings: Settings, asked: Asked, word: str) -> Done:
    """Stores a decision; its undo is the decision before."""
    template, host = _template(asked), asked.target
    with any_queue(settings) as frontier, existing_store(settings) as store:
        crawls = crawls_with(settings, frontier, host)
        before = frontier.classes.known(crawls[0], host).pins.get(template, "")
        size = class_size(store, frontier, crawls, host, template)
    pin_classes(settings, host, {template: word})
    name = {"": "reset_class", FORBID: "forbid_class"}.get(before, "pin_class")
    values = {"template": template} | ({"word": before} if name == "pin_class" else {})
    return Done(
        facts={Fact.CRAWLS: len(crawls), **_sizes(size)},
        notes=() if size.is_whole else (Note.AT_LEAST,),
        undo=written(name, host, **values),
    )


def _forbid(settings: Settings, asked: Asked) -> Done:
    return _decide(settings, asked, FORBID)


def _reset(settings: Settings, asked: Asked) -> Done:
    return _decide(settings, asked, "")


def _pin(settings: Settings, asked: Asked) -> Done:
    word = asked.values.get("word", "")
    if word not in set(UrlKind):
        raise ConfigError(f"{word} is no kind of URLs; kinds: {', '.join(UrlKind)}")
    return _decide(settings, asked, word)


def _plan_lift(settings: Settings, asked: Asked) -> Plan:
    plan = _counts(settings, asked.target)
    facts = dict(plan.facts)
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is not None:
            with suppress(ServiceError):
                facts[Fact.CLASSES] = len(stops_of(side.frontier, asked.target))
    return Plan(facts=facts, notes=(Note.ALL_CRAWLS, Note.STAYS_ENDED))


def _lift(settings: Settings, asked: Asked) -> Done:
    return Done(facts={Fact.CLASSES: lift_stops(settings, asked.target)})


def _plan_learn(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store:
        pages = sum(1 for _ in store.hosts.archived(asked.target))
        if not pages:
            raise NotFound(f"the archive holds no page of {asked.target}")
        version = store.models.newest(asked.target)
    facts = {Fact.PAGES: pages, Fact.MODEL_VERSION: version}
    return Plan(facts=facts, notes=background_notes(settings))


def _learn(settings: Settings, asked: Asked) -> Done:
    return start_operation(settings, "learn", asked, {"host": asked.target})


def _older(settings: Settings, host: str) -> dict[Fact, int]:
    """The records of a host that older versions of its model made.

    Raises:
        NotFound: The host has no model.
    """
    with existing_store(settings) as store:
        version = find_version(store, host, None).about.version
        by_model = store.hosts.by_model(host)
    older = sum(n for each, n in by_model.items() if each < version)
    return {
        Fact.RECORDS: sum(by_model.values()),
        Fact.OLDER_RECORDS: older,
        Fact.MODEL_VERSION: version,
    }


def _plan_try(settings: Settings, asked: Asked) -> Plan:
    notes = (Note.CHANGES_NOTHING, Note.MORE_THAN_SIGN, *background_notes(settings))
    return Plan(facts=_older(settings, asked.target), notes=notes)


def _plan_reclean(settings: Settings, asked: Asked) -> Plan:
    notes = (Note.TRY_FIRST, Note.MORE_THAN_SIGN, *background_notes(settings))
    return Plan(facts=_older(settings, asked.target), notes=notes)


def _try(settings: Settings, asked: Asked) -> Done:
    return _start_recleaning(settings, asked, "try_reclean")


def _reclean(settings: Settings, asked: Asked) -> Done:
    return _start_recleaning(settings, asked, "reclean")


def _start_recleaning(settings: Settings, asked: Asked, kind: str) -> Done:
    facts = _older(settings, asked.target)
    arguments = {"host": asked.target, "version": facts[Fact.MODEL_VERSION]}
    return start_operation(settings, kind, asked, arguments, facts[Fact.OLDER_RECORDS])


def _plan_roll_back(settings: Settings, asked: Asked) -> Plan:
    version = asked.number("version")
    with existing_store(settings) as store:
        find_version(store, asked.target, version)
        by_model = store.hosts.by_model(asked.target)
        newest = store.models.newest(asked.target)
    facts = {
        Fact.MODEL_VERSION: newest,
        Fact.RECORDS: sum(by_model.values()),
        Fact.OLDER_RECORDS: sum(n for each, n in by_model.items() if each <= newest),
    }
    return Plan(facts=facts, notes=(Note.TRY_FIRST,))


def _roll_back(settings: Settings, asked: Asked) -> Done:
    with existing_store(settings) as store:
        before = store.models.newest(asked.target)
    about = take_up(settings, asked.target, asked.number("version"))
    return Done(
        facts={Fact.MODEL_VERSION: about.version},
        undo=written("roll_back", asked.target, version=str(before)),
    )


_TEMPLATE = ("template",)
_A, _B, _OF = Safety.REVERSIBLE, Safety.COUNTED, Subject.HOST

HOST_ACTIONS = (
    Action(
        name="pause_host", safety=_A, subject=_OF, plan=_plan_pause, act=_pause, inputs=(Input.WHY,)
    ),
    Action(
        name="resume_host",
        safety=_A,
        subject=_OF,
        plan=lambda settings, asked: _counts(settings, asked.target),
        act=_resume,
    ),
    Action(
        name="forbid_class",
        safety=_A,
        subject=_OF,
        plan=_plan_class,
        act=_forbid,
        values=_TEMPLATE,
    ),
    Action(
        name="pin_class",
        safety=_A,
        subject=_OF,
        plan=_plan_class,
        act=_pin,
        values=_TEMPLATE,
        inputs=(Input.WORD,),
    ),
    Action(
        name="reset_class", safety=_A, subject=_OF, plan=_plan_class, act=_reset, values=_TEMPLATE
    ),
    Action(name="lift_traps", safety=_A, subject=_OF, plan=_plan_lift, act=_lift),
    Action(name="learn_host", safety=_B, subject=_OF, plan=_plan_learn, act=_learn),
    Action(name="try_reclean", safety=_A, subject=_OF, plan=_plan_try, act=_try),
    Action(name="reclean_host", safety=_B, subject=_OF, plan=_plan_reclean, act=_reclean),
    Action(
        name="roll_back",
        safety=_B,
        subject=_OF,
        plan=_plan_roll_back,
        act=_roll_back,
        values=("version",),
    ),
)
