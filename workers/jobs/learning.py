"""Learns a host from its archived pages, and stores the model as the host's next version."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec import structs

from crawlclean.cleaning.document.document import Document, RawPage
from crawlclean.cleaning.errors import ConfigError, DatabaseDamaged, NotFound, StoreDamaged
from crawlclean.cleaning.learn.views import MAX_SAMPLE, choose_sample
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.model.overrides import Override, check_overrides
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.site import learn_documents, learn_site
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.store.hosts import StoredPage
from crawlclean.storage.store.models import (
    DriftEvent,
    LearnReason,
    ModelLine,
    StoredModel,
    redesign_after,
    take_back,
)
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.site_models import read_model

log = logging.getLogger(__name__)

MIN_PAGES = 8  # of the present layout; with fewer, pages of older layouts are learned from, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The result of learning a host.

    Attributes:
        model: The learned model.
        about: Its version in the store.
        is_new: Whether a new version was stored; not when the model equals the newest version.
    """

    model: SiteModel
    about: ModelLine
    is_new: bool


def learn_host(
    store: Store,
    host: str,
    reason: LearnReason,
    detail: str = "",
    most_pages: int = MAX_SAMPLE,
) -> Learned:
    """Learns a host from at most 100 of its archived pages, and stores the next version.

    Args:
        store: Holds the pages, gets the model.
        host: Lower-case authority.
        reason: Why the host is learned.
        detail: The reason in words, as ``bodies since 2026-01-31 12:00``.
        most_pages: Pages of the sample at most.

    Raises:
        NotFound: The archive holds no page of the host.
    """
    return keep_model(store, archived_model(store, host, most_pages), reason, detail)


def archived_model(store: Store, host: str, most_pages: int) -> SiteModel:
    """Learns a model from the archived pages of a host's present layout; stores nothing.

    Raises:
        NotFound: The archive holds no page of the host.
    """
    pages = list(store.hosts.archived(host))
    present = of_present_layout(pages, store.drifts.of(host))
    if len(present) < MIN_PAGES:
        present = pages
    return model_of(store, host, present, most_pages)


def of_present_layout(
    pages: Iterable[StoredPage], events: Sequence[DriftEvent]
) -> list[StoredPage]:
    """Returns the pages that were fetched since their host, or their URL class, was redesigned."""
    if not any(event.is_redesign for event in events):
        return list(pages)
    return [
        page
        for page in pages
        if redesign_after(events, class_of(page.url), page.fetched_at) is None
    ]


def model_of(
    store: Store, host: str, pages: Sequence[StoredPage], most_pages: int = MAX_SAMPLE
) -> SiteModel:
    """Learns a model from a sample of archived pages; stores nothing.

    Raises:
        NotFound: The archive holds none of the sampled pages.
    """
    urls = [page.url for page in pages]
    with _uncollected():
        return learn_site(_sample(store, host, urls, most_pages), urls)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Turns the garbage collector off: the objects of learning live until its end.

    Collecting again and again takes a sixth of the time, and finds next to no garbage.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def keep_model(store: Store, model: SiteModel, reason: LearnReason, detail: str = "") -> Learned:
    """Stores a model as the next version, unless it equals the newest one.

    The overrides of the newest one go with it.
    """
    newest = store.models.get(model.host)
    if newest is not None:
        with suppress(ConfigError):  # of another format
            model = structs.replace(model, overrides=read_model(newest).overrides)
        same = structs.replace(model, version=newest.about.version)
        if same.to_json() == newest.text:
            return Learned(model=same, about=newest.about, is_new=False)
    model, about = store_next(store, model, reason, detail)
    return Learned(model=model, about=about, is_new=True)


def learn_first(documents: Sequence[Document], most_pages: int) -> SiteModel:
    """Learns a host that has no model from pages that are not cleaned yet; stores nothing.

    Args:
        documents: Parsed pages of the host.
        most_pages: Pages of the sample at most.
    """
    by_url = {normalize(each.page.url): each for each in documents}
    with _uncollected():
        chosen = [by_url[url] for url in choose_sample(by_url, most_pages)]
        return learn_documents(chosen, set(by_url))


