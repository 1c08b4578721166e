"""What commands say to people, in the language that was asked for.

The code has the English. ``chinese.toml`` has its Chinese: a line for each sentence, head and word
of a command (``"nothing is paused" = "没有暂停的任务或主机"``), with the same places for values.
``=hosts.failed`` as Chinese is what ``words.toml`` has for a screen; a value that screens name too,
a state or a reason, stands there alone. ``chinese_help.toml`` has the texts of ``--help``.

JSON, files for programs and logs are English whatever is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from crawlclean.cleaning.messages import Message, catalogue
from crawlclean.workers.words import Language, all_words, tell

T = TypeVar("T")

LANGUAGE: ContextVar[Language] = ContextVar("language", default=Language.ENGLISH)
"""Of this command. Screens and the API have the language of a request, their threads English."""

LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""In the order of POSIX: the first that is set counts."""
NO_LOCALE = frozenset({"C", "POSIX"})
PLACE = re.compile(r"\{(\w[^{}!:]*)[^{}]*\}")
"""A place for a value: ``{n}``, ``{count:,}``, ``{name!r}``."""
VALUES = {"n": r"-?[\d,]+(?:\.\d+)?", "s": r"[\d,]+", "hint": "(?:[;；].*)?"}
"""Patterns of the values of places; a hint may be left out."""
NAMES = re.compile(
    r"path|name|host|crawl|topic|target|text|url|id|file|folder|place|template|pattern|value|option"
    r"|other|story|key|query|words"
)
"""Places of what a user has named: ``pages`` may be the name of a topic."""
MOST_CHARS = 240
"""Of a line that is looked for by its form: ours are shorter, and the time grows with the cube of
the length."""
LEAST_CHARS = 12
"""Of its own that a message has which is known by its form: one with fewer, as the seven of
``{sign} since {minute}``, catches lines of others."""
IN_FILE = re.compile(r"(\S+?): (.+)", re.DOTALL)
"""What is wrong in a file, or in a line of it: ``sites.csv:3: no URL``."""
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


def in_english(make: Callable[[], T]) -> T:
    """What a function makes for a file, whatever language the command speaks."""

    def made() -> T:
        LANGUAGE.set(Language.ENGLISH)
        return make()

    return copy_context().run(made)


def say(text: str, /, **values: object) -> str:
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


def told(line: str) -> str:
    """A line that another room has made: a message that is stored, or an error by its English.

    Args:
        line: ``no crawl is named news; `crawls` lists them``. One of an unknown form, the words of
            a server or a library, stays as it is.
    """
    if not is_chinese() or isinstance(line, Message):
        return tell(LANGUAGE.get(), line)
    if len(line) > MOST_CHARS:
        return line
    for texts, form, places, chinese in _forms():
        if all(text in line for text in texts) and (found := form.fullmatch(line)):
            return _filled(chinese, dict(zip(places, found.groups(), strict=True)))
    if line in _chinese("chinese"):
        return say(line)
    if (found := IN_FILE.fullmatch(line)) and (what := told(found[2])) != found[2]:
        return f"{found[1]}：{what}"
    first, *rest = re.split("; |；", line, maxsplit=1)
    return "；".join(map(told, (first, *rest))) if rest else line


def _filled(chinese: str, values: Mapping[str, str]) -> str:
    said = {name: text if NAMES.fullmatch(name) else told(text) for name, text in values.items()}
    return PLACE.sub(lambda place: said[place[1]], chinese)


@cache
def _forms() -> Sequence[tuple[Sequence[str], re.Pattern[str], Sequence[str], str]]:
    """(Own texts, form, places, Chinese) of each line that is known, those with most text first."""
    from crawlclean.cleaning.lexicon import counted as in_english

    lines = {entry[0]: entry[-1] for entry in catalogue().values()}
    lines |= {entry[-2]: entry[-1] for entry in catalogue().values()}
    lines = {key: text for key, text in lines.items() if len(PLACE.sub("", key)) >= LEAST_CHARS}
    lines |= _chinese("chinese_messages")
    for key, text in _chinese("chinese").items():  # what is counted in a message: `3 pages`
        if re.fullmatch(r"\{n\} [^{}]+", key):
            one = key.removeprefix("{n} ")
            lines |= dict.fromkeys((key, in_english(2, one).replace("2", "{n}", 1)), text)
    return [
        (
            _own(english),
            re.compile(_form(english), re.DOTALL),
            PLACE.findall(english),
            lines[english],
        )
        for english in sorted(lines, key=lambda english: -len(PLACE.sub("", english)))
    ]


def _own(english: str) -> Sequence[str]:
    """The texts between the places, which a line of this form has for certain."""
    return [text for text in PLACE.split(english)[::2] if text]


def _form(english: str) -> str:
    """The pattern of the lines that a text makes."""
    texts = map(re.escape, PLACE.split(english)[::2])
    places = (f"({VALUES.get(place, '.+?')})" for place in PLACE.findall(english))
    return "".join(text + place for text, place in zip_longest(texts, places, fillvalue=""))


def explained(text: str) -> str:
    """A text of ``--help``."""
    return _chinese("chinese_help").get(text, text) if is_chinese() else text


def term(kind: str, value: object) -> str:
    """A value as ``words.toml`` names it for screens: ``term("state", "paused")``."""
    if is_chinese():
        name, space, rest = str(value).partition(" ")  # `http_status 404`, but `offered again`
        for known, more in ((str(value), ""), (name, space + rest)):
            if entry := all_words().get(f"{kind}.{known}"):
                return entry[-1] + more
    return str(value)


def counted(number: int, noun: str, several: str = "") -> str:
    """``3 pages``, as ``lexicon.counted`` has it: ``3 个页面``."""
    if is_chinese() and (counter := _chinese("chinese").get(f"{{n}} {noun}")):
        return counter.format(n=f"{number:,}")
    from crawlclean.cleaning import lexicon  # `--help` counts nothing

    return lexicon.counted(number, noun, several)


def some_of(names: Sequence[str], most: int) -> str:
    """``a.example, b.example and 3 more``: the first names, and how many there are behind them."""
    shown, more = say(", ").join(names[:most]), len(names) - most
    return say("{shown} and {more} more", shown=shown, more=more) if more > 0 else shown


def duration(seconds: float) -> str:
    """``3m07s``, as ``lexicon.duration`` has it: ``3分07秒``."""
    from crawlclean.cleaning import lexicon

    text = lexicon.duration(seconds)
    return text.translate(UNITS) if is_chinese() else text


@cache
def _chinese(name: str) -> Mapping[str, str]:
    import tomllib  # English needs none

    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))
