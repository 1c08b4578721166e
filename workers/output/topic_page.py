"""A topic's report as one HTML file: charts as inline SVG, no script, nothing is loaded.

The page is made as a tree of elements (``html_elements.py``) and needs no template language; its
policy (``Content-Security-Policy``) lets a browser load nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from typing import Any

from lxml import etree
from msgspec import UNSET

from crawlclean import __dist__
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.urls.shapes import readable
from crawlclean.workers.answers.topics import (
    HarvestStep,
    ReceiverLine,
    RelevantPage,
    StoryLine,
    ToldBy,
    TopicHost,
    TopicReport,
)
from crawlclean.workers.control_characters import printable
from crawlclean.workers.output.topic_report import (
    budget_text,
    copies_of,
    receiver_state,
    step_pages,
)

# HTML elements of a report: every text is escaped and tamed where it enters the tree.
#
# A page is built as a tree and written by lxml, so no text can become markup; control characters
# and bidirectional marks, which could reorder what stands around a title, become spaces.

Element = Any
"""An element of lxml, which has no types."""

Child = Any
"""An element, a text, None (nothing), or a list of these."""

NO_XML = re.compile("[\ufffe\uffff]")
"""Characters that are no control characters, and that XML trees refuse."""


def element(tag: str, *children: Child, **attributes: object) -> Element:
    """Returns an element.

    Args:
        tag: ``div``.
        children: Elements, texts, None, lists of these.
        attributes: Of the element. ``_`` stands for ``-``, except at the end of ``class_``; None
            and False: left out, True: without a value.
    """
    made = etree.Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            key = name if name == "viewBox" else name.rstrip("_").replace("_", "-")
            made.set(key, "" if value is True else tamed(str(value)))
    _append(made, children)
    return made


def _append(made: Element, children: Any) -> None:
    for child in children:
        if isinstance(child, list | tuple):
            _append(made, child)
        elif isinstance(child, str):
            if len(made):
                made[-1].tail = (made[-1].tail or "") + tamed(child)
            else:
                made.text = (made.text or "") + tamed(child)
        elif child is not None:
            made.append(child)


def tamed(text: str) -> str:
    """Returns a text without characters that a page must not have."""
    return NO_XML.sub(" ", printable(text))


def html_bytes(root: Element) -> bytes:
    """Returns a page in UTF-8."""
    text: str = etree.tostring(root, method="html", encoding="unicode", doctype="<!DOCTYPE html>")
    return f"{text}\n".encode()


# Charts of a report as inline SVG, with labels as HTML around them.
#
# The drawing stretches to the width of the page; its lines keep their width. Text inside would
# stretch, too, and be unreadable on a telephone: labels are HTML at percentages of the chart.

WIDTH, HEIGHT = 1000, 300
"""Units of a drawing; the page stretches them."""

TICKS = 5
"""Lines of a grid at most, beside that of 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a chart.

    Attributes:
        label: What the reader sees on pointing at it: ``2026-11-23: 12 stories``.
        stories: Height of its lower part.
        copies: Height of its upper part.
    """

    label: str
    stories: int
    copies: int


def curve(steps: Sequence[HarvestStep], title: str) -> Element:
    """Returns the harvest curve: stories, and copies on top, against pages fetched."""
    pages = [0, *accumulate(each.pages for each in steps)]
    stories = [0, *accumulate(each.stories for each in steps)]
    relevant = [0, *accumulate(each.stories + each.copies for each in steps)]
    top = scale_of(relevant[-1])
    xs = [WIDTH * each / max(pages[-1], 1) for each in pages]

    def points(values: Sequence[int]) -> list[str]:
        ys = (HEIGHT - HEIGHT * each / top[-1] for each in values)
        return [f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True)]

    low, high = points(stories), points(relevant)
    copies = [
        element("path", class_="copies-area", d=f"M{'L'.join([*low, *reversed(high)])}Z"),
        element("path", class_="copies-line", d=f"M{'L'.join(high)}"),
    ]
    drawing = [
        _grid(top),
        element("path", class_="stories-area", d=f"M{'L'.join(low)}L{WIDTH} {HEIGHT}L0 {HEIGHT}Z"),
        copies if relevant != stories else [],
        element("path", class_="stories-line", d=f"M{'L'.join(low)}"),
    ]
    marks = [(each / max(pages[-1], 1), f"{each:,}") for each in scale_of(pages[-1])]
    marks = [(place, text) for place, text in marks if place <= 1]
    return _framed(drawing, top, marks, title)


def bars(values: Sequence[Bar], title: str, marks: Sequence[tuple[float, str]] = ()) -> Element:
    """Returns a chart of bars, stories below and copies on top.

    Args:
        values: From left to right.
        title: What the chart shows, for those who cannot see it.
        marks: (place 0..1, label) below it.
    """
    top = scale_of(max((each.stories + each.copies for each in values), default=1))
    wide = WIDTH / max(len(values), 1)
    gap = min(wide * 0.25, 6.0)
    drawing = [_grid(top)]
    for place, each in enumerate(values):
        left, unit = place * wide + gap / 2, HEIGHT / top[-1]
        low, high = each.stories * unit, each.copies * unit
        drawing.append(
            element(
                "g",
                element("title", each.label),
                # The whole column can be pointed at.
                _box("column", left - gap / 2, 0, wide, HEIGHT),
                _box("stories-bar", left, HEIGHT - low, wide - gap, low) if low else None,
                _box("copies-bar", left, HEIGHT - low - high, wide - gap, high) if high else None,
            )
        )
    return _framed(drawing, top, marks, title)


def scale_of(most: int) -> list[int]:
    """Round numbers from 0 to at least ``most``: ``[0, 50, 100, 150]`` for 121."""
    step = 1
    while step * TICKS < most:
        digits = 10 ** (len(str(step)) - 1)
        step = {1: 2, 2: 5, 5: 10}[step // digits] * digits
    return list(range(0, step * max(1, -(-most // step)) + 1, step))


def _box(name: str, x: float, y: float, width: float, height: float) -> Element:
    place = {"x": f"{x:.2f}", "y": f"{y:.2f}", "width": f"{width:.2f}", "height": f"{height:.2f}"}
    return element("rect", class_=name, **place)


def _grid(top: Sequence[int]) -> Element:
    lines = [HEIGHT - HEIGHT * each / top[-1] for each in top]
    return element("path", class_="grid", d="".join(f"M0 {y:.1f}H{WIDTH}" for y in lines))


def _framed(
    drawing: Sequence[Element], top: Sequence[int], marks: Sequence[tuple[float, str]], title: str
) -> Element:
    """The drawing with its numbers at the left and its labels below."""
    svg = element(
        "svg",
        *drawing,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=title,
    )
    left = [
        element("span", f"{each:,}", style=f"bottom:{100 * each / top[-1]:.2f}%") for each in top
    ]
    below = [
        element("span", text, class_=_side(place), style=f"left:{100 * place:.2f}%")
        for place, text in marks
    ]
    return element(
        "div",
        element(
            "div", left, class_="y", aria_hidden="true", style=f"width:{len(f'{top[-1]:,}')}ch"
        ),
        element("div", svg, class_="plot"),
        element("div", below, class_="x", aria_hidden="true"),
        class_="chart",
    )


def _side(place: float) -> str:
    """The class of a label that would leave the chart at its left or right end."""
    return "first" if place < 0.02 else "last" if place > 0.97 else ""


# The style sheet of a topic's report in HTML; nothing in it is loaded from anywhere.

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #f6f5f1; --card: #fffefb; --line: #e4e1d8; --ink: #1c2321; --soft: #5d6663;
  --faint: #8b928f; --story: #0b7a6b; --story-soft: #0b7a6b24; --copy: #d08a1d;
  --copy-soft: #d08a1d33; --bad: #b3402e; --shade: 0 1px 2px #0000000d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121615; --card: #1a201e; --line: #2c3431; --ink: #e9ece9; --soft: #a5aeaa;
    --faint: #7d8783; --story: #3fc7b1; --story-soft: #3fc7b12e; --copy: #e9b253;
    --copy-soft: #e9b25333; --bad: #ee8f7d; --shade: none;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif;
  -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
}
main { max-width: 1480px; margin: 0 auto; padding: clamp(16px, 3vw, 48px); }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: .18em; }
a:hover { color: var(--story); text-decoration-color: currentColor; }
h1, h2, h3, p { margin: 0; }
h1 { font-size: clamp(2rem, 5vw, 3.4rem); line-height: 1.1; letter-spacing: -.02em; }
h2 { font-size: 1.15rem; letter-spacing: -.005em; }
h3 { font-size: 1rem; line-height: 1.4; font-weight: 600; }
.eyebrow {
  color: var(--story); font-size: .78rem; font-weight: 700; letter-spacing: .12em;
  text-transform: uppercase;
}
header { display: grid; gap: 14px; margin-bottom: clamp(20px, 3vw, 36px); }
.words { display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 0; list-style: none; }
.words li, .badge {
  border: 1px solid var(--line); border-radius: 999px; padding: 2px 12px; background: var(--card);
  font-size: .9rem;
}
.words .without { color: var(--bad); text-decoration: line-through; }
.badge { font-size: .78rem; padding: 1px 10px; color: var(--soft); white-space: nowrap; }
.badge.copy { color: var(--copy); border-color: currentColor; background: none; }
.badge.bad { color: var(--bad); border-color: currentColor; background: none; }
.quiet { color: var(--soft); font-size: .9rem; }
.numbers {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(150px, 45%), 1fr)); gap: 12px;
  margin: 0 0 clamp(16px, 2vw, 24px); padding: 0;
}
.number, section {
  background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  box-shadow: var(--shade);
}
.number { padding: 14px 18px; display: grid; align-content: start; }
.number dt { color: var(--soft); font-size: .85rem; }
.number dd {
  margin: 0; font-size: clamp(1.5rem, 2.6vw, 2.1rem); font-weight: 650; line-height: 1.2;
}
.number .quiet { font-size: .8rem; font-weight: 400; }
.number.main { background: var(--story); border-color: var(--story); color: var(--card); }
.number.main dt, .number.main .quiet { color: inherit; opacity: .85; }
.rooms {
  display: grid; gap: clamp(16px, 2vw, 24px);
  grid-template-columns: repeat(12, minmax(0, 1fr));
}
section { grid-column: 1 / -1; padding: clamp(16px, 2vw, 26px); min-width: 0; }
.stack {
  grid-column: 1 / -1; display: grid; gap: inherit; align-content: start; min-width: 0;
}
section > .quiet { margin-top: 2px; }
@media (min-width: 1080px) {
  .wide { grid-column: span 7; }
  .narrow { grid-column: span 5; }
}
.chart {
  display: grid; grid-template-columns: auto minmax(0, 1fr); grid-template-rows: auto 1.6em;
  column-gap: 10px; margin-top: 18px;
}
.plot { height: clamp(170px, 24vw, 270px); }
.plot svg { display: block; width: 100%; height: 100%; overflow: visible; }
.low .plot { height: clamp(90px, 9vw, 130px); }
.y {
  position: relative; min-width: 1.5em; white-space: nowrap; font-size: .75rem;
  color: var(--faint);
}
.y span { position: absolute; right: 0; transform: translateY(50%); }
.x { grid-column: 2; position: relative; font-size: .75rem; color: var(--faint); }
.x span { position: absolute; top: .5em; transform: translateX(-50%); white-space: nowrap; }
.x .first { transform: none; }
.x .last { transform: translateX(-100%); }
.grid { stroke: var(--line); fill: none; vector-effect: non-scaling-stroke; }
.stories-area { fill: var(--story-soft); }
.copies-area { fill: var(--copy-soft); }
.stories-line, .copies-line {
  fill: none; stroke: var(--story); stroke-width: 2.5; vector-effect: non-scaling-stroke;
  stroke-linejoin: round;
}
.copies-line { stroke: var(--copy); stroke-width: 1.5; stroke-dasharray: 5 4; }
.stories-bar { fill: var(--story); }
.copies-bar { fill: var(--copy); opacity: .75; }
.column { fill: transparent; }
g:hover > .column { fill: var(--story-soft); }
.key {
  display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 12px; font-size: .85rem;
  color: var(--soft);
}
.key span::before {
  content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  margin-right: 7px; background: var(--story);
}
.key .copy::before { background: var(--copy); }
.list { list-style: none; margin: 10px 0 0; padding: 0; }
.list > li { padding: 13px 0; border-top: 1px solid var(--line); display: grid; gap: 3px; }
.list > li:first-child { border-top: 0; }
.list a { text-decoration: none; }
.list a:hover { text-decoration: underline; }
.line { display: flex; flex-wrap: wrap; gap: 3px 10px; align-items: center; }
.meter {
  width: 54px; height: 6px; border-radius: 3px; background: var(--line); overflow: hidden;
  flex: none;
}
.meter i { display: block; height: 100%; background: var(--story); }
details { font-size: .9rem; margin-top: 2px; }
summary { cursor: pointer; color: var(--soft); }
.urls {
  list-style: none; margin: 8px 0 0; padding: 0 0 0 14px; border-left: 2px solid var(--line);
}
.urls li { padding: 4px 0; }
table { width: 100%; border-collapse: collapse; margin-top: 12px; font-size: .92rem; }
th { font-weight: 500; color: var(--faint); font-size: .8rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
th, td { padding: 7px 0 7px 10px; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { padding-left: 0; }
td .badge { margin-left: 8px; }
tr:last-child td { border-bottom: 0; }
.share {
  display: flex; height: 6px; border-radius: 3px; background: var(--line); overflow: hidden;
  margin-top: 5px;
}
.share i { background: var(--story); }
.share i + i { background: var(--copy); }
footer { margin-top: 28px; color: var(--faint); font-size: .82rem; }
@media print {
  body { background: none; }
  .number, section { box-shadow: none; break-inside: avoid; }
}
"""