def keep_first(store: Store, model: SiteModel) -> Learned | None:
    """Stores the first model of a host; None when another worker was quicker."""
    about, text = _line_of(model, LearnReason.PAGES, "")
    if not store.models.save(StoredModel(about=about, text=text)):
        return None
    return Learned(model=model, about=about, is_new=True)


def keep_overrides(
    store: Store,
    host: str,
    change: Callable[[tuple[Override, ...]], Iterable[Override]],
    detail: str = "",
) -> ModelLine | None:
    """Stores a host's model with other overrides as its next version; a host needs no model before.

    Args:
        store: Holds the model.
        host: Lower-case authority.
        change: Returns the new overrides for the present ones.
        detail: Where they come from.

    Returns:
        The version; None where the present ones are the same.

    Raises:
        ConfigError: The overrides are wrong, or the model has a format this program cannot read.
    """
    newest = store.models.get(host)
    model = SiteModel(host=host, learned_at=datetime.now(UTC), page_count=0)
    if newest is not None:
        model = read_model(newest)
    overrides = tuple(change(model.overrides))
    if overrides == model.overrides:
        return None
    check_overrides(overrides)
    model = structs.replace(model, overrides=overrides)
    return store_next(store, model, LearnReason.OVERRIDES, detail)[1]


def _sample(store: Store, host: str, urls: list[str], most_pages: int) -> Iterator[RawPage]:
    """Yields the pages of the sample; what was deleted meanwhile or cannot be read is left out.

    A page that cannot be read now cannot be read later: a job that failed for it would be done
    again and again, and `run` would wait for its end.

    Raises:
        NotFound: No page is left.
        DatabaseDamaged: The store itself cannot be read.
    """
    found, unreadable = 0, ""
    for url in choose_sample(urls, most_pages):
        try:
            page = store.answers.page(page_id(url))
        except DatabaseDamaged:
            raise
        except StoreDamaged as error:
            if not unreadable:
                log.warning("page not learned from", extra={"host": host, "reason": str(error)})
            unreadable = str(error)
            continue
        if page is not None:
            found += 1
            yield page
    if not found:
        why = unreadable or "`hosts` lists what is stored"
        raise NotFound(f"the archive holds no page of {host}; {why}")


def roll_back(store: Store, host: str, version: int) -> ModelLine:
    """Stores a copy of an older version as the next version of a host's model.

    Raises:
        NotFound: The store does not have the older version (any more).
        ConfigError: The older version has a format that this program cannot read.
    """
    stored = store.models.get(host, version)
    if stored is None:
        raise NotFound(f"{host} has no version {version}; `model show {host}` lists its versions")
    why = Message("back_to", version)
    _, about = store_next(store, read_model(stored), LearnReason.ROLLBACK, why)
    take_back(store.drifts, host, version)
    return about


def store_next(
    store: Store, model: SiteModel, reason: LearnReason, detail: str
) -> tuple[SiteModel, ModelLine]:
    """Stores a model under the number after the newest version; returns (model, version)."""
    while True:
        model = structs.replace(model, version=store.models.newest(model.host) + 1)
        about, text = _line_of(model, reason, detail)
        if store.models.save(StoredModel(about=about, text=text)):
            return model, about


def _line_of(model: SiteModel, reason: LearnReason, detail: str) -> tuple[ModelLine, str]:
    """The row of a model that is stored now, and its text."""
    text = model.to_json()
    about = ModelLine(
        host=model.host,
        version=model.version,
        learned_at=model.learned_at,
        saved_at=datetime.now(UTC),
        page_count=model.page_count,
        size_bytes=len(text.encode()),
        reason=reason,
        detail=detail,
    )
    return about, text
