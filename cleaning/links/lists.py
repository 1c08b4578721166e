"""The links of a page in their lists: headlines, short words, cards, and the distance to the body.

Links, headlines and cards are counted once, as running totals by line. Every question is then a
difference of two totals, so a verdict on a link costs no more in a long list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import accumulate

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.parts import Cards, PartKind, kind_of_names
from crawlclean.cleaning.features.sections import Section, find_sections
from crawlclean.cleaning.lexicon import word_table
from crawlclean.cleaning.links.evidence import (
    HEADLINE_UNITS,
    OwnValues,
    Run,
    RunKey,
    Topic,
    Verdict,
    grams,
    headline_units,
    is_counted,
    is_home,
    site_of,
)
from crawlclean.cleaning.records import LinkKind

# Running totals by line: how many links, headlines or cards stand before each line of a page.


def totals_by_line(lines: Collection[int], count: int) -> list[int]:
    """Computes running totals: how many ``lines`` are before each line, and in all.

    Args:
        lines: The line of each thing that is counted.
        count: The number of lines of the page.
    """
    totals = [0] * (count + 1)
    if not lines:
        return totals
    for line in lines:
        totals[line + 1] += 1
    return list(accumulate(totals))


def share(part: int, whole: int) -> float:
    """A part by its whole, 0 where the whole is 0."""
    return part / whole if whole else 0.0


# Class names and ids that say what the links of a part are: keywords, comments, advertising.

# tag-linux among the names of an article is one of its keywords, not a list of them.
_TAG_NAMES = re.compile(
    r"(?:^|[\s_-])(?:tags?|taglist|keywords?|labels?)"
    r"(?:$|[\s_]|-(?:links?|list|box|cloud|wrap|wrapper|container|group|items?|area)\b)"
    r"|[a-z]Tags?(?:$|[\s_-])|[Tt]ags?(?:List|Box)"
)
# Each begins with the letters it is looked up by, which ``re`` finds quickly.
_AD_NAMES = {
    "ad": re.compile(r"ad(?<![^\s_-]ad)(?:s|v|vert\w*|sbygoogle)?(?:$|[\s_\d-])"),
    "Ad": re.compile(r"Ad(?<=[a-z]Ad)s?(?:$|[\s_\dA-Z-])"),
    "guanggao": re.compile(r"guanggao(?<![^\s_-]guanggao)(?:$|[\s_\d-])"),
    "sponsor": re.compile(r"sponsor(?<![^\s_-]sponsor)"),
    "taboola": re.compile("taboola"),
    "outbrain": re.compile("outbrain"),
}
_TAG_WORDS = ("tag", "Tag", "keyword", "label")
TAGGED, COMMENT, AD = 1, 2, 4
_MAX_AD_LINES = 80  # longer parts are columns with advertising in them


def flags_of_blocks(tree: Tree, line_ends: list[int], body_first: int) -> list[int]:
    """Returns the flags TAGGED, COMMENT and AD of each block by the names around it.

    Args:
        tree: The page.
        line_ends: The line behind the last of each block.
        body_first: The first line of the body, -1 without; a part that holds it is no advertising.
    """
    flag_of = part_flags(set(tree.block_names))
    filled = [0] * len(tree.block_names)
    if not flag_of:
        return filled
    lines, ends = tree.block_lines, tree.block_ends
    for block, names in enumerate(tree.block_names):
        if names not in flag_of:
            continue
        own = flag_of[names]
        if own >= AD and (
            line_ends[block] - lines[block] > _MAX_AD_LINES
            or lines[block] <= body_first < line_ends[block]
        ):
            own -= AD
        # Three flags: no block is filled more than three times, however deep they lie.
        if own & ~filled[block]:
            own |= filled[block]
            filled[block : ends[block]] = [own] * (ends[block] - block)
    return filled


def part_flags(names: set[str]) -> dict[str, int]:
    """Return the flags TAGGED, COMMENT and AD of class names and ids; most names have none.

    ``{"box ads-2", "read more"}`` gives ``{"box ads-2": AD}``.
    """
    page = "\n".join(names)  # one search for all: most words occur in no name
    flags: dict[str, int] = {}

    def note(flag: int, found: Iterable[str]) -> None:
        for each in found:
            flags[each] = flags.get(each, 0) | flag

    for word, pattern in _AD_NAMES.items():
        if word in page and pattern.search(page):
            note(AD, [each for each in names if word in each and pattern.search(each)])
    for word in _TAG_WORDS:
        if word in page:
            note(TAGGED, filter(_TAG_NAMES.search, [each for each in names if word in each]))
    page = page.lower()
    words = [word for word in _comment_words() if word in page]
    if words:
        letters_of = [(each, each.lower()) for each in names]
        named = {each for word in words for each, letters in letters_of if word in letters}
        note(COMMENT, [each for each in named if kind_of_names(each) is PartKind.COMMENT])
    return flags


@lru_cache(maxsize=1)
def _comment_words() -> list[str]:
    """The words of comments that hold no other one of them."""
    words = [word for word, kind in word_table("part_names").items() if kind == "comment"]
    return [word for word in words if not any(other in word for other in words if other != word)]


# Where the body of a page lies, and what stands in, between, beside and near its lines.

NEAR_LINES = 15  # lines around the body in which its keywords and its title stand
_WHOLE_PAGE = ("html", "body")


class BesideBody:
    """The place of a body among the lines and blocks of its page.

    Attributes:
        first: First line of the body, -1 without.
        last: Last line of the body, -1 without.
    """

    def __init__(self, tree: Tree, line_ends: list[int], body: Body) -> None:
        is_kept = body.is_kept
        self.first, self.last = -1, -1
        if True in is_kept:
            self.first = tree.line_of[is_kept.index(True)]
            self.last = tree.line_of[len(is_kept) - 1 - is_kept[::-1].index(True)]
        self._tree, self._line_ends = tree, line_ends
        self._is_thread = body.thread is not None
        self._around: tuple[int, int] | None = None

    def is_near(self, line: int) -> bool:
        """Whether a line stands in the body or a few lines from it."""
        return self.first - NEAR_LINES <= line <= self.last + NEAR_LINES

    def is_amid(self, line: int, text: str) -> bool:
        """Whether a link stands on or between lines of a body that is no thread.

        Args:
            line: The line of the link.
            text: Its text. A link without one is on no line; the nearest may be the body's last.
        """
        if self._is_thread or not self.first <= line <= self.last:
            return False
        return bool(text) or self.first < line < self.last

    def is_beside(self, block: int) -> bool:
        """Whether a block stands in the smallest block around a body that is no thread.

        A block that ends far from the body is a column; neither it nor the whole page counts.
        """
        if self._around is None:
            self._around = self._find_around()
        first, end = self._around
        return first <= block < end

    def is_inside(self, section: Section) -> bool:
        """Whether a section begins before the body and ends behind it: it is no list."""
        return section.first < self.first <= self.last < section.end

    def _find_around(self) -> tuple[int, int]:
        """The smallest part that holds the body, as (first block, block behind the last).

        (0, 0) where the part is large.
        """
        if self.first < 0 or self._is_thread:
            return 0, 0
        tree = self._tree
        starts, ends = tree.block_lines, self._line_ends
        block = tree.line_blocks[self.first]
        while block > 0 and (starts[block] > self.first or ends[block] <= self.last):
            block = tree.block_parents[block]
        if tree.block_tags[block] in _WHOLE_PAGE or ends[block] - 1 - self.last > NEAR_LINES:
            return 0, 0
        return block, tree.block_ends[block]


# Every threshold below stands in the middle of a wide plateau of scores on labelled pages.
_CARD_UNITS = 7.0  # shortest headline where a picture leads to its URL
_LIST_LINKS = 4  # fewest links with text that are a list
_MIN_HEADLINES = 3  # fewest headlines before the body that are a list of news
_SURE_SHARE = 0.8  # share of headline lines in a list of news: menus of long words have fewer
_SENTENCE_CHARS = 20  # least other text on a link's line, besides twice the link, of a sentence


class LinkLists:
    """The evidence on a page's links that comes from their positions and their lists.

    Attributes:
        tree: The page.
        texts: Visible text of each link, ``""`` for a picture or nothing.
        urls: Absolute URL of each link.
        line: The line each link stands on, or before.
        is_headline: Whether its text is long enough for another page's title and no name with a
            count, and it leads to no home page.
        is_pictured: Whether it holds a picture.
        picture_urls: URLs of links that hold nothing but a picture.
        is_in_body: Whether it lies in the body.
        sections: The stretches of lines that the headings govern.
        section_of: For each line the innermost section around it, -1 outside.
        body: The place of the body.
        body_first: First line of the body, -1 without; an attribute because each link asks for it.
        body_last: Last line of the body, -1 without.
    """

    def __init__(self, document: Document, body: Body, title: str, own: OwnValues) -> None:
        tree, host = document.tree, document.page.host
        texts, urls, known = own.texts, own.urls, own.known
        self.tree, self.texts, self.urls = tree, texts, urls
        self._site, self._page_host = site_of(host), host
        pictured = {picture.anchor for picture in tree.pictures}
        self.is_pictured = [i in pictured for i in range(len(texts))]
        # A picture and a text with one address are a card, and the text is its title.
        self.picture_urls = {
            url
            for url, text, is_pictured in zip(urls, texts, self.is_pictured, strict=True)
            if not text
        }
        self.is_headline = [
            len(text) >= _CARD_UNITS
            and verdict is None
            and headline_units(text)
            >= (_CARD_UNITS if url in self.picture_urls else HEADLINE_UNITS)
            and not is_home(url)
            and not is_counted(text)
            for text, url, verdict in zip(texts, urls, known, strict=True)
        ]
        self._line_ends = tree.line_ends()
        self.body = BesideBody(tree, self._line_ends, body)
        self.body_first, self.body_last = self.body.first, self.body.last
        self._place(body.is_kept)
        self._count(known)
        self.sections, self.section_of = find_sections(
            tree, self._headlines, self._links, self.cards
        )
        self._flags = flags_of_blocks(tree, self._line_ends, self.body_first)
        self._title, self._body_text = title, body.text
        self._topic: Topic | None = None
        self._near: list[int] | None = None
        self._directories: set[str] | None = None
        self._line_chars: dict[int, int] = {}

    def _place(self, is_kept: list[bool]) -> None:
        """Finds the line of each link, and whether it is in the body."""
        tree = self.tree
        lines, runs = tree.line_of, len(is_kept)
        starts, ends = tree.block_lines, self._line_ends
        filled = {0: 0}  # block -> innermost block around it with lines
        self.line: list[int] = []
        self.is_in_body: list[bool] = []
        for anchor in tree.anchors[: len(self.texts)]:
            start = anchor.start
            if start < anchor.end:
                self.line.append(lines[start])
                self.is_in_body.append(is_kept[start])
                continue
            block = anchor.block
            if ends[block] == starts[block]:
                block = _nearest(tree, block, filled, lambda b: ends[b] > starts[b])
            line = lines[start] if start < runs else len(tree.line_starts) - 1
            self.line.append(max(starts[block], min(line, ends[block] - 1), 0))
            self.is_in_body.append(start < runs and is_kept[start])

    def _count(self, known: list[Verdict | None]) -> None:
        """Computes the running totals by line."""
        tree, texts, urls = self.tree, self.texts, self.urls
        headlines: list[int] = []
        titles: list[int] = []
        last = ""
        self._titles = [
            i
            for i, (is_headline, is_in_body) in enumerate(
                zip(self.is_headline, self.is_in_body, strict=True)
            )
            if is_headline and not is_in_body
        ]
        for i in self._titles:
            headlines.append(self.line[i])
            if urls[i] != last:
                titles.append(self.line[i])
                last = urls[i]
        cards = [
            line
            for line, text, url in zip(self.line, texts, urls, strict=True)
            if text and url in self.picture_urls
        ]
        with_text = [line for line, text in zip(self.line, texts, strict=True) if text]
        legal = [
            line
            for line, text, verdict in zip(self.line, texts, known, strict=True)
            if verdict is not None and text and verdict[0] is LinkKind.LEGAL
        ]
        count = len(tree.line_starts)
        self._links = totals_by_line(with_text, count)
        self._headlines = totals_by_line(headlines, count)
        self._legal = totals_by_line(legal, count)
        self._cards = totals_by_line(cards, count)
        self._titled_lines = totals_by_line(set(headlines), count)
        self._linked_lines = totals_by_line(set(with_text), count)
        self.cards = Cards(tree, self._line_ends, totals_by_line(titles, count), self._links)
        self._containers = {0: 0}
        self._shares_of: dict[int, tuple[float, float]] = {}

    def is_same_site(self, i: int) -> bool:
        """Whether a link leads to a host of the page's own site."""
        return site_of(_host(self.urls[i])) == self._site

    def is_same_host(self, i: int) -> bool:
        """Whether a link leads to the page's own host."""
        return _host(self.urls[i]) == self._page_host

    def is_advertising(self, block: int) -> bool:
        """Whether a block or one around it has a class name of advertising."""
        return self._flags[block] & AD > 0

    def is_tagged(self, block: int) -> bool:
        """Whether a block or one around it has a class name of keyword lists."""
        return self._flags[block] & TAGGED > 0

    def is_card_note(self, i: int) -> bool:
        """Whether a link stands on a card, on another line than its title."""
        return not self.headlines_on(i) and self.cards.around(self.tree.anchors[i].block) > 0

    def is_comment(self, block: int) -> bool:
        """Whether a block or one around it has a class name of comments."""
        return self._flags[block] & COMMENT > 0

    def section(self, i: int) -> Section | None:
        """Returns the innermost section a link lies in; None outside."""
        n = self.section_of[self.line[i]] if self.section_of else -1
        return self.sections[n] if n >= 0 else None

    def container(self, block: int) -> int:
        """Finds the smallest list around a block; the block itself if it is a list."""
        known = self._containers
        found = known.get(block)
        if found is None:
            found = None if self._is_list(block) else known.get(self.tree.block_parents[block])
            if found is None:
                return _nearest(self.tree, block, known, self._is_list)
            known[block] = found
        return found

    def _is_list(self, block: int) -> bool:
        counts = self._links
        links = counts[self._line_ends[block]] - counts[self.tree.block_lines[block]]
        return links >= _LIST_LINKS

    def is_list_of_headlines(self, i: int) -> bool:
        """Whether nearly all lines of the list around a link are headlines, three at least."""
        block = self.container(self.tree.anchors[i].block)
        titled = self._of(self._titled_lines, block)
        return titled >= _MIN_HEADLINES and titled >= _SURE_SHARE * self._of(
            self._linked_lines, block
        )

    def shares(self, i: int) -> tuple[float, float]:
        """Computes two shares of the list around a link, each 0..1.

        The first: lines with a headline among its lines with links. The second: legal links among
        its links.
        """
        around = self.container(self.tree.anchors[i].block)
        shares = self._shares_of.get(around)
        if shares is None:
            of = self._of
            shares = self._shares_of[around] = (
                share(of(self._titled_lines, around), of(self._linked_lines, around)),
                share(of(self._legal, around), of(self._links, around)),
            )
        return shares

    def headlines_on(self, i: int) -> int:
        """Counts the headlines on a link's line."""
        line = self.line[i]
        return self._headlines[line + 1] - self._headlines[line] if self.section_of else 0

    def is_in_sentence(self, i: int) -> bool:
        """Whether most text on a link's line is outside the link."""
        tree, line = self.tree, self.line[i]
        chars = self._line_chars.get(line)
        if chars is None:
            start, end = tree.line_runs(line)
            chars = self._line_chars[line] = sum(map(len, tree.texts[start:end]))
        return chars >= _SENTENCE_CHARS + 2 * len(self.texts[i])

    def is_title(self, i: int, section: Section) -> bool:
        """Whether a link is the title of an item of a section.

        Titles are headlines; where the section has pictures, the texts to these; and without
        pictures all links alone on a line, except home pages and the directories of other links.
        """
        if self.is_headline[i]:
            return True
        if self._links[self.line[i] + 1] - self._links[self.line[i]] > 1 and not section.is_inline:
            return False
        if self.urls[i] not in self.picture_urls and self._has_pictures(section):
            return False
        return not self._is_directory(i)

    def _has_pictures(self, section: Section) -> bool:
        """Whether a section holds cards: a picture and a text with one URL."""
        return self._cards[section.end] > self._cards[section.first]

    def _is_directory(self, i: int) -> bool:
        """Whether a link leads to a home page, or to the directory of other links of the page."""
        if self._directories is None:
            urls = [url for url in self.urls if url]
            self._directories = {url[: url.find("/", 8) + 1] for url in urls}
            self._directories.update(url[: url[:-1].rindex("/") + 1] for url in urls)
        return self.urls[i] in self._directories

    def near_share(self, section: Section) -> float:
        """Share of a section's headlines that share a word with the title, 0..1."""
        start, end = section.first, section.end
        near, all_ = self._near_title(), self._headlines[end] - self._headlines[start]
        return share(near[end] - near[start], all_) if all_ else 1.0

    def is_about_topic(self, i: int) -> bool:
        """Whether a link stands in a run of headlines that are about the page's topic."""
        if self._topic is None:
            self._topic = Topic(self._names(), self._body_text, self._runs())
        return self._topic.is_about(self.line[i])

    def _names(self) -> list[str]:
        """The page's title, and its first heading."""
        tree = self.tree
        return [self._title, *[tree.text(start, end) for _, start, end in tree.headings[:1]]]

    def _key(self, i: int) -> RunKey:
        line = self.line[i]
        section = self.section_of[line] if self.section_of else -1
        if section >= 0 and not self.sections[section].kind:
            section = -1
        return section, self.tree.anchors[i].region

    def _runs(self) -> list[Run]:
        """The headlines behind the body, parted where the section or the region changes."""
        runs: list[Run] = []
        behind = [i for i in self._titles if self.line[i] > self.body_last]
        for i in behind:
            key = self._key(i)
            if not runs or runs[-1].key != key:
                runs.append(Run(key, [], {}))
            runs[-1].lines.append(self.line[i])
            titles = runs[-1].titles
            titles[self.urls[i]] = f"{titles.get(self.urls[i], '')} {self.texts[i]}"
        return runs

    def _near_title(self) -> list[int]:
        """Running totals by line of the headlines that share a word with the title."""
        if self._near is None:
            words = grams(self._title)
            near = [
                self.line[i] for i in self._titles if not words.isdisjoint(grams(self.texts[i]))
            ]
            self._near = totals_by_line(near, len(self.tree.line_starts))
        return self._near

    def _of(self, counts: list[int], block: int) -> int:
        return counts[self._line_ends[block]] - counts[self.tree.block_lines[block]]


def _nearest(tree: Tree, block: int, known: dict[int, int], is_one: Callable[[int], bool]) -> int:
    """Finds the innermost block around one, or the block itself, for which ``is_one`` holds.

    ``known`` holds the results so far, block -> found block, and takes the new ones.
    """
    path = []
    while block not in known and not is_one(block):
        path.append(block)
        block = tree.block_parents[block]
    found = known.setdefault(block, block)
    known.update(dict.fromkeys(path, found))
    return found


def _host(url: str) -> str:
    return url.split("/", 3)[2] if url else ""
