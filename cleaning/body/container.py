"""The container: the part of a page with the greatest worth, and the lines in it that are body.

The worth of a part is that of its lines and parts, with a bound on the cost of one worthless part
(``_CHILD_COST``). Text of noise parts and teasers counts against the parts around it. The part of
greatest worth is the container, less the running text between the title and its beginning; then a
child that holds nearly everything replaces it, and a paragraph or list gives way to its parent.

*Markers* are headings of text that is not the body, such as 相关阅读, 网友评论, Related posts:
short lines outside links whose words, without punctuation and counts, stand in
``data/end_markers.txt``, or that head a block of links (``sections``). A marker governs the lines
behind it in the smallest part that holds more than the marker, and these are cut. Where the cut
would take much of the page's text the words were the body's own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from html import unescape
from itertools import accumulate

from crawlclean.cleaning.body.linked_lines import with_linked_lines
from crawlclean.cleaning.body.noise import Noise
from crawlclean.cleaning.document.tree import HEADINGS, Tree
from crawlclean.cleaning.features.lines import (
    TEASER_UNITS,
    Lines,
    Sums,
    ends_sentence,
    is_meta,
    plain_title,
    trim_to,
)
from crawlclean.cleaning.features.parts import TAG_KINDS, PartKind, is_caption, kind_of_names
from crawlclean.cleaning.features.sections import drop_promotions, heading_kind
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.records import VerdictReason

_ROW_UNITS = 100  # longest row of a table of data
# Most worth that one worthless part takes from the part around it. Without a bound a long list of
# links beside a short body would exclude the body's own container.
_CHILD_COST = 30
# A part replaces its parent when it has this share of the parent's worth, for the rest is more
# often beside the text than part of it; and this share of the parent's running text, for links
# beside it may cost as much as text is worth.
_NEAR_SHARE = 0.87
_TEXT_SHARE = 0.65  # with less, a third of the text would be lost with the parent
LEAST_LEAD_UNITS = 14  # of a line of a lead: two sentences mostly; buttons have fewer
_MAX_LEAD_LINES = 3  # in a part with a weak name that is a lead
_MOST_LEAD = 0.5  # units of a lead as a share of the text behind it
_MARKER_UNITS = 14  # longest marker
# Text behind a marker is cut unless it is more than this share of the page's worth: then the words
# were the body's own.
_AFTER_MARKER_SHARE = 0.3
_LETTER = re.compile(r"[^\W\d_]")
_MAX_MARKER_LEVELS = 12  # parts that hold a marker alone; a deeper chain would cost too much
# Of headings of links; those of lists and of what is popular are headings of bodies, too.
_MARKER_KINDS = frozenset(("related", "maybe", "comment", "author"))
# Kinds of headings of other pages, and most lines behind one in which the first title stands.
_PAGE_KINDS = frozenset(("related", "maybe"))
_MAX_HEADED = 12  # farther below stands another block
# Tags of text: each is a piece of a body and never all of it.
TEXT_TAGS = HEADINGS | {"p", "ul", "ol", "li", "dl", "dt", "dd", "pre", "blockquote"}
_IN_PARTS = TEXT_TAGS | {"table", "thead", "tbody", "tr", "td", "th"}


def cut_after_comments(lines: Lines, noise: Noise) -> None:
    """Makes the lines behind the comments worthless: comments end the text they are about.

    Where less running text comes before them than after, they are comments on something else.
    """
    tree = lines.tree
    if not noise.comments:
        return
    worth, is_noise = lines.worth, noise.is_noise
    texts = [
        (i, worth[i]) for i, part in enumerate(tree.line_blocks)
        if worth[i] > 0 and not is_noise[part]
    ]  # fmt: skip
    sums = accumulate(value for _, value in texts)
    half = sum(value for _, value in texts) / 2
    half_line = next((i for (i, _), before in zip(texts, sums, strict=True) if before > half), -1)
    start = next(
        (s for s in map(tree.block_lines.__getitem__, noise.comments) if s > half_line), -1
    )
    if start >= 0:
        for i, value in texts:
            if i >= start:
                worth[i] = -1 - 0.1 * value
                lines.cut((i,), VerdictReason.BEHIND_COMMENTS)


def cut_after_markers(lines: Lines, is_noise: list[bool]) -> None:
    """Makes the lines that markers govern worthless."""
    tree, sums, title_line = lines.tree, lines.sums, lines.title
    own, linked, worth, texts = lines.own, lines.linked, lines.worth, lines.texts
    blocks, parents = tree.line_blocks, tree.block_parents
    before: list[float] = []  # units of running text before each line
    most = _AFTER_MARKER_SHARE * sums.running[0]
    cut_to = marker = 0
    for i, text in enumerate(texts):
        if (
            text
            and own[i] + linked[i] <= _MARKER_UNITS
            and i != title_line
            and not is_noise[blocks[i]]
            and is_marker(text)
        ):
            units = own[i] + linked[i]
            part = blocks[i]
            for _ in range(_MAX_MARKER_LEVELS):
                if part <= 0 or sums.own[part] + sums.linked[part] > units + 2:
                    break
                part = parents[part]
            end = tree.line_end(part)
            if not _heads_titles(lines, i, end):
                continue
            if not before:
                before = _before_lines(lines)
            if end > cut_to and before[end] - before[i + 1] < most:
                cut_to, marker = end, i
        if i < cut_to:
            if lines.trail is not None:
                lines.trail.cut((i,), VerdictReason.MARKER)
                lines.trail.attempts[-1].by[i] = marker
            worth[i] = -1 - 0.1 * worth[i] if worth[i] > 0 else worth[i] - 1


def _heads_titles(lines: Lines, marker: int, end: int) -> bool:
    """Whether a marker is one by its whole line, or heads what may be titles of pages.

    Manuals name what else they describe under ``See also``: short names, often with a text; an
    encyclopedia has a sentence of names.
    """
    tree = lines.tree
    text = lines.texts[marker]
    if _is_listed(text) or heading_kind(text) not in _PAGE_KINDS:
        return True
    for i in range(marker + 1, min(end, marker + 1 + _MAX_HEADED)):
        if tree.block_tags[tree.line_blocks[i]] in HEADINGS and lines.linked[i] <= lines.own[i]:
            return False
        if ends_sentence(tree, i):
            return False
        if lines.linked[i] >= max(TEASER_UNITS, lines.own[i]):
            return True
    return False


@lru_cache(maxsize=8192)
def is_marker(text: str) -> bool:
    """Whether a line is a marker: a heading of text that is not the body."""
    return _is_listed(text) or heading_kind(text) in _MARKER_KINDS


def _is_listed(text: str) -> bool:
    """Whether the words of a line are in the list of markers."""
    words = " ".join(trim_to(text.lower(), _LETTER).replace("’", "'").split())
    whole, starts, ends = _markers()
    return bool(words) and (words in whole or words.startswith(starts) or words.endswith(ends))


@lru_cache(maxsize=1)
def _markers() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """(whole lines, beginnings, endings) of markers."""
    words = word_list("end_markers")
    starts = tuple(sorted(word[:-1] for word in words if word.endswith("*")))
    ends = tuple(sorted(word[1:] for word in words if word.startswith("*")))
    return frozenset(words), starts, ends


def weigh_parts(lines: Lines, is_noise: list[bool]) -> list[float]:
    """Returns the worth of each part; text in noise is made worthless."""
    tree = lines.tree
    parents, worth = tree.block_parents, lines.worth
    weights = [0.0] * len(parents)
    for i, (part, value) in enumerate(zip(tree.line_blocks, worth, strict=True)):
        if value > 0 and is_noise[part]:
            worth[i] = value = -1 - 0.1 * value
        weights[part] += value
    most = -_CHILD_COST
    for part in range(len(parents) - 1, 0, -1):
        weight = weights[part]
        if weight:
            weights[parents[part]] += weight if weight > most else most
    return weights


def find_container(lines: Lines, weights: list[float]) -> int:
    """Finds the part the body lies in."""
    tree, title_line = lines.tree, lines.title
    best, best_weight = 0, weights[0]
    after_title = 0.0
    skipped: list[float] = []
    if title_line >= 0:
        for worth in lines.worth[title_line:]:
            skipped.append(after_title)
            if worth > 0:
                after_title += worth
    starts = tree.block_lines
    for part, weight in enumerate(weights):
        if weight >= best_weight:
            late = starts[part] - title_line if skipped else 0
            if 0 < late < len(skipped):
                weight -= skipped[late]
            if weight >= best_weight:
                best, best_weight = part, weight
    # Sums before each line: a chain of a thousand parts would add the same lines a thousand times.
    before = _before_lines(lines)
    while True:
        child = max(tree.children(best), key=weights.__getitem__, default=-1)
        if child < 0 or weights[child] < _NEAR_SHARE * weights[best]:
            break
        inside = before[tree.line_end(child)] - before[starts[child]]
        if inside < _TEXT_SHARE * (before[tree.line_end(best)] - before[starts[best]]):
            break
        best = child
    while tree.block_tags[best] in TEXT_TAGS:
        best = tree.block_parents[best]
    return best


def with_title(tree: Tree, part: int, title_line: int) -> int:
    """Returns the smallest part around one that holds the page's heading, too; else the part."""
    if tree.block_lines[part] <= title_line < tree.line_end(part):
        return part
    if title_line < 0 or tree.block_tags[tree.line_blocks[title_line]] not in HEADINGS:
        return part
    around = part
    while around > 0 and title_line < tree.block_lines[around]:
        around = tree.block_parents[around]
    return around if 0 <= title_line < tree.line_end(around) else part


