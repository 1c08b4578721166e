"""The body of a page by the page's own evidence.

1. Each line is weighed: running text is worth its words, links cost theirs (``lines``).
2. The title's line is found, the lines are summed up by part (``lines``), and parts that are noise
   by name or as teasers are marked (``parts``, ``container``).
3. Lines behind a marker such as 相关阅读 or behind the comments are made worthless (``container``).
4. The part of greatest worth is the container; its lines with worth are the body (``container``).
   Where there is hardly any running text, plain lines are weighed as text. The description of a
   product, where the page declares it, counts more than other text (``container``); replies to the
   text are noise (``noise``).
5. Where the page is a list, its items (``listing``), its teasers, its grid or its topics are the
   body (``listing``).
6. On a page of a forum the posts are the body instead (``posts``), or the only post where the
   body is short. Without posts, and on pages without a body, the search is repeated with comments
   and teasers as text.

Cost: linear in the page; a page of 200 KB takes about as long as parsing it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from crawlclean.cleaning.body.container import (
    collect,
    cut_after_comments,
    cut_after_markers,
    find_container,
    find_declared,
    find_declaring,
    find_lead,
    weigh_parts,
    with_title,
)
from crawlclean.cleaning.body.listing import (
    LEAST_TEASER_UNITS,
    find_grid,
    find_hub,
    find_items,
    is_list_of,
    make_list,
    with_grid,
)
from crawlclean.cleaning.body.noise import Noise, find_noise, mark_replies, noise_rules
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.code_blocks import drop_line_numbers, text_of
from crawlclean.cleaning.features.lines import (
    MIN_UNITS,
    PLAIN_WORTH,
    Lines,
    Trail,
    add_up,
    count_units,
    cut_repeats,
    find_title_line,
    plain_title,
    weigh_lines,
    weigh_plain_lines,
)
from crawlclean.cleaning.features.parts import find_cards
from crawlclean.cleaning.messages import Message, joined
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.posts import (
    Shape,
    Thread,
    find_shaped,
    find_thread_of_users,
    is_forum,
)
from crawlclean.cleaning.records import BodySource

# With less running text than this, plain lines are weighed as text: the body is a list, a table,
# verse or a few words.
_LIST_UNITS = 75
# A body of fewer units is looked for again on a page of so many, and gives way to twice its text
# that has no fewer.
_FEW_UNITS, _FEW_OF_UNITS, _MORE_TIMES = 20.0, 150.0, 2.0
_LOST_OF_CARDS = 0.1  # of the text of teasers; names that take more tell nothing about a list


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The body of a page.

    Attributes:
        text: One line a paragraph; ``""`` when the page has no body.
        source: The method that found it.
        lines: Numbers of its lines in the tree, growing.
        is_kept: For each run of the tree whether it is part of the body.
        thread: Places of the posts, when the body is a thread.
        title_line: The line of the page's title, -1 without.
        lead: Lines that stand apart from the others, under the title; ``read_body`` puts them in
            front of the lines.
        warnings: Evidence that scripts make the page's text.
    """

    text: str
    source: BodySource
    lines: list[int]
    is_kept: list[bool]
    thread: Thread | None = None
    title_line: int = -1
    lead: tuple[int, ...] = ()
    warnings: tuple[PageWarning, ...] = ()

    @property
    def first(self) -> int:
        """The first line of the body behind its lead, -1 without a body."""
        return next((i for i in self.lines if i not in self.lead), -1)

    @property
    def last(self) -> int:
        """The last line of the body, -1 without a body."""
        return self.lines[-1] if self.lines else -1


def weigh(tree: Tree, trail: Trail | None = None) -> Lines:
    """Weighs the lines of a parsed page, and finds that of its title.

    With a trail, all rules that read these lines note what they cut.
    """
    lines = weigh_lines(tree, trail)
    if trail is not None:
        trail.lines = lines
    lines.title = find_title_line(lines)
    return lines


