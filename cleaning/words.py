"""Chinese word segmentation; the only module that imports jieba (extras ``crawl``, ``papers``)."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from functools import lru_cache
from math import log
from typing import Any

_CACHED_TEXTS = 4096  # whose words are remembered: titles and link texts come several times
HIGHEST_IDF = 9.0
"""The idf of words that the dictionary does not have: names, terms, most words in Latin letters."""


class Segmenter:
    """Splits texts into words by jieba's packaged dictionary, which takes about a second to load.

    The dictionary is read from the package alone: jieba's default start writes a cache file into
    the shared directory for temporary files and trusts the file it finds there. Our cache is keyed
    by the text, so no text changes the result of another.
    """

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # jieba's own sources hold string escapes that newer Pythons warn about.
            warnings.simplefilter("ignore", SyntaxWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            import jieba  # .11 s, which crawls without a topic need not spend
        tokenizer: Any = jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        tokenizer.initialized = True
        self._counts: dict[str, int] = tokenizer.FREQ
        self._total: int = tokenizer.total
        self._cut = lru_cache(maxsize=_CACHED_TEXTS)(lambda text: tuple(tokenizer.cut(text)))

    def words(self, text: str) -> tuple[str, ...]:
        """Returns the words of a text in order, lower case, without white space and punctuation."""
        return tuple(
            word for word in self._cut(text.lower()) if any(char.isalnum() for char in word)
        )

    def idf(self, word: str) -> float:
        """Returns how rare a word is, 0..9: 的 2.2, 开发 5.4, 数据库 7.8, an unknown word 9.

        The counts are the dictionary's own, so a weight never changes with the pages that a crawl
        happened to fetch first.
        """
        return self._rarity(self._counts.get(word, 0))

    def pair_idf(self, pairs: Collection[str]) -> dict[str, float]:
        """Returns how rare pairs of characters are, 0..9, by the words that contain them."""
        counts = dict.fromkeys(pairs, 0)
        for word, count in self._counts.items():
            if count and len(word) > 1:
                for i in range(len(word) - 1):
                    pair = word[i : i + 2]
                    if pair in counts:
                        counts[pair] += count
        return {pair: self._rarity(count) for pair, count in counts.items()}

    def _rarity(self, count: int) -> float:
        return min(HIGHEST_IDF, log((self._total + 1e4) / (count + 50)) - 3)


@lru_cache(maxsize=1)
def default_segmenter() -> Segmenter:
    """Returns the segmenter of this process, loaded at the first call."""
    return Segmenter()
