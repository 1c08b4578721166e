"""The sentence of a topic is the first rule that holds, and every rule has words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.answers.notices import ReceiverLine
from crawlclean.workers.answers.topics import (
    HarvestStep,
    TopicBudget,
    TopicHost,
    TopicLine,
    TopicReport,
)
from crawlclean.workers.console.holding import topic_sentence
from crawlclean.workers.console.words import say
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from crawlclean.workers.operations.topics.reports import TopicFigures
from crawlclean.workers.operations.topics.watching import TopicDetails
from crawlclean.workers.words import Language

NOW = datetime(2026, 11, 23, tzinfo=UTC)
LINE = TopicLine(
    topic="quake", version=1, state=TopicState.RUNNING, note="", crawl="quake", query="地震",
    synonyms=(), excluded=(), examples=(), threshold=0.5, pages=1000, relevant=300, marked=0,
    outdated=0, unread=0, created_at=NOW,
)  # fmt: skip
HOST = TopicHost(host="a.example", pages=1000, stories=250, copies=50)
STEP = HarvestStep(pages=100, stories=25, copies=5)
REPORT = TopicReport(
    topic=LINE, made_at=NOW, stories=250, copies=50, adopted=0, batches=3, waiting=40,
    budget=TopicBudget(max_pages=None, pages=1000, pages_per_hour=None, last_hour=9),
    harvest=(STEP,) * 10, days=(), newest=(), reprints=(), hosts=(HOST,),
)  # fmt: skip
FAILING = ReceiverLine(
    name="webhook:quake", signs="", ended=False, stories=("quake",), digest=(), digest_at="08:00",
    zone="UTC", quiet="", red_passes=False, most_an_hour=0, lang="en", source="",
    kind=ReceiverKind.WEBHOOK, target="http://b.example/", may_be_private=False, since=NOW,
    waiting=4, sent=2, copies=0, given_up=0, tries=3, next_try=NOW, failing_since=NOW,
    last_error="<b>status 500</b>", last_sent=None,
)  # fmt: skip
POOR = HarvestStep(pages=100, stories=1, copies=0)


def details(
    report: TopicReport | None = REPORT,
    state: TopicState = TopicState.RUNNING,
    max_pages: int | None = None,
    receivers: tuple[ReceiverLine, ...] = (),
) -> TopicDetails:
    spec = TopicSpec(name="quake", query="地震", synonyms=(), excluded=())
    order = TopicOrder(spec=spec)
    row = first_version(order, [])
    figures = None
    if report is not None:
        figures = TopicFigures(report=report, last_relevant=None, weights=(), pictures=())
    return TopicDetails(
        row=replace(row, state=state),
        order=order,
        figures=figures,
        receivers=receivers,
        max_pages=max_pages,
    )


def line(**values: Any) -> TopicReport:
    return replace(REPORT, topic=replace(LINE, **values))


CASES = [
    (details(None, TopicState.PAUSED, receivers=(FAILING,)), "paused", "warn"),
    (details(None, receivers=(FAILING,)), "webhook_fails", "bad"),
    (
        details(receivers=(replace(FAILING, kind=ReceiverKind.SLACK),)),
        "receiver_fails",
        "bad",
    ),
    (
        details(receivers=(replace(FAILING, kind=ReceiverKind.COMMAND),)),
        "command_fails",
        "bad",
    ),
    (details(None), "reading", "rest"),
    (details(line(pages=0, relevant=0, outdated=3)), "no_page", "rest"),
    (details(line(outdated=3), TopicState.ENDED), "ended", "rest"),
    (details(line(outdated=3, relevant=0)), "outdated", "warn"),
    (details(line(relevant=0), max_pages=10), "none_relevant", "warn"),
    (details(replace(REPORT, waiting=0), max_pages=1000), "spent", "warn"),
    (details(replace(REPORT, waiting=0), max_pages=1001), "nothing_waits", "warn"),
    (details(replace(REPORT, harvest=())), "others", "ok"),
    (details(replace(REPORT, harvest=(STEP,) * 7 + (POOR,) * 3)), "falls", "warn"),
    (details(replace(REPORT, harvest=(POOR,) * 2)), "harvests", "ok"),
    (details(replace(REPORT, waiting=None)), "harvests", "ok"),
]


@pytest.mark.parametrize(("given", "key", "level"), CASES, ids=[case[1] for case in CASES])
def test_the_first_rule_that_holds(given: TopicDetails, key: str, level: str) -> None:
    told = topic_sentence(given)
    assert (told.key, told.level) == (key, level)
    for language in Language:
        words = str(say(language, f"topic_now.{key}", **told.values))
        assert "{" not in words
        assert "<b>" not in words
