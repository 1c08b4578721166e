"""A topic's report as one HTML file: charts as inline SVG, no script, nothing is loaded.

The page is made as a tree of elements (``html_elements.py``) and needs no template language; its
policy (``Content-Security-Policy``) lets a browser load nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from msgspec import UNSET

from crawlclean import __dist__
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.urls.shapes import readable
from crawlclean.workers.answers.stories import StoryLine, ToldBy
from crawlclean.workers.answers.topics import (
    HarvestStep,
    ReceiverLine,
    RelevantPage,
    TopicHost,
    TopicReport,
)
from crawlclean.workers.output.html_charts import Bar, bars, curve
from crawlclean.workers.output.html_elements import Element, element, html_bytes
from crawlclean.workers.output.topic_page_style import STYLE
from crawlclean.workers.output.topic_report import (
    budget_text,
    copies_of,
    receiver_state,
    step_pages,
)

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
