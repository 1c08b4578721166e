"""Whether a page reads as gone, although its host answered 200 ("soft 404").

A short page that names its own absence. News about missing pages is longer; a short text with such
words may still be a page of its own, so the caller compares it with what the address showed before.
"""

from __future__ import annotations

from functools import lru_cache
from re import Pattern

from crawlclean.cleaning.lexicon import pattern_of, word_list
from crawlclean.cleaning.records import CleanRecord

MOST_CHARS = 300
"""Of title and body together; pages that give suggestions ("try our search") have 100 to 250."""


def absence_words(record: CleanRecord) -> str:
    """Returns the words with which a page reads as gone, ``页面不存在``; ``""``: it does not."""
    text = f"{record.title}\n{record.body}"
    if len(text) > MOST_CHARS or len(record.posts) > 1:
        return ""
    found = _words().search(text.lower())
    return found[0] if found else ""


def has_vanished(before: CleanRecord, after: CleanRecord) -> bool:
    """Whether an address that showed a page now reads as gone: no line of the text is left."""
    if absence_words(before) or not absence_words(after):
        return False
    kept = set(before.body.splitlines()) & set(after.body.splitlines())
    return not any(line.strip() for line in kept)


@lru_cache(maxsize=1)
def _words() -> Pattern[str]:
    return pattern_of(word_list("missing_page_words"))
