"""Scores of texts against gold, and means of scores with their intervals.

Tokens are one per Han, kana or hangul character and one per word elsewhere (NFKC, lower case, no
punctuation); precision, recall and F1 are of the longest common subsequence of tokens.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

_WIDE = "㐀-鿿豈-﫿\u3040-ヿ가-\ud7af\U00020000-\U0002ffff"
_TOKEN = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")


def tokens_of(text: str) -> list[str]:
    """Splits a text into tokens: ``新 闻 2026 crawl`` of ``新闻 2026, Crawl``."""
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Returns the length of the longest common subsequence, bit-parallel (Hyyrö 2004)."""
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
    """Returns (precision, recall, F1), each 0..1; all 0 for an empty answer."""
    mine, wanted = tokens_of(answer), tokens_of(gold)
    common = common_length(mine, wanted) if mine and wanted else 0
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(mine), common / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall)


def interval(values: Sequence[float], resamples: int = 2000) -> tuple[float, float]:
    """Returns the 95 % bootstrap interval of a mean; equal values give equal intervals."""
    chance = random.Random(1)  # noqa: S311 - resampling
    means = sorted(
        sum(chance.choices(values, k=len(values))) / len(values) for _ in range(resamples)
    )
    return means[int(resamples * 0.025)], means[int(resamples * 0.975)]


def f1_figures(values: Sequence[float]) -> dict[str, Any]:
    """Returns the mean of F1 values and its interval: ``{"f1": 0.93, "f1_95": [0.92, 0.94]}``."""
    return {
        "f1": round(sum(values) / len(values), 4),
        "f1_95": [round(bound, 4) for bound in interval(values)],
    }


def ratios(*, right: int, found: int, wanted: int) -> dict[str, float]:
    """Returns ``precision``, ``recall`` and ``f`` of a set found against the set wanted."""
    precision, recall = right / max(1, found), right / max(1, wanted)
    both = precision + recall
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f": round(2 * precision * recall / both, 4) if both else 0.0,
    }


def means(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the mean of every key over scores with the same keys."""
    return {key: round(sum(one[key] for one in scores) / len(scores), 4) for key in scores[0]}
