"""Kind, author, date of publication and language of a page.

The title is read earlier, because the links need it (``title``). The language is found here:
templates of Chinese sites often declare English, so letters decide first, in parts of the body from
its begin to its end. Kana are Japanese, hangul Korean, Han Chinese; another script leaves a few
languages. Among Latin languages the most frequent words decide (``data/language_words.txt``),
against the declared language only by a clear majority.
Simplified and traditional Chinese are both ``zh``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import itemgetter

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.document import Declared, Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.lexicon import word_table
from crawlclean.cleaning.lost_fields import LostFields
from crawlclean.cleaning.metadata.byline import Byline, find_author
from crawlclean.cleaning.metadata.page_kind import decide_kind
from crawlclean.cleaning.metadata.published import find_published
from crawlclean.cleaning.records import Link, PageKind

_PRIMARY = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_].*|\s*[,;].*|\s*)", re.S)
_METAS = ("content-language", "og:locale", "language", "inlanguage")
_READ_CHARS = 300
_SLICES = 8  # parts of a long body that are read
_SLICE_CHARS = 100
_WORD_LETTERS = 3  # of which a word among Han characters counts; one of these counts two
_LEAST_PROSE = 0.25  # of the words; the others may be code
_WORDS_PER_FREQUENT = 4  # prose words for each of the most frequent ones
_LEAST_LETTERS = 20
_LEAST_WIDE = 8
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+")
_KANA = re.compile(r"[\u3040-\u30ff]+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_WORD = re.compile(r"[^\W\d_]+")
# Each script with its languages; the first is taken where the page declares none of them.
_SCRIPTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"[\uac00-\ud7af]+"), ("ko",)),
    (re.compile(r"[\u0400-\u04ff]+"), ("ru", "uk", "bg", "sr", "be", "mk", "kk", "mn", "ky", "tg")),
    (re.compile(r"[\u0600-\u06ff]+"), ("ar", "fa", "ur", "ps", "ug", "ku", "sd")),
    (re.compile(r"[\u0900-\u097f]+"), ("hi", "mr", "ne", "sa")),
    (re.compile(r"[\u0370-\u03ff]+"), ("el",)),
    (re.compile(r"[\u0590-\u05ff]+"), ("he", "yi")),
    (re.compile(r"[\u0e00-\u0e7f]+"), ("th",)),
    (re.compile(r"[\u0980-\u09ff]+"), ("bn", "as")),
    (re.compile(r"[\u0b80-\u0bff]+"), ("ta",)),
    (re.compile(r"[\u0f00-\u0fff]+"), ("bo", "dz")),
)
_OTHER_SCRIPTS = frozenset(x for _, codes in _SCRIPTS for x in codes) | {"zh", "ja"}
# Letters of a script's other languages that its first language does not have.
_DISTINCTIVE = (("uk", "іїєґ"), ("ur", "ٹڈڑںے"), ("fa", "پچژگ"))
_LEAST_WORDS = 5
_CLEAR = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The kind, author, date and language of a page.

    Attributes:
        kind: One text, posts on one topic, a list of other pages, or anything else.
        author: Names, such as ``张三、李四``, or None.
        published_at: Aware date of publication, or None.
        language: BCP 47 primary tag, such as ``zh``, or None.
    """

    kind: PageKind
    author: str | None
    published_at: datetime | None
    language: str | None


def read_metadata(
    document: Document, body: Body, links: tuple[Link, ...], lost: LostFields
) -> Metadata:
    """Reads kind, author, date of publication and language of a page.

    INDEX and OTHER pages get neither author nor date: those on them belong to other pages.

    Args:
        document: The parsed page.
        body: The body of the page.
        links: The links of the page with their kinds.
        lost: Gets the fields that a defect costs.
    """
    lines = Byline(document.tree, body)
    kind = lost.read("kind", lambda: decide_kind(document, body, lines, links), PageKind.OTHER)
    language = lost.read("language", lambda: find_language(document, body.text), None)
    if kind not in (PageKind.ARTICLE, PageKind.THREAD):
        return Metadata(kind=kind, author=None, published_at=None, language=language)
    return Metadata(
        kind=kind,
        author=lost.read("author", lambda: find_author(document, lines, language), None),
        published_at=lost.read(
            "published_at", lambda: find_published(document, lines, language), None
        ),
        language=language,
    )


def find_language(document: Document, text: str) -> str | None:
    """Returns the language of a page as a BCP 47 primary tag such as ``zh``, or None.

    Args:
        document: The parsed page.
        text: The body; the visible text of the page is read where the body is too short.
    """
    tree = document.tree
    text = _spread(text)
    wide = _wide(text)
    if wide is not None:
        return wide
    stated = _declared(tree, document.declared)
    return _by_text(text, stated) or _by_text(_sample(tree), stated) or stated


