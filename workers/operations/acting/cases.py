"""Actions on reported verdicts."""

from __future__ import annotations

from cleaning.errors import NotFound
from storage.store.cases import Case, CaseSubject
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Input,
    Matter,
    Note,
    Plan,
    Safety,
    Subject,
    written,
)
from workers.operations.cases.cases import (
    Reading,
    find_case,
    part_name,
    read_part,
    report,
    withdraw,
)


def _reading(settings: Settings, asked: Asked) -> Reading:
    values = asked.values
    return read_part(settings, asked.target, values.get("crawl", ""), values.get("part", ""))


def _plan_report(settings: Settings, asked: Asked) -> Plan:
    reading = _reading(settings, asked)
    part = reading.part
    return Plan(
        facts={Fact.CASES: reading.others + (reading.before is not None)},
        notes=(Note.CASE_REPLACED,) if reading.before else (),
        matter=Matter(
            subject=part.subject.value,
            text=part.text,
            was=part.was,
            rule=part.rule,
            choices=part.choices,
        ),
    )


def _report(settings: Settings, asked: Asked) -> Done:
    reading, values = _reading(settings, asked), asked.values
    case = report(settings, reading, values.get("wanted", ""), values.get("why", ""), asked.who)
    facts = {Fact.CASES: reading.others + 1}
    before = reading.before
    if before is None:
        return Done(facts=facts, undo=written("withdraw_case", case.case_id))
    undo = written(
        "report_verdict",
        case.url,
        crawl=case.crawl_id,
        part=part_name(case),
        wanted=before.wanted,
        why=before.note,
    )
    return Done(facts=facts, notes=(Note.CASE_REPLACED,), undo=undo)


def _plan_withdraw(settings: Settings, asked: Asked) -> Plan:
    case = find_case(settings, asked.target)
    _refuse_copy(case)
    matter = Matter(
        subject=case.subject.value,
        text=case.text,
        was=case.was,
        rule=case.rule,
        wanted=case.wanted,
    )
    return Plan(facts={Fact.CASES: 1}, matter=matter)


def _refuse_copy(case: Case) -> None:
    """Refuses the copy of a page that killed workers: nobody has reported anything.

    Raises:
        NotFound: It is one.
    """
    if case.subject is CaseSubject.CRASH:
        raise NotFound(f"{case.case_id} is a copy of a page that killed workers, no report")


def _withdraw(settings: Settings, asked: Asked) -> Done:
    _refuse_copy(find_case(settings, asked.target))
    case = withdraw(settings, asked.target)
    undo = written(
        "report_verdict",
        case.url,
        crawl=case.crawl_id,
        part=part_name(case),
        wanted=case.wanted,
        why=case.note,
    )
    return Done(facts={Fact.CASES: 1}, undo=undo)


CASE_ACTIONS = (
    Action(
        name="report_verdict",
        safety=Safety.REVERSIBLE,
        subject=Subject.URL,
        plan=_plan_report,
        act=_report,
        values=("crawl", "part"),
        inputs=(Input.WANTED, Input.WHY),
    ),
    Action(
        name="withdraw_case",
        safety=Safety.REVERSIBLE,
        subject=Subject.CASE,
        plan=_plan_withdraw,
        act=_withdraw,
    ),
)