MOST_HOSTS = 25
MOST_DAYS = 90
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def topic_page(report: TopicReport) -> bytes:
    """Returns the page of a report, in UTF-8."""
    title = f"{report.topic.topic}: {counted(report.stories, 'story')}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        _style(),
    )
    rooms = [
        *_harvest(report),
        _days(report),
        _newest(report.newest),
        _hosts(report.hosts),
        _reprints(report.reprints),
        _stack(_receivers(report.topic.receivers)),
    ]
    body = element(
        "body",
        element(
            "main",
            _header(report),
            _numbers(report),
            element("div", rooms, class_="rooms"),
            _footer(report),
        ),
    )
    return html_bytes(element("html", head, body, lang="en"))


def _style() -> Element:
    made = element("style")
    made.text = STYLE  # our own text, with line breaks
    return made


def _header(report: TopicReport) -> Element:
    topic = report.topic
    note = f": {topic.note}" if topic.note else ""
    without = [element("li", word, class_="without", dir="auto") for word in topic.excluded]
    return element(
        "header",
        element("p", "Topic report", class_="eyebrow"),
        element("h1", topic.topic),
        element("ul", element("li", topic.query, dir="auto"), without, class_="words"),
        element(
            "p",
            element("span", str(topic.state), class_="badge"),
            f" version {topic.version}{note} · {minute(report.made_at)} UTC",
            class_="quiet",
        ),
    )