def extract_body(
    tree: Tree,
    url: str = "",
    posts: Shape | None = None,
    *,
    may_be_thread: bool = True,
    may_be_list: bool = True,
    weighed: Lines | None = None,
) -> Body:
    """Finds the body by the page's own evidence.

    Args:
        tree: The page.
        url: Its address, read for words of forums.
        posts: The shape of the host's posts, if learned: then every page with such parts is a
            thread, whatever its address.
        may_be_thread: Whether posts are looked for.
        may_be_list: Whether the teasers of other pages may be the body, where there is no text.
        weighed: The result of ``weigh``, if at hand; the lines are changed.
    """
    lines = weighed or weigh(tree)
    is_thread = may_be_thread and is_forum(url, tree.title)
    kept, source, thread = _find_lines(lines, posts, is_thread=is_thread, may_be_list=may_be_list)
    if thread is None and source is not BodySource.LIST:
        # Names alone do not decide that nearly all text of a page is beside its body.
        few, whole = sum(lines.own[i] for i in kept), sum(lines.own)
        if few < _FEW_UNITS and whole > _FEW_OF_UNITS:
            found, new_source = _find_without_names(lines)
            if sum(lines.own[i] for i in found) >= max(_FEW_UNITS, _MORE_TIMES * few):
                kept, source = found, new_source
    if lines.trail is not None:
        lines.trail.choose(kept)
    body = make_body(tree, kept, source, lines.title, thread)
    return replace(body, lead=find_lead(lines, kept)) if source is BodySource.CONTAINER else body


def make_body(
    tree: Tree,
    lines: list[int],
    source: BodySource,
    title_line: int = -1,
    thread: Thread | None = None,
) -> Body:
    """Builds the body of some lines, without those that only number lines of code."""
    lines = drop_line_numbers(tree, lines)
    return Body(
        text=text_of(tree, lines),
        lines=lines,
        source=source if lines else BodySource.NONE,
        is_kept=_runs_kept(tree, lines),
        thread=thread,
        title_line=title_line,
    )


def with_lines(tree: Tree, body: Body, lines: list[int]) -> Body:
    """Returns a body with other lines."""
    return replace(body, text=text_of(tree, lines), lines=lines, is_kept=_runs_kept(tree, lines))


def _runs_kept(tree: Tree, lines: list[int]) -> list[bool]:
    """For each run of the tree whether it is on one of some lines."""
    is_kept = [False] * len(tree.texts)
    for line in lines:
        start, end = tree.line_runs(line)
        is_kept[start:end] = [True] * (end - start)
    return is_kept


def without_lines(body: Body) -> Body:
    """Returns a body without any line, for steps that ask what belongs to a text."""
    nothing = [False] * len(body.is_kept)
    return replace(body, text="", source=BodySource.NONE, lines=[], is_kept=nothing, thread=None)


def _find_lines(
    lines: Lines, shape: Shape | None, *, is_thread: bool, may_be_list: bool
) -> tuple[list[int], BodySource, Thread | None]:
    """The lines of the body in order, the method that found them, and the posts among them."""
    tree, title_line = lines.tree, lines.title
    if title_line >= 0 and lines.worth[title_line] > 0:
        lines.worth[title_line] = PLAIN_WORTH
    cut_repeats(lines)
    sums = add_up(lines)
    worth = lines.worth.copy()
    cards = find_cards(lines)
    lines.declared = find_declared(lines)
    held = (title_line, *lines.declared)
    noise = find_noise(tree, sums, cards, held)
    # The parts that are noise where comments and teasers are text; few pages need them.
    find_less_noise = cache(lambda: find_noise(tree, sums, None, (title_line,)))
    if not (is_thread or shape):
        mark_replies(lines, noise, held)
    found = _find_article(lines, noise)
    article, source = found.kept, found.source
    # A page that describes a product is about one, whatever it lists.
    may_be_list = may_be_list and not lines.declared
    if may_be_list and not (is_thread or shape):
        items = find_items(lines, lambda: find_less_noise().is_noise, article)
        if items:
            return make_list(lines, items), BodySource.LIST, None
    is_list = may_be_list and is_list_of(lines, article, cards)
    if may_be_list and not (is_list or is_thread or shape):
        grid = find_grid(lines, article)
        if grid:
            return with_grid(lines, grid, article), BodySource.LIST, None
    # Where nothing else is left, comments and teasers are what the page is for.
    is_article = not is_thread and sum(lines.own[i] for i in article) >= MIN_UNITS
    if is_article and shape is None and not is_list:
        return _widen(lines, noise, found), source, None
    noise = find_less_noise()
    if is_thread or shape is not None:
        lines.worth = worth.copy()
        title = tree.line_text(title_line) if title_line >= 0 else ""
        known = shape.names() if shape is not None else None
        reader = PostFinder(tree, lines, noise.is_noise, known)
        if shape is not None and (posts := reader.noise_only(shape.contents)):
            # Names around them tell less than the posts of the host's other threads.
            noise = find_noise(tree, sums, None, (title_line, *posts))
            reader = PostFinder(tree, lines, noise.is_noise, known)
        if lines.trail is not None:
            lines.trail.begin(noise_rules(tree, noise))
        thread = find_shaped(reader, title, shape) if shape is not None else None
        if thread is None and is_thread:
            thread = find_thread_of_users(reader, article, title)
        if thread is not None:
            lines.end(thread.lines)
            return thread.lines, BodySource.POSTS, thread
        is_short = sum(lines.own[i] for i in article) < _LIST_UNITS
        if is_thread and is_short and not is_list:
            single = PostFinder(tree, lines, noise.is_noise).find_single(plain_title(title))
            if single:
                lines.end(single)
                return single, BodySource.PLAIN_LINES, None
    listed: list[int] = []
    if is_list:
        if lines.trail is not None:
            lines.trail.begin(noise_rules(tree, noise))
        lines.worth = worth.copy()
        listed = [] if is_thread else find_hub(lines, cards)
        if not listed:
            listed = _find_listed(lines, cards)
            if is_article and listed and 0 <= title_line < listed[0]:
                # What stands beside a list under the title is about it.
                listed = sorted({*listed, *article})
    if not is_article:
        lines.worth = worth
        found = _find_article(lines, noise)
        source = found.source
        article = found.kept if is_list or is_thread else _widen(lines, noise, found)
    units = [own + linked for own, linked in zip(lines.own, lines.linked, strict=True)]
    if sum(units[i] for i in listed) > sum(units[i] for i in article):
        return listed, BodySource.LIST, None
    return article, source, None


