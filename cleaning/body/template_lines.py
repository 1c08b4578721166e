"""The template of a host in the body that was found on a page alone."""

from __future__ import annotations

from cleaning.body.page_body import Body, make_body
from cleaning.document.document import Document
from cleaning.document.tree import HEADINGS, Tree
from cleaning.model.paths import checksum_of, line_key
from cleaning.model.places import SitePlaces
from cleaning.model.site_model import SiteModel
from cleaning.records import BodySource
from cleaning.url_classes.rules import class_of

_LEAST_PAGES = 8  # pages of a host that tell a body from its template


def is_template(tree: Tree, url: str, body: Body, places: SitePlaces) -> bool:
    """Returns whether every line of a body is on most pages, of its URL class or of all.

    A footer and a notice are. What bodies keep is not, such as the text of reprints.
    """
    model = places.model
    if model.page_count < _LEAST_PAGES or body.source is BodySource.POSTS or not body.lines:
        return False
    often, of_class = model.index.often, model.index.often_in(class_of(url))
    own = model.index.own
    keys = (line_key(tree.line_text(i)) for i in body.lines)
    return all((key in of_class or key in often) and checksum_of(key) not in own for key in keys)


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
    paragraphs beside the paragraphs of the page's own text.
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
    own += [n for n, i in enumerate(lines) if _paragraphs_of(tree, i) in beside]
    return lines[min(own) : max(own) + 1]


def _paragraphs_of(tree: Tree, line: int) -> tuple[int, str] | None:
    """The part around the paragraph of a line, and the paragraph's names; None for other lines."""
    block = tree.line_blocks[line]
    if tree.block_tags[block] != "p":
        return None
    return tree.block_parents[block], tree.block_names[block]
