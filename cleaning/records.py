"""The record of a cleaned page: its links, images and posts, and the reason for each verdict.

Read this file first: the whole record stands in it. A page before cleaning is
``document/document.py``. All types are frozen, slotted and keyword-only; every status is an enum,
and so is the reason of every drop or fallback. Times are aware UTC datetimes. A ``host`` is the
lower-case authority of a URL without its scheme's default port: ``example.com``,
``127.0.0.1:8000``.

``Link``, ``Image`` and ``Outlink`` come by hundreds to a page: msgspec makes them ten times as fast
as dataclasses. ``msgspec.structs.replace`` copies them with changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from crawlclean.cleaning.json_values import dump_versioned, load_versioned, utc
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind

# The verdict on each block of text of a page: what it was kept or cut as, and by which rule.


class VerdictKind(StrEnum):
    """What a block of text was kept as, or cut as."""

    TITLE = "title"  # kept: the title of the record
    HEADLINE = "headline"  # kept as the title: the line that shows it, not repeated in the body
    BODY = "body"  # kept: in the body
    POST = "post"  # kept: the text of a post
    QUOTE = "quote"  # kept: in a post, as a quote of another post
    CAPTION = "caption"  # kept: the caption of a content image
    ABOUT = "about"  # cut: source, author, time, buttons; the record has author and time of its own
    COMMENTS = "comments"  # cut: what readers wrote below an article
    NAVIGATION = "navigation"  # cut: menus, breadcrumbs, pagination, log in, share, print
    RELATED = "related"  # cut: links to pages on the same matter
    HOT = "hot"  # cut: popular or newest pages of the site
    TAGS = "tags"  # cut: keywords of the page
    LINKS = "links"  # cut: other lists and lines of links, teasers of other pages
    ADVERTISING = "advertising"  # cut: advertising, requests to follow, scan or share
    LEGAL = "legal"  # cut: imprint, licences, disclaimers
    HIDDEN = "hidden"  # cut: its own style hides it
    REPEAT = "repeat"  # cut: stands on the page before
    TEMPLATE = "template"  # cut: on most pages of the host, or the same in most posts
    OTHER = "other"  # cut: no evidence for a kind


class VerdictReason(StrEnum):
    """The rule that decided; where several rules cut one text, the outermost part comes first."""

    TITLE = "title"  # by <title>, declared headlines and headings
    TITLE_LINE = "title_line"  # the line of the page that shows its title
    RUNNING_TEXT = "running_text"  # in the container, and reads like sentences
    PLAIN_TEXT = "plain_text"  # in the container of a page with hardly any sentences
    BETWEEN_TEXT = "between_text"  # a short line between lines of running text
    NEAR_TEXT = "near_text"  # a short line right before or behind the running text
    LEAD = "lead"  # running text between the title and the body, in a part of its own
    POST_TEXT = "post_text"  # in the part of a post that holds its text
    POST_QUOTE = "post_quote"  # in a part of a post that quotes another one
    FIRST_POST = "first_post"  # an article found beside the posts: a first post of another shape
    AT_PLACE = "at_place"  # at the place of the host's bodies, by its model
    CAPTION = "caption"  # in the figure of a content image, or the short line beside it
    PART_TAG = "part_tag"  # in a part of noise by its tag: <nav>, <footer>, <aside>, <form>
    PART_NAME = "part_name"  # in a part of noise by its class or id: sidebar, share
    HIDDEN_PART = "hidden_part"  # in a part whose own style hides it
    TEASER = "teaser"  # in one of several like parts that tease other pages
    COMMENT_PART = "comment_part"  # in a part of comments by its class or id
    MARKER = "marker"  # a marker such as 相关阅读 or 网友评论, or governed by one
    BEHIND_COMMENTS = "behind_comments"  # behind the comments, which end the text they are about
    DISCLAIMER = "disclaimer"  # a short line with words of disclaimers
    REPEATED = "repeated"  # its text stands in an earlier part
    LINK_LIST = "link_list"  # in a part with more linked than own words, worth less than nothing
    LINK_LINE = "link_line"  # a line with more linked than own words
    OUTSIDE_CONTAINER = "outside_container"  # no part around it is worth more than the container
    BEFORE_TITLE = "before_title"  # before the title, behind which most of the text stands
    PROMOTION = "promotion"  # a request to follow, scan or share, or in the box of one
    BEHIND_PROMOTION = "behind_promotion"  # behind a promotion at the end of the text
    NO_LINKS_BELOW = "no_links_below"  # a heading of links that are not in the body
    ABOUT_TEXT = "about_text"  # a short line at an end: source, author, time, buttons
    NO_WORDS = "no_words"  # a line at an end with a word or a mark at most
    FAR_FROM_TEXT = "far_from_text"  # a short line behind the running text, in another part
    LINE_NUMBERS = "line_numbers"  # numbers of the lines of code beside it
    OUTSIDE_POSTS = "outside_posts"  # in no part with the text of a post
    ABOUT_POST = "about_post"  # beside the text of a post: author, time, floor, buttons
    POST_TEMPLATE = "post_template"  # the same short text in one place of most posts
    POST_SUBJECT = "post_subject"  # a heading in a post that repeats the title
    POST_LINK = "post_link"  # a line of a post with nothing but a short link
    OUTSIDE_PLACE = "outside_place"  # outside the place of the host's bodies
    HOST_REPEATS = "host_repeats"  # at the place, in a part whose text is on most pages
    HOST_LINKS = "host_links"  # at the place, in a part that is a list of links on other pages
    HOST_LINE_NUMBERS = "host_line_numbers"  # at the place, in a part of line numbers
    HOST_COMMENTS = "host_comments"  # at the place, in a part of comments on other pages
    HOST_ABOUT = "host_about"  # at the place, in a part that is one short line on all pages
    HOST_LINE = "host_line"  # a line of the host's template at an end of the page's own body
    OVERRIDE = "override"  # a person's override of the host says that it belongs to the record
    OVERRIDE_CUT = "override_cut"  # a person's override drops it, or has the body elsewhere


KEPT = frozenset(
    (
        VerdictKind.TITLE,
        VerdictKind.HEADLINE,
        VerdictKind.BODY,
        VerdictKind.POST,
        VerdictKind.QUOTE,
        VerdictKind.CAPTION,
    )
)


class Verdict(Struct, frozen=True, kw_only=True, gc=False):
    """One block of visible text: neighbouring lines of one block element with one verdict.

    ``score`` and ``against`` are what the rule compared:

    - ``outside_container``: worth in words of the best part around the text, and of the container;
    - ``running_text``, ``plain_text``: worth of the text in words;
    - ``link_list``, ``link_line``: words in links, and outside;
    - ``at_place``, ``outside_place``: share of the pages of the URL class with their body there;
    - ``host_...``: share of the learned pages that have such a part.

    Attributes:
        path: Path of its block element as in site models: ``html/body/div.main/p``; of a path over
            400 characters the beginning. ``html/head/title`` for the title of the record.
        block: Number of the block element in document order; 0 is ``<html>``, -1 the title.
        line: Number of its first line on the page; -1 for the title.
        lines: Number of its lines.
        text: Its text, one line a line, white space collapsed; code as in the record.
        kind: What it was kept or cut as.
        reason: The rule that decided.
        in_body: Whether it is in the body of the record.
        post: Number in the posts of the record of the post that has it, -1: none.
        score: Score of the text by the rule; null for a rule without one.
        against: Score that it was compared with; null without.
        by: Part, text or selector that decided: ``div.sidebar``, ``相关阅读``, path of the
            container; ``""`` without.
    """

    path: str
    block: int
    line: int
    lines: int
    text: str
    kind: VerdictKind
    reason: VerdictReason
    in_body: bool = False
    post: int = -1
    score: float | None = None
    against: float | None = None
    by: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the text is in the record."""
        return self.kind in KEPT


