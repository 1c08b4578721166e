"""Orders of crawls as an operator gives and changes them while their processes run.

The queue has the order of each crawl: its scripts read delay, slots and budget at every lease,
spiders the patterns by their digest, workers the whole order at every job. So a change holds from
the next of each on, and no process is started anew.

Who crawls: an order is opened in a queue that runs, whose processes take it up. Where none runs,
nothing is started: a crawl that a console started would end with the console's service, live in its
sandbox, and send its contact. The command that begins the crawl is told instead.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Scope
from crawlclean.storage.queue.ownership import check_owner
from crawlclean.workers.config import Settings, read_value, setting_keys
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_states import change_state
from crawlclean.workers.operations.controlling.fetching_again import read_since
from crawlclean.workers.operations.crawling.specs import crawl_spec

SETTINGS = {
    "scope": "scope",
    "include": "include",
    "exclude": "exclude",
    "delay": "delay_s",
    "max_pages": "max_pages",
    "max_depth": "max_depth",
}
"""Name of a value of an order -> the setting that has the same meaning."""

ORDER = ("seeds", *SETTINGS, "ends")
"""The values of an order that can be given, as texts."""


def texts_of(spec: CrawlSpec) -> dict[str, str]:
    """The values of an order as a person writes them: ``{"delay": "2.5", "max_pages": "", ...}``.

    Seeds and patterns stand on a line each.
    """
    numbers = (spec.max_pages, spec.max_depth)
    most = ["" if n is None else str(n) for n in numbers]
    return {
        "seeds": "\n".join(spec.seeds),
        "scope": spec.scope.value,
        "include": "\n".join(spec.include),
        "exclude": "\n".join(spec.exclude),
        "delay": "" if spec.delay_ms is None else f"{spec.delay_ms / 1000:g}",
        "max_pages": most[0],
        "max_depth": most[1],
        "ends": spec.ends_at.isoformat(timespec="seconds") if spec.ends_at else "",
    }


def read_order(
    settings: Settings, name: str, texts: Mapping[str, str], before: CrawlSpec | None = None
) -> CrawlSpec:
    """The order of a crawl with given values.

    Args:
        settings: What is not given.
        name: Of the crawl; ``""`` derives one from the seeds.
        texts: As ``texts_of``. With seeds the others are whole: an empty one is none.
        before: The order that is changed; without it a value that is empty is the setting's.

    Raises:
        ConfigError: A value is wrong, or there is no seed.
    """
    if before and not texts.get("seeds"):
        texts = texts_of(before) | {key: text for key, text in texts.items() if text}
    given = {each: texts.get(each, "").strip() for each in ORDER}
    keys = setting_keys()
    values = {
        setting: read_value(keys[setting], given[each], named=each)
        for each, setting in SETTINGS.items()
        if given[each] or (before and each != "scope")
    }
    of_topic = values.get("scope") is Scope.TOPIC
    if of_topic and before and before.topic:
        del values["scope"]  # no setting has it
    private = settings.crawl.allow_private or bool(before and before.allow_private)
    crawl = replace(settings.crawl, **values, allow_private=private)
    urls = given["seeds"].split()
    if not urls:
        raise ConfigError("a crawl needs a seed: a URL, such as https://www.example.com/")
    spec = replace(
        crawl_spec(replace(settings, crawl=crawl), urls, name), ends_at=_end(given["ends"])
    )
    if before is None:
        return spec
    return replace(
        before,
        seeds=spec.seeds,
        scope=before.scope if of_topic else spec.scope,
        include=spec.include,
        exclude=spec.exclude,
        delay_ms=spec.delay_ms,
        max_pages=spec.max_pages,
        max_depth=spec.max_depth,
        ends_at=spec.ends_at,
    )


def _end(text: str) -> datetime | None:
    """The time of ``2h`` (from now), ``2026-01-31T12:00``; None of ``""``."""
    now = datetime.now(UTC)
    at = read_since(text, now)
    return at if at is None or "-" in text else now + (now - at)


def command_of(settings: Settings, spec: CrawlSpec) -> str:
    """The command that begins a crawl on this data folder, or goes on with it."""
    words = [__dist__, "topic", spec.topic] if spec.topic else [__dist__, "run", *spec.seeds]
    if not spec.topic:
        words += ["--crawl", spec.crawl_id, "--scope", spec.scope.value]
    texts = texts_of(spec)
    options = {"delay": "--delay", "max_pages": "--max-pages", "max_depth": "--depth"}
    for each, option in options.items():
        words += [option, texts[each]] if texts[each] else []
    for option, patterns in (("--include", spec.include), ("--exclude", spec.exclude)):
        words += [f"{option}={pattern}" for pattern in patterns]
    for option, is_on in (
        ("--allow-private", spec.allow_private),
        ("--images", spec.images),
        ("--keep-fresh", spec.keep_fresh),
    ):
        words += [option] if is_on else []
    if settings.storage.is_embedded:
        words += ["--data", str(settings.storage.data.absolute())]
    return shlex.join(words)


def open_order(backends: Backends, spec: CrawlSpec, who: str = "") -> None:
    """Opens a crawl in the queue that runs: its processes take it up.

    Raises:
        NotFound: No crawl runs on the data folder.
        StorageError: Another living queue runs a crawl of this name.
    """
    with backends.queue() as frontier, backends.store() as store:
        check_owner(backends.settings.storage, frontier, store, [spec.crawl_id])
        queue = frontier.queue_id()
        store.crawls.give_to(spec.crawl_id, queue)  # else housekeepers stop it
        frontier.open_crawl(spec)
        store.crawls.put(spec, CrawlState.RUNNING, who, queue=queue)


def change_order(backends: Backends, spec: CrawlSpec, who: str = "") -> None:
    """Changes the order of a crawl; what it left out before is not offered again.

    A crawl that had ended goes on if the new order leaves URLs to fetch.

    Raises:
        NotFound: The queue has no such crawl.
        StorageError: Another living queue runs the crawl.
    """
    crawl = spec.crawl_id
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        check_owner(backends.settings.storage, frontier, store, [crawl])
        frontier.change_order(spec)
        counts = frontier.counts(crawl)
        store.crawls.put(spec, counts.state)
        goes_on = counts.state is CrawlState.FINISHED and counts.open and not counts.is_spent
    if goes_on:
        change_state(backends, crawl, CrawlState.RUNNING, who=who)