def _before_lines(lines: Lines) -> list[float]:
    """The worth of the running text before each line, and of all of it."""
    running = [worth if worth > 0 else 0.0 for worth in lines.worth]
    return list(accumulate(running, initial=0.0))


def collect(lines: Lines, weights: list[float], is_noise: list[bool], container: int) -> list[int]:
    """Collects the lines of the body: those of the container that are worth something.

    A plain line behind the text belongs to it when it stands with its last line; the title is never
    in it.

    Args:
        lines: The lines of the page.
        weights: The worth of each part.
        is_noise: For each part whether it is noise.
        container: The part the body lies in.
    """
    tree = lines.tree
    kept = _lines_of(lines, weights, is_noise, container)
    kept = with_linked_lines(lines, kept, is_noise, tree.line_end(container))
    kept = _behind_title(lines, kept)
    kept = drop_promotions(lines, kept, container)
    running = [n for n, i in enumerate(kept) if lines.worth[i] > 0]
    if not running:
        return [i for i in kept if i != lines.title]
    first, last = running[0], running[-1]
    found = kept[first : last + 1]
    tags, blocks = tree.block_tags, tree.line_blocks
    texts = (kept[n] for n in reversed(running) if tags[blocks[kept[n]]] not in HEADINGS)
    text = next(texts, kept[last])
    for n in (*range(first), *range(last + 1, len(kept))):
        i = kept[n]
        if i == lines.title:
            reason = VerdictReason.TITLE_LINE
        elif lines.own[i] + lines.linked[i] <= 1:
            reason = VerdictReason.NO_WORDS
        elif is_meta(tree.line_text(i)):
            reason = VerdictReason.ABOUT_TEXT
        elif n < first or _stands_with(tree, i, text):
            found.append(i)
            continue
        else:
            reason = VerdictReason.FAR_FROM_TEXT
        lines.cut((i,), reason)
    return sorted(found)


