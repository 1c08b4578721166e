"""The body of a page: by a place of its host's model where one fits, else by the page alone.

A place of the model is a container path; the body is the block there less the parts that the host's
pages drop. The body by the page's own evidence (``page_body``) decides between several places, and
bounds what a place may lose. A body is never lost: the page's own body stands, less the template
lines around it, where

- no place of the model is on the page;
- the URL class of the page has its bodies elsewhere;
- the page's own body has more text outside the place than belongs there;
- the page is a list, and no known place fits it when read as an article.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import replace

from crawlclean.cleaning.body.container import LEAST_LEAD_UNITS
from crawlclean.cleaning.body.page_body import (
    Body,
    binary_warning,
    empty_warning,
    extract_body,
    make_body,
    script_warnings,
    weigh,
    with_lines,
    without_lines,
)
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import Lines, Trail, is_meta, plain_title
from crawlclean.cleaning.model.paths import checksum_of, is_plain, line_key
from crawlclean.cleaning.model.rules import Dropped, DropReason
from crawlclean.cleaning.model.site_model import SiteIndex, SiteModel, SitePlaces
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.posts.posts import PostPlace, is_forum
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.url_classes.rules import class_of

# The parts of a body's block that the host's pages drop, as far as they stand on this page.

LEAST_TEXT_CHARS = 40  # least text outside headings of a body that is no list
# Most text of a dropped part: so many times its text on other pages, and so many characters more.
_MORE_TIMES = 2.0
_MORE_CHARS = 200  # a notice or a caption that the other pages do not have
_KNOWN_SHARE = 0.7  # share of a paragraph's text that is of known lines


def find_left_out(tree: Tree, body: int, dropped: dict[int, Dropped]) -> set[int]:
    """Returns the dropped parts of a block, less those with far more text than on other pages.

    A list of links with more text outside links than in them is kept, too; so are paragraphs and
    nameless parts with other lines.
    """
    found = set()
    for block, part in dropped.items():
        first, last = tree.block_lines[block], tree.line_end(block)
        if not (body < block < tree.block_ends[body] and first < last):
            continue
        if part.lines and not _has_lines(tree, range(first, last), part.lines):
            continue
        is_list = part.reason is DropReason.LINKS
        most = _MORE_TIMES * part.most_chars + _MORE_CHARS
        if is_list:
            most = min(most, max(part.most_chars, LEAST_TEXT_CHARS))
        start, end = tree.line_starts[first], tree.line_runs(last - 1)[1]
        if part.reason is not DropReason.COMMENTS and sum(map(len, tree.texts[start:end])) > most:
            runs = zip(tree.texts[start:end], tree.anchor_of[start:end], strict=True)
            sizes = [(len("".join(text.split())), anchor >= 0) for text, anchor in runs]
            own = sum(size for size, is_linked in sizes if not is_linked)
            if own > most and not (is_list and own <= sum(size for size, _ in sizes) / 2):
                continue
        found.add(block)
    return found


def _has_lines(tree: Tree, lines: range, known: tuple[int, ...]) -> bool:
    """Whether most text of some lines is in lines that are known by their checksums."""
    whole = here = 0
    for i in lines:
        text = tree.line_text(i)
        whole += len(text)
        here += len(text) if checksum_of(line_key(text)) in known else 0
    return here >= _KNOWN_SHARE * whole


# The template of a host in the body that was found on a page alone.

_TEMPLATE_PAGES = 8  # pages of a host that tell a body from its template
_SHORT_CHARS = 60  # longest paragraph that costs less to keep than to lose


def is_template(tree: Tree, url: str, body: Body, places: SitePlaces) -> bool:
    """Returns whether every line of a body is on most pages, of its URL class or of all.

    A footer and a notice are. What bodies keep is not, such as the text of reprints; nor is a list
    of sections at a known place that the contents beside every page have, too.
    """
    model = places.model
    if model.page_count < _TEMPLATE_PAGES or body.source is BodySource.POSTS or not body.lines:
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
    return with_lines(tree, alone, inner)


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


# A place is trusted without its URL class from this F1 of the block's text with the body by the
# page's own evidence; a path of tags alone always needs the greater one.
_LEAST_AGREEMENT = 0.6
_PLAIN_AGREEMENT = 0.9  # any part of a page may stand at a path without names
# A place is trusted without agreement when it explains the body of this share of the pages of the
# URL class (of a class not seen: of the pages that have the place).
_LEAST_TRUST = 0.65
_LEAST_SEEN = 2  # pages of a URL class in the sample from which it is known ...
_LEAST_OTHERS = 4  # ... and of other classes with their body at a place, from which that is enough
_DOUBT = 0.5  # pages with their body elsewhere that are counted beside those of the sample
_TRUST_WEIGHT = 1.0  # what such a share is worth in F1 when places compete
# Share of that text that may be neither of the template nor about the body, in times of the place's
# text: a place with less of the body is a piece of it. No body of the labelled sites has .05.
_OWN_SHARE = 0.2
# Posts found on the page alone do not count when so many pages of its URL class have bodies at
# known places, and at most this share of them posts.
_LEAST_PAGES = 3
_THREADS_SHARE = 0.1  # few threads of a class with bodies are pages read wrongly
_BYLINE_CHARS = 60  # longest line about the body
_SENTENCE = re.compile(r"[，。！？；…]|[.!?][”\"')]?$")  # marks that no line about a text has
_SHOWN_CHARS = 80  # of a dropped body in its warning: enough to know it again


def read_body(
    document: Document,
    places: SitePlaces | None = None,
    alone: Body | None = None,
    trail: Trail | None = None,
) -> Body:
    """Finds the body of a page; sets ``places.body`` where a place of the model holds it.

    Args:
        document: The parsed page.
        places: The places of its host's model on the page, None without a model.
        alone: The body by the page's own evidence, if found before.
        trail: Receives the rule that cut each line, where it is asked for.
    """
    body = _read_body(document, places, alone, trail)
    if places is None or not places.said.lines:
        return body
    return with_overrides(document.tree, body, places)


def _read_body(
    document: Document, places: SitePlaces | None, alone: Body | None, trail: Trail | None
) -> Body:
    """The body without a person's word on it."""
    tree, url = document.tree, document.page.url
    binary = binary_warning(document.page.html) if document.tree.has_controls else ()
    if binary:
        return replace(
            make_body(tree, [], BodySource.NONE, weigh(tree, trail).title), warnings=binary
        )
    if places is None:
        body = alone or extract_body(tree, url, weighed=weigh(tree, trail))
    elif alone is None:
        body = find_body(document, places, trail)
    else:
        body = body_of_site(document, alone, places)
    if not is_forum(url, tree.title):  # a first post may be of lines like these
        body = without_head(tree, body)
    if places is not None and is_template(tree, url, body, places):
        places.body = places.place = -1
        dropped = PageWarning(kind=WarningKind.TEMPLATE_BODY, detail=body.text[:_SHOWN_CHARS])
        body = replace(make_body(tree, [], BodySource.NONE, body.title_line), warnings=(dropped,))
        return replace(body, warnings=(*body.warnings, *script_warnings(tree, body)))
    body = _with_lead(tree, body, places)
    warnings = script_warnings(tree, body) or empty_warning(tree, body)
    return replace(body, warnings=warnings) if warnings else body


