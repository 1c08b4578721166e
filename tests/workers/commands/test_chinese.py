"""Commands speak Chinese: every text of theirs has both languages, with the same places."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from crawlclean.workers import cli
from crawlclean.workers.commands.names import COMMANDS, FAMILIES, GROUPS
from crawlclean.workers.spoken import LANGUAGE, language_of
from crawlclean.workers.words import Language, all_words
from tests.kit.crawls import crawlclean

ROOM = Path(__file__).parents[3] / "workers"
HAN = re.compile(r"[\u4e00-\u9fff]")
PLACE = re.compile(r"\{[^{}]*\}|%\(\w+\)[sr]|%[sr]")
OPTION = re.compile(r"(?<!\w)--[a-z][a-z-]+|`[^`]+`")


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This test, and no other, is in Chinese."""
    monkeypatch.setenv("COLUMNS", "80")
    before = LANGUAGE.set(Language.CHINESE)
    yield
    LANGUAGE.reset(before)


@cache
def catalogue(name: str) -> dict[str, str]:
    return tomllib.loads((ROOM / f"{name}.toml").read_text("utf-8"))


def help_texts() -> Iterator[str]:
    """Every text of ``--help``, as the code has it."""
    yield from filter(str.strip, f"{cli.INTRODUCTION}{cli.EPILOG}".split("\n"))
    yield from (f"{group}:" for group in GROUPS)
    for family, about in FAMILIES.items():
        yield from (about, f"{about}:", f"usage: crawlclean {family} COMMAND ...")
        yield f"`crawlclean {family} COMMAND --help` explains a command."
    yield from ("{others}: {about}", "usage: ", "positional arguments", "options")
    for name, (_, summary) in COMMANDS.items():
        parser = cli.parser_of(name)
        yield summary
        yield str(parser.description)
        yield from (each.help for each in parser._actions if each.help and "==" not in each.help)


def test_every_text_of_the_help_is_in_chinese() -> None:
    known, texts = catalogue("chinese_help"), set(help_texts())
    assert {text for text in texts - known.keys() if not text.startswith("  crawlclean ")} == set()
    assert known.keys() - texts == set()


@pytest.mark.parametrize("name", ["chinese", "chinese_help"])
def test_both_languages_have_the_same_places_and_options(name: str) -> None:
    for english, told in catalogue(name).items():
        if told.startswith("="):
            assert told[1:] in all_words(), english
            continue
        assert HAN.search(told) or not re.search("[a-z]{3}", PLACE.sub("", told)), english
        assert sorted(PLACE.findall(told)) == sorted(PLACE.findall(english)), english
        if "COMMAND" not in english:
            assert Counter(OPTION.findall(told)) == Counter(OPTION.findall(english)), english


@pytest.mark.parametrize("name", COMMANDS)
def test_no_english_line_is_left_in_the_help_of_a_command(name: str) -> None:
    for paragraph in cli.parser_of(name).format_help().split("\n\n")[1:]:
        for line in paragraph.split("\n"):
            words = re.sub(r"`[^`]*`|\S*[-_.:/|{}(),;]\S*|[A-Z]+", "", line)
            assert HAN.search(line) or not re.search(r"[a-z]{3} [a-z]{2}", words), line


def test_the_help_fits_a_terminal_and_begins_no_line_with_punctuation() -> None:
    from crawlclean.workers.output.printing import text_width

    for name in COMMANDS:
        for line in cli.parser_of(name).format_help().partition("\n\n")[2].splitlines():
            assert text_width(line) <= 80, line
            assert line.strip()[:1] not in tuple("，。；：、）"), line


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "de_DE", "LANGUAGE": "de:zh_CN:en"}, "zh"),
        ({"LANG": "zh_CN", "LANGUAGE": "en"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "zh"}, "en"),
        ({"LANG": "zha", "LANGUAGE": ""}, "en"),
    ],
)
def test_the_locale_chooses_the_language(environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language


def test_the_option_stands_anywhere_and_wins() -> None:
    for words in (["--lang", "zh", "run"], ["run", "--lang=zh"]):
        failed = crawlclean(*words, check=False)
        assert failed.returncode == 2
        assert (
            failed.stderr
            == "crawlclean: 缺少必需的参数：URL|FILE.toml；见 `crawlclean run --help`\n"
        )
    locale = {"LC_ALL": "zh_CN.UTF-8", "PYTHONUTF8": "0"}
    assert "用法：" in crawlclean("--help", env=locale).stdout
    assert "usage: " in crawlclean("--help", "--lang", "en", env=locale).stdout
    assert "用法：" in crawlclean("--help", env={"CRAWLCLEAN_LANG": "zh"}).stdout
    failed = crawlclean("hosts", "--lang", "fr", check=False)
    assert failed.returncode == 2
    assert failed.stderr == "crawlclean: --lang is 'fr': write en or zh\n"
