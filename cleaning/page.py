"""Cleaning one page: the order of the steps, and the record made of their results."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from crawlclean.cleaning.body.body import read_body
from crawlclean.cleaning.body.page_body import Body, without_lines
from crawlclean.cleaning.confidence import Evidence, confidence_of, weigh_evidence
from crawlclean.cleaning.document.document import Document, RawPage, read_document
from crawlclean.cleaning.document.outline import Outline
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.features.lines import Trail
from crawlclean.cleaning.images.captions import without_captions
from crawlclean.cleaning.images.images import read_images
from crawlclean.cleaning.json_values import cleaned_value, replace_surrogates
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
        evidence: What its confidence is made of; None without a body.
    """

    record: CleanRecord
    document: Document
    places: SitePlaces | None
    body: Body
    evidence: Evidence | None


class PageParts:
    """Body, title, links and images of a page, each read when it is first asked for.

    Args:
        document: The parsed page.
        places: The site model's places on the page, None without a model.
        alone: The body by the page's own evidence, given only while the host is being learned. The
            model has no rules of links and images then, so they are read without it.
        trail: Receives the rule that cut each line of the page, where it is asked for.
    """

    def __init__(
        self,
        document: Document,
        places: SitePlaces | None = None,
        alone: Body | None = None,
        trail: Trail | None = None,
    ) -> None:
        self._document, self._places = document, places
        self._taught = places if alone is None else None
        self._found = body = read_body(document, places, alone, trail)
        # Links of a list lead away from it; in the body of a text they belong to the text.
        self._text = body if body.source is not BodySource.LIST else without_lines(body)

    @cached_property
    def title(self) -> str:
        """The title without the site's name."""
        return read_title(self._document, self._text, self._places)

    @cached_property
    def leading(self) -> tuple[tuple[Link, ...], tuple[Image, ...], tuple[PageWarning, ...]]:
        """A link for each of the first anchors of the tree, an image for each picture; warnings."""
        document, text, taught = self._document, self._text, self._taught
        links, link_warnings = read_links(document, text, self.title, taught)
        images, links, image_warnings = read_images(document, text, links, taught)
        return links, images, link_warnings + image_warnings

    @cached_property
    def body(self) -> Body:
        """The body; images are read for it only where captions are declared in it."""
        body = self._found
        if self._text is not body or body.thread is not None:
            return body
        return without_captions(self._document.tree, body, lambda: self.leading[1])


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
        page: The decoded page, parsed or not; where overrides hold it is parsed once more.
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
    document, places = parsed(page, model, known)
    parts = PageParts(document, places, trail=trail)
    body, title, (links, images, warnings) = parts.body, parts.title, parts.leading
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
    published_at = first.published_at or metadata.published_at
    evidence = weigh_evidence(tree, body, is_dated=published_at is not None)
    record = CleanRecord(
        page_id=page.page_id,
        url=page.url,
        canonical_url=document.declared.canonical_url or page.url,
        host=page.host,
        fetched_at=page.fetched_at,
        kind=metadata.kind,
        title=title,
        author=first.author or metadata.author,
        published_at=published_at,
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
        confidence=confidence_of(evidence),
        warnings=document.warnings + warnings + outlink_warnings + body.warnings + lost.warnings,
        link_blocks=link_blocks.blocks if link_blocks else (),
        lcr=link_blocks.lcr if link_blocks else 0.0,
        ccr=link_blocks.ccr if link_blocks else 0.0,
        origin=(origin.referrer or "") if origin and origin.via is Via.IMPORT else "",
    )
    record = without_surrogates(record)
    return Reading(record=record, document=document, places=places, body=body, evidence=evidence)


def read_text(page: RawPage, model: SiteModel | None = None) -> tuple[str, str]:
    """Returns title and body of the record that ``clean`` makes, and reads no more than they need.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    parts = PageParts(*parsed(page, model))
    return replace_surrogates(parts.title), replace_surrogates(parts.body.text)


def parsed(
    page: RawPage, model: SiteModel | None, known: Document | None = None
) -> tuple[Document, SitePlaces | None]:
    """Parses a page that is not ``known`` parsed; returns it with the places of its host's model.

    Only a page for which a person wrote selectors is parsed into elements, too.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
        TypeError: ``page`` is no RawPage.
    """
    if not isinstance(page, RawPage):
        raise TypeError(
            f"page is {type(page).__name__}: clean takes a RawPage, clean_html bytes or text"
        )
    if model is not None and model.host != page.host:
        raise ConfigError(f"the model of {model.host} was given for a page of {page.host}")
    overrides: list[Override] = []
    if model is not None and model.overrides:
        overrides = overrides_of(model.overrides, normalize(page.url), model.url_rules)
    outline = Outline() if overrides else None
    document = known if outline is None else None
    document = document or read_document(page, outline.follow if outline is not None else None)
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
