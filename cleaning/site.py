"""Learning a host: the order of the steps, nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from cleaning.errors import ConfigError
from cleaning.extract.body import extract_body
from cleaning.extract.images import extract_images
from cleaning.extract.links import extract_links
from cleaning.extract.metadata import extract_metadata
from cleaning.extract.page_kind import decide_kind
from cleaning.learn.page_facts import PageFacts, facts_of
from cleaning.learn.repeats import find_repeats
from cleaning.learn.url_learning import learn_url_rules
from cleaning.page import base_of
from cleaning.records import RawPage
from cleaning.site_model import NoiseAddresses, SiteModel, bounded
from cleaning.source.tree import parse
from cleaning.source.urls import normalize


def learn_site(pages: Iterable[RawPage], urls: Iterable[str] = (), version: int = 1) -> SiteModel:
    """What the pages of one host have in common; the same for every order of the same pages.

    Args:
        pages: Pages of ONE host; of several pages with one address the newest counts.
        urls: More URLs of the host, fetched or not.
        version: Number of the model, 1 for the first.

    Raises:
        ConfigError: No page, or pages of several hosts.
    """
    sample = _by_page_id(pages)
    links: list[frozenset[str]] = []
    images: list[frozenset[str]] = []
    facts: list[PageFacts] = []
    for page in sample:
        link_urls, image_urls, page_facts = _read(page)
        links.append(link_urls)
        images.append(image_urls)
        facts.append(page_facts)
    return bounded(
        SiteModel(
            host=sample[0].host,
            version=version,
            learned_at=max(page.fetched_at for page in sample),
            page_count=len(sample),
            url_rules=learn_url_rules(facts, map(normalize, urls)),
            noise=NoiseAddresses(links=find_repeats(links), images=find_repeats(images)),
        )
    )


def _by_page_id(pages: Iterable[RawPage]) -> list[RawPage]:
    """Each page once, in an order that does not depend on arrival."""
    newest: dict[str, RawPage] = {}
    for page in pages:
        known = newest.get(page.page_id)
        if known is None or (known.fetched_at, known.html) < (page.fetched_at, page.html):
            newest[page.page_id] = page
    hosts = {page.host for page in newest.values()}
    if len(hosts) != 1:
        said = ", ".join(sorted(hosts)[:3]) or "no page"
        raise ConfigError(f"a site is learned from the pages of one host, not of: {said}")
    return [newest[key] for key in sorted(newest)]


def _read(page: RawPage) -> tuple[frozenset[str], frozenset[str], PageFacts]:
    """The URLs a page links to, those of its images, and what it says of its own URL."""
    tree = parse(page.html)
    base, _ = base_of(tree, page.url, page.encoding)
    metadata = extract_metadata(tree, base, page.encoding)
    body = extract_body(tree, page.url)
    links, _ = extract_links(tree, body, page.host, base, page.encoding)
    images, _ = extract_images(tree, body, links, page.host, base, page.encoding)
    kind = decide_kind(body, links)
    facts = facts_of(page, tree, links, kind, metadata.title, metadata.canonical_url)
    return (
        frozenset(link.url for link in links if link.url),
        frozenset(image.url for image in images if image.url),
        facts,
    )
