"""`learn`, `model`: what a host taught, its versions, and why something is template."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cleaning import clean
from cleaning.errors import InvalidUrl, NotFound
from cleaning.learn.model_diff import differences, explain
from cleaning.model.site_model import SiteModel
from cleaning.records import CleanRecord
from cleaning.urls.normal_form import host_of, normalize, page_id
from storage.store.models import LearnReason, ModelVersion, StoredModel
from storage.store.protocol import Store
from workers.commands.reading import reading
from workers.config import Settings
from workers.jobs.learning import learn_host, roll_back
from workers.jobs.site_models import read_model
from workers.output.drift_report import drift_json, drift_line, evidence_lines
from workers.output.model_report import in_words, on_a_screen
from workers.output.printing import print_json, printable, table

MAX_PAGES = 5


def learn(settings: Settings, host: str, *, as_json: bool) -> int:
    """Learns a host from the archive, stores the version, prints it in words.

    Raises:
        NotFound: The archive holds no page of the host.
    """
    with reading(settings) as store:
        learned = learn_host(store, host_named(host), LearnReason.ASKED)
    if as_json:
        print_json(_as_json(learned.about, learned.model) | {"is_new": learned.is_new})
        return 0
    about = learned.about
    if learned.is_new:
        sys.stdout.write(f"stored version {about.version} of the model of {about.host}\n")
    else:
        sys.stdout.write(f"nothing new: version {about.version} of {about.host} says the same\n")
    _write(on_a_screen(in_words(learned.model)))
    return 0


def show_model(
    settings: Settings, host: str, version: int | None, *, as_json: bool, full: bool = False
) -> int:
    """Prints the versions of a host's model, when the host changed, and one version in words.

    ``full``: every line, and places from the beginning of the page.

    Raises:
        NotFound: The host has no such version.
    """
    with reading(settings) as store:
        stored = find_version(store, host_named(host), version)
        versions = store.models.versions(stored.about.host)
        drifts = store.drifts.of(stored.about.host)
    if as_json:
        print_json(
            _as_json(stored.about, json.loads(stored.text))
            | {"versions": [_about_json(about) for about in versions]}
            | {"drifts": [drift_json(event) for event in drifts]}
        )
        return 0
    rows = [("VERSION", "STORED", "PAGES", "BYTES", "WHY")]
    for about in versions:
        why = f"{about.reason}{f': {about.detail}' if about.detail else ''}"
        at = f"{about.saved_at:%Y-%m-%d %H:%M}"
        size = f"{about.size_bytes:,}"
        rows.append((str(about.version), at, str(about.page_count), size, why))
    sys.stdout.write(table(rows) + "\n")
    for number, event in enumerate(drifts):
        _write([drift_line(event)] if number else evidence_lines(event))
    lines = in_words(read_model(stored))
    _write(lines if full else on_a_screen(lines))
    return 0


def show_differences(
    settings: Settings, host: str, old: int, new: int, *, as_json: bool = False, full: bool = False
) -> int:
    """Prints what one version of a host's model says else than another.

    Raises:
        NotFound: The host has no such version.
    """
    with reading(settings) as store:
        before, after = (
            read_model(find_version(store, host_named(host), each)) for each in (old, new)
        )
    lines = differences(before, after)
    if as_json:
        print_json({"host": before.host, "old": old, "new": new, "differences": list(lines)})
    else:
        shown = lines if full else on_a_screen(lines)
        _write(shown or [f"versions {old} and {new} say the same"])
    return 0


def take_up(settings: Settings, host: str, version: int, *, as_json: bool = False) -> int:
    """Makes an older version the one in use, under the next number.

    Raises:
        NotFound: The host has no such version.
    """
    with reading(settings) as store:
        about = roll_back(store, host_named(host), version)
    if as_json:
        print_json(_about_json(about))
        return 0
    sys.stdout.write(
        f"version {version} of {about.host} is in use again, as version {about.version}; "
        f"`reclean {about.host}` applies it to the stored pages\n"
    )
    return 0


def say_why(
    settings: Settings, host: str, version: int | None, text: str, *, as_json: bool = False
) -> int:
    """Prints why a text, a link or an image is template, and where it was seen; 1 when it is not.

    Raises:
        NotFound: The host has no such version.
    """
    with reading(settings) as store:
        model = read_model(find_version(store, host_named(host), version))
        address = _address(text)
        found = list(_about_address(store, model, address) if address else explain(model, text))
        nothing = "" if found else _seen_on(store, model, text)
    if as_json:
        print_json({"host": model.host, "version": model.version, "text": text, "found": found})
        return 0 if found else 1
    _write([line for each in found for line in _page_a_line(each)] or [nothing])
    return 0 if found else 1


def _page_a_line(found: str) -> list[str]:
    """What was found, each page that it names on a line of its own."""
    said, between, pages = found.partition(" pages: ")
    shown = re.split(r", (?=https?://)", pages) if between else []
    return [said + (" pages:" if between else ""), *(f"  {page}" for page in shown)]


def _address(text: str) -> str:
    try:
        return normalize(text) if "://" in text else ""
    except InvalidUrl:
        return ""


def _about_address(store: Store, model: SiteModel, address: str) -> Iterator[str]:
    """What the model knows of an address, and what it is on the pages that taught the model."""
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
    """On how many of the pages that taught the model a text or address is that is no template."""
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
    links = {f"link {each.kind} ({each.reason})" for each in record.links if each.url == address}
    return links | {
        f"image {each.kind} ({each.reason})" for each in record.images if each.url == address
    }


def _shown(urls: Sequence[str]) -> str:
    return ", ".join(urls[:MAX_PAGES]) + (" ..." if len(urls) > MAX_PAGES else "")


def host_named(text: str) -> str:
    """The host that an operator means by a name or an address.

    Raises:
        InvalidUrl: It is neither.
    """
    return host_of(normalize(text if "://" in text else f"http://{text}/"))


def find_version(store: Store, host: str, version: int | None) -> StoredModel:
    """A version of a host's model, the one in use when ``version`` is None.

    Raises:
        NotFound: There is none.
    """
    stored = store.models.get(host, version)
    if stored is not None:
        return stored
    if version is not None and store.models.newest(host):
        raise NotFound(f"{host} has no version {version}; `model {host}` lists those that are kept")
    raise NotFound(f"{host} has no model; `learn {host}` learns it from the archive")


def _write(lines: Sequence[str]) -> None:
    sys.stdout.write("".join(printable(line) + "\n" for line in lines))


def _as_json(about: ModelVersion, model: Any) -> dict[str, Any]:
    data = json.loads(model.to_json()) if isinstance(model, SiteModel) else model
    return _about_json(about) | {"model": data}


def _about_json(about: ModelVersion) -> dict[str, Any]:
    return {
        "host": about.host,
        "version": about.version,
        "learned_at": about.learned_at.isoformat(),
        "saved_at": about.saved_at.isoformat(),
        "page_count": about.page_count,
        "size_bytes": about.size_bytes,
        "reason": str(about.reason),
        "detail": about.detail,
    }
