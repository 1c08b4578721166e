"""The body of a page by what its host taught: all of its block but what is known not to be body.

The page alone says which block when a host has several places of bodies, and what is lost when a
place does not fit. A body is never lost: where no place is on the page, where the page's URL class
has its bodies elsewhere, or where the page alone finds much more outside, its own body stands,
less the lines around it that most pages of the host have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cleaning.body.container import is_marker
from cleaning.body.page_body import Body, extract_body, make_body, script_warnings, weigh
from cleaning.document.document import Document
from cleaning.document.tree import HEADINGS, Tree
from cleaning.model.paths import is_plain, line_key
from cleaning.model.places import SitePlaces
from cleaning.model.rules import Dropped, DropReason
from cleaning.model.site_model import SiteIndex, SiteModel
from cleaning.posts.threads import is_forum
from cleaning.records import BodySource
from cleaning.url_classes.rules import class_of

# A place is trusted without its URL class from this F1 of the block's text with the body by the
# page's own evidence; a path of tags alone always needs the greater one.
_LEAST_AGREEMENT = 0.6
_PLAIN_AGREEMENT = 0.9
# A place is trusted without agreement when it explains the body of this share of the pages of the
# URL class (of a class not seen: of the pages that have the place).
_LEAST_TRUST = 0.7
_TRUST_WEIGHT = 1.0  # what such a share is worth in F1 when places compete
# How many times its own size a place that is not trusted may lose of the body by the page's own
# evidence, and how many times more one that is fully trusted.
_LOST_SHARE = 1.0
_LOST_BY_TRUST = 9.0
# Posts found on the page alone are none when so many pages of its URL class have bodies at known
# places, and at most this share of them posts.
_LEAST_PAGES = 3
_THREADS_SHARE = 0.1
# Most text of a part that is left out: so many times its text on other pages, and so many
# characters besides.
_MORE_TIMES = 2.0
_MORE_CHARS = 200
_LEAST_TEXT_CHARS = 40  # outside headings, with which a body is more than its lists
_LEAST_LIST_LINES = 3  # of a list that is a body of its own


def read_body(
    document: Document, places: SitePlaces | None = None, alone: Body | None = None
) -> Body:
    """The body of a page; ``places.body`` is set where a place of the model holds it.

    Args:
        document: The parsed page.
        places: Where the places of its host's model are on it, None without a model.
        alone: The body by the page's own evidence, when it was searched before.
    """
    tree, url = document.tree, document.page.url
    if places is None:
        body = alone or extract_body(tree, url)
    elif alone is None:
        body = find_body(document, places)
    else:
        body = body_of_site(document, alone, places)
    warnings = script_warnings(tree, body)
    return replace(body, warnings=warnings) if warnings else body


def find_body(document: Document, places: SitePlaces) -> Body:
    """The body of a page whose host is known; the same as ``body_of_site`` gives.

    Where one place is trusted so far that no evidence of the page alone could overrule it, the page
    alone is not searched.

    Args:
        document: The parsed page.
        places: Where the places of the model are on it; ``body`` and ``left_out`` are set.
    """
    tree, url = document.tree, document.page.url
    model, rule = places.model, places.post_rule
    weighed = weigh(tree)
    may_be_thread = rule is not None or model.post_rule is None
    has_no_posts = rule is None and not (may_be_thread and is_forum(url, tree.title))
    if has_no_posts or _has_no_posts(model.index, url):
        body = _sure_body(document, weighed[1], places)
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
    """The body of a page whose host is known.

    Args:
        document: The parsed page.
        alone: Its body by the page's own evidence.
        places: Where the places of the model are on it; ``body`` and ``left_out`` are set.
    """
    tree, model = document.tree, places.model
    if alone.source is BodySource.POSTS and not _has_no_posts(model.index, document.page.url):
        return alone
    lines = _best_place(document, alone, places)
    if lines:
        return make_body(tree, lines, BodySource.SITE, alone.title_line)
    return _without_template(tree, alone, model)


def _sure_body(document: Document, title_line: int, places: SitePlaces) -> Body | None:
    """The body at a place that is trusted without agreement and beats all others with none.

    It must have text of its own, and all text outside must be no more than the place may lose of
    the body of the page alone.
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
        or is_plain(model.body_rule.places[number].path)
        or (trusts and _TRUST_WEIGHT * (trust - max(trusts.values())) < 1)
    ):
        return None
    places.body = blocks[0]
    places.left_out = _left_out(tree, blocks[0], places.dropped.get(number, {}))
    body = make_body(tree, _lines(tree, places), BodySource.SITE, title_line)
    starts = [*tree.line_starts, len(tree.texts)]
    first, end = starts[tree.block_lines[blocks[0]]], starts[tree.line_end(blocks[0])]
    outside = sum(map(len, tree.texts[:first])) + sum(map(len, tree.texts[end:]))
    headings = (i for i in body.lines if tree.block_tags[tree.line_blocks[i]] in HEADINGS)
    size = len("".join(body.text.split()))
    has_text = size >= _LEAST_TEXT_CHARS + sum(len(tree.line_text(i)) for i in headings)
    return body if has_text and outside <= size * _most_lost(trust) else None


def _most_lost(trust: float) -> float:
    """How many times its own size a place may lose of the body of the page alone."""
    return _LOST_SHARE + trust * _LOST_BY_TRUST


def _has_no_posts(index: SiteIndex, url: str) -> bool:
    """Whether pages of this URL class have bodies at known places, and no posts.

    Of a class that was not seen nothing is known: a sample may be of a forum's lists alone.
    """
    pattern = class_of(url)
    places = sum(classes.get(pattern, 0) for classes in index.classes)
    threads = index.threads.get(pattern, 0)
    return places >= _LEAST_PAGES and threads <= _THREADS_SHARE * places


