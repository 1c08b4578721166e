"""Cleaning one page: the order of the steps, and the record made of their results."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from crawlclean.cleaning.body.body import read_body
from crawlclean.cleaning.body.page_body import Body, without_lines
from crawlclean.cleaning.document.document import Document, RawPage, read_document
from crawlclean.cleaning.document.outline import Outline
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.features.lines import Trail
from crawlclean.cleaning.images.captions import without_captions
from crawlclean.cleaning.images.images import read_images
from crawlclean.cleaning.json_values import cleaned_value
from crawlclean.cleaning.links.links import read_links, read_outlinks
from crawlclean.cleaning.markdown.markdown import write_markdown
from crawlclean.cleaning.metadata.dates import time_reader
from crawlclean.cleaning.metadata.metadata import LostFields, Metadata, read_metadata
from crawlclean.cleaning.metadata.title import read_title
from crawlclean.cleaning.model.overrides import Override, overrides_of, read_overrides
from crawlclean.cleaning.model.site_model import SiteModel, SitePlaces, find_places
from crawlclean.cleaning.page_warnings import PageWarning
from crawlclean.cleaning.papers.link_blocks import find_link_blocks
from crawlclean.cleaning.posts.posts import first_post, read_posts
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    Image,
    Link,
    PageKind,
    Post,
    Via,
    in_plain_text,
)
from crawlclean.cleaning.urls.normal_form import normalize


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A cleaned page with what its record was made of.

    Attributes:
        record: The record.
        document: The parsed page.
        places: The site model's places on it; None without a model.
        body: Its body.
    """

    record: CleanRecord
    document: Document
    places: SitePlaces | None
    body: Body


def read_page(
    document: Document,
    places: SitePlaces | None = None,
    alone: Body | None = None,
    trail: Trail | None = None,
) -> tuple[Body, str, tuple[Link, ...], tuple[Image, ...], tuple[PageWarning, ...]]:
    """Reads body, title, links, images and warnings of a page, in the order they need each other.

    The title is without the site's name; there is one link for each of the first anchors of the
    tree, and one image for each of the first pictures.

    Args:
        document: The parsed page.
        places: The site model's places on the page, None without a model.
        alone: The body by the page's own evidence, given only while the host is being learned. The
            model has no rules of links and images then, so they are read without it.
        trail: Receives the rule that cut each line of the page, where it is asked for.
    """
    body = read_body(document, places, alone, trail)
    # Links of a list lead away from it; in the body of a text they belong to the text.
    text = body if body.source is not BodySource.LIST else without_lines(body)
    title = read_title(document, text, places)
    taught = places if alone is None else None
    links, link_warnings = read_links(document, text, title, taught)
    images, links, image_warnings = read_images(document, text, links, taught)
    if text is body and body.thread is None:
        body = without_captions(document.tree, body, images)
    return body, title, links, images, link_warnings + image_warnings


