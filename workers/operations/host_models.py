"""Learns, lists, compares, rolls back and explains the model versions of a host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cleaning import clean
from cleaning.errors import InvalidUrl, NotFound
from cleaning.learn.model_diff import differences, explain
from cleaning.model.site_model import SiteModel
from cleaning.records import CleanRecord
from cleaning.urls.normal_form import host_of, normalize, page_id
from storage.store.drifts import DriftEvent
from storage.store.models import LearnReason, ModelVersion, StoredModel
from storage.store.protocol import Store
from workers.config import Settings
from workers.jobs.learning import Learned, learn_host, roll_back
from workers.operations.backends import existing_store
from workers.operations.near_matches import did_you_mean, near_hosts
from workers.site_models import read_model

MAX_PAGES = 5  # named as examples


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHistory:
    """One version of a host's model, the list of all versions, and the host's changes.

    Attributes:
        stored: The requested version.
        versions: Every stored version.
        drifts: When the host changed, newest first.
    """

    stored: StoredModel
    versions: Sequence[ModelVersion]
    drifts: Sequence[DriftEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDiff:
    """The differences between two versions of a host's model, one line each."""

    host: str
    lines: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReasons:
    """Why a text, a link or an image is template.

    Attributes:
        host: Lower-case authority.
        version: Of the host's model.
        found: A line for each reason; empty when it is not template.
        elsewhere: A line with the pages that have it when it is not template; ``""`` otherwise.
    """

    host: str
    version: int
    found: Sequence[str]
    elsewhere: str


def learn_now(settings: Settings, host: str) -> Learned:
    """Learns a host from the archive, and stores a changed model as its next version.

    Args:
        settings: Where the store is.
        host: A host, or any URL of it.

    Raises:
        NotFound: The archive holds no page of the host.
    """
    with existing_store(settings) as store:
        return learn_host(store, host_named(host), LearnReason.ASKED)


def find_models(settings: Settings, host: str, version: int | None) -> ModelHistory:
    """Returns a version of a host's model (None: the one in use) and the list of all versions.

    Raises:
        NotFound: The host does not have the version.
    """
    with existing_store(settings) as store:
        stored = find_version(store, host_named(host), version)
        return ModelHistory(
            stored=stored,
            versions=store.models.versions(stored.about.host),
            drifts=store.drifts.of(stored.about.host),
        )


def compare_models(settings: Settings, host: str, old: int, new: int) -> ModelDiff:
    """Returns the differences from an older to a newer version of a host's model.

    Raises:
        NotFound: The host does not have one of the versions.
    """
    with existing_store(settings) as store:
        before, after = (
            read_model(find_version(store, host_named(host), each)) for each in (old, new)
        )
    return ModelDiff(host=before.host, lines=tuple(differences(before, after)))


def take_up(settings: Settings, host: str, version: int) -> ModelVersion:
    """Rolls a host back to an older version of its model; returns the copy that is in use now.

    Raises:
        NotFound: The host does not have the version.
    """
    with existing_store(settings) as store:
        return roll_back(store, host_named(host), version)


def explain_template(
    settings: Settings, host: str, version: int | None, text: str
) -> TemplateReasons:
    """Returns why a text, a link or an image is template, and on which pages it was seen.

    Args:
        settings: Where the store is.
        host: A host, or any URL of it.
        version: Of its model; None: the one in use.
        text: A line of text, or the URL of a link or an image.

    Raises:
        NotFound: The host does not have the version.
    """
    with existing_store(settings) as store:
        model = read_model(find_version(store, host_named(host), version))
        url = _url_of(text)
        found = list(_explain_url(store, model, url) if url else explain(model, text))
        elsewhere = "" if found else _seen_on(store, model, text)
    return TemplateReasons(host=model.host, version=model.version, found=found, elsewhere=elsewhere)


def _url_of(text: str) -> str:
    """Returns a URL normalized; ``""`` for any other text."""
    try:
        return normalize(text) if "://" in text else ""
    except InvalidUrl:
        return ""


def _explain_url(store: Store, model: SiteModel, url: str) -> Iterator[str]:
    """Yields lines about a URL: what the model knows, and its kinds on the sampled pages."""
    if host_of(url) == model.host:
        yield f"its URL class leads to: {model.url_kind(url)}"
    for name, shares in (("a link", model.noise.links), ("an image", model.noise.images)):
        if url in shares:
            share = shares[url]
            pages = round(share * (model.page_count - 1)) + 1
            yield f"{name} that repeats: on {pages} of {model.page_count} pages (m2 {share:.2f})"
    verdicts: Counter[str] = Counter()
    pages_with: dict[str, list[str]] = {}
    for record in _sample_records(store, model):
        for verdict in _verdicts(record, url):
            verdicts[verdict] += 1
            pages_with.setdefault(verdict, []).append(record.url)
    for verdict, count in verdicts.most_common():
        yield f"{verdict} on {count} of {model.page_count} pages: {_shown(pages_with[verdict])}"


def _seen_on(store: Store, model: SiteModel, text: str) -> str:
    """Returns a line with the number of sampled pages that have a text that is not template."""
    pages = bodies = 0
    for url in model.sample:
        page = store.answers.page(page_id(url))
        if page is not None and text in page.html:
            pages += 1
            bodies += text in clean(page, model).body
    return (
        f"not in a line or title end that repeats on {model.host}: it is on {pages} of the "
        f"{model.page_count} pages that were learned from, in the body of {bodies}"
    )


def _sample_records(store: Store, model: SiteModel) -> Iterator[CleanRecord]:
    for url in model.sample:
        page = store.answers.page(page_id(url))
        if page is not None:
            yield clean(page, model)


def _verdicts(record: CleanRecord, url: str) -> set[str]:
    """Returns the kinds that a URL has on a page: ``{"link navigation (link_list)"}``."""
    links = {f"link {each.kind} ({each.reason})" for each in record.links if each.url == url}
    return links | {
        f"image {each.kind} ({each.reason})" for each in record.images if each.url == url
    }


def _shown(urls: Sequence[str]) -> str:
    return ", ".join(urls[:MAX_PAGES]) + (" ..." if len(urls) > MAX_PAGES else "")


def host_named(text: str) -> str:
    """Returns the host of ``Example.com`` or ``http://example.com/a``: ``example.com``.

    Raises:
        InvalidUrl: The text is neither a host nor a URL.
    """
    return host_of(normalize(text if "://" in text else f"http://{text}/"))


def find_version(store: Store, host: str, version: int | None) -> StoredModel:
    """Returns a version of a host's model, the one in use when ``version`` is None.

    Raises:
        NotFound: The host does not have the version, or any.
    """
    stored = store.models.get(host, version)
    if stored is not None:
        return stored
    if version is not None and store.models.newest(host):
        raise NotFound(f"{host} has no version {version}; `model {host}` lists its versions")
    hint = "" if store.statistics.crawls_of([host]) else did_you_mean(near_hosts(store, host))
    raise NotFound(f"{host} has no model; `learn {host}` learns it from the archive{hint}")
