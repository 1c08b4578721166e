"""Actions on processes, and on operations."""

from __future__ import annotations

from cleaning.errors import ConfigError, NotFound
from storage.opening import join_queue
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Note,
    Plan,
    Safety,
    Subject,
)
from workers.operations.backends import existing_store


def _process(asked: Asked) -> str:
    """The name of a process without its session: ``machine.4711``.

    Raises:
        ConfigError: The target is no name of a process.
    """
    parts = asked.target.split(".")
    if len(parts) < 2 or not parts[0] or not parts[1].isdigit():
        raise ConfigError(f"{asked.target} is no name of a process, as machine.4711")
    return ".".join(parts[:2])


def _plan_dead(settings: Settings, asked: Asked) -> Plan:
    name = _process(asked)
    frontier = join_queue(settings.storage)
    try:
        now = frontier.now()
    finally:
        frontier.close()
    known = [each for each in [*now.processes, *now.lost] if f"{each.name}.".startswith(f"{name}.")]
    sessions = [each for each in now.sessions if each.name.startswith(f"{name}.")]
    claims = [each for each in now.claims if each.worker.startswith(f"{name}.")]
    if not (known or sessions or claims):
        raise NotFound(f"no process {name} is known to the queue")
    facts = {Fact.LEASES: sum(each.leases for each in sessions), Fact.CLAIMS: len(claims)}
    if known:
        facts[Fact.SILENT_S] = int(min(each.silent_s for each in known))
    return Plan(facts=facts, notes=(Note.PROCESS_MAY_LIVE,))


def _declare_dead(settings: Settings, asked: Asked) -> Done:
    facts = dict(_plan_dead(settings, asked).facts)
    frontier = join_queue(settings.storage)
    try:
        frontier.expire_process(_process(asked))
        frontier.processes.ask_to_replace(_process(asked))
    finally:
        frontier.close()
    facts.pop(Fact.SILENT_S, None)
    return Done(facts=facts)


def _plan_stop(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store:
        operation = store.operations.get(_number(asked))
    if operation is None:
        raise NotFound(f"there is no operation {asked.target}")
    notes = (Note.HAS_ENDED,) if operation.state.has_ended else ()
    return Plan(facts={Fact.DONE: operation.done}, notes=notes)


def _stop(settings: Settings, asked: Asked) -> Done:
    with existing_store(settings) as store:
        is_open = store.operations.stop(_number(asked))
    notes = () if is_open else (Note.HAS_ENDED,)
    return Done(facts={Fact.OPERATION: _number(asked)}, notes=notes)


def _number(asked: Asked) -> int:
    return Asked(target="", values={"operation": asked.target}).number("operation")


OTHER_ACTIONS = (
    Action(
        name="declare_dead",
        safety=Safety.COUNTED,
        subject=Subject.PROCESS,
        plan=_plan_dead,
        act=_declare_dead,
        is_urgent=True,
    ),
    Action(
        name="stop_operation",
        safety=Safety.REVERSIBLE,
        subject=Subject.OPERATION,
        plan=_plan_stop,
        act=_stop,
    ),
)
