"""Learning a host: the order of the steps, nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from cleaning.errors import ConfigError
from cleaning.extract.body import extract_body
from cleaning.extract.images import extract_images
from cleaning.extract.links import extract_links
from cleaning.learn.repeats import find_repeats
from cleaning.page import base_of
from cleaning.records import RawPage
from cleaning.site_model import NoiseAddresses, SiteModel, bounded
from cleaning.source.tree import parse


def learn_site(pages: Iterable[RawPage], urls: Iterable[str] = (), version: int = 1) -> SiteModel:
    """What the pages of one host have in common; the same for every order of the same pages.

    Args:
        pages: Pages of ONE host; of several pages with one address the newest counts.
        urls: More URLs of the host, fetched or not.
        version: Number of the model, 1 for the first.

    Raises:
        ConfigError: No page, or pages of several hosts.
    """
    del urls  # the URL classes of the host will be learned from them
    sample = _by_page_id(pages)
    links: list[frozenset[str]] = []
    images: list[frozenset[str]] = []
    for page in sample:
        link_urls, image_urls = _addresses(page)
        links.append(link_urls)
        images.append(image_urls)
    return bounded(
        SiteModel(
            host=sample[0].host,
            version=version,
            learned_at=max(page.fetched_at for page in sample),
            page_count=len(sample),
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


def _addresses(page: RawPage) -> tuple[frozenset[str], frozenset[str]]:
    """The URLs a page links to and those of its images."""
    tree = parse(page.html)
    base, _ = base_of(tree, page.url, page.encoding)
    body = extract_body(tree, page.url)
    links, _ = extract_links(tree, body, page.host, base, page.encoding)
    images, _ = extract_images(tree, body, links, page.host, base, page.encoding)
    return (
        frozenset(link.url for link in links if link.url),
        frozenset(image.url for image in images if image.url),
    )