def _stands_with(tree: Tree, line: int, text: int) -> bool:
    """Whether a line stands in the part of a line before it, around it, or in one like it beside.

    Paragraphs, lists and tables are of the part around them.
    """
    here, there = _part_of(tree, line), _part_of(tree, text)
    if tree.block_lines[here] <= text:
        return True
    tags, names, parents = tree.block_tags, tree.block_names, tree.block_parents
    is_like = tags[here] == tags[there] and names[here] == names[there]
    return is_like and parents[here] == parents[there]


def _part_of(tree: Tree, line: int) -> int:
    part = tree.line_blocks[line]
    while tree.block_tags[part] in _IN_PARTS:
        part = tree.block_parents[part]
    return part


def find_lead(lines: Lines, kept: list[int]) -> tuple[int, ...]:
    """Finds the running text between the title and the first line of a body: its lead.

    It often stands in a part of its own, beside byline and picture. More text than half of the
    body's is another text.
    """
    if lines.declared or not kept:
        return ()
    worth = {i: _worth_as_lead(lines, i) for i in range(lines.title + 1, kept[0])}
    lead = tuple(i for i, value in worth.items() if value >= LEAST_LEAD_UNITS)
    most = _MOST_LEAD * sum(max(lines.worth[i], 0.0) for i in kept)
    return lead if lines.title >= 0 and sum(worth[i] for i in lead) <= most else ()


def _worth_as_lead(lines: Lines, line: int) -> float:
    """The worth of a line under the title, less than nothing if it is no text of the page's own.

    A part with hardly a line and no link is none for its weak name: a lead is a teaser, too.
    """
    tree, is_noise = lines.tree, lines.is_noise
    block = part = tree.line_blocks[line]
    if (
        lines.own[line] < LEAST_LEAD_UNITS
        or tree.block_tags[block] == "h1"
        or is_meta(lines.texts[line])
    ):
        return -1.0
    while part > 0:
        if tree.block_tags[part] == "figure" or is_caption(tree, part):
            return -1.0
        part = tree.block_parents[part]
    if not is_noise[block]:
        return lines.worth[line]
    part = block
    while is_noise[tree.block_parents[part]]:
        part = tree.block_parents[part]
    inside = range(tree.block_lines[part], tree.line_end(part))
    is_lead = (
        lines.worth[line] < -1  # running text, for its part alone worth nothing
        and len(inside) <= _MAX_LEAD_LINES
        and tree.block_tags[part] not in TAG_KINDS
        and kind_of_names(tree.block_names[part]) is PartKind.WEAK
        and not any(lines.linked[i] for i in inside)
    )
    return lines.own[line] if is_lead else -1.0


