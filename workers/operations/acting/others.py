"""Actions on processes, on operations, on reported verdicts and kept copies."""

from __future__ import annotations

from contextlib import closing

from cleaning.errors import ConfigError, NotFound
from storage.opening import join_queue
from storage.store.cases import Case, CaseSubject
from workers.config import Settings
from workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Input,
    Matter,
    Note,
    Safety,
    Steps,
    Subject,
    action,
    written,
)
from workers.operations.backends import existing_store
from workers.operations.cases.cases import find_case, part_name, read_part, report, withdraw

REVERSIBLE, COUNTED = Safety.REVERSIBLE, Safety.COUNTED


@action(COUNTED, Subject.PROCESS, is_urgent=True)
def declare_dead(settings: Settings, asked: Asked) -> Steps:
    """Takes leases and claims from a process, ``machine.4711``."""
    parts = asked.target.split(".")
    if len(parts) < 2 or not parts[0] or not parts[1].isdigit():
        raise ConfigError(f"{asked.target} is not a name of a process, such as machine.4711")
    name = ".".join(parts[:2])
    with closing(join_queue(settings.storage)) as frontier:
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
def stop_operation(settings: Settings, asked: Asked) -> Steps:
    """Ends a long action after its step."""
    seq = Asked(target="", values={"operation": asked.target}).number("operation")
    with existing_store(settings) as store:
        operation = store.operations.get(seq)
        if operation is None:
            raise NotFound(f"there is no operation {asked.target}")
        ended = (Note.HAS_ENDED,)
        yield Effect({Fact.DONE: operation.done}, ended if operation.state.has_ended else ())
        is_open = store.operations.stop(seq)
    return Effect({Fact.OPERATION: seq}, () if is_open else ended)


def _undo(case: Case, wanted: str, why: str) -> str:
    values = {"crawl": case.crawl_id, "part": part_name(case), "wanted": wanted, "why": why}
    return written("report_verdict", case.url, **values)


@action(REVERSIBLE, Subject.URL, values=("crawl", "part"), inputs=(Input.WANTED, Input.WHY))
def report_verdict(settings: Settings, asked: Asked) -> Steps:
    """Keeps what is right of a part of a page."""
    reading = read_part(settings, asked.target, asked.get("crawl"), asked.get("part"))
    part, before = reading.part, reading.before
    matter = Matter(
        subject=part.subject.value, text=part.text, was=part.was, rule=part.rule,
        choices=part.choices,
    )  # fmt: skip
    notes = (Note.CASE_REPLACED,) if before else ()
    yield Effect({Fact.CASES: reading.others + (before is not None)}, notes, matter=matter)
    case = report(settings, reading, asked.get("wanted"), asked.get("why"), asked.who)
    undo = written("withdraw_case", case.case_id)
    if before is not None:
        undo = _undo(case, before.wanted, before.note)
    return Effect({Fact.CASES: reading.others + 1}, notes, undo)


@action(REVERSIBLE, Subject.CASE)
def withdraw_case(settings: Settings, asked: Asked) -> Steps:
    """Deletes a report."""
    case = find_case(settings, asked.target)
    if case.subject is CaseSubject.CRASH:
        raise NotFound(f"{case.case_id} is a copy of a page that killed workers, no report")
    matter = Matter(
        subject=case.subject.value, text=case.text, was=case.was, rule=case.rule,
        wanted=case.wanted,
    )  # fmt: skip
    yield Effect({Fact.CASES: 1}, matter=matter)
    withdraw(settings, asked.target)
    return Effect({Fact.CASES: 1}, undo=_undo(case, case.wanted, case.note))


@action(COUNTED, Subject.CASE)
def drop_copy(settings: Settings, asked: Asked) -> Steps:
    """Deletes the copy of a page that killed workers."""
    if find_case(settings, asked.target).subject is not CaseSubject.CRASH:
        raise NotFound(f"there is no copy {asked.target[:40]}")
    yield Effect({Fact.COPIES: 1}, (Note.NO_WAY_BACK_COPY,))
    withdraw(settings, asked.target)
    return Effect({Fact.COPIES: 1})
