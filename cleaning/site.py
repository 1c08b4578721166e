"""Learning a host: the order of the steps, nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import structs

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Document, RawPage, read_document
from crawlclean.cleaning.drift.watch import SamplePage, expected_of
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.learn.body_places import learn_body_rule
from crawlclean.cleaning.learn.post_rules import agree_on_posts, choose_threads, post_rule_of
from crawlclean.cleaning.learn.template import (
    find_repeats,
    learn_places,
    learn_template,
)
from crawlclean.cleaning.learn.views import (
    View,
    choose_sample,
    limit_sample,
    read_sample,
    view,
)
from crawlclean.cleaning.metadata.byline import Byline
from crawlclean.cleaning.metadata.metadata import decide_kind
from crawlclean.cleaning.model.rules import ImagePlace, LinkPlace, Noise, RelatedRule
from crawlclean.cleaning.model.site_model import SiteModel, bounded, find_places
from crawlclean.cleaning.page import PageParts
from crawlclean.cleaning.records import Image, Link, LinkKind
from crawlclean.cleaning.url_classes.classes import PageFacts, facts_of
from crawlclean.cleaning.url_classes.learning import learn_url_rules
from crawlclean.cleaning.urls.normal_form import normalize


def learn_site(pages: Iterable[RawPage], urls: Iterable[str] = (), version: int = 1) -> SiteModel:
    """Learns the model of one host; the same pages in any order give the same model.

    At most 100 pages are read, of every URL class, and fewer of large pages. The choice depends on
    their URLs alone.

    Args:
        pages: Pages of ONE host; of several pages with one URL the newest counts.
        urls: More URLs of the host, fetched or not, to learn its URL rules from.
        version: Version of the model, 1 for the first.

    Raises:
        ConfigError: No page, or pages of several hosts.
    """
    known, chosen = _choose_pages(pages)
    return learn_documents(map(read_document, chosen), {*known, *map(normalize, urls)}, version)


def learn_documents(documents: Iterable[Document], urls: set[str], version: int = 1) -> SiteModel:
    """Learns the model of one host from parsed pages, all of which are read.

    Args:
        documents: At least one page, in an order that their URLs alone decide.
        urls: URLs of the host in normal form, to learn its URL rules from.
        version: Version of the model.
    """
    views = [view(document) for document in documents]
    chosen = [each.page for each in views]
    agree_on_posts(views)
    sample = read_sample(views)
    model = SiteModel(
        host=chosen[0].host,
        version=version,
        learned_at=max(page.fetched_at for page in chosen),
        page_count=len(chosen),
        sample=tuple(page.url for page in chosen),
        body_rule=learn_body_rule(sample),
        template=learn_template(sample),
    )
    read = [_read(one, model) for one in views]
    links, images = [one.links for one in read], [one.images for one in read]
    link_places = learn_places(links, sample.table, LinkPlace)
    model = structs.replace(
        model,
        url_rules=learn_url_rules([one.facts for one in read], urls),
    )
    threads = choose_threads(views, model.url_kind)
    noise = Noise(
        links=find_repeats([[link.url for _, link in each] for each in links]),
        images=find_repeats([[image.url for _, image in each] for each in images]),
        link_places=tuple(p for p in link_places if p.kind is not LinkKind.RELATED),
        image_places=learn_places(images, sample.table, ImagePlace),
    )
    return bounded(
        structs.replace(
            model,
            post_rule=post_rule_of((one.tree, one.body.thread) for one in threads),
            noise=noise,
            expected=expected_of([one.fit for one in read], noise),
            related_rule=RelatedRule(
                places=tuple(p for p in link_places if p.kind is LinkKind.RELATED),
            ),
        )
    )


def _choose_pages(pages: Iterable[RawPage]) -> tuple[set[str], list[RawPage]]:
    """The normal form of all URLs, and the chosen pages in an order independent of the input's."""
    newest: dict[str, RawPage] = {}
    for page in pages:
        known = newest.get(page.page_id)
        if known is None or (known.fetched_at, known.html) < (page.fetched_at, page.html):
            newest[page.page_id] = page
    hosts = {page.host for page in newest.values()}
    if len(hosts) != 1:
        shown = ", ".join(sorted(hosts)[:3]) or "no page"
        raise ConfigError(f"a site is learned from the pages of one host, not of: {shown}")
    by_url = {normalize(page.url): page for page in newest.values()}
    return set(by_url), limit_sample(by_url[url] for url in choose_sample(by_url))


class _Read(NamedTuple):
    """A page read with the model so far.

    Attributes:
        body: Its body.
        links: Its links, each with the number of the path around it: ``[(41, link)]``.
        images: Its images, likewise.
        facts: The facts about its URL class.
        fit: Its fit for drift.
    """

    body: Body
    links: list[tuple[int, Link]]
    images: list[tuple[int, Image]]
    facts: PageFacts
    fit: SamplePage


def _read(one: View, model: SiteModel) -> _Read:
    document, paths = one.document, one.paths
    page, tree = document.page, document.tree
    places = find_places(document, model)
    parts = PageParts(document, places, one.body)
    body, title, (links, images, _) = parts.body, parts.title, parts.leading
    kind = decide_kind(document, body, Byline(tree, body), links)
    return _Read(
        body,
        [(paths[a.block], link) for a, link in zip(tree.anchors, links, strict=False)],
        [(paths[p.block], image) for p, image in zip(tree.pictures, images, strict=False)],
        facts_of(document, links, kind, title),
        SamplePage(page.url, body.source, title, body.text, links),
    )
