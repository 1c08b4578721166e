"""What overrides change on the stored pages of a host, and overrides from published rules.

Rules in the format of ftr-site-config (FiveFilters, wallabag) are a file a host: ``body: XPATH``,
``strip:``, ``title:``, ``author:``, ``date:``, ``next_page_link:``, ``strip_id_or_class: WORD``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import structs

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.outline import Outline, selector
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.learn.views import MAX_SAMPLE, choose_sample
from crawlclean.cleaning.model.overrides import SELECTED, Override
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.url_classes.rules import UrlRules
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.hosts import ChangedPage, OverrideCheck, OverrideUse
from crawlclean.workers.crawl_file.crawl_file import (
    as_toml,
    is_crawl_file,
    load_crawl_file,
)
from crawlclean.workers.crawl_file.toml_lines import MAX_TOML_BYTES, read_text
from crawlclean.workers.jobs.recleaning import RecleanedPage
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.hosts.host_models import host_named
from crawlclean.workers.operations.hosts.host_recleaning import EXAMPLES, changes_of
from crawlclean.workers.site_models import read_model

COMPARED = ("body", "title", "author", "published_at", "kind", "outlinks")
_OF_RULE = {
    "body": "body",
    "strip": "drop",
    "title": "title",
    "author": "author",
    "date": "date",
    "next_page_link": "next",
}
# Of a rule file: what says nothing of a page's parts, or what this program does by itself.
_NOT_NEEDED = frozenset(
    ("test_url", "test_contains", "prune", "tidy", "parser", "autodetect_on_failure",
     "autodetect_next_page", "convert_double_br_tags", "insert_detected_image", "http_header")
)  # fmt: skip


def check_host(backends: Backends, host: str, file: Path | None) -> OverrideCheck:
    """Returns what the overrides of a host change on its stored pages.

    Args:
        backends: Where the store is.
        host: A host, or any URL of it.
        file: A crawl file or a file of rules, whose overrides are tried; None: those in use.

    Raises:
        ConfigError: The file cannot be read, or is wrong.
        NotFound: The file has nothing about the host.
    """
    host = host_named(host)
    with backends.store() as store:
        stored = store.models.get(host)
        model = SiteModel(host=host, learned_at=datetime.now(UTC), page_count=0)
        if stored is not None:
            model = read_model(stored)
        left_out: list[str] = []
        if file is not None:
            own = [each for each in model.overrides if each.by]
            model = structs.replace(model, overrides=(*_of_file(file, host, left_out), *own))
        pages = stored_pages(store, host, MAX_SAMPLE) if model.overrides else []
    return OverrideCheck(
        host=host,
        pages=len(pages),
        uses=tuple(use for one in model.overrides for use in _uses(one, model, pages)),
        section="\n".join(_table(host, one) for one in model.overrides if not one.by),
        left_out=tuple(left_out),
    )


def _of_file(file: Path, host: str, left_out: list[str]) -> Sequence[Override]:
    if not is_crawl_file(file):
        return [read_rules(read_text(file, MAX_TOML_BYTES), left_out)]
    found = load_crawl_file(file).overrides.get(host)
    if not found:
        raise NotFound(f"{file} has no override of {host}")
    return found


def stored_pages(
    store: Store, host: str, most: int, about: Override | None = None
) -> list[RawPage]:
    """Returns stored pages of a host, of every URL class; only those that an override is about."""
    urls = (each.url for each in store.hosts.archived(host))
    chosen = (url for url in urls if about is None or about.fits(normalize(url), UrlRules()))
    found = (store.answers.page(page_id(url)) for url in choose_sample(chosen, most))
    return [page for page in found if page is not None]


def _uses(one: Override, model: SiteModel, pages: Iterable[RawPage]) -> Iterator[OverrideUse]:
    """Yields what each selector of an override finds, and what it changes beside all others."""
    about = [page for page in pages if one.fits(normalize(page.url), model.url_rules)]
    for field, text in one.parts():
        left = None if field == "kind" else tuple(x for x in getattr(one, field) if x != text)
        others = (structs.replace(x, **{field: left}) if x is one else x for x in model.overrides)
        without = structs.replace(model, overrides=tuple(others))
        fits, changes, examples = 0, Counter[str](), list[ChangedPage]()
        for page in about:
            if field != "kind" and not finds(page, text):
                continue
            fits += 1
            before, after = clean(page, without), clean(page, model)
            each = RecleanedPage(raw=page, before=before, after=after)
            found = {x: (old, new) for x, old, new in changes_of(each) if x in COMPARED}
            changes.update(found.keys())
            if found and len(examples) < EXAMPLES:
                examples.append(ChangedPage(url=page.url, changes=found))
        yield OverrideUse(
            pattern=one.pattern,
            field=field,
            selector=text,
            by=one.by,
            pages=len(about),
            fits=fits,
            changes=dict(changes),
            examples=tuple(examples),
        )


def finds(page: RawPage, text: str) -> bool:
    """Whether a selector finds something on a page."""
    outline = Outline()
    parse(page.html, follow=outline.follow)
    return bool(outline.find(text))


def _table(host: str, one: Override) -> str:
    """An override as a table of a crawl file."""
    lines = [f"[overrides.{as_toml(host + one.pattern)}]"]
    lines += [f"{x} = {as_toml(getattr(one, x))}" for x in SELECTED if getattr(one, x)]
    return "\n".join([*lines, *([f"kind = {as_toml(one.kind)}"] if one.kind else [])]) + "\n"


def read_rules(text: str, left_out: list[str]) -> Override:
    """Returns the override in a file of rules in the format of ftr-site-config.

    Args:
        text: The file.
        left_out: Gets what cannot be one, with its line and why: ``7: footnotes``.

    Raises:
        ConfigError: The file has no such rule.
    """
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or key.startswith("#") or not value:
            continue
        if key == "strip_id_or_class":
            word = value.strip("\"'")
            key, value = "strip", f"//*[contains(concat(@id, ' ', @class), '{word}')]"
        if key in _OF_RULE:
            try:
                selector(value)
                found.setdefault(_OF_RULE[key], []).append(value)
            except ConfigError as error:
                left_out.append(f"{number}: {error}")
        elif key not in _NOT_NEEDED and not key.startswith("http_header"):
            left_out.append(f"{number}: {key}")
    if not found:
        raise ConfigError("no rule of a site: expected lines such as body: //div[@id='text']")
    return msgspec.convert(found, Override)
