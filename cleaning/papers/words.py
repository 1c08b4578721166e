"""Chinese word segmentation; the only module that imports jieba (the extra ``papers``)."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

with warnings.catch_warnings():
    # jieba's own sources hold string escapes that newer Pythons warn about.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    import jieba

_CACHED_TEXTS = 4096


class Segmenter:
    """Splits texts into words by jieba's packaged dictionary, which takes about a second to load.

    The dictionary is read from the package alone: jieba's default start writes a cache file into
    the shared directory for temporary files and trusts the file it finds there. Our cache is keyed
    by the text, so no text changes the result of another.
    """

    def __init__(self) -> None:
        tokenizer: Any = jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
        tokenizer.initialized = True
        self._cut = lru_cache(maxsize=_CACHED_TEXTS)(lambda text: tuple(tokenizer.cut(text)))

    def words(self, text: str) -> tuple[str, ...]:
        """Returns the words of a text in order, lower case, without white space and punctuation."""
        return tuple(
            word for word in self._cut(text.lower()) if any(char.isalnum() for char in word)
        )


@lru_cache(maxsize=1)
def default_segmenter() -> Segmenter:
    """Returns the segmenter of this process, loaded at the first call."""
    return Segmenter()