class _Article(NamedTuple):
    """The body of an article: its lines in order, how they were found, and in which part."""

    kept: list[int]
    source: BodySource
    weights: list[float]
    container: int


def _widen(lines: Lines, noise: Noise, found: _Article) -> list[int]:
    """The lines of a body with those between it and the page's heading, where they belong to it.

    Of a text of few words, and of a manual, as much stands beside the part with most of the running
    text: synopses, prices, tables, sections of short lines.
    """
    tree, (article, source, weights, container) = lines.tree, found
    is_short = source is BodySource.PLAIN_LINES
    if not (is_short or tree.code_blocks):
        return article
    around = with_title(tree, container, lines.title)
    behind = tree.block_ends[around]
    is_manual = any(around <= block < behind for block in tree.code_blocks)
    if around == container or not (is_manual or is_short):
        return article
    kept = collect(lines, weights, noise.is_noise, around)
    if len(kept) <= len(article) + 1:
        return article  # with a byline or an abstract at most
    lines.end(kept)
    if lines.trail is not None:
        lines.trail.attempts[-1].container = around
    return kept


def _find_without_names(lines: Lines) -> tuple[list[int], BodySource]:
    """The lines of a body where names left none of a page with much text."""
    again = weigh_lines(lines.tree, lines.trail)
    again.title = lines.title
    noise = find_noise(lines.tree, add_up(again), None, (again.title,), by_names=False)
    return _find_article(again, noise)[:2]


def _find_listed(lines: Lines, cards: set[int]) -> list[int]:
    """The lines of a list of other pages: its teasers with their linked titles."""
    tree, title_line = lines.tree, lines.title
    own, linked, worth = lines.own.copy(), lines.linked.copy(), lines.worth
    for part in cards:
        for i in range(tree.block_lines[part], tree.line_end(part)):
            own[i] += linked[i]
            linked[i] = 0.0
            worth[i] = own[i] if own[i] >= LEAST_TEASER_UNITS else PLAIN_WORTH
    listed = replace(lines, own=own, linked=linked)
    sums = add_up(listed)
    noise = find_noise(tree, sums, set(), (title_line,))
    lost = sum(sums.own[part] for part in cards if noise.is_noise[part])
    if lost > _LOST_OF_CARDS * sum(sums.own[part] for part in cards):
        noise = find_noise(tree, sums, None, (title_line,))  # of comments, or of forms
    return _find_article(listed, noise).kept


def _find_article(lines: Lines, noise: Noise) -> _Article:
    """The lines of an article's body, by the part with the greatest worth."""
    is_noise = lines.is_noise = noise.is_noise
    if lines.trail is not None:
        lines.trail.begin(noise_rules(lines.tree, noise))
    cut_after_markers(lines, is_noise)
    cut_after_comments(lines, noise)
    source = BodySource.CONTAINER
    weights = weigh_parts(lines, is_noise)
    container = find_container(lines, weights)
    if weights[container] < _LIST_UNITS:
        source = BodySource.PLAIN_LINES
        weigh_plain_lines(lines)
        weights = weigh_parts(lines, is_noise)
        container = find_container(lines, weights)
    if lines.declared:
        weights, container = find_declaring(lines, is_noise)
    kept = collect(lines, weights, is_noise, container)
    lines.end(kept)
    if lines.trail is not None:
        attempt = lines.trail.attempts[-1]
        attempt.container, attempt.weights, attempt.worth = container, weights, lines.worth.copy()
    return _Article(kept, source, weights, container)


