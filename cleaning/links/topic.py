"""Whether a list of headlines is about the topic of the page.

The topic is the words (``grams``) of the title and of the largest heading, and those that the body
says most. The whole list is asked, never one link: a *run* of headlines that no heading parts and
that no region or body interrupts. It is about the topic where five titles have four words of the
topic on average; of a title two words count, so that those with a whole name make up for others.
A run that is as long as an archive shares words whatever the page is about, so it is not asked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from cleaning.links.evidence import grams

RunKey = tuple[int, str, bool]
"""(section, region, whether behind the body) of the links of a run."""

_LEAST = 3  # titles of a run
_MOST = 40
_LEAST_WORDS = 0.8  # words of the topic for each title of a run
_MOST_WORDS = 2  # of one title that count
_AGREED_SHARE = 1 / 3  # share of titles that have a word they agree on
_MAX_BODY_CHARS = 5000
_BODY_COUNT = 4  # times that it says them at least


class Run(NamedTuple):
    """Headlines that nothing parts.

    Attributes:
        key: Where they stand.
        line: The line of the first.
        titles: URL -> its texts, one after another.
    """

    key: RunKey
    line: int
    titles: dict[str, str]


class Topic:
    """The topic of a page, and the runs that are about it.

    Args:
        names: Its title, and its largest heading.
        body: Its body.
        runs: The runs of headlines outside its body, by their first line.
    """

    def __init__(self, names: Sequence[str], body: str, runs: Sequence[Run]) -> None:
        self._body, self._runs = body[:_MAX_BODY_CHARS].lower(), runs
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
        found = [grams(title) for title in run.titles.values()]
        topic = self._named | self._said_of(found)
        shared = sum(min(len(words & topic), _MOST_WORDS) for words in found)
        return shared >= _LEAST_WORDS * len(found)

    def _said_of(self, titles: Sequence[frozenset[str]]) -> set[str]:
        """The words that many titles have and that the body says often."""
        counts = Counter(word for words in titles for word in words)
        least = max(_LEAST, _AGREED_SHARE * len(titles))
        often = (word for word, count in counts.items() if count >= least)
        return {word for word in often if self._body.count(word) >= _BODY_COUNT}
