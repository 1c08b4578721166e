"""What a sign says, in words: on screens, in the API, in messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from crawlclean.workers import formats, words
from crawlclean.workers.operations.watching.signs.judging import Sign, SignKind
from crawlclean.workers.words import Language, all_words

_LASTING = frozenset({SignKind.REFUSES, SignKind.FORMS, SignKind.REPEATS})

Say = Callable[..., str]
"""``words.say``, or what escapes its values for HTML."""


def sign_words(
    sign: Sign, language: Language, say: Say = words.say, tell: Callable[..., str] = words.tell
) -> str:
    """What a sign says of its host, crawl or process.

    Args:
        sign: The sign.
        language: Of the words.
        say: The words of a key.
        tell: A line that a process has stored, in words.
    """
    if sign.kind in (SignKind.WALL, SignKind.CHANGED):
        return _of_change(sign, language, say)
    key, why = sign.kind.value, ""
    if sign.kind is SignKind.SILENT:
        key = "silent" if sign.n else "silent_idle"
    elif sign.kind is SignKind.ROOM:
        key = f"room_{sign.why}"
    elif sign.kind is SignKind.SEED:
        why = say(language, f"reason.{sign.why}") + (f" {sign.status}" if sign.status else "")
    elif sign.kind is SignKind.REFUSES:
        key, why = f"refuses_{sign.why}", tell(language, sign.who)
    elif sign.kind is SignKind.RECEIVER:
        why = tell(language, sign.why)
    elif f"cause.{sign.why}" in all_words():
        why = say(language, f"cause.{sign.why}")
    elif f"wait.{sign.why}" in all_words():
        why = say(language, "cause.waits", why=say(language, f"wait.{sign.why}"))
    text = say(
        language, f"signs.{key}", n=sign.n, of=sign.of, left=sign.left, status=sign.status, why=why,
        span=span_words(sign.lasts_s, language, say), free=formats.size(sign.n),
        total=formats.size(sign.of),
    )  # fmt: skip
    if sign.kind in _LASTING and sign.since:
        lasted = (datetime.now(UTC) - sign.since).total_seconds()
        text += say(language, "signs.for", span=span_words(lasted, language, say))
    return text


def span_words(seconds: float, language: Language, say: Say = words.say) -> str:
    """A duration in its largest fitting unit: ``12 min``."""
    span = formats.span_of(seconds)
    return say(language, f"time.{span.unit}", n=span.n)


def _of_change(sign: Sign, language: Language, say: Say) -> str:
    """What a sign of a host says whose pages changed."""
    if sign.is_back:
        text = say(language, "signs.bodies_back", n=sign.n, of=sign.of)
        return text + say(language, "signs.bodies_left", n=sign.left) if sign.left else text
    text = say(language, f"sign.{sign.why}")
    if sign.kind is SignKind.WALL:
        return text + say(language, "signs.wall", n=sign.n, of=sign.of)
    if sign.n:
        return text + say(language, "signs.changed", version=sign.n)
    return text + say(language, "signs.taken_back" if sign.is_mended else "signs.learning")