def _best_place(document: Document, alone: Body, places: SitePlaces) -> list[int]:
    """The lines of the block that fits best; [] when none does."""
    if not places.bodies:
        return []
    tree, model = document.tree, places.model
    chars, kept = _count(tree, alone)
    whole = sum(kept)
    pattern = class_of(document.page.url)
    best: list[int] = []
    best_score = 0.0, 0.0
    chosen: tuple[int, set[int]] = -1, set()
    for number, blocks in places.bodies.items():
        trust = _trust(model, number, places.bodies, pattern)
        is_tags = is_plain(model.body_rule.places[number].path)
        for block in blocks:
            first, last = tree.block_lines[block], tree.line_end(block)
            places.body = block
            dropped = places.dropped.get(number, {})
            places.left_out = _left_out(tree, block, dropped)
            lines = _lines(tree, places)
            if places.left_out:
                lines = _with_lists(tree, places, dropped, lines, chars)
            size = sum(chars[i] for i in lines)
            if not size:
                continue
            lost = whole - sum(kept[first:last])
            agreement = 2 * sum(kept[i] for i in lines) / (size + whole)
            if lost > size * _most_lost(trust):
                continue
            if agreement < (_PLAIN_AGREEMENT if is_tags else _LEAST_AGREEMENT) and (
                is_tags or trust < _LEAST_TRUST
            ):
                continue
            score = agreement + _TRUST_WEIGHT * trust, trust
            if score > best_score:
                best, best_score = lines, score
                chosen = places.body, places.left_out
    places.body, places.left_out = chosen
    return best


def _trust(model: SiteModel, number: int, present: Iterable[int], pattern: str) -> float:
    """Share of the pages like this one, with these places, whose body a place explains, 0..1."""
    counts = {each: model.index.classes[each].get(pattern, 0) for each in present}
    if sum(counts.values()) > 1:
        return counts[number] / sum(counts.values())
    place = model.body_rule.places[number]
    return place.on.bit_count() / max(place.seen_on, 1)


def _count(tree: Tree, alone: Body) -> tuple[list[int], list[int]]:
    """Characters of each line, and those of the body of the page alone."""
    chars = [0] * len(tree.line_starts)
    kept = [0] * len(tree.line_starts)
    for text, line, is_kept in zip(tree.texts, tree.line_of, alone.is_kept, strict=True):
        size = len(text) if "  " not in text and "\n" not in text else len("".join(text.split()))
        chars[line] += size
        if is_kept:
            kept[line] += size
    return chars, kept


def _lines(tree: Tree, places: SitePlaces) -> list[int]:
    """The lines of the block that is tried as the body's."""
    first, last = tree.block_lines[places.body], tree.line_end(places.body)
    in_body = places.in_body(tree)
    return [i for i in range(first, last) if in_body[tree.line_blocks[i]]]


def _left_out(tree: Tree, body: int, dropped: dict[int, Dropped]) -> set[int]:
    """The parts of a block that are left out, less those with far more text than on other pages.

    Lists of links are such by their links: one of text alone is no such list.
    """
    found = set()
    for block, part in dropped.items():
        first, last = tree.block_lines[block], tree.line_end(block)
        if not (body < block < tree.block_ends[body] and first < last):
            continue
        is_list = part.reason is DropReason.LINKS
        most = _MORE_TIMES * part.most_chars + _MORE_CHARS
        if is_list:
            most = min(most, max(part.most_chars, _LEAST_TEXT_CHARS))
        start, end = tree.line_starts[first], tree.line_runs(last - 1)[1]
        if part.reason is not DropReason.COMMENTS and sum(map(len, tree.texts[start:end])) > most:
            runs = zip(tree.texts[start:end], tree.anchor_of[start:end], strict=True)
            sizes = [(len("".join(text.split())), anchor >= 0) for text, anchor in runs]
            own = sum(size for size, is_linked in sizes if not is_linked)
            if own > most and not (is_list and own <= sum(size for size, _ in sizes) / 2):
                continue
        found.add(block)
    return found


def _with_lists(
    tree: Tree,
    places: SitePlaces,
    dropped: dict[int, Dropped],
    lines: list[int],
    chars: list[int],
) -> list[int]:
    """The lines of a block with its lists of links, where it has hardly anything else.

    An overview is its list. What a heading says to be related, or comments, stays left out.
    """
    tags, blocks = tree.block_tags, tree.line_blocks
    if sum(chars[i] for i in lines if tags[blocks[i]] not in HEADINGS) >= _LEAST_TEXT_CHARS:
        return lines
    kept = set()
    for block in places.left_out:
        first, last = tree.block_lines[block], tree.line_end(block)
        heading = range(max(first - 1, 0), min(first + 1, last))
        if (
            dropped[block].reason is DropReason.LINKS
            and last - first >= _LEAST_LIST_LINES
            and not any(is_marker(tree.line_text(i)) for i in heading)
        ):
            kept.add(block)
    if not kept:
        return lines
    places.left_out = places.left_out - kept
    return _lines(tree, places)


def _without_template(tree: Tree, alone: Body, model: SiteModel) -> Body:
    """The body of the page alone, less what most pages have before and behind its own lines.

    Between them such lines stay: headings and names of columns are on many pages, too.
    """
    template = model.index.often
    if not template:
        return alone
    starts, texts = tree.line_starts, alone.is_kept
    kept = [i for i, start in enumerate(starts) if texts[start]]
    own = [n for n, i in enumerate(kept) if line_key(tree.line_text(i)) not in template]
    if not own or own[-1] - own[0] == len(kept) - 1:
        return alone
    return make_body(tree, kept[own[0] : own[-1] + 1], alone.source, alone.title_line)