class PageKind(StrEnum):
    """What a page is for its reader."""

    ARTICLE = "article"  # one text, with or without comments
    THREAD = "thread"  # posts of several users: a forum's topic, questions and answers
    INDEX = "index"  # a list that leads to other pages
    OTHER = "other"  # none of these, or no content


class LinkKind(StrEnum):
    """What a link is for its reader."""

    BODY = "body"  # inside the page's text
    RELATED = "related"  # to a page on the same matter
    NAVIGATION = "navigation"  # menus, breadcrumbs, pagination
    FUNCTION = "function"  # does something: log in, share, print
    AD = "ad"  # advertising
    HOT = "hot"  # popular or newest pages of the site
    TAG = "tag"  # keywords of the page
    LEGAL = "legal"  # imprint, licences, contact
    OTHER = "other"  # no evidence for a kind


class LinkReason(StrEnum):
    """The evidence that decided a link's kind."""

    NOT_A_PAGE = "not_a_page"  # javascript:, mailto:, a fragment of the same page
    SEMANTIC_TAG = "semantic_tag"  # inside <nav>, <header>, <footer>, <aside>
    URL_SHAPE = "url_shape"  # its URL has the shape of a kind of page
    PART_NAME = "part_name"  # class or id of a part around it
    WORDS = "words"  # its anchor text is a known word of that kind
    IN_BODY = "in_body"  # both neighbouring texts are long (paper 2)
    MARKER = "marker"  # under a start marker such as 相关阅读
    TITLE_WORDS = "title_words"  # its block shares words with the page's title
    HEADLINES = "headlines"  # it and its neighbours read like titles of other pages
    SAME_ADDRESS = "same_address"  # another link of the page leads there
    REL = "rel"  # by its rel attribute, such as nofollow
    LINK_LIST = "link_list"  # among links with little text between them (paper 2)
    HOST_REPEATS = "host_repeats"  # on many pages of the host (paper 3, m2)
    HOST_PLACE = "host_place"  # the kind of the links at its path on the host's other pages
    HOST_CHANGES = "host_changes"  # in older records: on no other page of the host
    NO_EVIDENCE = "no_evidence"  # nothing decided


