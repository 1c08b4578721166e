"""The words of the console's pages, and the language of a request."""

from __future__ import annotations

from markupsafe import Markup, escape

from crawlclean.workers import words
from crawlclean.workers.console.strangers_text import shown
from crawlclean.workers.words import Language


def say(language: Language, key: str, **values: object) -> Markup:
    """The words of a key, for HTML.

    Args:
        language: Which language.
        key: ``hosts.title``.
        **values: Values of the placeholders; texts are escaped, whole numbers grouped.

    Raises:
        KeyError: The key has no words.
    """
    escaped = {
        name: value if isinstance(value, int) else escape(value) for name, value in values.items()
    }
    return Markup(words.say(language, key, **escaped))  # noqa: S704 - our own words


def told(language: Language, line: str) -> Markup:
    """A line that a process has stored, for HTML."""
    return Markup(words.tell(language, line, shown))  # noqa: S704 - texts in it are escaped


def language_of(cookie: str | None, accepted: str) -> Language:
    """The language of a request: as chosen (cookie), else the browser's first that is known.

    Args:
        cookie: ``zh``, anything else, or None.
        accepted: The header ``Accept-Language``: ``zh-CN,zh;q=0.9,en;q=0.8``.
    """
    known = {each.value: each for each in Language}
    if cookie in known:
        return known[str(cookie)]
    for part in accepted.split(","):
        name = part.partition(";")[0].strip().lower().partition("-")[0]
        if name in known:
            return known[name]
    return Language.ENGLISH
