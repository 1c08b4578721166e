"""Why each text of a stored page was kept or cut, and what the newest model would make of it."""

from __future__ import annotations

from dataclasses import dataclass

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import CleanRecord, Verdict
from crawlclean.cleaning.why import explain
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.visits import difference
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.site_models import SiteModels

MOST_CHARS = 8 << 20
"""Longest source that is judged while somebody waits: about two seconds."""

LEAST_PART_CHARS = 4
"""Shortest text that is searched for in the text that somebody asks about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPage:
    """A stored page, read again with the model that made its record.

    Attributes:
        record: The stored record; None when a hook dropped it, or the page failed.
        again: The record of this reading.
        verdicts: Of this reading, in document order.
        model_version: Version of the model that was used; 0 without.
        is_same: Whether this reading gives the text of the stored record: its verdicts are those
            of the record then.
    """

    record: CleanRecord | None
    again: CleanRecord
    verdicts: tuple[Verdict, ...]
    model_version: int
    is_same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReading:
    """A page under the newest model of its host, compared with its record; nothing is stored.

    Attributes:
        version: Version of that model; 0: the host has none.
        lines: Lines of a unified diff of what a person sees; empty: no difference.
    """

    version: int
    lines: tuple[str, ...]


def raw_page(store: Store, page_id: str, crawl: str | None = None) -> RawPage:
    """Returns the archived answer of a page.

    Args:
        store: Holds it.
        page_id: 32 hex digits.
        crawl: Only of this crawl; None: the newest of all.

    Raises:
        NotFound: None is archived.
        ConfigError: It is too long to be read while somebody waits.
    """
    raw = store.answers.page(page_id, crawl)
    if raw is None:
        raise NotFound(
            "the raw page is gone (dropped, or never archived): the page cannot be cleaned again; "
            "fetch it again"
        )
    if len(raw.html) > MOST_CHARS:
        raise ConfigError(f"the answer has {len(raw.html):,} characters, more than is read here")
    return raw


def judge_page(store: Store, page_id: str, crawl: str | None = None) -> JudgedPage:
    """Reads a stored page again, with the model that made its record.

    Args:
        store: Holds record, answer and models.
        page_id: 32 hex digits.
        crawl: Only of this crawl; None: the newest of all.

    Raises:
        NotFound: No answer is archived.
        ConfigError: The answer is too long, or the model is of a format that cannot be read.
    """
    raw = raw_page(store, page_id, crawl)
    record = store.records.get(page_id, crawl)
    model = _model(store, raw.host, record.model_version if record else 0)
    again, found = explain(raw, model)
    is_same = record is not None and (record.title, record.body, record.posts) == (
        again.title,
        again.body,
        again.posts,
    )
    return JudgedPage(
        record=record,
        again=again,
        verdicts=found,
        model_version=again.model_version,
        is_same=is_same,
    )


def newest_reading(store: Store, judged: JudgedPage, page_id: str) -> NewReading:
    """Compares the record of a judged page with a reading under the newest model of its host.

    Raises:
        NotFound: No answer is archived.
        ConfigError: The answer is too long.
    """
    before = judged.record or judged.again
    version = store.models.newest(before.host)
    if version == judged.model_version:
        return NewReading(version=version, lines=tuple(difference(before, judged.again)))
    after = explain(raw_page(store, page_id), _model(store, before.host, version))[0]
    return NewReading(version=version, lines=tuple(difference(before, after)))


def judge_url(backends: Backends, target: str) -> JudgedPage:
    """Returns ``judge_page`` of a URL, or of the beginning of a page id.

    Args:
        backends: Queue and store.
        target: ``www.example.com/a.html`` or ``4f1193``.

    Raises:
        NotFound: No answer of it is archived.
        ConfigError: The answer is too long.
    """
    with backends.store() as store:
        name = target if is_page_id(target) else with_scheme(store, target)
        page_id = find_page(store, name)
        try:
            return judge_page(store, page_id)
        except NotFound:
            hint = f"`why {name}` shows its steps"
            raise NotFound(f"no answer of {name} is archived; {hint}") from None


def matching(verdicts: tuple[Verdict, ...], text: str) -> tuple[Verdict, ...]:
    """Returns the verdicts whose texts hold a text, or lie in it, white space apart; "": all."""
    wanted = "".join(text.split())
    owns = (("".join(each.text.split()), each) for each in verdicts)
    return tuple(
        each
        for own, each in owns
        if wanted in own or (len(own) >= LEAST_PART_CHARS and own in wanted)
    )


def _model(store: Store, host: str, version: int) -> SiteModel | None:
    return SiteModels(store, most=1).version(host, version)