class ImageKind(StrEnum):
    """What an image is for its reader."""

    CONTENT = "content"  # part of what the page is about
    AD = "ad"  # advertising
    CHROME = "chrome"  # logos, icons, decoration
    THUMB = "thumb"  # the picture of a link to another page
    OTHER = "other"  # no evidence for a kind


class ImageReason(StrEnum):
    """The evidence that decided an image's kind."""

    NO_SOURCE = "no_source"  # no attribute names a picture
    TINY = "tiny"  # declared a few pixels wide or high
    BANNER = "banner"  # linked to another site with the shape of a banner
    SEMANTIC_TAG = "semantic_tag"  # inside <nav>, <header>, <footer>, <aside>
    LINKED_PAGE = "linked_page"  # inside a link to another page
    IN_BODY = "in_body"  # in the body's part of the page
    NAMES = "names"  # by its file, its alt text, or because the page shows it again and again
    HOST_REPEATS = "host_repeats"  # on many pages of the host (paper 3, m2)
    HOST_PLACE = "host_place"  # the kind of the images at its path on the host's other pages
    SAME_ADDRESS = "same_address"  # it leads where an advertisement leads
    NO_EVIDENCE = "no_evidence"  # nothing decided


class UrlKind(StrEnum):
    """The kind of page a URL leads to, by the URLs of its host."""

    THREAD = "thread"  # posts of several users
    ARTICLE = "article"  # one text
    INDEX = "index"  # a list that leads to other pages
    USER = "user"  # a user's page
    SEARCH = "search"  # results of a search
    LOGIN = "login"  # login, registration
    FORM = "form"  # a form: reply, post, edit
    FEED = "feed"  # RSS or Atom
    ASSET = "asset"  # a file, not a page
    CALENDAR = "calendar"  # one of endless dates
    DUPLICATE = "duplicate"  # another form of a page that has a better URL
    OTHER = "other"  # none of these


