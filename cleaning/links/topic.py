"""Whether a list of headlines is about the topic of the page.

The topic is the words (``grams``) of the title and of the first heading, and those that the body
says most. The whole list is asked, never one link: a *run* of headlines that no heading parts and
that no region or body interrupts. It is about the topic where five titles have four words of the
topic on average; of a title two words count, so that those with a whole name make up for others.
A run that is as long as an archive shares words whatever the page is about, so it is not asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from crawlclean.cleaning.links.evidence import grams

RunKey = tuple[int, str]
"""(section, region) of the links of a run."""

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
        lines: The line of each.
        titles: URL -> its texts, one after another.
    """

    key: RunKey
    lines: list[int]
    titles: dict[str, str]


class Topic:
    """The topic of a page, and the runs that are about it.

    Args:
        names: Its title, and its first heading.
        body: Its body.
        runs: The runs of headlines behind its body.
    """

    def __init__(self, names: Sequence[str], body: str, runs: Sequence[Run]) -> None:
        self._body = body[:_MAX_BODY_CHARS].lower()
        self._named = frozenset[str]().union(*map(grams, names))
        self._runs = runs
        self._run_of = {
            line: n for n, run in enumerate(runs) for line in range(run.lines[0], run.lines[-1] + 1)
        }
        self._answers: dict[int, bool] = {-1: False}

    def is_about(self, line: int) -> bool:
        """Whether a line lies in a run that is about the topic."""
        n = self._run_of.get(line, -1)
        if n not in self._answers:
            self._answers[n] = self._ask(self._runs[n])
        return self._answers[n]

    def _ask(self, run: Run) -> bool:
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
