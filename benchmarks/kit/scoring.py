"""The score of a text against its gold, and what a mean of scores is worth.

Tokens are one per Han, kana or hangul character and one per word elsewhere (NFKC, lower case, no
punctuation); precision, recall and F1 are of the longest common subsequence of tokens.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence

_WIDE = "㐀-鿿豈-﫿\u3040-ヿ가-\ud7af\U00020000-\U0002ffff"
_TOKEN = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")


def tokens_of(text: str) -> list[str]:
    """The tokens of a text."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Length of the longest common subsequence, bit-parallel (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for i, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << i
    every = (1 << len(first)) - 1
    row = every
    for token in second:
        matches = row & places.get(token, 0)
        row = (row + matches | row - matches) & every
    return len(first) - row.bit_count()


def score(answer: str, gold: str) -> tuple[float, float, float]:
    """(precision, recall, F1), 0..1; all 0 for an empty answer."""
    mine, wanted = tokens_of(answer), tokens_of(gold)
    common = common_length(mine, wanted) if mine and wanted else 0
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(mine), common / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall)


def interval(values: Sequence[float], resamples: int = 2000) -> tuple[float, float]:
    """95 % bootstrap interval of a mean, the same for the same values."""
    chance = random.Random(1)  # noqa: S311 - resampling
    means = sorted(
        sum(chance.choices(values, k=len(values))) / len(values) for _ in range(resamples)
    )
    return means[int(resamples * 0.025)], means[int(resamples * 0.975)]
