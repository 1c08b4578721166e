"""What the text and the address of one link say: how much like a title it is, whose site it is."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LATIN_WORD = 1.7  # Chinese characters that say as much as a word of another script
_WORDS = re.compile(r"[a-z0-9]{4,}|[\u3400-\u9fff]{2,}")
_HOME = re.compile(r"[a-z]+://[^/]*/?(?:(?:index|default)\.\w+)?")
_HOST_STARTS = len("https://")
_HOME_LETTERS = ("", "i", "d")  # that a file of a home page may begin with


@lru_cache(maxsize=16384)
def headline_units(text: str) -> float:
    """Length of an anchor text in Chinese characters."""
    if text.isascii():
        return _LATIN_WORD * len(text.split())
    rest, spaces = _WIDE.subn(" ", text)
    wide = len(text) - len(rest) + spaces
    latin = _LATIN_WORD * len(rest.split())
    return wide + (latin / 2 if wide else latin)


def grams(text: str) -> frozenset[str]:
    """What two texts about one thing share: words of 4 letters, pairs of Chinese characters."""
    found: set[str] = set()
    for word in _WORDS.findall(text.lower()):
        if word.isascii():
            found.add(word)
        else:
            found.update(map("".join, pairwise(word)))
    return frozenset(found)


@lru_cache(maxsize=4096)
def site_of(host: str) -> str:
    """The name a site goes by in all its domains: ``sina`` of tech.sina.com.cn and sina.cn."""
    labels = host.partition(":")[0].split(".")
    if len(labels) >= 3 and len(labels[-2]) <= 3 and len(labels[-1]) == 2:
        return labels[-3]
    return labels[-2] if len(labels) > 1 else host


def is_home(url: str) -> bool:
    """Whether a URL is that of a host's home page."""
    slash = url.find("/", _HOST_STARTS)
    if slash >= 0 and url[slash + 1 : slash + 2] not in _HOME_LETTERS:
        return False
    return _HOME.fullmatch(url) is not None
