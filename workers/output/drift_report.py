"""Drift events as text, for `model HOST` and `hosts HOST`."""

from __future__ import annotations

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.storage.store.models import DriftEvent, DriftOutcome

SHOWN_CLASSES = 3
SIGNS = {
    DriftSign.BODIES: "bodies in other containers",
    DriftSign.FRAME: "navigation links gone",
    DriftSign.NEW_CLASSES: "pages of a kind met later",
    DriftSign.AGE: "model is old",
}
OUTCOMES = {
    DriftOutcome.LEARNED: "learned version {version}",
    DriftOutcome.WAITS: "not learned yet",
    DriftOutcome.NOTHING_BETTER: "not learned",
    DriftOutcome.TAKEN_BACK: "learned version {version}, rolled back",
}


def drift_line(event: DriftEvent) -> str:
    """The event in one line: time, sign, evidence, outcome."""
    alarm = event.alarm
    which = f" in {alarm.url_class}" if alarm.url_class else ""
    done = OUTCOMES[event.outcome].format(version=event.new_version)
    detail = f" ({event.detail})" if event.detail else ""
    return (
        f"{minute(alarm.since)} {SIGNS[alarm.sign]}{which}: {alarm.pages - alarm.misfits} "
        f"of {alarm.pages} pages fit version {event.model_version}, {alarm.expected:.0%} expected; "
        f"{done}{detail}"
    )


def evidence_lines(event: DriftEvent) -> list[str]:
    """The event in several lines: with the changed URL classes and example pages."""
    alarm = event.alarm
    lines = [drift_line(event)]
    if alarm.empty:
        lines.append(f"  {alarm.empty} of these pages have no body")
    lines += [
        f"  {pattern or '/'}  {counted(n, 'page')}" for pattern, n in alarm.classes[:SHOWN_CLASSES]
    ]
    if len(alarm.classes) > SHOWN_CLASSES:
        lines.append(f"  {counted(len(alarm.classes) - SHOWN_CLASSES, 'more class')}")
    return lines + [f"  example: {url}" for url in alarm.examples]