# Signs of why a page has hardly any body: scripts make its text, or no part of it is a body.
#
# A page with hardly any text gets a warning where scripts make its text in the browser, with the
# evidence: an empty root element that frameworks fill, a text for browsers without scripts, the
# data of the page in a variable, or nothing but scripts. Bytes of another format (an image, an
# archive) that are sent as a page have no text, whatever letters their charset has.

# Control characters that no text has, and the most of them in a page: random bytes have
# eight times this share, whatever the charset.
_CONTROLS = "\x01\x02\x03\x04\x05\x06\x0e\x0f"
_CONTROL_SHARE = 0.004  # a few stray bytes of a text stay below it
MUCH_UNITS = 500.0  # text outside links with which a page has a body
# A page may need scripts only with less body and visible text; scripts alone are evidence only with
# next to no visible text, and so many characters or files of them.
_MAX_BODY_CHARS = 100
_MAX_VISIBLE_CHARS = 600  # menu and footer of a page without its text
_NO_VISIBLE_CHARS = 30  # a title, "Loading..."
_SCRIPT_CHARS = 2000  # less is a counter or a switch of fonts
_SCRIPT_FILES = 3  # an application has several; one or two count visitors
# Ids and classes of the elements that frameworks fill.
_ROOTS = frozenset(
    ("app", "root", "__next", "__nuxt", "__layout", "react-root", "app-root",
     "gatsby-focus-wrapper", "mount", "main-app", "approot", "appmount", "svelte", "q-app")
)  # fmt: skip
_ROOT_TAGS = ("div", "main", "body", "section")
_ASKS = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|allow)\b.{0,40}\bjavascript"
    r"|javascript\b.{0,40}\b(?:enabled?|disabled|required|turned off|not supported)"
    r"|(?:启用|开启|打开|允许|需要|支持|禁用|啟用|開啟|允許|停用|关闭).{0,12}(?:javascript|js\b|脚本|腳本)"
    r"|(?:javascript|脚本|腳本).{0,12}(?:启用|开启|打开|允许|禁用|关闭|支持|啟用|開啟|停用)",
    re.I,
)


def binary_warning(html: str) -> tuple[PageWarning, ...]:
    """Returns a warning when a page's source is the bytes of another format, else nothing."""
    count = sum(map(html.count, _CONTROLS))
    if count <= _CONTROL_SHARE * len(html):
        return ()
    detail = Message("binary", count)
    return (PageWarning(kind=WarningKind.REPLACED_CHARACTERS, detail=detail),)


def script_warnings(tree: Tree, body: Body) -> tuple[PageWarning, ...]:
    """Returns a warning with its evidence when scripts make the page's text, else nothing."""
    scripts = tree.scripts
    if len(body.text) >= _MAX_BODY_CHARS or not (scripts.chars or scripts.files):
        return ()
    visible = sum(map(len, tree.texts))
    if visible > _MAX_VISIBLE_CHARS:
        return ()
    evidence = []
    for block, tag in enumerate(tree.block_tags):
        names = tree.block_names[block].split() if tag in _ROOT_TAGS else []
        roots = [name for name in names if name.lower() in _ROOTS]
        if roots and tree.line_end(block) == tree.block_lines[block]:
            evidence.append(Message("empty_element", roots[0]))
            break
    if _ASKS.search(scripts.noscript) or _ASKS.search(" ".join(tree.texts)):
        evidence.append(Message("asks_script"))
    if scripts.state:
        evidence.append(Message("data_in", scripts.state))
    if visible <= _NO_VISIBLE_CHARS and (
        scripts.chars >= _SCRIPT_CHARS or scripts.files >= _SCRIPT_FILES
    ):
        evidence.append(Message("in_scripts", visible, scripts.files, scripts.chars))
    if not evidence:
        return ()
    return (PageWarning(kind=WarningKind.NEEDS_JAVASCRIPT, detail=joined(evidence)),)


def empty_warning(tree: Tree, body: Body) -> tuple[PageWarning, ...]:
    """Returns a warning when a page with much text of its own has no body, else nothing."""
    own = (text for text, anchor in zip(tree.texts, tree.anchor_of, strict=True) if anchor < 0)
    if body.text or sum(map(len, own)) <= MUCH_UNITS:
        return ()
    units = sum(count_units(tree)[0])
    if units <= MUCH_UNITS:
        return ()
    detail = Message("words_outside", round(units))
    return (PageWarning(kind=WarningKind.EMPTY_BODY, detail=detail),)
