"""Texts as topics compare them: one form of each character, words, pairs of characters."""

from __future__ import annotations

import re
from operator import add
from unicodedata import is_normalized, normalize

# Scripts that are written without spaces (Chinese, Japanese, Korean with its particles, Thai): a
# word of theirs is found inside other text. Words of other scripts stand between boundaries.
UNSPACED = (
    "\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u2fdf\u3005-\u30ff"
    "\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# c++, c#, .net, asp.net, covid-19
_WORD_PATTERN = rf"\.?[^\W_{UNSPACED}]+(?:[.\-'_][^\W_{UNSPACED}]+)*(?:\+\+|#)?"
_SPLIT = re.compile(f"([{UNSPACED}]+)").split
# The same words, in text without characters of unspaced scripts: two and three times as fast.
_WORDS = re.compile(r"\.?+[^\W_]++(?:[.\-'_][^\W_]++)*(?:\+\+|#)?").findall
_ASCII_WORDS = re.compile(r"\.?+[a-z0-9]++(?:[.\-'_][a-z0-9]++)*(?:\+\+|#)?").findall
# The signs of Chinese text that are not in compatibility form, and spaces of web pages.
_USUAL_SIGNS = tuple((char, normalize("NFKC", char)) for char in "，：；！？（）．％／～…　\xa0")
TOKEN = re.compile(f"[{UNSPACED}]+|{_WORD_PATTERN}")
_UNSPACED_CHAR = re.compile(f"[{UNSPACED}]")


def plain(text: str) -> str:
    """Returns a text in lower case and compatibility form: ``Ｃ＋＋ﾊ`` becomes ``c++ハ``.

    Full-width and half-width forms become the usual ones. Traditional characters stay as they are:
    漢 and 汉 differ.
    """
    if not is_normalized("NFKC", text):
        for char, usual in _USUAL_SIGNS:  # then most texts are normal: a third of the time
            text = text.replace(char, usual)
        if not is_normalized("NFKC", text):
            text = normalize("NFKC", text)
    return text.lower()


def is_unspaced(word: str) -> bool:
    """Whether a word has a character of a script that is written without spaces."""
    return _UNSPACED_CHAR.search(word) is not None


def terms(text: str) -> list[str]:
    """Returns the terms of a plain text: words, then pairs of characters of unspaced scripts.

    ``学习c++语言`` has the terms c++, 学习, 语言.

    Args:
        text: In the form of ``plain``.
    """
    if text.isascii():
        return _ASCII_WORDS(text)
    parts = _SPLIT(text)  # at even places what stands between the runs of unspaced characters
    between = " ".join(parts[::2])
    found: list[str] = (_ASCII_WORDS if between.isascii() else _WORDS)(between)
    for run in parts[1::2]:
        found += map(add, run, run[1:]) if len(run) > 1 else run
    return found