def _with_lead(tree: Tree, body: Body, places: SitePlaces | None) -> Body:
    """Returns a body with its lead in front, but for lines of the host's template."""
    often = places.model.index.often if places is not None and body.lead else frozenset()
    lead = [i for i in body.lead if i < body.first and line_key(tree.line_text(i)) not in often]
    return with_lines(tree, body, lead + body.lines) if lead else body


def without_head(tree: Tree, body: Body) -> Body:
    """Returns a body without the title and the lines about it above its text.

    They have fields of their own. Above the title nothing is of the body but running text. A list
    and posts stay as they are, and so does a body of nothing else.
    """
    if body.source in (BodySource.LIST, BodySource.POSTS, BodySource.NONE):
        return body
    texts = [tree.line_text(i) for i in body.lines]
    title = plain_title(tree.line_text(body.title_line)) if body.title_line >= 0 else ""
    begin = 0
    for n, text in enumerate(texts):
        if title and plain_title(text) == title:
            begin = n + 1
        elif _SENTENCE.search(text) or len(text) > _BYLINE_CHARS:
            break
        elif begin == n and is_meta(text):
            begin = n + 1
    if not 0 < begin < len(texts):
        return body
    return with_lines(tree, body, body.lines[begin:])


def with_overrides(tree: Tree, body: Body, places: SitePlaces) -> Body:
    """Returns the body that a person's overrides of the host give; notes whose decision it is.

    The line of the title stays out: it is the record's title.
    """
    said = places.said
    lines, source, thread = body.lines, body.source, body.thread
    whole, keep, drop = (said.lines.get(name, {}) for name in ("body", "keep", "drop"))
    if whole:
        by = said.by["body"]
        said.decided = dict.fromkeys(range(len(tree.line_starts)), by)
        lines, source, thread = sorted(whole), BodySource.OVERRIDE, None
        places.body = places.place = -1
    elif keep and not lines:
        source = BodySource.OVERRIDE
    said.decided |= {**keep, **drop}
    kept = sorted({*lines, *keep} - {*drop})
    if whole and kept[1:] and body.title_line in kept:
        kept.remove(body.title_line)
    if kept == lines and not whole:
        return body
    if thread is not None and drop:
        thread = replace(thread, posts=tuple(_without(post, drop) for post in thread.posts))
    made = make_body(tree, kept, source, body.title_line, thread)
    return (
        made
        if source is BodySource.OVERRIDE
        else replace(made, warnings=body.warnings, lead=body.lead)
    )