def _declared(tree: Tree, declared: Declared) -> str | None:
    """The primary tag of ``<html lang>`` or a ``<meta>``: ``en`` of ``en-US``; None without one."""
    get = tree.attributes.get
    for text in (get("lang"), get("xml:lang"), *declared.metas(*_METAS)):
        match = _PRIMARY.fullmatch(text[:40]) if text else None
        if match:
            code = match[1].lower()
            return "zh" if code == "cn" else code
    return None


def _spread(text: str) -> str:
    """A short text whole, else eight parts of 100 characters spread over all of it."""
    if len(text) <= _SLICES * _SLICE_CHARS:
        return text
    step = (len(text) - _SLICE_CHARS) / (_SLICES - 1)
    starts = (round(i * step) for i in range(_SLICES))
    return " ".join(text[start : start + _SLICE_CHARS] for start in starts)


def _sample(tree: Tree) -> str:
    """The title and 300 characters from the middle of a page, away from header and footer."""
    count = len(tree.texts)
    return tree.title + " " + "".join(tree.texts[count // 4 : count // 4 + 60])[:_READ_CHARS]


def _wide(text: str) -> str | None:
    """``zh`` or ``ja`` for a text of mostly Han characters and kana, else None."""
    wide, kana = _wide_letters(text)
    if wide + kana < _LEAST_WIDE or 2 * (wide + kana) <= len(text):
        return None
    return "ja" if kana >= 0.1 * (wide + kana) else "zh"


def _by_text(text: str, stated: str | None) -> str | None:
    """The language of a text; None for a text too short to decide."""
    if text.isascii():
        return _latin(text, stated) if len(text) >= 2 * _LEAST_LETTERS else None
    if (mostly := _wide(text)) is not None:
        return mostly
    wide, kana = _wide_letters(text)
    latin = _count(_LATIN, text)
    if wide + kana:
        latin = min(latin, _WORD_LETTERS * _prose_words(text))
    elif 2 * latin > len(text):
        return _latin(text, stated)
    others = [(_count(letters, text), codes) for letters, codes in _SCRIPTS]
    count, codes = max(others, key=lambda item: item[0])
    # One Han character or kana counts as two letters: it carries at least as much.
    weights = {"wide": 2 * (wide + kana), "other": count, "latin": latin}
    if wide + kana + count + latin < _LEAST_LETTERS:
        return None
    script = max(weights, key=weights.__getitem__)
    if script == "wide":
        return "ja" if kana >= 0.1 * (wide + kana) else "zh"
    if script == "latin":
        return _latin(text, stated)
    if stated in codes:
        return stated
    for code, letters in _DISTINCTIVE:
        if code in codes and sum(map(text.count, letters)) >= 0.01 * count:
            return code
    return codes[0]


@lru_cache(maxsize=2)  # asked for twice by one text
def _wide_letters(text: str) -> tuple[int, int]:
    """Number of Han characters and of kana."""
    return (0, 0) if text.isascii() else (_count(_HAN, text), _count(_KANA, text))


def _prose_words(text: str) -> int:
    """About how many Latin words are prose: of code few are among a language's most frequent."""
    words = _LATIN.findall(text)
    codes = _frequent_words()
    hits = Counter(code for word in words for code in codes.get(word.lower(), ()))
    frequent = max(hits.values(), default=0)
    return max(int(_LEAST_PROSE * len(words)), min(len(words), _WORDS_PER_FREQUENT * frequent))


def _count(letters: re.Pattern[str], text: str) -> int:
    """Number of characters in the matches of a pattern."""
    return sum(map(len, letters.findall(text)))


def _latin(text: str, stated: str | None) -> str | None:
    """The Latin language of the most frequent words; the declared one if there is no clear one."""
    if stated in _OTHER_SCRIPTS:
        stated = None
    codes = _frequent_words()
    found: dict[str, int] = {}
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    words = Counter(_WORD.findall(text.lower()))
    for word, times in words.items():
        for code in codes.get(word, ()):
            found[code] = found.get(code, 0) + times
    total = words.total()
    if not found or total < 2 * _LEAST_WORDS:
        return stated
    (best, count), *rest = sorted(found.items(), key=itemgetter(1), reverse=True)
    if count < max(_LEAST_WORDS, 0.05 * total) or best == stated:
        return stated
    rival = found.get(stated, 0) if stated else (rest[0][1] if rest else 0)
    return best if count >= _CLEAR * rival or (not stated and count > rival) else stated


@lru_cache(maxsize=1)
def _frequent_words() -> dict[str, tuple[str, ...]]:
    """Word -> the languages it is frequent in: ``die`` -> ``("de",)``."""
    found: dict[str, tuple[str, ...]] = {}
    for code, line in word_table("language_words").items():
        for word in line.split():
            found[word] = (*found.get(word, ()), code)
    return found
