"""A topic's report as one HTML file, made of the template ``topic_page.html``.

Every text is escaped and tamed where it enters the page: control characters and bidirectional
marks, which could reorder what stands around a title, become spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from msgspec import Struct

from crawlclean import __dist__
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.urls.shapes import readable
from crawlclean.workers.answers.topics import HarvestStep, TopicReport
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.topics.reading import highlighted
from crawlclean.workers.operations.topics.reports import last_days
from crawlclean.workers.output import charts
from crawlclean.workers.output.charts import Column
from crawlclean.workers.output.topic_report import budget_text, receiver_state, step_pages

MOST_HOSTS = 25
"""As many as stand beside the newest stories."""


class Chart(Struct, frozen=True):
    """A drawing, the numbers of its scale, and the words below it."""

    drawing: Markup
    numbers: Sequence[str]
    marks: Sequence[str] = ()


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_tamed,
    )
    environment.filters |= {
        "counted": counted,
        "minute": minute,
        "number": "{:,}".format,
        "readable": readable,
        "highlighted": highlighted,
        "shown": str,
    }
    return environment.get_template("topic_page.html")


def topic_page(report: TopicReport) -> bytes:
    """Returns the page of a report, in UTF-8."""
    hosts = [host for host in report.hosts if host.pages]
    days = last_days(report)
    steps = [(f"step {n}", each) for n, each in enumerate(report.harvest, 1)]
    page = _template().render(
        report=report,
        program=__dist__,
        curve=_curve(report.harvest),
        steps=_bars(steps),
        days=_bars([(each.day, each) for each in days]),
        day_marks=[each.day[5:] for each in days[:: max(1, (len(days) - 1) // 2)]],
        earlier_days=sum(each.day < days[0].day for each in report.days),
        hosts=hosts[:MOST_HOSTS],
        more_hosts=len(hosts[MOST_HOSTS:]),
        budget_text=budget_text,
        receiver_state=receiver_state,
        step_pages=step_pages,
    )
    return f"{page.strip()}\n".encode()


def _tamed(value: Any) -> Any:
    """A value as it enters the page; what is markup already has passed here."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _curve(steps: Sequence[HarvestStep]) -> Chart:
    """The harvest curve: stories, and copies on top, against pages fetched."""
    lines = charts.harvest_lines(steps, ("stories", "relevant"))
    pages = sum(each.pages for each in steps)
    marks = [f"{pages * part // 2:,}" for part in range(3)]
    top = charts.scale(lines)
    return Chart(charts.drawn(lines, top), charts.labels(top), marks)


def _bars(steps: Sequence[tuple[str, HarvestStep]]) -> Chart:
    columns = [
        Column(
            values=(each.stories, each.copies),
            title=f"{name}: {counted(each.stories, 'story')}, {counted(each.copies, 'copy')} "
            f"of {counted(each.pages, 'page')}",
        )
        for name, each in steps
    ]
    top = charts.scale_of(max((sum(each.values) for each in columns), default=0))
    return Chart(charts.bars(columns, top), charts.labels(top))
