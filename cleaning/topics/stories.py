"""Near-duplicates: a signature of a text, and whether two texts tell the same story.

One-permutation MinHash (Li, Owen & Zhang 2012): the text is cut into grams of 4 characters of
Chinese, Japanese and Korean, and of 6 characters of what stands between; each gram is hashed once,
its hash chooses one of 64 bins, and each bin keeps its least hash. Two texts agree in about as
many bins as the share of grams that they have in common (Jaccard).

A gram of 4 characters of UTF-16, or of 6 low bytes of characters, is an integer of 64 bits: all
grams of a text are unpacked at once. ADR 36 has the figures; `make bench-stories` measures them.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from hashlib import sha256
from operator import xor

from crawlclean.cleaning.records import CleanRecord, PageKind

LEAST_CHARS = 100
"""Letters and digits under which a text has no signature: so few of them are often a template."""

MOST_CHARS = 50_000
"""Letters and digits that are read. With 8,000, a long text without its first third was no copy."""

SHORT_CHARS = 400
"""Letters and digits under which two texts with other numbers are no copies. Six notices of 138
characters on the levels A1 to C2 of one examination, each with its dates, agreed in 58 to 63
bins; what a longer text has beside its dates tells form letters apart."""

BINS = 64  # a byte each in a signature; see LEAST_AGREEING
LEAST_AGREEING = 17
"""Bins in which two texts agree. Texts of two hosts that share a few lines agree in up to 16, and
copies with 5 % other characters, without a third, and with another site's lines, in 26 on average.
"""

LEAST_AGREEING_ON_HOST = 32
"""The same for two pages of one host, which share lines of its template that no model has removed:
of 239,000 pairs of 36 hosts without a model 440 agree in 17 bins, 107 in 24, 51 in 32. Most of the
51 are copies; of the others most are sisters in a manual."""

MOST_TIMES_LONGER = 3
"""A page of several stories is no copy of one of them."""

KEYS = 21
"""Keys of a text. Of Chinese copies changed in three ways (as above) .93 are found with 16 keys,
.95 with 21, .96 with 28; each costs 15 bytes a page. 42 keys of three minima of 8 bits find fewer.
"""

SIGNATURE_BYTES = BINS + KEYS

_PRIME = 966_379_951  # below 2^30, where Python divides fastest, and no neighbour of a power of 2
_LETTERS = re.compile(r"[^\W_]+")  # runs of what ``str.isalnum`` takes
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MARKS = re.compile("[\u0300-\u036f\u3099\u309a]")  # of letters in two parts: e and an accent
_NUMBERS = re.compile(
    "[a-z]{0,2}[0-9]+[a-z]{0,2}|(?:第|星期|周)[一二三四五六七八九十百日天]+|[初中高甲乙丙丁](?=[级等类])|"
    "[一二三四五六七八九十百千两]+(?=[级月日等期号类年元块折岁届时点])"
)
# As written: A, II or XR of classes, levels and models; Monday, May, five.
_NAMES = re.compile(
    "(?<![A-Za-z])(?:[A-Z]{1,4}|(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|"
    "april|may|june|july|august|(?:septem|octo|novem|decem)ber|one|two|three|four|five|six|seven|"
    "eight|nine|ten|first|second|third|fourth|fifth))(?![A-Za-z])"
)
_SIX_BYTES = (1 << 48) - 1  # a gram is six letters, a byte each
_PER_BIN = 10
"""Hashes kept for each bin: of 22,000 bins one gets none by chance, and then all are looked at."""
_FILLED_FROM_NEXT = (
    40_503  # added for each bin between, so that filled bins agree only by their text
)


def story_signature(text: str) -> bytes:
    """Returns 85 bytes, the least hashes of a text; ``b""`` for fewer than 100 letters and digits.

    The first 64 bytes are the low 8 bits of the 64 minima and are compared (``is_same_story``); the
    other 21 hold 4 bits more of the first 42 minima and serve the keys alone (``story_keys``).
    """
    letters = _letters(text)
    if len(letters) < LEAST_CHARS:
        return b""
    hashes = _hashes(letters)
    most = _PRIME * _PER_BIN * BINS // len(hashes)
    low = sorted([each for each in hashes if each < most], reverse=True)
    least = {each % BINS: each for each in low}  # the last of a bin is its least
    if len(least) < BINS and most < _PRIME:
        least = {each % BINS: each for each in sorted(hashes, reverse=True)}
    packed = _packed(least)
    return packed if len(letters) >= SHORT_CHARS else _with_numbers(packed, letters, text)


def record_signature(record: CleanRecord) -> bytes:
    """Returns the signature of a record's body; ``b""`` for an index page.

    Lists of links share their entries with other lists, and tell no story. The body of a thread
    is the text of its posts.
    """
    return b"" if record.kind is PageKind.INDEX else story_signature(record.body)


def story_keys(signature: bytes) -> tuple[int, ...]:
    """Returns 21 keys, each 0..2^29; texts of a story nearly always have a key in common.

    A key is its number and two neighbouring minima of 12 bits: ``2 << 24 | 0x4f1 << 12 | 0x193``.
    """
    return tuple(
        number << 24
        | (high >> 4) << 20
        | signature[2 * number] << 12
        | (high & 15) << 8
        | signature[2 * number + 1]
        for number, high in enumerate(signature[BINS:])
    )


def is_same_story(
    first: bytes, first_chars: int, second: bytes, second_chars: int, *, same_host: bool = False
) -> bool:
    """Whether two texts are copies of one, perhaps edited, cut, or with other lines around them.

    Args:
        first: Signature of one text.
        first_chars: Its characters.
        second: Signature of the other text.
        second_chars: Its characters.
        same_host: Whether both are pages of one host, which share more than pages of two.
    """
    shorter, longer = sorted((first_chars, second_chars))
    least = LEAST_AGREEING_ON_HOST if same_host else LEAST_AGREEING
    return longer <= MOST_TIMES_LONGER * shorter and agreeing(first, second) >= least


def agreeing(first: bytes, second: bytes) -> int:
    """Returns in how many of 64 bins two signatures agree; 0 when one is ``b""``."""
    other = int.from_bytes(first[:BINS], "big") ^ int.from_bytes(second[:BINS], "big")
    return other.to_bytes(BINS, "big").count(0) if first and second else 0


def _with_numbers(signature: bytes, letters: str, text: str) -> bytes:
    """The signature of a short text, which agrees with that of no text with other numbers.

    Numbers are digits with the Latin letters about them, Chinese numerals of dates, prices and
    levels, English ones, and letters that stand for them, each once: ``2026``, ``a1``, ``三``,
    ``monday``, ``ii``.
    """
    names = _NAMES.findall(unicodedata.normalize("NFKC", text))
    found = _NUMBERS.findall(letters) + list(map(str.lower, names))
    numbers = " ".join(dict.fromkeys(found))
    if not numbers:
        return signature
    digest = sha256(numbers.encode()).digest()
    mask = (digest * (len(signature) // len(digest) + 1))[: len(signature)]
    return bytes(map(xor, signature, mask))


def _letters(text: str) -> str:
    """The first letters and digits of a text in lower case and one form (NFKC)."""
    text = text[: 2 * MOST_CHARS]
    if not text.isascii() and _MARKS.search(text):
        text = unicodedata.normalize("NFC", text)
    letters = "".join(_LETTERS.findall(text))[:MOST_CHARS].lower()
    # Last, because Chinese punctuation is never normal, and letters nearly always are.
    if letters.isascii() or unicodedata.is_normalized("NFKC", letters):
        return letters
    return unicodedata.normalize("NFKC", letters)


def _hashes(letters: str) -> list[int]:
    """The hashes of all grams, below ``_PRIME``: of Chinese, and of all between, each joined.

    Squares, because sums keep their order: with ``gram % _PRIME`` alone, long texts that share 1 %
    of their grams agreed in up to 19 bins.
    """
    wide = "".join(_WIDE.findall(letters))
    narrow = "".join(_WIDE.split(letters)) if len(wide) < len(letters) else ""
    hashes = [gram * gram % _PRIME for gram in _words(wide.encode("utf-16-le"), 2)]
    if narrow:
        # The low byte tells the letters of a script apart, and two more let the last gram be read.
        low_bytes = narrow.encode("utf-16-le", "surrogatepass")[::2] + b"\0\0"
        hashes += [(six := gram & _SIX_BYTES) * six % _PRIME for gram in _words(low_bytes, 1)]
    return hashes


def _words(code: bytes, step: int) -> list[int]:
    """All runs of 8 bytes, each ``step`` bytes behind another, as integers, in no order."""
    words: list[int] = []
    for start in range(0, min(8, len(code) - 7), step):
        words += struct.unpack_from(f"<{(len(code) - start) // 8}Q", code, start)
    return words


def _packed(least: dict[int, int]) -> bytes:
    minima = []
    for place in range(BINS):
        distance = 0
        while (found := least.get((place + distance) % BINS)) is None:
            distance += 1
        minima.append(found // BINS + distance * _FILLED_FROM_NEXT)
    high = [minimum >> 8 & 15 for minimum in minima[: 2 * KEYS]]
    pairs = zip(high[::2], high[1::2], strict=True)
    return bytes([m & 0xFF for m in minima] + [first << 4 | second for first, second in pairs])