# A list of posts by one user, or of search results, looks like a thread.
NO_THREADS = frozenset(
    (UrlKind.INDEX, UrlKind.USER, UrlKind.SEARCH, UrlKind.LOGIN, UrlKind.FORM, UrlKind.CALENDAR)
)


class Via(StrEnum):
    """How a URL was found."""

    SEED = "seed"  # given by the operator
    LINK = "link"  # <a> or <area>
    FRAME = "frame"  # <frame> or <iframe>
    REDIRECT = "redirect"  # a 3xx response
    META_REFRESH = "meta_refresh"  # <meta http-equiv=refresh>, the header, or a script alone
    NEXT = "next"  # <link rel=next>
    CANONICAL = "canonical"  # <link rel=canonical>
    SITEMAP = "sitemap"  # a sitemap
    IMAGE = "image"  # a content image of a page
    IMPORT = "import"  # fetched by others; the referrer is the file and line it came from


class BodySource(StrEnum):
    """Which method gave the body."""

    CONTAINER = "container"  # the part of the page whose lines are worth the most
    PLAIN_LINES = "plain_lines"  # as CONTAINER, with lines that are no sentences weighed as text
    POSTS = "posts"  # the texts of a thread's posts
    LIST = "list"  # the teasers of other pages, where the page has hardly any other text
    HYPERLINKS = "hyperlinks"  # paper 2
    SITE = "site"  # the body rule of the site model, without its dropped parts
    OVERRIDE = "override"  # a person's override of the host, or of the URL class
    NONE = "none"  # the page has no body


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a crawl came to a URL.

    Attributes:
        crawl_id: The crawl that fetched the URL.
        referrer: URL of the page with the link; None for a seed.
        via: How the URL was found.
        link_text: Anchor text of the link, at most 80 characters.
        discovered_at: When the URL was found.
    """

    crawl_id: str
    referrer: str | None = None
    via: Via = Via.SEED
    link_text: str = ""
    discovered_at: datetime | None = None


class Link(Struct, frozen=True, kw_only=True, gc=False):
    """One ``<a>`` or ``<area>`` with an href.

    Attributes:
        href: The raw attribute.
        url: Absolute URL; ``""`` for an href that cannot be resolved.
        text: Visible anchor text, white space collapsed (an image's alt is not text).
        title: The title attribute.
        rel: The rel attribute, lower case, white space collapsed.
        kind: What the link is.
        score: Confidence in ``kind``, 0..1.
        reason: The evidence that decided.
    """

    href: str
    url: str
    text: str
    title: str = ""
    rel: str = ""
    kind: LinkKind = LinkKind.OTHER
    score: float = 0.0
    reason: LinkReason = LinkReason.NO_EVIDENCE


class Image(Struct, frozen=True, kw_only=True, gc=False):
    """One ``<img>``.

    Attributes:
        src: The raw attribute that names the picture, lazy-load attributes resolved.
        url: Absolute URL; ``""`` when there is none (data: URLs stay out).
        alt: The alt attribute, white space collapsed.
        caption: Caption of a content image: the text of its figure, the short line beside it, else
            a descriptive alt text; at most 500 characters, ``""`` without.
        width: Declared width in CSS pixels, or None.
        height: Declared height in CSS pixels, or None.
        link: Absolute URL of the link around it, or None.
        kind: What the image is.
        score: Confidence in ``kind``, 0..1.
        reason: The evidence that decided.
    """

    src: str
    url: str
    alt: str = ""
    caption: str = ""
    width: int | None = None
    height: int | None = None
    link: str | None = None
    kind: ImageKind = ImageKind.OTHER
    score: float = 0.0
    reason: ImageReason = ImageReason.NO_EVIDENCE


class Outlink(Struct, frozen=True, kw_only=True, gc=False):
    """One URL the frontier gets from a page.

    Attributes:
        url: Absolute http(s) URL without fragment.
        via: How the URL was found.
        kind: Kind of the link.
        score: Expected worth of fetching the URL, 0..1.
        text: Anchor text, at most 80 characters.
    """

    url: str
    via: Via
    kind: LinkKind = LinkKind.OTHER
    score: float = 0.0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One post of a thread.

    Attributes:
        author: Name of the user, or None.
        published_at: When it was posted; aware, or None.
        floor: Its number; 1 is the first.
        body: Plain text.
    """

    author: str | None
    published_at: datetime | None
    floor: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkBlock:
    """Neighbouring links of a source with little between them (chapter 5).

    Attributes:
        first: Number of its first link among the ``<a href>`` of the source, scripts and comments
            left out, from 0.
        end: Number of the link after its last.
        start_char: Its first character in ``RawPage.html``.
        end_char: The character after its last.
    """

    first: int
    end: int
    start_char: int
    end_char: int


SHOWN_CHARS = 60  # of a title in a notebook: the whole record would fill several screens


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanRecord:
    """One page after cleaning: everything a user gets from it.

    Attributes:
        page_id: 128-bit hex of the URL's normal form.
        url: As fetched.
        canonical_url: The URL the page declares as its own, absolute; else ``url``.
        host: Lower-case authority.
        fetched_at: When the response ended.
        kind: What the page is.
        title: The page's title, ``""`` when it has none.
        author: Author's name, or None.
        published_at: When it was published; aware, or None.
        language: BCP 47 primary tag, or None.
        encoding: Python's name of the charset that decoded the page.
        body: Plain text, one line a paragraph, code as in the source; ``""`` when there is none.
        markdown: The body as Markdown (CommonMark, GFM tables) with its headings from level 2,
            lists, quotes, tables, code, emphasis, links and content images; ``""`` without a body.
        posts: The posts of a thread in order.
        links: Every ``<a>``/``<area>`` with an href, in document order; at most 20,000.
        images: Every ``<img>``, in document order; at most 20,000.
        outlinks: The URLs for the frontier, each once, in document order.
        signature: Fingerprint of the body, 16 hex digits; ``""`` without a body.
        model_version: Version of the site model used; 0 is none.
        body_source: The method that found the body.
        confidence: Probability that the body is right, 0..1 (F1 of its tokens >= .8); 0 without a
            body, None in a record of version 0.2.0.
        warnings: Warnings: what was capped, guessed or given up.
        link_blocks: Logical link blocks of the source, in order. This field, ``lcr`` and ``ccr``
            are filled by ``clean(..., blocks=True)`` alone.
        lcr: Share of the source's links that lie in blocks, 0..1.
        ccr: Share of the source's characters that lie in blocks, 0..1.
        origin: File and line of a page that others fetched, ``rows.jsonl:12``; ``""``: crawled.
        extra: Values that record steps of other packages add, by name; this program adds none.
    """

    page_id: str
    url: str
    canonical_url: str
    host: str
    fetched_at: datetime
    kind: PageKind = PageKind.OTHER
    title: str = ""
    author: str | None = None
    published_at: datetime | None = None
    language: str | None = None
    encoding: str = "utf-8"
    body: str = ""
    markdown: str = ""
    posts: tuple[Post, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[Image, ...] = ()
    outlinks: tuple[Outlink, ...] = ()
    signature: str = ""
    model_version: int = 0
    body_source: BodySource = BodySource.NONE
    confidence: float | None = None
    warnings: tuple[PageWarning, ...] = ()
    link_blocks: tuple[LinkBlock, ...] = ()
    lcr: float = 0.0
    ccr: float = 0.0
    origin: str = ""
    extra: dict[str, Any] = field(default_factory=dict, hash=False)

    def __repr__(self) -> str:
        title = self.title if len(self.title) <= SHOWN_CHARS else f"{self.title[:SHOWN_CHARS]}..."
        return (
            f"CleanRecord(url={self.url!r}, kind={str(self.kind)!r}, title={title!r}, "
            f"<body of {len(self.body):,} characters>)"
        )

    def in_utc(self) -> CleanRecord:
        """The record with its times in UTC; a naive time counts as UTC."""
        times = [self.published_at, *(post.published_at for post in self.posts)]
        if self.fetched_at.tzinfo is UTC and all(at is None or at.tzinfo is UTC for at in times):
            return self
        return replace(
            self,
            fetched_at=utc(self.fetched_at),
            published_at=self.published_at and utc(self.published_at),
            posts=tuple(
                replace(post, published_at=post.published_at and utc(post.published_at))
                for post in self.posts
            ),
        )

    def to_json(self) -> bytes:
        """The record as one line of JSON: enums as text, times ending in Z, links as objects."""
        return dump_versioned(self.in_utc())

    @classmethod
    def from_json(cls, data: bytes | str) -> CleanRecord:
        """Decodes the record that ``to_json`` wrote.

        Raises:
            SchemaMismatch: A newer program wrote it.
            StoreDamaged: This program never wrote it.
        """
        return load_versioned(data, _record_decoder(), "record")


@cache
def _record_decoder() -> Decoder[CleanRecord]:
    return Decoder(CleanRecord)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStats:
    """The totals of a host's stored pages, each derived from its records.

    Attributes:
        host: Lower-case authority.
        pages_by_state: Pages by the name of the state they reached.
        pages_by_kind: Records by page kind; adds up to the state ``record``.
        links_by_kind: Links of all records by kind.
        images_by_kind: Images of all records by kind.
        errors_by_reason: Failed pages by reason; adds up to the state ``failed``.
        certificate_faults: URLs that were requested from the host though its certificate is wrong,
            or that were refused for this, by what is wrong: ``{"expired": 12}``.
        errors_by_status: Of the reason ``http_status``, failed pages by status: ``{"403": 7}``.
        pages_by_warning: Records by the kinds of their warnings; one may have several.
        empty_bodies: Records without a body, but for index pages, which often have none.
        fetched_bytes: Bytes of all responses after content decoding.
        html_chars: Characters of all decoded sources.
        body_chars: Characters of all bodies.
        near_duplicates: Pages whose story has an earlier page, of any host and crawl: the text is
            the same, perhaps edited, cut or with other lines around it. Bodies of fewer than 100
            letters tell no story; of these, those equal to the body of another page of the host,
            but for the first.
        kept_records: Records of pages that gave none when they were fetched again; they stay, and
            exports have them. No other number counts them.
        wait_ms: Sum of the time from discovery to fetch, milliseconds.
        first_seen: Earliest of the URLs' newest fetches, or None.
        last_seen: Latest fetch, or None.
        model_version: Newest model version among the records; 0 is none.
        exact: Whether no page of this host was in flight when the numbers were read.
    """

    host: str
    pages_by_state: dict[str, int] = field(default_factory=dict)
    pages_by_kind: dict[PageKind, int] = field(default_factory=dict)
    links_by_kind: dict[LinkKind, int] = field(default_factory=dict)
    images_by_kind: dict[ImageKind, int] = field(default_factory=dict)
    errors_by_reason: dict[str, int] = field(default_factory=dict)
    certificate_faults: dict[str, int] = field(default_factory=dict)
    errors_by_status: dict[str, int] = field(default_factory=dict)
    pages_by_warning: dict[WarningKind, int] = field(default_factory=dict)
    empty_bodies: int = 0
    fetched_bytes: int = 0
    html_chars: int = 0
    body_chars: int = 0
    near_duplicates: int = 0
    kept_records: int = 0
    wait_ms: int = 0
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    model_version: int = 0
    exact: bool = True

    @property
    def noise_share(self) -> float:
        """Share of links that are navigation, function, advertising, hot or legal, 0..1."""
        noise = {
            LinkKind.NAVIGATION,
            LinkKind.FUNCTION,
            LinkKind.AD,
            LinkKind.HOT,
            LinkKind.LEGAL,
        }
        total = sum(self.links_by_kind.values())
        return sum(n for k, n in self.links_by_kind.items() if k in noise) / total if total else 0.0


def in_plain_text(record: CleanRecord) -> CleanRecord:
    """A record whose warnings are texts, no ``Message``: encoders of others refuse these."""
    plain = (replace(each, detail=str.__str__(each.detail)) for each in record.warnings)
    return replace(record, warnings=tuple(plain))