def _without(post: PostPlace, drop: Container[int]) -> PostPlace:
    """A post without dropped lines."""
    texts = tuple(i for i in post.texts if i not in drop)
    quotes = tuple(i for i in post.quotes if i not in drop)
    gone = {*post.texts, *post.quotes} - {*texts, *quotes}
    return replace(post, texts=texts, quotes=quotes, others=(*post.others, *gone))


def find_body(document: Document, places: SitePlaces, trail: Trail | None = None) -> Body:
    """Finds the body of a page of a known host; equal to ``body_of_site``, but faster.

    The page's own body is not searched where one place is trusted so far that it could not change
    the result.

    Args:
        document: The parsed page.
        places: The places of the model on the page; ``body`` and ``left_out`` are set.
        trail: Receives the rule that cut each line, where it is asked for.
    """
    tree, url = document.tree, document.page.url
    model, rule = places.model, places.post_rule
    weighed = weigh(tree, trail)
    may_be_thread = rule is not None or model.post_rule is None
    has_no_posts = rule is None and not (may_be_thread and is_forum(url, tree.title))
    if has_no_posts or _has_no_posts(model.index, url):
        body = _sure_body(document, weighed, places)
        if body is not None:
            return body
    alone = extract_body(
        tree,
        url,
        posts=rule.shape if rule else None,
        may_be_thread=may_be_thread,
        weighed=weighed,
    )
    return body_of_site(document, alone, places)


