"""A topic's report as one HTML file, made of the template ``topic_page.html``.

Every text is escaped and tamed where it enters the page: control characters and bidirectional
marks, which could reorder what stands around a title, become spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from crawlclean import __dist__
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.urls.shapes import readable
from crawlclean.workers.answers.topics import HarvestStep, TopicReport
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.topics.reading import highlighted
from crawlclean.workers.operations.topics.reports import last_days
from crawlclean.workers.output.topic_report import budget_text, receiver_state, step_pages

WIDTH, HEIGHT = 1000, 300
"""Units of a drawing; the page stretches them."""

TICKS = 5
"""Lines of a grid at most, beside that of 0: more would touch on a telephone."""

MOST_HOSTS = 25
"""As many as stand beside the newest stories."""


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
    every = -(-len(days) // 4)
    page = _template().render(
        report=report,
        program=__dist__,
        width=WIDTH,
        height=HEIGHT,
        curve=_curve(report.harvest),
        steps=[(f"step {n}", each) for n, each in enumerate(report.harvest, 1)],
        days=[(each.day, each) for each in days],
        day_marks=[
            ((n + 0.5) / len(days), days[n].day[5:]) for n in range(0, len(days), every or 1)
        ],
        earlier_days=sum(each.day < days[0].day for each in report.days),
        hosts=hosts[:MOST_HOSTS],
        more_hosts=len(hosts[MOST_HOSTS:]),
        most_of=_most_of,
        scale_of=scale_of,
        budget_text=budget_text,
        receiver_state=receiver_state,
        step_pages=step_pages,
    )
    return f"{page.strip()}\n".encode()


def _tamed(value: Any) -> Any:
    """A value as it enters the page; what is markup already has passed here."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _curve(steps: Sequence[HarvestStep]) -> dict[str, Any]:
    """The harvest curve: stories, and copies on top, against pages fetched."""
    pages = [0, *accumulate(each.pages for each in steps)]
    stories = [0, *accumulate(each.stories for each in steps)]
    relevant = [0, *accumulate(each.stories + each.copies for each in steps)]
    top, most = scale_of(relevant[-1]), max(pages[-1], 1)

    def points(values: Sequence[int]) -> list[str]:
        return [
            f"{WIDTH * page / most:.1f} {HEIGHT - HEIGHT * each / top[-1]:.1f}"
            for page, each in zip(pages, values, strict=True)
        ]

    return {
        "top": top,
        "marks": [(each / most, f"{each:,}") for each in scale_of(pages[-1]) if each <= most],
        "stories": "L".join(points(stories)),
        "copies": "L".join(points(relevant)) if relevant != stories else "",
        "back": "L".join(reversed(points(relevant))),
    }


def _most_of(steps: Sequence[tuple[str, HarvestStep]]) -> int:
    return max(each.stories + each.copies for _, each in steps)


def scale_of(most: int) -> list[int]:
    """Round numbers from 0 to at least ``most``: ``[0, 50, 100, 150]`` for 121."""
    step = 1
    while step * TICKS < most:
        digits = 10 ** (len(str(step)) - 1)
        step = {1: 2, 2: 5, 5: 10}[step // digits] * digits
    return list(range(0, step * max(1, -(-most // step)) + 1, step))
