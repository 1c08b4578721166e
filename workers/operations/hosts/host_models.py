"""Learns, lists, compares, rolls back and explains the model versions of a host."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.learn.model_diff import differences, explain, is_left_out
from crawlclean.cleaning.lexicon import some_of
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean, signature_of
from crawlclean.cleaning.records import BodySource, CleanRecord
from crawlclean.cleaning.urls.normal_form import host_of, normal_form, normalize, page_id
from crawlclean.storage.store.models import LearnReason, ModelLine, StoredModel
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.hosts import (
    ModelAnswer,
    ModelDifferences,
    TemplateAnswer,
    TemplateVerdict,
)
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.jobs.learning import Learned, learn_host, roll_back
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.hosts.hosts import drift_answer
from crawlclean.workers.operations.parts import Part
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_hosts
from crawlclean.workers.site_models import read_model

MAX_PAGES = 5  # named as examples
SEARCH_S = 5.0  # for records whose whole body is one text: about 100,000 records
KEPT = {
    TemplateVerdict.TEMPLATE: "nothing else on these pages was found as text, and the last "
    "lines of a body are not left out",
    TemplateVerdict.REPEATED: "it is not on most of the pages that were learned from",
    TemplateVerdict.OWN: "it does not repeat on the pages that were learned from",
}
KEPT_AT_PLACE = "it is all that the part of these pages holds where the model finds the body"


def learn_now(backends: Backends, host: str) -> Learned:
    """Learns a host from the archive, and stores a changed model as its next version.

    Args:
        backends: Queue and store.
        host: A host, or any URL of it.

    Raises:
        NotFound: The archive holds no page of the host.
    """
    with backends.store() as store:
        return learn_host(store, host_named(host), LearnReason.ASKED)


def model_versions(backends: Backends, host: str) -> Part[ModelLine]:
    """Versions of a host's model, newest first.

    Raises:
        NotFound: The host has no model.
    """
    with backends.store() as store:
        find_version(store, host, None)
    return Part(items=versions_of(backends, host))


def versions_of(backends: Backends, host: str) -> list[ModelLine]:
    """Versions of a host's model, newest first; none before it was learned."""
    with backends.store() as store:
        return store.models.versions(host)


def model_answer(backends: Backends, host: str, version: int | None) -> ModelAnswer:
    """One version of a host's model.

    Args:
        backends: Queue and store.
        host: Lower-case authority.
        version: Of its model; None: the one in use.

    Raises:
        NotFound: The host does not have it.
    """
    with backends.store() as store:
        stored = find_version(store, host, version)
        return answer_of(
            ModelAnswer,
            stored.about,
            model=json.loads(stored.text),
            versions=tuple(store.models.versions(host)),
            drifts=tuple(map(drift_answer, store.drifts.of(host))),
        )


def compare_models(backends: Backends, host: str, old: int, new: int) -> ModelDifferences:
    """Returns the differences from an older to a newer version of a host's model.

    Raises:
        NotFound: The host does not have one of the versions.
    """
    with backends.store() as store:
        before, after = (
            read_model(find_version(store, host_named(host), each)) for each in (old, new)
        )
    lines = tuple(differences(before, after))
    return ModelDifferences(host=before.host, old=old, new=new, differences=lines)


def take_up(backends: Backends, host: str, version: int) -> ModelLine:
    """Rolls a host back to an older version of its model; returns the copy that is in use now.

    Raises:
        NotFound: The host does not have the version.
    """
    with backends.store() as store:
        return roll_back(store, host_named(host), version)


def explain_template(
    backends: Backends, host: str, version: int | None, text: str
) -> tuple[TemplateAnswer, str]:
    """Returns why a text, a link or an image is template, and on which pages it was seen.

    Args:
        backends: Queue and store.
        host: A host, or any URL of it.
        version: Of its model; None: the one in use.
        text: A line of text, or the URL of a link or an image.

    Returns:
        The reasons; a line with the pages that have it when it is not template, ``""`` otherwise.

    Raises:
        NotFound: The host does not have the version.
    """
    with backends.store() as store:
        model = read_model(find_version(store, host_named(host), version))
        url = normal_form(text)
        found = tuple(_explain_url(store, model, url) if url else explain(model, text))
        elsewhere = "" if found else _seen_on(store, model, text)
        verdict = None if url else _verdict(model, text, found)
        answer = TemplateAnswer(
            host=model.host, version=model.version, text=text, found=found, verdict=verdict
        )
        return _with_bodies(store, model, answer) if verdict else answer, elsewhere


def _verdict(model: SiteModel, text: str, found: Sequence[str]) -> TemplateVerdict:
    ends = (each.text for each in model.template.title_suffixes)
    if is_left_out(model, text) or text.strip() in ends:
        return TemplateVerdict.TEMPLATE
    return TemplateVerdict.REPEATED if found else TemplateVerdict.OWN


def _with_bodies(store: Store, model: SiteModel, answer: TemplateAnswer) -> TemplateAnswer:
    """Searches the records of a host for those whose whole body is the text."""
    signature = signature_of(answer.text)
    deadline = time.monotonic() + SEARCH_S
    sources: Counter[BodySource] = Counter()
    urls: list[str] = []
    is_whole = True
    for records in store.records.with_signature(signature, model.host) if signature else ():
        sources.update(record.body_source for record in records)
        urls += [record.url for record in records][: MAX_PAGES - len(urls)]
        if time.monotonic() > deadline:
            is_whole = False
            break
    assert answer.verdict is not None  # noqa: S101 - the caller has looked
    because = KEPT_AT_PLACE if set(sources) == {BodySource.SITE} else KEPT[answer.verdict]
    return replace(
        answer,
        whole_body_of=sources.total(),
        body_sources=dict(sources),
        kept_because=because if sources else "",
        examples=tuple(urls),
        is_whole=is_whole,
    )


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
        shown = some_of(pages_with[verdict], MAX_PAGES)
        yield f"{verdict} on {count} of {model.page_count} pages: {shown}"


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
        raise NotFound(f"{host} has no version {version}; `model show {host}` lists its versions")
    hint = "" if store.statistics.crawls_of([host]) else did_you_mean(near_hosts(store, host))
    raise NotFound(f"{host} has no model; `model learn {host}` learns it from the archive{hint}")
