"""The template of a host in the body that was found on a page alone."""

from __future__ import annotations

from crawlclean.cleaning.body.page_body import Body, make_body, without_lines
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.model.paths import checksum_of, line_key
from crawlclean.cleaning.model.places import SitePlaces
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.url_classes.rules import class_of

_LEAST_PAGES = 8  # pages of a host that tell a body from its template
_SHORT_CHARS = 60  # longest paragraph that costs less to keep than to lose


def is_template(tree: Tree, url: str, body: Body, places: SitePlaces) -> bool:
    """Returns whether every line of a body is on most pages, of its URL class or of all.

    A footer and a notice are. What bodies keep is not, such as the text of reprints; nor is a list
    of sections at a known place that the contents beside every page have, too.
    """
    model = places.model
    if model.page_count < _LEAST_PAGES or body.source is BodySource.POSTS or not body.lines:
        return False
    often, of_class = model.index.often, model.index.often_in(class_of(url))
    own = model.index.own
    keys = (line_key(tree.line_text(i)) for i in body.lines)  # the first one mostly decides
    if any((key not in of_class and key not in often) or checksum_of(key) in own for key in keys):
        return False
    if body.source is not BodySource.SITE:
        return True
    others = set(range(len(tree.line_starts))).difference(body.lines)
    beside = {tree.line_text(i) for i in others}
    return 2 * sum(tree.line_text(i) in beside for i in body.lines) <= len(body.lines)


def voice_of(document: Document, alone: Body, places: SitePlaces) -> Body:
    """Returns the page's own body, without a line where it is template: no evidence of a place."""
    is_frame = is_template(document.tree, document.page.url, alone, places)
    return without_lines(alone) if is_frame else alone


def without_template(document: Document, alone: Body, places: SitePlaces) -> Body:
    """Returns the page's own body without the template lines before and behind its other lines."""
    tree = document.tree
    starts, texts = tree.line_starts, alone.is_kept
    kept = [i for i, start in enumerate(starts) if texts[start]]
    inner = between_template(tree, document.page.url, kept, places.model)
    if len(inner) == len(kept):
        return alone
    first = kept.index(inner[0])
    places.template_lines = kept[:first] + kept[first + len(inner) :]
    return make_body(tree, inner, alone.source, alone.title_line)


def between_template(tree: Tree, url: str, lines: list[int], model: SiteModel) -> list[int]:
    """Returns the lines of a body without those of the template at its ends; all if no other is.

    Template lines between others stay: names of columns are on many pages, too. So do headings, and
    short paragraphs beside those of the page's own text: a long one is a notice.
    """
    template = model.index.often_in(class_of(url))
    if not template:
        return lines
    own = [
        n
        for n, i in enumerate(lines)
        if tree.block_tags[tree.line_blocks[i]] in HEADINGS
        or line_key(tree.line_text(i)) not in template
    ]
    if not own:
        return lines
    beside = {_paragraphs_of(tree, lines[n]) for n in own} - {None}
    own += [
        n
        for n, i in enumerate(lines)
        if len(tree.line_text(i)) <= _SHORT_CHARS and _paragraphs_of(tree, i) in beside
    ]
    return lines[min(own) : max(own) + 1]


def _paragraphs_of(tree: Tree, line: int) -> tuple[int, str] | None:
    """The part around the paragraph of a line, and the paragraph's names; None for other lines."""
    block = tree.line_blocks[line]
    if tree.block_tags[block] != "p":
        return None
    return tree.block_parents[block], tree.block_names[block]