def clean(page: RawPage, model: SiteModel | None = None, blocks: bool = False) -> CleanRecord:
    """Returns the record of a page; equal pages and models give equal records.

    Args:
        page: The decoded page.
        model: The model of the page's host, or None.
        blocks: Whether the record has the logical link blocks of the source and their shares, which
            costs another scan of the source.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    record = read(page, model, blocks).record
    return in_plain_text(record) if record.warnings else record


def read(
    page: RawPage | Document,
    model: SiteModel | None = None,
    blocks: bool = False,
    trail: Trail | None = None,
) -> Reading:
    """Returns the record of a page as ``clean`` does, with what it was made of.

    Args:
        page: The decoded page, parsed or not; overrides need one that is not.
        model: The model of the page's host, or None.
        blocks: Whether the record has the logical link blocks of the source.
        trail: Receives the rule that cut each line of the page, where it is asked for.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    known = page if isinstance(page, Document) else None
    page = page.page if isinstance(page, Document) else page
    if not isinstance(page, RawPage):
        raise TypeError(
            f"page is {type(page).__name__}: clean takes a RawPage, clean_html bytes or text"
        )
    if model is not None and model.host != page.host:
        raise ConfigError(f"the model of {model.host} was given for a page of {page.host}")
    document, places = parsed(page, model, known)
    body, title, links, images, warnings = read_page(document, places, trail=trail)
    said = places.said if places is not None else None
    next_pages = said.values.get("next", ()) if said is not None else ()
    outlinks, outlink_warnings = read_outlinks(document, links, next_pages)
    lost = LostFields()
    metadata = read_metadata(document, body, links, lost, said)
    no_posts: tuple[Post, ...] = ()
    posts = lost.read("posts", lambda: _read_posts(document, body, metadata, places), no_posts)
    tree = document.tree
    markdown = lost.read("markdown", lambda: write_markdown(tree, body.lines, links, images), "")
    first = first_post(posts)
    link_blocks = find_link_blocks(page.html) if blocks else None
    origin = page.provenance
    record = CleanRecord(
        page_id=page.page_id,
        url=page.url,
        canonical_url=document.declared.canonical_url or page.url,
        host=page.host,
        fetched_at=page.fetched_at,
        kind=metadata.kind,
        title=title,
        author=first.author or metadata.author,
        published_at=first.published_at or metadata.published_at,
        language=metadata.language,
        encoding=page.encoding,
        body=body.text,
        markdown=markdown,
        posts=posts,
        links=links,
        images=images,
        outlinks=outlinks,
        signature=signature_of(body.text),
        model_version=model.version if model is not None else 0,
        body_source=body.source,
        warnings=document.warnings + warnings + outlink_warnings + body.warnings + lost.warnings,
        link_blocks=link_blocks.blocks if link_blocks else (),
        lcr=link_blocks.lcr if link_blocks else 0.0,
        ccr=link_blocks.ccr if link_blocks else 0.0,
        origin=(origin.referrer or "") if origin and origin.via is Via.IMPORT else "",
    )
    record = without_surrogates(record)
    return Reading(record=record, document=document, places=places, body=body)


def parsed(
    page: RawPage, model: SiteModel | None, known: Document | None = None
) -> tuple[Document, SitePlaces | None]:
    """Parses a page that is not ``known`` parsed; returns it with the places of its host's model.

    Only a page for which a person wrote selectors is parsed into elements, too.
    """
    overrides: list[Override] = []
    if model is not None and model.overrides:
        overrides = overrides_of(model.overrides, normalize(page.url), model.url_rules)
    outline = Outline() if overrides else None
    document = known or read_document(page, outline.follow if outline is not None else None)
    if model is None:
        return document, None
    places = find_places(document, model)
    if outline is not None:
        places.said = read_overrides(outline, overrides)
    return document, places


def _read_posts(
    document: Document, body: Body, metadata: Metadata, places: SitePlaces | None
) -> tuple[Post, ...]:
    """The posts of a thread; the body as the only post if none were found; () for other pages."""
    if metadata.kind is not PageKind.THREAD:
        return ()
    if body.thread is not None:
        read_time = time_reader(metadata.language, document.page.fetched_at)
        rule = places.post_rule if places is not None else None
        return read_posts(document.tree, body.thread, read_time, rule.slots if rule else None)
    if not body.text:
        return ()
    author, published_at = metadata.author, metadata.published_at
    return (Post(author=author, published_at=published_at, floor=1, body=body.text),)


def signature_of(body: str) -> str:
    """Returns 16 hex digits, equal for bodies that differ in white space alone; or ``""``."""
    text = "".join(body.split())
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if text else ""


def without_surrogates(record: CleanRecord) -> CleanRecord:
    """Returns a record with U+FFFD for every lone surrogate, the same object if it has none.

    Only texts that may come from JSON are checked first (10 us a page; all texts take 190). If one
    of them has a surrogate, every text of the record is cleaned.
    """
    texts = [record.title, record.author or "", record.canonical_url, record.body, record.markdown]
    for post in record.posts:
        texts += (post.author or "", post.body)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        cleaned: CleanRecord = cleaned_value(record)
        return cleaned
    return record
