"""Whether a list of headlines is about the topic of the page.

The topic is the words (``grams``) of the title and of the largest heading, and those that the body
says most. The whole list is asked, never one link: a *run* of headlines that no heading parts and
that no region or body interrupts. A word that many other headlines of the page have, too, is the
site's and tells nothing. Records in rows of a table, and runs that are as long as an archive, share
words whatever the page is about, so they are not asked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple

from cleaning.document.tree import Tree
from cleaning.links.evidence import grams

RunKey = tuple[int, str, bool]
"""(section, region, whether behind the body) of the links of a run."""

_LEAST = 3  # titles of a run
_MOST = 40
_SHARE = 0.6  # share of titles of a run with a word of the topic, where they agree on two
_SURE_SHARE = 0.8  # where they do not
_AGREED_SHARE = 1 / 3  # share of titles that have a word they agree on
_MAX_BODY_CHARS = 5000
_BODY_COUNT = 4  # times that it says them at least
_COMMON_SHARE = 0.3  # share of the other headlines with a word from which it is the site's own
_MIN_COMMON = 3
_MAX_LEVELS = 4  # from a link to its cell
_CELL_LINES = 2  # longest cell of a record


class Run(NamedTuple):
    """Headlines that nothing parts.

    Attributes:
        key: Where they stand.
        line: The line of the first.
        titles: URL -> its texts, one after another.
        blocks: The blocks of the links.
    """

    key: RunKey
    line: int
    titles: dict[str, str]
    blocks: list[int]


class Topic:
    """The topic of a page, and the runs that are about it.

    Args:
        tree: The page.
        names: Its title, and its largest heading.
        body: Its body.
        runs: The runs of headlines outside its body, by their first line.
    """

    def __init__(self, tree: Tree, names: Sequence[str], body: str, runs: Sequence[Run]) -> None:
        self._tree, self._body, self._runs = tree, body[:_MAX_BODY_CHARS].lower(), runs
        self._named = frozenset[str]().union(*map(grams, names))
        self._lines = [run.line for run in runs]
        self._is_about: dict[int, bool] = {}

    def is_about(self, line: int, key: RunKey) -> bool:
        """Whether the run around a link on a line is about the topic; False outside runs."""
        n = bisect_right(self._lines, line) - 1
        if n < 0 or self._runs[n].key != key:
            return False
        found = self._is_about.get(n)
        if found is None:
            found = self._is_about[n] = self._ask(n)
        return found

    def _ask(self, n: int) -> bool:
        run = self._runs[n]
        if not _LEAST <= len(run.titles) <= _MOST:
            return False
        if 2 * sum(map(self._is_in_record, run.blocks)) > len(run.blocks):
            return False
        least = max(_LEAST, _SHARE * len(run.titles))
        text = "\n".join(run.titles.values()).lower()
        topic = {word for word in self._named if word in text}
        found = [grams(title) for title in run.titles.values()]
        if sum(map(text.count, topic)) >= least:
            topic = self._telling(topic, n)
            if _is_shared([words & topic for words in found]):
                return True
        spoken = topic | self._said_of(found)
        return _is_shared([words & spoken for words in found])

    def _said_of(self, titles: Sequence[frozenset[str]]) -> set[str]:
        """The words that many titles have and that the body says often."""
        counts = Counter(word for words in titles for word in words)
        least = max(_LEAST, _AGREED_SHARE * len(titles))
        often = (word for word, count in counts.items() if count >= least)
        return {word for word in often if self._body.count(word) >= _BODY_COUNT}

    def _telling(self, topic: set[str], n: int) -> set[str]:
        """The words of a topic that few headlines of the other runs have."""
        titles = {
            title for m, run in enumerate(self._runs) if m != n for title in run.titles.values()
        }
        least = max(_MIN_COMMON, _COMMON_SHARE * len(titles))
        lower = [title.lower() for title in titles]
        return {word for word in topic if sum(word in title for title in lower) < least}

    def _is_in_record(self, block: int) -> bool:
        """Whether a link is in a short cell beside others: a row of a table, no list."""
        tree = self._tree
        for _ in range(_MAX_LEVELS):
            if tree.block_tags[block] in ("td", "th"):
                cells = [
                    tree.line_end(cell) - tree.block_lines[cell]
                    for cell in tree.children(tree.block_parents[block])
                ]
                return sum(map(bool, cells)) > 1 and max(cells) <= _CELL_LINES
            block = tree.block_parents[block]
        return False


def _is_shared(shared: Sequence[Set[str]]) -> bool:
    """Whether enough titles have words of the topic: fewer where they agree on two words.

    A name of two characters, such as that of the host's province, is one word.
    """
    counts = Counter(word for words in shared for word in words)
    agreed = sum(count >= _AGREED_SHARE * len(shared) for count in counts.values())
    least = _SHARE if agreed > 1 else _SURE_SHARE
    return sum(map(bool, shared)) >= max(_LEAST, least * len(shared))
