"""Topics as lines for people."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import suppress

from msgspec import UNSET

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.lexicon import counted
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.topics import (
    HarvestStep,
    ReceiverLine,
    TopicBudget,
    TopicImages,
    TopicLine,
    TopicPicture,
    TopicReport,
)
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.topics.reports import STEP_PAGES
from crawlclean.workers.output.progress import Part, Progress

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
                share = f" ({100 * relevant / pages:.0f} %)" if pages else ""
                self._text = f"relevant {relevant}{share}"
            self._counted_at = time.monotonic()
        return [Part(self._text)] if self._text else []


MOST_HOSTS, MOST_SEEDS, MOST_DAYS = 20, 10, 60
"""Lines of a report for a terminal; its JSON has them all."""
_BARS = " ▁▂▃▄▅▆▇█"


def topic_lines(topic: TopicLine) -> Iterator[str]:
    """What the user asked, and how many pages were found."""
    note = f": {topic.note}" if topic.note else ""
    yield f"topic {topic.topic}, version {topic.version}, {topic.state}{note}"
    yield f"  query      {topic.query}"
    for group in topic.synonyms:
        yield f"  synonyms   {' | '.join(group)}"
    if topic.excluded:
        yield f"  excluded   {' '.join(topic.excluded)}"
    for example in topic.examples:
        yield f"  example    {example}"
    yield f"  threshold  {topic.threshold:g}"
    yield from _option_lines(topic)
    for receiver in topic.receivers:
        yield f"  {receiver.kind:<9}  {receiver.target}"
        yield f"             {receiver_state(receiver)}"
    yield f"  {_pages(topic)}"


def _option_lines(topic: TopicLine) -> Iterator[str]:
    """The seeds, and the options of the crawl as they are typed; what has no limit is left out."""
    options = topic.options
    seeds = options.seeds if options else ()
    for seed in seeds[:MOST_SEEDS]:
        yield f"  seed       {seed}"
    if len(seeds) > MOST_SEEDS:
        yield f"             and {len(seeds) - MOST_SEEDS} more"
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
        yield f"  options    {' '.join(typed)}"
    if options is None:
        return
    robots = "obeyed" if options.page_robots else "not obeyed"
    yield (
        f"  politeness by {options.politeness}, pause at least {options.delay_factor:g} x the "
        f"response time; noindex and nofollow are {robots}"
    )
    for host in options.hosts:
        own = [] if host.delay_ms is None else [f"delay {host.delay_ms / 1000:g} s"]
        own += [] if host.slots is None else [counted(host.slots, "slot")]
        yield f"  host       {host.pattern}: {', '.join(own)}"


def receiver_state(receiver: ReceiverLine) -> str:
    """``98 sent, 23 copies not sent, 4 wait; fails since 2026-11-23 05:00 UTC: status 500``."""
    parts = [f"{receiver.sent} sent"]
    if receiver.copies:
        parts.append(f"{counted(receiver.copies, 'copy')} not sent")
    if receiver.given_up:
        parts.append(f"{receiver.given_up} given up")
    parts.append(f"{receiver.waiting} wait")
    state = ", ".join(parts)
    if receiver.failing_since and receiver.next_try:
        since, again = receiver.failing_since, receiver.next_try
        state += f"; fails since {since:%Y-%m-%d %H:%M} UTC: {receiver.last_error}"
        state += f"; tried again at {again:%Y-%m-%d %H:%M:%S}"
    return state


def _pages(topic: TopicLine) -> str:
    marked = f", {topic.marked} marked by you" if topic.marked else ""
    outdated = f", {topic.outdated} to be judged anew" if topic.outdated else ""
    rate = rate_of(topic.relevant, topic.pages)
    unread = f", {topic.unread} of other crawls to be looked at" if topic.unread else ""
    pages = f"{topic.pages} pages judged, {topic.relevant} relevant ({rate})"
    return f"{pages}{marked}{outdated}{unread}"


def rate_of(relevant: int, pages: int) -> str:
    """``28 %``; ``-`` without pages."""
    return f"{100 * relevant / pages:.0f} %" if pages else "-"


def report_lines(report: TopicReport) -> Iterator[str]:
    """The report: harvest, newest stories, reprints, hosts."""
    yield from topic_lines(report.topic)
    rate = rate_of(report.stories, report.topic.pages)
    copies = counted(report.copies, "copy")
    yield f"  harvest: {counted(report.stories, 'story')} ({rate}), {copies}"
    if report.adopted:
        yield f"  {report.adopted} of the pages fetched by other crawls"
    waiting = "" if report.waiting is None else f", {report.waiting} URLs wait"
    yield f"  links learned in {report.batches} batches{waiting}"
    yield f"  budget: {budget_text(report.budget)}"
    if report.harvest:
        most = max(max(each.stories for each in report.harvest), 1)
        bars = "".join(_BARS[-(-8 * each.stories // most)] for each in report.harvest)
        numbers = " ".join(str(each.stories) for each in report.harvest)
        yield f"stories of each {step_pages(report)} pages: {numbers}"
        yield f"  {bars}"
    for day in report.days[-MOST_DAYS:]:
        yield f"{day.day}  {_harvest(day)}"
    if report.images is not UNSET:
        yield _images(report.images)
    if report.newest:
        yield "newest stories:"
    for page in report.newest:
        mark = " (marked by you)" if page.mark else ""
        copies = f", {counted(page.copies, 'copy')}" if page.copies else ""
        at = f"{page.fetched_at:%Y-%m-%d %H:%M}"
        yield f"  {at}  {page.relevance:.2f}  {page.title}{mark}{copies}"
        yield f"    {page.url}"
    yield from _reprint_lines(report)
    yield from _host_lines(report)


def _reprint_lines(report: TopicReport) -> Iterator[str]:
    if report.reprints:
        yield "reprints (`stories ID` lists all URLs):"
    for story in report.reprints:
        hosts = counted(story.host_count, "host")
        yield f"  {story.story}  {story.url_count} URLs of {hosts}  {story.title}"
        yield f"    earliest  {story.earliest.at:%Y-%m-%d %H:%M}  {story.earliest.url}"
        if story.longest.url != story.earliest.url:
            yield f"    longest   {story.longest.body_chars} characters  {story.longest.url}"


def _host_lines(report: TopicReport) -> Iterator[str]:
    shown = [host for host in report.hosts if host.pages]
    if shown:
        yield "hosts:"
    for host in shown[:MOST_HOSTS]:
        yield f"  {host.host}  {_harvest(host)}"
    if len(shown) > MOST_HOSTS:
        yield f"  and {len(shown) - MOST_HOSTS} more hosts"


def step_pages(report: TopicReport) -> int:
    """Pages of a step of the harvest."""
    return max(each.pages for each in report.harvest) if len(report.harvest) > 1 else STEP_PAGES


def budget_text(budget: TopicBudget) -> str:
    """What a topic may spend: ``398 of 5000 pages, 120 in the last hour (about 100 wanted)``."""
    pages = (
        str(budget.pages) if budget.max_pages is None else f"{budget.pages} of {budget.max_pages}"
    )
    wanted = f" (about {budget.pages_per_hour:g} wanted)" if budget.pages_per_hour else ""
    return f"{pages} pages, {budget.last_hour} in the last hour{wanted}"


def _harvest(step: HarvestStep) -> str:
    copies = f", {counted(step.copies, 'copy')}" if step.copies else ""
    return f"{counted(step.pages, 'page')}, {counted(step.stories, 'story')}{copies}"


def _images(images: TopicImages) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in images.refused.items())
    copies = images.stored - images.pictures
    return (
        f"images on relevant pages: {images.shown}, refused {sum(images.refused.values())}"
        f"{f' ({kinds})' if kinds else ''}; stored {images.stored} of {images.content}, "
        f"{images.pictures} pictures and {copies} {'copy' if copies == 1 else 'copies'}"
    )


def picture_lines(picture: TopicPicture) -> Iterator[str]:
    """A picture with its page, and its copies if they are asked for."""
    image = picture.largest
    size = f"{image.width} x {image.height}" if image.width else image.media_type
    copies = f", {picture.copies} copies" if picture.copies > 1 else ""
    yield f"{picture.picture}  {size}, {image.bytes:,} bytes{copies}  {image.caption or image.alt}"
    yield f"  {image.url}"
    yield f"  on {image.page}"
    for other in picture.others or ():
        yield f"  copy {other.url} ({other.width} x {other.height}) on {other.page}"
