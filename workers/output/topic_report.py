"""Topics as lines for people."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import suppress

from msgspec import UNSET

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.notices import ReceiverLine
from crawlclean.workers.answers.topics import (
    HarvestStep,
    TopicBudget,
    TopicImages,
    TopicLine,
    TopicPicture,
    TopicReport,
)
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.topics.reports import STEP_PAGES
from crawlclean.workers.output.printing import padded
from crawlclean.workers.output.progress import Part, Progress
from crawlclean.workers.spoken import counted, say, term, told

# Progress of a topic crawl: the line of a crawl, with the relevant pages.

COUNT_S = 3.0  # between two counts of relevant pages


class TopicProgress(Progress):
    """Shows the counts of a topic crawl on standard error."""

    def __init__(self, settings: Settings, topic: str, max_time_s: float | None) -> None:
        """Shows nothing yet.

        Args:
            settings: Where the store is.
            topic: Name of the topic.
            max_time_s: When the crawl ends at the latest.
        """
        super().__init__(max_time_s=max_time_s)
        self._settings = settings
        self._topic = topic
        self._store: Store | None = None
        self._counted_at = 0.0
        self._text = ""

    def more_parts(self) -> list[Part]:
        """``relevant 34 (28 %)``; the numbers are at most ``COUNT_S`` old."""
        if time.monotonic() - self._counted_at > COUNT_S:
            with suppress(ServiceError):
                if self._store is None:
                    self._store = open_store(self._settings.storage)
                pages, relevant, *_ = self._store.topics.counts(self._topic, 0)
                share = say(" ({detail})", detail=rate_of(relevant, pages)) if pages else ""
                self._text = say("relevant {n}{share}", n=relevant, share=share)
            self._counted_at = time.monotonic()
        return [Part(self._text)] if self._text else []


FIELD_CHARS = 9  # the widest name and a space
MOST_HOSTS, MOST_SEEDS, MOST_DAYS = 20, 10, 60
"""Lines of a report for a terminal; its JSON has them all."""
_BARS = " ▁▂▃▄▅▆▇█"


def topic_lines(topic: TopicLine) -> Iterator[str]:
    """What the user asked, and how many pages were found."""
    state = term("topic_state", topic.state)
    state += say(": ") + told(topic.note) if topic.note else ""
    told_as = "topic {topic.topic}, version {topic.version}, {state}"
    yield say(told_as, topic=topic, state=state)
    yield _field("query", topic.query)
    for group in topic.synonyms:
        yield _field("synonyms", " | ".join(group))
    if topic.excluded:
        yield _field("excluded", " ".join(topic.excluded))
    for example in topic.examples:
        yield _field("example", example)
    yield _field("threshold", f"{topic.threshold:g}")
    yield from _option_lines(topic)
    for receiver in topic.receivers:
        yield _field(receiver.kind, receiver.target)
        yield _field("", receiver_state(receiver))
    yield f"  {_pages(topic)}"


def _field(name: str, value: str) -> str:
    """``  query      mooncake``."""
    return f"  {padded(say(name), FIELD_CHARS)}  {value}"


def _option_lines(topic: TopicLine) -> Iterator[str]:
    """The seeds, and the options of the crawl as they are typed; what has no limit is left out."""
    options = topic.options
    seeds = options.seeds if options else ()
    for seed in seeds[:MOST_SEEDS]:
        yield _field("seed", seed)
    if len(seeds) > MOST_SEEDS:
        yield _field("", say("and {n} more", n=len(seeds) - MOST_SEEDS))
    typed = [] if topic.pages_per_hour is None else [f"--pages-per-hour {topic.pages_per_hour:g}"]
    if options:
        typed += [f"--scope {options.scope}"]
        for name, value in (
            ("max-pages", options.max_pages),
            ("depth", options.max_depth),
            ("delay", options.delay_s),
            ("slots", options.slots),
            ("trap-pages", options.trap_pages),
        ):
            typed += [] if value is None else [f"--{name} {value:g}"]
        typed += [f"--include {shlex.quote(each)}" for each in options.include]
        typed += [f"--exclude {shlex.quote(each)}" for each in options.exclude]
        typed += [f"--keep-raw {options.keep_raw}"]
        flags = ("verify_tls", "allow_private", "images", "keep_fresh")
        typed += [f"--{each.replace('_', '-')}" for each in flags if getattr(options, each)]
    if typed:
        yield _field("options", " ".join(typed))
    if options is None:
        return
    yield "  " + say(
        "politeness by {by}, pause at least {factor:g} x the response time; noindex and nofollow "
        "are {robots}",
        by=say(options.politeness),
        factor=options.delay_factor,
        robots=say("obeyed") if options.page_robots else say("not obeyed"),
    )
    for host in options.hosts:
        own = [] if host.delay_ms is None else [say("delay {s:g} s", s=host.delay_ms / 1000)]
        own += [] if host.slots is None else [counted(host.slots, "slot")]
        yield _field("host", f"{host.pattern}: {say(', ').join(own)}")


def receiver_state(receiver: ReceiverLine) -> str:
    """``98 sent, 23 copies not sent, 4 wait; fails since 2026-11-23 05:00 UTC: status 500``."""
    parts = [say("{n} sent", n=receiver.sent)]
    if receiver.copies:
        parts.append(say("{copies} not sent", copies=counted(receiver.copies, "copy")))
    if receiver.given_up:
        parts.append(say("{n} given up", n=receiver.given_up))
    parts.append(say("{n} wait", n=receiver.waiting))
    state = say(", ").join(parts)
    if receiver.failing_since and receiver.next_try:
        state += say(
            "; fails since {since:%Y-%m-%d %H:%M} UTC: {error}; tried again at "
            "{again:%Y-%m-%d %H:%M:%S}",
            since=receiver.failing_since,
            error=told(receiver.last_error),
            again=receiver.next_try,
        )
    return state


def _pages(topic: TopicLine) -> str:
    marked = say(", {n} marked by you", n=topic.marked) if topic.marked else ""
    outdated = say(", {n} to be judged anew", n=topic.outdated) if topic.outdated else ""
    unread = say(", {n} of other crawls to be looked at", n=topic.unread) if topic.unread else ""
    judged = "{topic.pages} pages judged, {topic.relevant} relevant ({rate})"
    pages = say(judged, topic=topic, rate=rate_of(topic.relevant, topic.pages))
    return f"{pages}{marked}{outdated}{unread}"


def rate_of(relevant: int, pages: int) -> str:
    """``28 %``; ``-`` without pages."""
    return f"{100 * relevant / pages:.0f} %" if pages else "-"


def report_lines(report: TopicReport) -> Iterator[str]:
    """The report: harvest, newest stories, reprints, hosts."""
    yield from topic_lines(report.topic)
    yield "  " + say(
        "harvest: {stories} ({rate}), {copies}",
        stories=counted(report.stories, "story"),
        rate=rate_of(report.stories, report.topic.pages),
        copies=counted(report.copies, "copy"),
    )
    if report.adopted:
        yield "  " + say("{n} of the pages fetched by other crawls", n=report.adopted)
    waiting = "" if report.waiting is None else say(", {n} URLs wait", n=report.waiting)
    learned = "links learned in {n} batches{waiting}"
    yield "  " + say(learned, n=report.batches, waiting=waiting)
    yield "  " + say("budget: {budget}", budget=budget_text(report.budget))
    if report.harvest:
        most = max(max(each.stories for each in report.harvest), 1)
        bars = "".join(_BARS[-(-8 * each.stories // most)] for each in report.harvest)
        numbers = " ".join(str(each.stories) for each in report.harvest)
        each = "stories of each {n} pages: {numbers}"
        yield say(each, n=step_pages(report), numbers=numbers)
        yield f"  {bars}"
    for day in report.days[-MOST_DAYS:]:
        yield f"{day.day}  {_harvest(day)}"
    if report.images is not UNSET:
        yield _images(report.images)
    if report.newest:
        yield say("newest stories:")
    for page in report.newest:
        mark = say(" (marked by you)") if page.mark else ""
        copies = say(", ") + counted(page.copies, "copy") if page.copies else ""
        at = f"{page.published_at or page.fetched_at:%Y-%m-%d %H:%M}"
        yield f"  {at}  {page.relevance:.2f}  {page.title}{mark}{copies}"
        yield f"    {page.url}"
    yield from _reprint_lines(report)
    yield from _host_lines(report)


def _reprint_lines(report: TopicReport) -> Iterator[str]:
    if report.reprints:
        yield say("reprints (`stories ID` lists all URLs):")
    earliest, longest = (padded(say(name), 8) for name in ("earliest", "longest"))
    for story in report.reprints:
        urls, hosts = counted(story.url_count, "URL"), counted(story.host_count, "host")
        of = say("{urls} of {hosts}", urls=urls, hosts=hosts)
        yield f"  {story.story}  {of}  {story.title}"
        yield f"    {earliest}  {story.earliest.at:%Y-%m-%d %H:%M}  {story.earliest.url}"
        if story.longest.url != story.earliest.url:
            chars = say("{n} characters", n=story.longest.body_chars)
            yield f"    {longest}  {chars}  {story.longest.url}"


def _host_lines(report: TopicReport) -> Iterator[str]:
    shown = [host for host in report.hosts if host.pages]
    if shown:
        yield say("hosts:")
    for host in shown[:MOST_HOSTS]:
        yield f"  {host.host}  {_harvest(host)}"
    if len(shown) > MOST_HOSTS:
        yield "  " + say("and {n} more hosts", n=len(shown) - MOST_HOSTS)


def step_pages(report: TopicReport) -> int:
    """Pages of a step of the harvest."""
    return max(each.pages for each in report.harvest) if len(report.harvest) > 1 else STEP_PAGES


def budget_text(budget: TopicBudget) -> str:
    """What a topic may spend: ``398 of 5000 pages, 120 in the last hour (about 100 wanted)``."""
    pages = str(budget.pages)
    if budget.max_pages is not None:
        pages = say("{part} of {all}", part=budget.pages, all=budget.max_pages)
    per_hour = budget.pages_per_hour
    wanted = say(" (about {n:g} wanted)", n=per_hour) if per_hour else ""
    spent = "{pages} pages, {n} in the last hour{wanted}"
    return say(spent, pages=pages, n=budget.last_hour, wanted=wanted)


def _harvest(step: HarvestStep) -> str:
    parts = [counted(step.pages, "page"), counted(step.stories, "story")]
    return say(", ").join([*parts, *([counted(step.copies, "copy")] if step.copies else [])])


def _images(images: TopicImages) -> str:
    counts = (f"{n} {term('image_kind', kind)}" for kind, n in images.refused.items())
    kinds = say(", ").join(counts)
    return say(
        "images on relevant pages: {images.shown}, refused {refused}{kinds}; stored "
        "{images.stored} of {images.content}, {images.pictures} pictures and {copies}",
        images=images,
        refused=sum(images.refused.values()),
        kinds=say(" ({detail})", detail=kinds) if kinds else "",
        copies=counted(images.stored - images.pictures, "copy"),
    )


def picture_lines(picture: TopicPicture) -> Iterator[str]:
    """A picture with its page, and its copies if they are asked for."""
    image = picture.largest
    size = f"{image.width} x {image.height}" if image.width else image.media_type
    copies = say(", {n} copies", n=picture.copies) if picture.copies > 1 else ""
    about = say("{size}, {bytes:,} bytes{copies}", size=size, bytes=image.bytes, copies=copies)
    yield f"{picture.picture}  {about}  {image.caption or image.alt}"
    yield f"  {image.url}"
    yield "  " + say("on {page}", page=image.page)
    for other in picture.others or ():
        told_as = "copy {other.url} ({other.width} x {other.height}) on {other.page}"
        yield "  " + say(told_as, other=other)
