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
from crawlclean.cleaning.lexicon import pattern_of, word_table
from crawlclean.cleaning.links.evidence import (
    HEADLINE_UNITS,
    OwnValues,
    Run,
    grams,
    headline_units,
    is_counted,
    is_home,
    lines_about,
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


# Class names and ids that say what the links of a part are: keywords, actions, advertising.

# tag-linux among the names of an article is one of its keywords, not a list of them.
_TAG_NAMES = re.compile(
    r"(?:^|[\s_-])(?:tags?|taglist|keywords?|labels?)"
    r"(?:$|[\s_]|-(?:links?|list|box|cloud|wrap|wrapper|container|group|items?|area)\b)"
    r"|[a-z]Tags?(?:$|[\s_-])|[Tt]ags?(?:List|Box)"
)
_MAX_AD_LINES = 80  # longer parts are columns with advertising in them
# Sharing and logging in, whatever the icons there lead to.
_ACTING_NAMES = re.compile(r"share(?!d|holder)|login|toolbar", re.I)
TAGGED, ACTING, AD = 1, 2, 4  # bits; ACTING is also said of comments
# (flag, letters of a name, pattern): ``re`` finds patterns quickly that begin with their letters.
_NAMES = (
    (AD, "ad", re.compile(r"ad(?<![^\s_-]ad)(?:s|v|vert\w*|sbygoogle)?(?:$|[\s_\d-])")),
    (AD, "Ad", re.compile(r"Ad(?<=[a-z]Ad)s?(?:$|[\s_\dA-Z-])")),
    (AD, "guanggao", re.compile(r"guanggao(?<![^\s_-]guanggao)(?:$|[\s_\d-])")),
    (AD, "sponsor", re.compile(r"sponsor(?<![^\s_-]sponsor)")),
    (AD, "taboola", re.compile("taboola")),
    (AD, "outbrain", re.compile("outbrain")),
    *((TAGGED, word, _TAG_NAMES) for word in ("tag", "Tag", "keyword", "label")),
    *((ACTING, word, _ACTING_NAMES) for word in ("hare", "ogin", "oolbar")),
)


def flags_of_blocks(tree: Tree, line_ends: list[int], body_first: int) -> list[int]:
    """Returns the flags TAGGED, ACTING and AD of each block by the names around it.

    Args:
        tree: The page.
        line_ends: The line behind the last of each block.
        body_first: The first line of the body, -1 without; of a part that holds it
            names tell other things.
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
        if line_ends[block] - lines[block] > _MAX_AD_LINES:
            own &= ~AD
        if lines[block] <= body_first < line_ends[block]:
            own &= ACTING  # a text may stand among comments
        # Three flags: no block is filled more than three times, however deep they lie.
        if own & ~filled[block]:
            own |= filled[block]
            filled[block : ends[block]] = [own] * (ends[block] - block)
    return filled


def part_flags(names: set[str]) -> dict[str, int]:
    """Return the flags TAGGED, ACTING and AD of class names and ids; most names have none.

    ``{"box ads-2", "read more"}`` gives ``{"box ads-2": AD}``.
    """
    page = "\n".join(names)  # one search for all: most words occur in no name
    flags: dict[str, int] = {}

    def note(flag: int, found: Iterable[str]) -> None:
        for each in found:
            flags[each] = flags.get(each, 0) | flag

    for flag, word, pattern in _NAMES:
        if word in page:
            note(flag, [each for each in names if word in each and pattern.search(each)])
    comment = _comment_words().search
    if comment(page.lower()):
        named = [each for each in names if comment(each.lower())]
        note(ACTING, [each for each in named if kind_of_names(each) is PartKind.COMMENT])
    return flags


@lru_cache(maxsize=1)
def _comment_words() -> re.Pattern[str]:
    """The words of names of comments."""
    table = word_table("part_names")
    return pattern_of(word for word, kind in table.items() if kind == "comment")


_WHOLE_PAGE = ("html", "body")
NEAR_LINES = 15  # lines around the body in which its keywords and its title stand


# Every threshold below stands in the middle of a wide plateau of scores on labelled pages.
_CARD_UNITS = 7.0  # shortest headline where a picture leads to its URL
_LIST_LINKS = 4  # fewest links with text that are a list
_MIN_HEADLINES = 3  # fewest headlines before the body that are a list of news
SENTENCE_CHARS = 20  # least text of a sentence on a line, besides twice that of a link in it
_SURE_SHARE = 0.8  # share of headline lines in a list of news: menus of long words have fewer


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
        flags: What the class names of the blocks around it say: bits of AD, TAGGED and ACTING.
        sections: The stretches of lines that the headings govern.
        section_of: For each line the innermost section around it, -1 outside.
        body_first: First line of the body, -1 without.
        body_last: Last line of the body, -1 without.
    """

    def __init__(self, document: Document, body: Body, title: str, own: OwnValues) -> None:
        tree, host = document.tree, document.page.host
        texts, urls, known = own.texts, own.urls, own.known
        self.tree, self.texts, self.urls = tree, texts, urls
        self._site, self._page_host = site_of(host), host
        self.is_pictured = [False] * len(texts)
        for picture in tree.pictures:
            if 0 <= picture.anchor < len(texts):
                self.is_pictured[picture.anchor] = True
        # A picture and a text with one address are a card, and the text is its title.
        self.picture_urls = {url for url, text in zip(urls, texts, strict=True) if not text}
        self.is_headline = [
            len(text) >= _CARD_UNITS
            and verdict is None
            and headline_units(text)
            >= (_CARD_UNITS if url in self.picture_urls else HEADLINE_UNITS)
            and not is_home(url)
            and not is_counted(text)
            for text, url, verdict in zip(texts, urls, known, strict=True)
        ]
        ends = self._line_ends = tree.line_ends()
        self.body_first, self.body_last = body.first, body.last
        self._is_thread = body.thread is not None
        self._beside = self._around_body()
        # The line of each link, and whether it is in the body.
        self.line: list[int] = []
        self.is_in_body: list[bool] = []
        starts, lines, runs = tree.block_lines, tree.line_of, len(tree.texts)
        filled = {0: 0}  # block -> innermost block around it with lines
        for anchor in tree.anchors[: len(texts)]:
            start, block = anchor.start, anchor.block
            self.is_in_body.append(start < runs and body.is_kept[start])
            if start < anchor.end:
                self.line.append(lines[start])
                continue
            if ends[block] == starts[block]:
                block = _nearest(tree, block, filled, lambda b: ends[b] > starts[b])
            line = lines[start] if start < runs else len(tree.line_starts) - 1
            self.line.append(max(starts[block], min(line, ends[block] - 1), 0))
        # The running totals by line.
        self._titles = [
            i for i, is_one in enumerate(self.is_headline) if is_one and not self.is_in_body[i]
        ]
        headlines = [self.line[i] for i in self._titles]
        addresses = [urls[i] for i in self._titles]
        behind_others = zip(headlines, addresses, ["", *addresses], strict=False)
        titles = [line for line, url, before in behind_others if url != before]
        with_text = [line for line, text in zip(self.line, texts, strict=True) if text]
        cards = [
            self.line[i] for i, text in enumerate(texts) if text and urls[i] in self.picture_urls
        ]
        legal = [
            line
            for line, text, verdict in zip(self.line, texts, known, strict=True)
            if verdict is not None and text and verdict[0] is LinkKind.LEGAL
        ]
        count = max(1, len(tree.line_starts))  # links of a page without text are on its first line
        self._links = totals_by_line(with_text, count)
        self._headlines = totals_by_line(headlines, count)
        self._legal = totals_by_line(legal, count)
        self._cards = totals_by_line(cards, count)
        self._titled_lines = totals_by_line(set(headlines), count)
        self._linked_lines = totals_by_line(set(with_text), count)
        self.cards = Cards(tree, ends, totals_by_line(titles, count), self._links)
        self.sections, section_of = find_sections(tree, self._headlines, self._links, self.cards)
        self.section_of = section_of or [-1]
        flags = flags_of_blocks(tree, ends, self.body_first)
        self.flags = [flags[anchor.block] for anchor in tree.anchors[: len(texts)]]
        self._containers = {0: 0}
        self._shares_of: dict[int, tuple[float, float]] = {}
        self._title = title
        self._about: set[int] | None = None
        self._near: list[int] | None = None
        self._directories: set[str] | None = None

    def _around_body(self) -> range:
        """The blocks in the smallest part that holds a body that is no thread.

        None where the part ends far from the body, as a column or the whole page does.
        """
        if self.body_first < 0 or self._is_thread:
            return range(0)
        tree, ends = self.tree, self._line_ends
        block = tree.line_blocks[self.body_first]
        while block > 0 and ends[block] <= self.body_last:
            block = tree.block_parents[block]
        is_far = ends[block] - 1 - self.body_last > NEAR_LINES
        if tree.block_tags[block] in _WHOLE_PAGE or is_far:
            return range(0)
        return range(block, tree.block_ends[block])

    def is_near(self, i: int) -> bool:
        """Whether a link stands in the body or a few lines from it."""
        return self.body_first - NEAR_LINES <= self.line[i] <= self.body_last + NEAR_LINES

    def is_beside(self, i: int) -> bool:
        """Whether a link stands in the smallest block around a body that is no thread."""
        return self.tree.anchors[i].block in self._beside

    def is_same_site(self, i: int) -> bool:
        """Whether a link leads to a host of the page's own site."""
        return site_of(_host(self.urls[i])) == self._site

    def is_same_host(self, i: int) -> bool:
        """Whether a link leads to the page's own host."""
        return _host(self.urls[i]) == self._page_host

    def is_card_note(self, i: int) -> bool:
        """Whether a link stands on a card, on another line than its title."""
        return not self.headlines_on(i) and self.cards.around(self.tree.anchors[i].block) > 0

    def section(self, i: int) -> Section | None:
        """Returns the innermost section a link lies in; None outside."""
        n = self.section_of[self.line[i]]
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
        return self._of(self._links, block) >= _LIST_LINKS

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
        return self._headlines[line + 1] - self._headlines[line]

    def links_on(self, i: int) -> int:
        """Counts the links with a text on a link's line."""
        return self._links[self.line[i] + 1] - self._links[self.line[i]]

    def is_in_sentence(self, i: int) -> bool:
        """Whether most text on a link's line is outside the link."""
        line = self.tree.line_text(self.line[i])
        return len(line) >= SENTENCE_CHARS + 2 * len(self.texts[i])

    def is_title(self, i: int, section: Section) -> bool:
        """Whether a link is the title of an item of a section.

        Titles are headlines; where the section has pictures, the texts to these; and without
        pictures all links alone on a line, except home pages and the directories of other links.
        """
        if self.is_headline[i]:
            return True
        if self.links_on(i) > 1:
            return False
        has_cards = self._cards[section.end] > self._cards[section.first]
        if has_cards and self.urls[i] not in self.picture_urls:
            return False
        if self._directories is None:
            urls = [url for url in self.urls if url]
            self._directories = {url[: url.find("/", 8) + 1] for url in urls}
            self._directories.update(url[: url[:-1].rindex("/") + 1] for url in urls)
        return self.urls[i] not in self._directories

    def near_share(self, section: Section) -> float:
        """Share of a section's headlines that share a word with the title, 0..1."""
        if self._near is None:
            words = grams(self._title)
            near = [
                self.line[i] for i in self._titles if not words.isdisjoint(grams(self.texts[i]))
            ]
            self._near = totals_by_line(near, len(self.tree.line_starts))
        start, end = section.first, section.end
        titles = self._headlines[end] - self._headlines[start]
        return (self._near[end] - self._near[start]) / titles if titles else 1.0

    def is_about_topic(self, i: int) -> bool:
        """Whether a link stands in a run of headlines that are about the page's topic."""
        if self._about is None:
            tree = self.tree
            headings = [tree.text(start, end) for _, start, end in tree.headings[:1]]
            links = [
                (url, text)
                for line, url, text in zip(self.line, self.urls, self.texts, strict=True)
                if text and not self.body_first <= line <= self.body_last
            ]
            runs = self._runs()
            end = tree.line_starts[runs[0].lines[0]] if runs else 0
            own = zip(tree.texts[:end], tree.anchor_of, strict=False)
            above = " ".join(text for text, anchor in own if anchor < 0)
            self._about = lines_about([self._title, *headings], above, runs, links)
        return self.line[i] in self._about

    def _runs(self) -> list[Run]:
        """The headlines behind the body, parted where the section or the region changes."""
        runs: list[Run] = []
        behind = [i for i in self._titles if self.line[i] > self.body_last]
        for i in behind:
            section = self.section_of[self.line[i]]
            if section >= 0 and not self.sections[section].kind:
                section = -1
            key = section, self.tree.anchors[i].region
            if not runs or runs[-1].key != key:
                runs.append(Run(key, [], {}))
            runs[-1].lines.append(self.line[i])
            titles = runs[-1].titles
            titles[self.urls[i]] = f"{titles.get(self.urls[i], '')} {self.texts[i]}"
        return runs

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