def _numbers(report: TopicReport) -> Element:
    topic, budget, images = report.topic, report.budget, report.images
    rate = f"{100 * report.stories / max(1, topic.pages):.0f} % of the pages judged"
    adopted = f"{report.adopted:,} fetched by other crawls" if report.adopted else ""
    waiting = "queue not running" if report.waiting is None else ""
    hosts = sum(1 for host in report.hosts if host.stories)
    return element(
        "dl",
        _number("Stories", report.stories, rate, class_="number main"),
        _number("Copies", report.copies, "reprints, not counted as harvest"),
        _number("Pages judged", topic.pages, adopted or budget_text(budget)),
        _number("Hosts with stories", hosts, ""),
        _number("Waiting URLs", report.waiting, waiting),
        _number("Last hour", budget.last_hour, _wanted(report)),
        None
        if images is UNSET
        else _number("Images", images.pictures, "pictures, copies left out"),
        class_="numbers",
    )


def _wanted(report: TopicReport) -> str:
    budget = report.budget
    limit = f"limit {budget.max_pages:,} pages" if budget.max_pages is not None else ""
    wanted = f"about {budget.pages_per_hour:g} pages wanted" if budget.pages_per_hour else "pages"
    return ", ".join(filter(None, (wanted, limit)))


def _number(name: str, value: int | None, note: str, class_: str = "number") -> Element:
    shown = "–" if value is None else f"{value:,}"
    small = element("div", note, class_="quiet") if note else None
    return element("div", element("dt", name), element("dd", shown, small), class_=class_)


