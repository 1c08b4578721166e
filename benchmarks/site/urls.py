"""URL classes of six whole sites: articles against gold, and reply forms of comments.

Rules are learned from some of a site's pages, chosen by hash, and from the URLs of all pages; every
page is scored. One site links the reply form of each comment as another URL of the article
(``?replytocom=7``). These URLs serve the article and are part of the sample, as in a crawl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from benchmarks.kit.scoring import ratios
from benchmarks.site.pages import Site, whole_sites
from crawlclean import RawPage, clean
from crawlclean.cleaning.document.document import read_document
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.classes import PageFacts, facts_of
from crawlclean.cleaning.url_classes.learning import learn_url_rules
from crawlclean.cleaning.url_classes.rules import refused_templates, url_kind
from crawlclean.cleaning.urls.normal_form import normalize

SAMPLES = (30, 100, 300)
ANSWERS = "?replytocom="


def measure() -> dict[str, Any]:
    """Returns precision, recall and F of article URLs, by site and pages learned from."""
    with whole_sites() as sites:
        return {"classes of sites": {site.name: _site(site) for site in sites}}


def _site(site: Site) -> dict[str, Any]:
    gold = {
        normalize(page.url): is_content
        for page, is_content in zip(site.pages, site.is_content, strict=True)
    }
    facts = {}
    answers: dict[str, str] = {}
    for page in site.pages:
        found = _facts(page)
        facts[found.url] = found
        for url, _ in found.links:
            article, mark, _ = url.partition(ANSWERS)
            if mark and article in gold:
                answers.setdefault(article, url)
    pages = {normalize(page.url): page for page in site.pages}
    for article, url in answers.items():
        page = pages[article]
        facts[url] = _facts(RawPage.from_bytes(url, page.html.encode(), "text/html; charset=utf-8"))
    return {
        f"{size} pages": _score([facts[url] for url in _first(facts, size)], gold, answers)
        for size in SAMPLES
    }


def _score(
    sample: list[PageFacts], gold: dict[str, bool], answers: dict[str, str]
) -> dict[str, Any]:
    rules = learn_url_rules(sample, gold)
    kinds = {url: url_kind(url, rules) for url in gold}
    refused = refused_templates(rules, {})
    rule_of = {url: rules.find(url) for url in gold}
    called = {url for url, kind in kinds.items() if kind is UrlKind.ARTICLE}
    right = sum(gold[url] for url in called)
    result: dict[str, Any] = {
        **ratios(right=right, found=len(called), wanted=sum(gold.values())),
        "articles as": dict(Counter(kinds[url].value for url in gold if gold[url])),
        "others as": dict(Counter(kinds[url].value for url in gold if not gold[url])),
        "pages refused": sum(r is not None and r.template in refused for r in rule_of.values()),
    }
    if answers:
        led = sum(rules.better_form(url) == article for article, url in answers.items())
        result["answer forms led to their article"] = round(led / len(answers), 4)
    return result


def _first(facts: dict[str, PageFacts], count: int) -> Iterator[str]:
    yield from sorted(facts, key=lambda url: blake2b(url.encode(), digest_size=8).digest())[:count]


def _facts(page: RawPage) -> PageFacts:
    record = clean(page)
    return facts_of(read_document(page), record.links, record.kind, record.title)
