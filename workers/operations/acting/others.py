"""Actions on processes and on operations."""

from __future__ import annotations

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Note,
    Safety,
    Steps,
    Subject,
    action,
)
from crawlclean.workers.operations.backends import Backends

REVERSIBLE, COUNTED = Safety.REVERSIBLE, Safety.COUNTED


@action(COUNTED, Subject.PROCESS, is_urgent=True)
def declare_dead(backends: Backends, asked: Asked) -> Steps:
    """Takes leases and claims from a process, ``machine.4711``."""
    parts = asked.target.split(".")
    if len(parts) < 2 or not parts[0] or not parts[1].isdigit():
        raise ConfigError(f"{asked.target} is not a name of a process, such as machine.4711")
    name = ".".join(parts[:2])
    with backends.queue() as frontier:
        now = frontier.now()
        known = [p for p in [*now.processes, *now.lost] if f"{p.name}.".startswith(f"{name}.")]
        sessions = [each for each in now.sessions if each.name.startswith(f"{name}.")]
        claims = [each for each in now.claims if each.worker.startswith(f"{name}.")]
        if not (known or sessions or claims):
            raise NotFound(f"no process {name} is known to the queue")
        facts = {Fact.LEASES: sum(each.leases for each in sessions), Fact.CLAIMS: len(claims)}
        silent = {Fact.SILENT_S: int(min(p.silent_s for p in known))} if known else {}
        yield Effect(facts | silent, (Note.PROCESS_MAY_LIVE,))
        frontier.expire_process(name)
        frontier.processes.ask_to_replace(name)
    return Effect(facts)


@action(REVERSIBLE, Subject.OPERATION)
def stop_operation(backends: Backends, asked: Asked) -> Steps:
    """Ends a long action after its step."""
    seq = Asked(target="", values={"operation": asked.target}).number("operation")
    with backends.store() as store:
        operation = store.operations.get(seq)
        if operation is None:
            raise NotFound(Message("no_operation", asked.target))
        ended = (Note.HAS_ENDED,)
        yield Effect({Fact.DONE: operation.done}, ended if operation.state.has_ended else ())
        is_open = store.operations.stop(seq)
    return Effect({Fact.OPERATION: seq}, () if is_open else ended)
