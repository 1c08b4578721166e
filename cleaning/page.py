"""Cleaning one page: the order of the steps, nothing else."""

from __future__ import annotations

from hashlib import blake2b

from cleaning.body.body import extract_body
from cleaning.body.script_pages import find_script_page
from cleaning.body.with_model import find_body
from cleaning.document.base_url import base_of
from cleaning.document.raw_page import RawPage
from cleaning.document.tree import parse
from cleaning.errors import ConfigError
from cleaning.images.images import extract_images
from cleaning.links.links import extract_links
from cleaning.links.outlinks import extract_outlinks
from cleaning.links.with_model import settle_images, settle_links, settle_picture_links
from cleaning.markdown.markdown import write_markdown
from cleaning.metadata.byline import Byline
from cleaning.metadata.dates import time_reader
from cleaning.metadata.declared import read_declared
from cleaning.metadata.metadata import extract_metadata
from cleaning.metadata.page_kind import decide_kind
from cleaning.metadata.title import find_title
from cleaning.metadata.with_model import cut_site_name
from cleaning.model.places import SitePlaces, find_places
from cleaning.model.rules import PostRule
from cleaning.model.site_model import SiteModel
from cleaning.papers.link_blocks import LinkBlocks, find_link_blocks
from cleaning.posts.posts import extract_posts, first_post
from cleaning.records import NO_THREADS, CleanRecord, PageKind, Post

NO_BLOCKS = LinkBlocks(blocks=(), link_count=0, char_count=0)


def clean(page: RawPage, model: SiteModel | None = None, blocks: bool = False) -> CleanRecord:
    """Everything a user gets from one page; the same page and model always give the same record.

    Args:
        page: The decoded page.
        model: What its host taught, or None.
        blocks: Whether the record has the logical link blocks of the source and their shares, which
            takes a scan of its own.

    Raises:
        ConfigError: The model is of another host.
        InvalidUrl: The page's own URL is no absolute http(s) URL.
    """
    if model is not None and model.host != page.host:
        raise ConfigError(f"the model of {model.host} was given for a page of {page.host}")
    tree = parse(page.html)
    base, base_warnings = base_of(tree, page.url, page.encoding)
    declared = read_declared(tree, base, page.encoding)
    rule = _post_rule(page, model) if model is not None else None
    if model is None:
        places = SitePlaces()
        body = extract_body(tree, page.url)
    else:
        places = find_places(tree, model)
        body = find_body(tree, places, model, page.url, rule)
    title = find_title(tree, declared, body.title_line, page.host)
    if model is not None:
        title = cut_site_name(title, model.index)
    links, link_warnings = extract_links(tree, body, title, page.host, base, page.encoding)
    if model is not None:
        links = settle_links(tree, links, places, model)
    images, image_warnings = extract_images(tree, body, links, page.host, base, page.encoding)
    if model is not None:
        images = settle_images(tree, images, links, places, model)
        links = settle_picture_links(tree, links, images)
    outlinks, outlink_warnings = extract_outlinks(tree, links, page.url, base, page.encoding)
    lines = Byline(tree, body)
    kind = decide_kind(tree, declared, body, lines, links, page.url)
    if body.thread is not None and body.thread.is_known:
        kind = PageKind.THREAD
    metadata = extract_metadata(tree, declared, body, lines, page, kind)
    posts: tuple[Post, ...] = ()
    if body.thread is not None and kind is PageKind.THREAD:
        read_time = time_reader(metadata.language, page.fetched_at)
        posts = extract_posts(tree, body.thread, read_time, rule.slots if rule else None)
    elif kind is PageKind.THREAD and body.text:
        posts = (
            Post(
                author=metadata.author,
                published_at=metadata.published_at,
                floor=1,
                body=body.text,
            ),
        )
    first = first_post(posts)
    found = find_link_blocks(page.html) if blocks else NO_BLOCKS
    return CleanRecord(
        page_id=page.page_id,
        url=page.url,
        canonical_url=declared.canonical_url or page.url,
        host=page.host,
        fetched_at=page.fetched_at,
        kind=kind,
        title=title,
        author=first.author or metadata.author,
        published_at=first.published_at or metadata.published_at,
        language=metadata.language,
        encoding=page.encoding,
        body=body.text,
        markdown=write_markdown(tree, body.lines, links, images),
        posts=posts,
        links=links,
        images=images,
        outlinks=outlinks,
        signature=signature_of(body.text),
        model_version=model.version if model is not None else 0,
        body_source=body.source,
        warnings=page.warnings
        + tree.warnings
        + base_warnings
        + link_warnings
        + image_warnings
        + outlink_warnings
        + find_script_page(tree, body),
        link_blocks=found.blocks,
        lcr=found.lcr,
        ccr=found.ccr,
    )


def _post_rule(page: RawPage, model: SiteModel) -> PostRule | None:
    """How the posts of a page are found; None where its address is that of no thread."""
    if model.post_rule is None or model.url_kind(page.url) in NO_THREADS:
        return None
    return model.post_rule


def signature_of(body: str) -> str:
    """16 hex digits that are equal for bodies that differ in white space alone; ``""`` for none."""
    text = "".join(body.split())
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest() if text else ""
