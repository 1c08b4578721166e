"""Letters that stand for a word: the same for the same word and key, whatever came before."""

from __future__ import annotations

from hashlib import blake2b

_LETTERS = "bcdfghjklmnpqrstvwxz"  # without vowels no word comes about by chance


def number_for(key: str, word: str, below: int) -> int:
    """Returns a number of 0 to ``below - 1`` that a word has under a key."""
    digest = blake2b(f"{key}\0{word}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % below


def letters_for(key: str, word: str) -> str:
    """Returns the letters that stand for a word under a key: ``qkzwtb`` for ``thread``."""
    number = number_for(key, word, len(_LETTERS) ** 8)
    found = []
    for _ in range(min(max(len(word), 5), 8)):
        number, rest = divmod(number, len(_LETTERS))
        found.append(_LETTERS[rest])
    return "".join(found)