def _harvest(report: TopicReport) -> Iterator[Element]:
    steps = report.harvest
    if not steps:
        return
    size = step_pages(report)
    yield _room(
        "wide",
        "Harvest",
        "Stories against pages fetched: the steeper, the better the links that were chosen.",
        curve(steps, f"{report.stories} stories of {report.budget.pages} pages"),
        element(
            "p",
            element("span", "stories"),
            element("span", "copies of them", class_="copy"),
            class_="key",
        ),
    )
    shown = [_bar(f"step {n + 1}", each) for n, each in enumerate(steps)]
    yield _room(
        "narrow",
        f"Yield of each {size:,} pages",
        "Stories and copies of one step after the other. It falls when what is left is worse.",
        bars(shown, "stories of each step", [(0.0, "first pages"), (1.0, "newest")]),
    )


def _bar(name: str, step: HarvestStep) -> Bar:
    label = f"{name}: {counted(step.stories, 'story')}, {copies_of(step.copies)}"
    return Bar(
        label=f"{label} of {counted(step.pages, 'page')}", stories=step.stories, copies=step.copies
    )


def _days(report: TopicReport) -> Element | None:
    if not report.days:
        return None
    known = {each.day: each for each in report.days}
    last = date.fromisoformat(report.days[-1].day)
    first = max(date.fromisoformat(report.days[0].day), last - timedelta(days=MOST_DAYS - 1))
    names = [str(first + timedelta(days=n)) for n in range((last - first).days + 1)]
    empty = HarvestStep(pages=0, stories=0, copies=0)
    shown = [_bar(name, known.get(name, empty)) for name in names]
    every = -(-len(names) // 4)
    marks = [((n + 0.5) / len(names), name[5:]) for n, name in enumerate(names) if n % every == 0]
    more = len(report.days) - sum(name in known for name in names)
    note = f"Days in UTC; {more} earlier days are left out." if more else "Days in UTC."
    return _room("", "Stories by day", note, bars(shown, "stories by day", marks), low=True)


def _newest(pages: Sequence[RelevantPage]) -> Element | None:
    if not pages:
        return None
    rows = [
        element(
            "li",
            element("h3", _link(page.url, page.title or readable(page.url))),
            element(
                "div",
                element("bdi", page.host),
                element("span", minute(page.fetched_at)),
                _meter(page.relevance),
                element("span", copies_of(page.copies), class_="badge copy")
                if page.copies
                else None,
                element("span", "marked by you", class_="badge") if page.mark else None,
                class_="line quiet",
            ),
        )
        for page in pages
    ]
    note = "The page of each story that was fetched first."
    return _room("wide", "Newest stories", note, element("ol", rows, class_="list"))


def _meter(relevance: float) -> Element:
    filled = element("i", style=f"width:{100 * relevance:.0f}%")
    return element("span", filled, class_="meter", title=f"relevance {relevance:.2f}")


def _hosts(hosts: Sequence[TopicHost]) -> Element | None:
    shown = [host for host in hosts if host.pages]
    if not shown:
        return None
    names = ("host", "pages", "stories", "copies")
    rows = [
        element(
            "tr",
            element(
                "td",
                element("bdi", host.host),
                _share(host),
            ),
            element("td", f"{host.pages:,}"),
            element("td", f"{host.stories:,}"),
            element("td", f"{host.copies:,}"),
        )
        for host in shown[:MOST_HOSTS]
    ]
    more = len(shown) - MOST_HOSTS
    note = "The line shows which part of a host's pages brought stories."
    return _room(
        "narrow",
        "Hosts",
        note + (f" {more:,} more hosts are left out." if more > 0 else ""),
        element("table", element("tr", [element("th", name) for name in names]), rows),
    )


def _share(host: TopicHost) -> Element:
    parts = [100 * each / host.pages for each in (host.stories, host.copies)]
    filled = [element("i", style=f"width:{part:.1f}%") for part in parts]
    return element("span", filled, class_="share")


def _reprints(stories: Sequence[StoryLine]) -> Element | None:
    if not stories:
        return None
    note = "Texts that several URLs tell, those with the most relevant pages first."
    rows = [_story(each) for each in stories]
    return _room("wide", "Reprints", note, element("ol", rows, class_="list"))


def _story(story: StoryLine) -> Element:
    pages = () if story.pages is UNSET else story.pages
    more = story.url_count - len(pages)
    urls = [_told(story, page) for page in pages]
    if more > 0:
        urls.append(element("li", f"and {more:,} more: stories {story.story}", class_="quiet"))
    size = f"{story.url_count:,} URLs of {counted(story.host_count, 'host')}"
    return element(
        "li",
        element("h3", _link(story.earliest.url, story.title or readable(story.earliest.url))),
        element(
            "div",
            element("span", size, class_="badge copy"),
            element("span", "first ", element("bdi", story.earliest.host)),
            element("span", minute(story.earliest.at)),
            class_="line quiet",
        ),
        element(
            "details",
            element("summary", "All URLs" if more <= 0 else f"{len(pages)} of the URLs"),
            element("ul", urls, class_="urls"),
        ),
    )


def _told(story: StoryLine, page: ToldBy) -> Element:
    heads = (("earliest", story.earliest), ("longest", story.longest))
    marks = [element("span", n, class_="badge") for n, head in heads if head.url == page.url]
    about = f"{minute(page.at)} · {page.body_chars:,} characters "
    return element(
        "li", _link(page.url, readable(page.url)), element("div", about, marks, class_="quiet")
    )


def _receivers(receivers: Sequence[ReceiverLine]) -> Element | None:
    if not receivers:
        return None
    rows = [
        element(
            "li",
            element(
                "div",
                element("strong", str(each.kind)),
                element("bdi", each.target),
                element("span", "fails", class_="badge bad") if each.failing_since else None,
                class_="line",
            ),
            element("div", receiver_state(each), class_="quiet"),
        )
        for each in receivers
    ]
    note = "Who is told of new stories."
    return _room("", "Receivers", note, element("ul", rows, class_="list"))


def _footer(report: TopicReport) -> Element:
    learned = f"Links learned in {report.batches:,} batches of judged pages. "
    return element(
        "footer",
        f"{learned}A story is a text with all its reprints; only the page that was fetched first "
        f"counts as harvest. Made by {__dist__}; this file loads nothing.",
    )


def _room(class_: str, title: str, note: str, *content: Element, low: bool = False) -> Element:
    classes = " ".join(filter(None, (class_, "low" if low else "")))
    parts = (element("h2", title), element("p", note, class_="quiet"))
    return element("section", *parts, *content, class_=classes or None)


def _stack(*rooms: Element | None) -> Element | None:
    """Rooms one above the other at the right."""
    found = [room for room in rooms if room is not None]
    return element("div", found, class_="narrow stack") if found else None


def _link(url: str, text: str) -> Element:
    """A link to a page; a text alone where the URL is none of the web."""
    isolated = element("bdi", text, dir="auto")
    if not url.startswith(("http://", "https://")):
        return isolated
    return element("a", isolated, href=url, rel="noopener noreferrer nofollow")
