"""Which URLs a crawl follows by the patterns of its operator: ``--include`` and ``--exclude``.

A pattern is a regular expression that is searched for in the readable form of a URL
(``cleaning/urls/readable.py``): ``/新闻/``, ``^https?://bbs\\.``, ``\\.pdf$``. A URL that an
exclude pattern matches is not fetched. When there are include patterns, one of them must match.
"""

from __future__ import annotations

from collections.abc import Sequence

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.linear_regex import LinearRegex
from crawlclean.cleaning.urls.readable import readable

MAX_PATTERNS = 50
"""Patterns of one kind; more cost time for each link. ``/(?:tag|author|login)/`` is one."""

MAX_SHOWN = 5  # include patterns that a reason names


class UrlChoice:
    """The include and exclude patterns of a crawl, compiled."""

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        """Compiles the patterns.

        Raises:
            ConfigError: A pattern is invalid; the message names the pattern and the position.
        """
        self._include = compile_patterns("include", include)
        self._exclude = compile_patterns("exclude", exclude)

    def __bool__(self) -> bool:
        """Whether there is a pattern."""
        return bool(self._include or self._exclude)

    def exclusion(self, url: str) -> str:
        """Returns the exclude pattern that matches a URL in normal form; ``""`` without."""
        if not self._exclude:
            return ""
        text = readable(url)
        return next((each.pattern for each in self._exclude if each.search(text)), "")

    def is_included(self, url: str) -> bool:
        """Whether an include pattern matches a URL in normal form, or there is none."""
        if not self._include:
            return True
        text = readable(url)
        return any(each.search(text) for each in self._include)

    def reason(self, url: str) -> str:
        """Returns why a URL is not followed: ``excluded by --exclude /tag/``; ``""``: it is."""
        pattern = self.exclusion(url)
        if pattern:
            return f"excluded by --exclude {pattern}"
        if self.is_included(url):
            return ""
        shown = " ".join(each.pattern for each in self._include[:MAX_SHOWN])
        more = len(self._include) - MAX_SHOWN
        return f"no --include matches it: {shown}" + (f" and {more} more" if more > 0 else "")


def compile_patterns(name: str, patterns: Sequence[str]) -> tuple[LinearRegex, ...]:
    """Compiles the patterns of one kind.

    Args:
        name: Of the kind, for errors: ``include``.
        patterns: Regular expressions.

    Raises:
        ConfigError: A pattern is invalid, or there are more than ``MAX_PATTERNS``.
    """
    if len(patterns) > MAX_PATTERNS:
        raise ConfigError(f"{name} has {len(patterns)} patterns: at most {MAX_PATTERNS}, join some")
    compiled = []
    for each in dict.fromkeys(patterns):
        if not each:
            raise ConfigError(f"{name} is empty: an empty pattern matches every URL")
        try:
            compiled.append(LinearRegex(each))
        except ConfigError as error:
            raise ConfigError(f"{name} is {each!r}: {error}") from None
    return tuple(compiled)
