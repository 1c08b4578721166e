"""The verdict on each block of text of a page: what it was kept or cut as, and by which rule."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


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
    FAR_FROM_TEXT = "far_from_text"  # a short line too far before or behind the running text
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
        by: Part or text that decided: ``div.sidebar``, ``相关阅读``, path of the container; ``""``
            without.
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
