"""Learns the URL rules of a host: sample, classes, kinds, duplicates, rules.

A crawl and a site model call the same function (ADR 20).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.classes import UrlClass, find_classes
from crawlclean.cleaning.url_classes.duplicates import find_twins
from crawlclean.cleaning.url_classes.evidence import Evidence, weigh_classes
from crawlclean.cleaning.url_classes.kinds import decide_kinds
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules
from crawlclean.cleaning.url_classes.sample import PageFacts, UrlSample

MAX_EXAMPLE_CHARS = 120
MAX_RULES_CHARS = 48 * 1024  # all templates, twins and examples: their JSON stays below 64 KB


def learn_url_rules(facts: Iterable[PageFacts], urls: Iterable[str] = ()) -> UrlRules:
    """Learns the URL rules of a host; the order of pages and URLs does not matter.

    Args:
        facts: The facts of fetched pages, their links included.
        urls: More URLs of the host in normal form, fetched or not.
    """
    sample = UrlSample()
    links: Counter[tuple[str, str]] = Counter()
    for page in facts:
        sample.add_page(page)
        links.update(page.links)
    for (url, text), times in links.items():
        sample.add_link(url, text, times)
    for url in urls:
        sample.add_link(url)
    return rules_of(sample)


def rules_of(sample: UrlSample) -> UrlRules:
    """Learns the rules of a sample; classes with the most URLs come first."""
    classes = weigh_classes(find_classes(sample))
    kinds = decide_kinds(classes)
    twins = find_twins(classes, kinds)
    rules: list[UrlRule] = []
    room = MAX_RULES_CHARS
    for i, (one, kind) in enumerate(zip(classes, kinds, strict=True)):
        found = [(UrlKind.DUPLICATE, *twin) for twin in twins.get(i, ())]
        if kind is not None and one.urls.template not in [template for _, template, *_ in found]:
            found.append((kind, one.urls.template, "", _count_pages(one, kind)))
        for kind_there, template, target, pages in found:
            rule = UrlRule(
                kind=kind_there,
                template=template,
                twin=target,
                urls=round(one.urls.count),
                pages=pages,
                named=round(one.named, 2),
                numbered=round(one.numbered, 2),
                example=_example(one.urls),
            )
            room -= len(rule.template) + len(rule.twin) + len(rule.example) + 60
            if room < 0:
                return UrlRules(rules)
            rules.append(rule)
    return UrlRules(rules)


def _count_pages(one: Evidence, kind: UrlKind | None) -> int:
    """The pages that prove a kind; all redirects of a class to one login page prove it, too."""
    if kind is UrlKind.DUPLICATE:
        return 0
    if kind is UrlKind.LOGIN and not one.pages:
        targets = {page.moved_to.partition("?")[0] for page in one.urls.pages}
        return len(one.urls.pages) if len(targets) == 1 else 0
    return len(one.pages)


def _example(urls: UrlClass) -> str:
    """Path and query of the shortest URL of a class: ``/thread-170-1-1.html``."""
    url = min((found.url for found in urls.found), key=lambda url: (len(url), url), default="")
    return url[max(url.find("/", url.find("//") + 2), 0) :][:MAX_EXAMPLE_CHARS]
