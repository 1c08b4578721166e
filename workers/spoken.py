"""What commands say to people, in the language that was asked for.

The code has the English. ``chinese.toml`` has its Chinese: a line for each sentence, head and word
of a command (``"nothing is paused" = "没有暂停的任务或主机"``), with the same places for values.
``=hosts.failed`` as Chinese is what ``words.toml`` has for a screen; a value that screens name too,
a state or a reason, stands there alone. ``chinese_help.toml`` has the texts of ``--help``.

JSON, files for programs and logs are English whatever is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from crawlclean.workers.words import Language, all_words

LANGUAGE: ContextVar[Language] = ContextVar("language", default=Language.ENGLISH)
"""Of this command. Screens and the API have the language of a request, their threads English."""

LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""In the order of POSIX: the first that is set counts."""
NO_LOCALE = frozenset({"C", "POSIX"})
UNITS = str.maketrans({"d": "天", "h": "小时", "m": "分", "s": "秒"})


def language_of(environ: Mapping[str, str]) -> Language:
    """The language of a locale: ``zh_CN.UTF-8``; of ``LANGUAGE=de:zh``, as gettext has it, too."""
    locale = next((environ[name] for name in LOCALES if environ.get(name)), "C")
    if locale.partition(".")[0] in NO_LOCALE:
        return Language.ENGLISH
    known = {each.value: each for each in Language}
    names = (environ.get("LANGUAGE") or locale).lower().split(":")
    found = (known.get(name[:2]) for name in names if not name[2:3].isalpha())
    return next(filter(None, found), Language.ENGLISH)


def is_chinese() -> bool:
    """Whether this command speaks Chinese."""
    return LANGUAGE.get() is Language.CHINESE


def say(text: str, **values: object) -> str:
    """A text of a command: ``say("host {name} is resumed", name="a.example")``.

    Args:
        text: In English; one that has no Chinese stays English.
        **values: Of its places; without any, braces are braces.
    """
    if is_chinese():
        text = _chinese("chinese").get(text, text)
        if text.startswith("="):
            text = all_words()[text[1:]][-1]
    return text.format(**values) if values else text


def explained(text: str) -> str:
    """A text of ``--help``."""
    return _chinese("chinese_help").get(text, text) if is_chinese() else text


def term(kind: str, value: object) -> str:
    """A value as ``words.toml`` names it for screens: ``term("state", "paused")``."""
    if is_chinese() and (entry := all_words().get(f"{kind}.{value}")):
        return entry[-1]
    return str(value)


def counted(number: int, noun: str, several: str = "") -> str:
    """``3 pages``, as ``lexicon.counted`` has it: ``3 个页面``."""
    if is_chinese() and (counter := _chinese("chinese").get(f"{{n}} {noun}")):
        return counter.format(n=f"{number:,}")
    from crawlclean.cleaning import lexicon  # `--help` counts nothing

    return lexicon.counted(number, noun, several)


def duration(seconds: float) -> str:
    """``3m07s``, as ``lexicon.duration`` has it: ``3分07秒``."""
    from crawlclean.cleaning import lexicon

    text = lexicon.duration(seconds)
    return text.translate(UNITS) if is_chinese() else text


@cache
def _chinese(name: str) -> Mapping[str, str]:
    import tomllib  # English needs none

    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))