def body_of_site(document: Document, alone: Body, places: SitePlaces) -> Body:
    """Chooses between the places of the model and the page's own body.

    Args:
        document: The parsed page.
        alone: Its body by the page's own evidence.
        places: The places of the model on the page; ``body`` and ``left_out`` are set.
    """
    tree, model = document.tree, places.model
    if alone.source is BodySource.POSTS and not _has_no_posts(model.index, document.page.url):
        return alone
    lines = _best_place(document, voice_of(document, alone, places), places)
    if not lines and alone.source is BodySource.LIST and places.bodies:
        article = extract_body(tree, document.page.url, may_be_thread=False, may_be_list=False)
        lines = _best_place(document, article, places)
    if lines:
        body = make_body(tree, lines, BodySource.SITE, alone.title_line)
        return replace(body, lead=alone.lead)
    return without_template(document, alone, places)


def _sure_body(document: Document, weighed: Lines, places: SitePlaces) -> Body | None:
    """The body at a place that wins whatever the page's own body is; None without.

    The place beats all others by trust alone, its block has text outside headings, and hardly any
    text outside can be of the body: it is linked, or template.
    """
    tree, model = document.tree, places.model
    pattern = class_of(document.page.url)
    trusts = {each: _trust(model, each, places.bodies, pattern) for each in places.bodies}
    number = max(trusts, key=trusts.__getitem__, default=-1)
    blocks = places.bodies.get(number, [])
    trust = trusts.pop(number, 0.0)
    if (
        len(blocks) != 1
        or trust < _LEAST_TRUST
        or pattern not in model.index.classes[number]
        or not _is_known(model, number, pattern)
        or is_plain(model.body_rule.places[number].path)
        or (trusts and max(trusts.values()) > 0)
    ):
        return None
    places.body, places.place, places.trust = blocks[0], number, trust
    places.left_out = find_left_out(tree, blocks[0], places.dropped.get(number, {}))
    body = make_body(tree, _lines(tree, places), BodySource.SITE, weighed.title)
    headings = (i for i in body.lines if tree.block_tags[tree.line_blocks[i]] in HEADINGS)
    size = len("".join(body.text.split()))
    if size < LEAST_TEXT_CHARS + sum(len(tree.line_text(i)) for i in headings):
        return None
    first, last = tree.block_lines[blocks[0]], tree.line_end(blocks[0])
    left = size * _OWN_SHARE
    for i in (*range(first), *range(last, len(tree.line_starts))):
        runs = range(*tree.line_runs(i))
        whole = sum(len(tree.texts[run]) for run in runs)
        own = sum(len(tree.texts[run]) for run in runs if tree.anchor_of[run] < 0)
        if 2 * own > whole and line_key(tree.line_text(i)) not in model.index.often:
            left -= whole
            may_be_lead = -1 < weighed.title < i < first and weighed.worth[i] >= LEAST_LEAD_UNITS
            if left < 0 or may_be_lead:
                return None
    return body


def _has_no_posts(index: SiteIndex, url: str) -> bool:
    """Whether the pages of this URL class have bodies at known places, and no posts.

    Nothing is known of a class that was not seen: a sample may have a forum's lists alone.
    """
    pattern = class_of(url)
    places = sum(classes.get(pattern, 0) for classes in index.classes)
    threads = index.threads.get(pattern, 0)
    return places >= _LEAST_PAGES and threads <= _THREADS_SHARE * places


