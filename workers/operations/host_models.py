"""The versions of a host's model: learned, compared, taken up again, asked why."""

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
from workers.jobs.site_models import read_model
from workers.operations.backends import existing_store

MAX_PAGES = 5  # named as examples


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHistory:
    """One version of a host's model, and what else is kept of its models.

    Attributes:
        stored: The version that was asked for.
        versions: Every version that is kept.
        drifts: When the host changed, newest first.
    """

    stored: StoredModel
    versions: Sequence[ModelVersion]
    drifts: Sequence[DriftEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDiff:
    """What distinguishes two versions of a host's model, a line for each difference."""

    host: str
    lines: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReasons:
    """Why a text, a link or an image is template.

    Attributes:
        host: Whose model was asked.
        version: Its version.
        found: A line for each reason; empty when it is no template.
        elsewhere: Where it is when it is no template, in a line; ``""`` otherwise.
    """

    host: str
    version: int
    found: Sequence[str]
    elsewhere: str


def learn_now(settings: Settings, host: str) -> Learned:
    """Learns a host from the archive, and stores what is new as its next version.

    Args:
        settings: Where the store is.
        host: A host's name or any address of it.

    Raises:
        NotFound: The archive holds no page of the host.
    """
    with existing_store(settings) as store:
        return learn_host(store, host_named(host), LearnReason.ASKED)


def find_models(settings: Settings, host: str, version: int | None) -> ModelHistory:
    """Returns a version of a host's model (None: the one in use) and all that are kept.

    Raises:
        NotFound: The host has no such version.
    """
    with existing_store(settings) as store:
        stored = find_version(store, host_named(host), version)
        return ModelHistory(
            stored=stored,
            versions=store.models.versions(stored.about.host),
            drifts=store.drifts.of(stored.about.host),
        )


def compare_models(settings: Settings, host: str, old: int, new: int) -> ModelDiff:
    """Returns what the newer of two versions of a host's model holds that the older does not.

    Raises:
        NotFound: The host has no such version.
    """
    with existing_store(settings) as store:
        before, after = (
            read_model(find_version(store, host_named(host), each)) for each in (old, new)
        )
    return ModelDiff(host=before.host, lines=tuple(differences(before, after)))


def take_up(settings: Settings, host: str, version: int) -> ModelVersion:
    """Makes an older version the one in use, under the next number.

    Raises:
        NotFound: The host has no such version.
    """
    with existing_store(settings) as store:
        return roll_back(store, host_named(host), version)


def explain_template(
    settings: Settings, host: str, version: int | None, text: str
) -> TemplateReasons:
    """Returns why a text, a link or an image is template, and on which pages it was seen.

    Args:
        settings: Where the store is.
        host: A host's name or any address of it.
        version: Of its model; None: the one in use.
        text: A line of text, or the address of a link or an image.

    Raises:
        NotFound: The host has no such version.
    """
    with existing_store(settings) as store:
        model = read_model(find_version(store, host_named(host), version))
        address = _address(text)
        found = list(_about_address(store, model, address) if address else explain(model, text))
        elsewhere = "" if found else _seen_on(store, model, text)
    return TemplateReasons(host=model.host, version=model.version, found=found, elsewhere=elsewhere)


def _address(text: str) -> str:
    """The normal form of an address; ``""`` for any other text."""
    try:
        return normalize(text) if "://" in text else ""
    except InvalidUrl:
        return ""


def _about_address(store: Store, model: SiteModel, address: str) -> Iterator[str]:
    """What the model knows of an address, and its kind on the pages that taught the model."""
    if host_of(address) == model.host:
        yield f"its class of URLs leads to: {model.url_kind(address)}"
    for name, shares in (("a link", model.noise.links), ("an image", model.noise.images)):
        if address in shares:
            share = shares[address]
            pages = round(share * (model.page_count - 1)) + 1
            yield f"{name} that repeats: on {pages} of {model.page_count} pages (m2 {share:.2f})"
    verdicts: Counter[str] = Counter()
    pages_with: dict[str, list[str]] = {}
    for record in _sample_records(store, model):
        for verdict in _verdicts(record, address):
            verdicts[verdict] += 1
            pages_with.setdefault(verdict, []).append(record.url)
    for verdict, count in verdicts.most_common():
        yield f"{verdict} on {count} of {model.page_count} pages: {_shown(pages_with[verdict])}"


def _seen_on(store: Store, model: SiteModel, text: str) -> str:
    """On how many of the learned pages a text or address stands that is no template, in a line."""
    pages = bodies = 0
    for url in model.sample:
        page = store.answers.page(page_id(url))
        if page is not None and text in page.html:
            pages += 1
            bodies += text in clean(page, model).body
    return (
        f"no line or title end that repeats on {model.host} has it: it is on {pages} of the "
        f"{model.page_count} pages that were learned from, in the body of {bodies}"
    )


def _sample_records(store: Store, model: SiteModel) -> Iterator[CleanRecord]:
    for url in model.sample:
        page = store.answers.page(page_id(url))
        if page is not None:
            yield clean(page, model)


def _verdicts(record: CleanRecord, address: str) -> set[str]:
    """The kinds that an address has on a page, as ``link navigation (link_list)``."""
    links = {f"link {each.kind} ({each.reason})" for each in record.links if each.url == address}
    return links | {
        f"image {each.kind} ({each.reason})" for each in record.images if each.url == address
    }


def _shown(urls: Sequence[str]) -> str:
    return ", ".join(urls[:MAX_PAGES]) + (" ..." if len(urls) > MAX_PAGES else "")


def host_named(text: str) -> str:
    """Returns the host that an operator names: ``Example.com`` or ``http://example.com/a``.

    Raises:
        InvalidUrl: Neither a host nor an address.
    """
    return host_of(normalize(text if "://" in text else f"http://{text}/"))


def find_version(store: Store, host: str, version: int | None) -> StoredModel:
    """Returns a version of a host's model, the one in use when ``version`` is None.

    Raises:
        NotFound: There is none.
    """
    stored = store.models.get(host, version)
    if stored is not None:
        return stored
    if version is not None and store.models.newest(host):
        raise NotFound(f"{host} has no version {version}; `model {host}` lists those that are kept")
    raise NotFound(f"{host} has no model; `learn {host}` learns it from the archive")