def _behind_title(lines: Lines, kept: list[int]) -> list[int]:
    """The kept lines behind the title, unless most of the running text is before it."""
    title_line = lines.title
    if not kept or not kept[0] < title_line <= kept[-1]:
        return kept
    behind = [i for i in kept if i > title_line]
    worth = lines.worth
    if 2 * sum(worth[i] for i in behind if worth[i] > 0) < sum(
        worth[i] for i in kept if worth[i] > 0
    ):
        return kept
    lines.cut((i for i in kept if i <= title_line), VerdictReason.BEFORE_TITLE)
    return behind


def _lines_of(lines: Lines, weights: list[float], is_noise: list[bool], piece: int) -> list[int]:
    """The lines of a part without lines of links and without worthless parts."""
    tree, sums = lines.tree, lines.sums
    parents = tree.block_parents
    end = tree.block_ends[piece]
    dropped: set[int] = set()
    for part in range(piece + 1, end):
        if parents[part] in dropped:
            dropped.add(part)
        elif weights[part] < 0 and (
            is_noise[part]
            or (sums.linked[part] > sums.own[part] and not _is_cell_of_text(tree, sums, part))
        ):
            dropped.add(part)
            if lines.trail is not None and not is_noise[part]:
                lines.trail.attempts[-1].link_lists.append(part)
    kept = []
    for i in range(tree.block_lines[piece], tree.line_end(piece)):
        block = tree.line_blocks[i]
        # Behind the part's end its parent may have a line of its own.
        if block in dropped or not piece <= block < end:
            continue
        is_of_links = lines.linked[i] > lines.own[i]
        if lines.worth[i] > -1 or (is_of_links and _is_cell_of_text(tree, sums, block)):
            kept.append(i)
    return kept


def _is_cell_of_text(tree: Tree, sums: Sums, block: int) -> bool:
    """Whether a part is a cell of one line in a short row with more text than links."""
    if tree.block_tags[block] not in ("td", "th"):
        return False
    row = tree.block_parents[block]
    own = sums.own[row]
    return (
        sums.linked[row] < own < _ROW_UNITS
        and tree.line_end(block) - tree.block_lines[block] == 1
        and tree.block_tags[row] == "tr"
    )


# The lines that a page declares as the description of its product (JSON-LD), and their part.
#
# Pages of products have more text about delivery, the shop and the opinions of buyers than about
# the product. A shop that declares the description says which text the page is about: parts that
# hold it are no noise, and it decides on the container.

# The values are searched for, not parsed: shops write line breaks and quotes that are no JSON.
_PRODUCT = re.compile(r'"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"Product')
_DESCRIPTION = re.compile(r'"description"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,20000})"')
_TAG = re.compile(r"<[^<>]{0,200}>")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_LEAST_CHARS = 15  # letters and digits of the shortest line that is looked for
_LEAST_UNITS = 12  # on the page, below which nothing is declared
# A declared line is worth so many times its words: the features and tables beside the description
# are of the same product, so that it does not decide alone.
_TIMES = 3


def find_declared(lines: Lines) -> list[int]:
    """Returns the lines of the description of a page's product, growing; [] without.

    Args:
        tree: The page.
        lines: Its lines; those that repeat earlier ones are worthless.
    """
    # Most pages declare no product, and a plain search tells so in a tenth of the time.
    tree = lines.tree
    sources = [each for each in tree.scripts.data if '"Product' in each and _PRODUCT.search(each)]
    if not sources:
        return []
    declared = "\n".join(
        _plain(text) for source in sources for text in _DESCRIPTION.findall(source)
    )
    found = []
    for i, text in enumerate(lines.texts):
        if lines.worth[i] > -1 and len(text) >= _LEAST_CHARS:
            plain = plain_title(text)
            if len(plain) >= _LEAST_CHARS and plain in declared:
                found.append(i)
    return found if sum(lines.own[i] for i in found) >= _LEAST_UNITS else []


def find_declaring(lines: Lines, is_noise: list[bool]) -> tuple[list[float], int]:
    """Returns the worth of each part and the container, where declared lines are worth more."""
    worth = lines.worth.copy()
    for i in lines.declared:
        worth[i] = _TIMES * max(worth[i], lines.own[i])
    told = replace(lines, worth=worth)
    weights = weigh_parts(told, is_noise)
    return weights, find_container(told, weights)


def _plain(text: str) -> str:
    """The letters and digits of a JSON string with markup: ``softcotton`` of ``Soft\\ncotton``."""

    def unescaped(match: re.Match[str]) -> str:
        code, character = match.groups()
        return chr(int(code, 16)) if code else " " if character in "nrt" else character

    return plain_title(_TAG.sub(" ", unescape(unescape(_ESCAPE.sub(unescaped, text)))))