def _best_place(document: Document, alone: Body, places: SitePlaces) -> list[int]:
    """The lines of the place that fits best; [] when none does."""
    if not places.bodies:
        return []
    tree, url, model = document.tree, document.page.url, places.model
    chars, kept = _count(tree, alone)
    whole = sum(kept)
    pattern = class_of(url)
    best: list[int] = []
    best_score = False, 0.0, 0.0
    chosen: tuple[int, int, float, set[int]] = -1, -1, 0.0, set()
    for number, blocks in places.bodies.items():
        trust = _trust(model, number, places.bodies, pattern)
        is_tags = is_plain(model.body_rule.places[number].path)
        for block in blocks:
            places.body = block
            dropped = places.dropped.get(number, {})
            places.left_out = find_left_out(tree, block, dropped)
            lines = _lines(tree, places)
            if is_tags:
                lines = between_template(tree, url, _between(tree, lines, kept), model)
            size = sum(chars[i] for i in lines)
            if not size:
                continue
            agreement = 2 * sum(kept[i] for i in lines) / (size + whole)
            if _own_chars(tree, kept, block, model) > size * _OWN_SHARE:
                continue
            if agreement < (_PLAIN_AGREEMENT if is_tags else _LEAST_AGREEMENT) and (
                is_tags or trust < _LEAST_TRUST
            ):
                continue
            # Trust alone decides only where no place has what the page's own body has.
            score = agreement >= _LEAST_AGREEMENT, agreement + _TRUST_WEIGHT * trust, trust
            if score > best_score:
                best, best_score = lines, score
                chosen = places.body, number, trust, places.left_out
    places.body, places.place, places.trust, places.left_out = chosen
    return best


def _own_chars(tree: Tree, kept: list[int], block: int, model: SiteModel) -> int:
    """Characters of the page's own body outside a block, less bylines and lines of the template."""
    first, last = tree.block_lines[block], tree.line_end(block)
    texts = ((tree.line_text(i), size) for i, size in enumerate(kept) if not first <= i < last)
    often = model.index.often
    return sum(
        size
        for text, size in texts
        if size and not _is_byline(text) and line_key(text) not in often
    )


def _trust(model: SiteModel, number: int, present: Iterable[int], pattern: str) -> float:
    """Share of the pages of this URL class, with these places, whose body is at one place, 0..1.

    Half a page more that has its body elsewhere is counted (Laplace): few pages prove little.
    """
    counts = {each: model.index.classes[each].get(pattern, 0) for each in present}
    if sum(counts.values()) > 1:
        return counts[number] / (sum(counts.values()) + _DOUBT)
    place = model.body_rule.places[number]
    return place.on.bit_count() / (place.seen_on + _DOUBT)


def _is_known(model: SiteModel, number: int, pattern: str) -> bool:
    """Whether enough pages of a URL class, or of others, have their body at a place."""
    if model.index.classes[number].get(pattern, 0) >= _LEAST_SEEN:
        return True
    return model.body_rule.places[number].on.bit_count() >= _LEAST_OTHERS


def _between(tree: Tree, lines: list[int], kept: list[int]) -> list[int]:
    """The lines from the first to the last one of the page's own body, and no cells beside these.

    Where nothing has names, tables lay out the page as well.
    """
    both = [i for i in lines if kept[i]]
    if not both:
        return []
    between = (i for i in lines if both[0] <= i <= both[-1])
    return [i for i in between if kept[i] or not _is_in_cell(tree, tree.line_blocks[i])]


def _is_in_cell(tree: Tree, block: int) -> bool:
    while block > 0 and tree.block_tags[block] != "td":
        block = tree.block_parents[block]
    return block > 0


def _is_byline(text: str) -> bool:
    """Whether a line is short and about the body: source, time, buttons."""
    return len(text) <= _BYLINE_CHARS and is_meta(text)


def _count(tree: Tree, alone: Body) -> tuple[list[int], list[int]]:
    """(characters of each line, characters of each line in the page's own body)."""
    chars = [0] * len(tree.line_starts)
    kept = [0] * len(tree.line_starts)
    for text, line, is_kept in zip(tree.texts, tree.line_of, alone.is_kept, strict=True):
        size = len(text) if "  " not in text and "\n" not in text else len("".join(text.split()))
        chars[line] += size
        if is_kept:
            kept[line] += size
    return chars, kept


def _lines(tree: Tree, places: SitePlaces) -> list[int]:
    """The lines of the block ``places.body`` without its dropped parts."""
    first, last = tree.block_lines[places.body], tree.line_end(places.body)
    in_body = places.in_body(tree)
    return [i for i in range(first, last) if in_body[tree.line_blocks[i]]]
