"""Commands speak Chinese: every text of theirs has both languages, with the same places."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from crawlclean.workers import cli, spoken
from crawlclean.workers.commands.names import COMMANDS, FAMILIES, GROUPS
from crawlclean.workers.config import setting_keys
from crawlclean.workers.spoken import LANGUAGE, MOST_CHARS, language_of
from crawlclean.workers.words import Language, all_words
from tests.kit.crawls import crawlclean
from tests.kit.web import Web, html

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
    yield from (key.help for key in setting_keys().values())
    for name, (_, summary) in COMMANDS.items():
        parser = cli.parser_of(name)
        yield summary
        yield str(parser.description)
        yield from (each.help for each in parser._actions if each.help and "==" not in each.help)


CODE = [
    path
    for room in ("workers", "storage", "crawler", "cleaning")
    for path in sorted((ROOM.parent / room).rglob("*.py"))
]
TEXT_AT = {"say": 0, "counted": 1, "_field": 0, "_answer": 0, "chart": 0, "gauge": 0, "Tally": 0}
"""Where a call has a text that is said to a person."""


def texts_of(node: ast.AST, within: ast.AST) -> Iterator[str]:
    """The texts that an expression may be: itself, of a condition, a name, a table."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*texts_of(node.body, within), *texts_of(node.orelse, within))
    elif isinstance(node, ast.Tuple):
        yield from (text for each in node.elts for text in texts_of(each, within))
    elif isinstance(node, ast.Dict):
        yield from (text for each in node.values for text in texts_of(each, within))
    elif isinstance(node, ast.Name | ast.Subscript):
        name = node.value if isinstance(node, ast.Subscript) else node
        for each in ast.walk(within):
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == ast.unparse(name):
                yield from texts_of(each.value, ast.Module([], []))


def said_in(path: Path) -> Iterator[str]:
    """Every text that a module says to a person, by what it calls."""
    module = ast.parse(path.read_text("utf-8"))
    if "Rows(" not in path.read_text("utf-8") and "spoken import" not in path.read_text("utf-8"):
        return
    scopes = [each for each in ast.walk(module) if isinstance(each, ast.FunctionDef)]
    for scope in (module, *scopes):
        for call in ast.walk(scope):
            if not isinstance(call, ast.Call):
                continue
            name = ast.unparse(call.func).rpartition(".")[2]
            given = {each.arg: each.value for each in call.keywords}
            found = [given[each] for each in ("head", "empty") if each in given]
            if name in TEXT_AT and len(call.args) > TEXT_AT[name]:
                found.append(call.args[TEXT_AT[name]])
            if name == "table" and isinstance(call.args[0], ast.List):
                found.append(call.args[0].elts[0])
            for each in found:
                is_name = isinstance(each, ast.Name | ast.Subscript)
                texts = set(texts_of(each, scope)) | set(texts_of(each, module) if is_name else ())
                yield from (f"{{n}} {text}" if name == "counted" else text for text in texts)


def in_code() -> set[str]:
    """Every text of the program, with ``{}`` for each place."""
    texts = {os.strerror(number) for number in range(1, 40)}
    for code in (inspect.getsource(argparse), *(path.read_text("utf-8") for path in CODE)):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts |= {PLACE.sub("{}", node.value), f"{{}} {node.value}"}
            elif isinstance(node, ast.JoinedStr):
                parts = (getattr(each, "value", "{}") for each in node.values)
                text = "".join(part if isinstance(part, str) else "{}" for part in parts)
                texts |= {text, text + "{}"}  # what goes on behind it
    return texts


def test_every_text_that_commands_say_is_in_chinese() -> None:
    said = {text for path in CODE for text in said_in(path)} - {""}
    assert said - catalogue("chinese").keys() - catalogue("chinese_messages").keys() == set()


@pytest.mark.parametrize("name", ["chinese", "chinese_messages"])
def test_the_code_has_every_text_that_is_in_chinese(name: str) -> None:
    places = {PLACE.sub("{}", text): text for text in catalogue(name)}
    lost = {places[text] for text in places.keys() - in_code()}
    assert {text for text in lost if "%" not in text} == set()  # argparse of another Python


def test_every_text_of_the_help_is_in_chinese() -> None:
    known, texts = catalogue("chinese_help"), set(help_texts())
    assert {text for text in texts - known.keys() if not text.startswith("  crawlclean ")} == set()
    assert known.keys() - texts == set()


@pytest.mark.parametrize("name", ["chinese", "chinese_help", "chinese_messages"])
def test_both_languages_have_the_same_places_and_options(name: str) -> None:
    for english, told in catalogue(name).items():
        if told.startswith("="):
            assert told[1:] in all_words(), english
            continue
        is_name = told == english  # TLS, sha256
        assert HAN.search(told) or not re.search("[a-z]{2}", PLACE.sub("", told)) or is_name, (
            english
        )
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
    locale = {"LC_ALL": "zh_CN.UTF-8", "LANGUAGE": ""}
    assert "用法：" in crawlclean("--help", env=locale).stdout
    assert "usage: " in crawlclean("--help", "--lang", "en", env=locale).stdout
    assert "用法：" in crawlclean("--help", env={"CRAWLCLEAN_LANG": "zh"}).stdout
    failed = crawlclean("hosts", "--lang", "fr", check=False)
    assert failed.returncode == 2
    assert failed.stderr == "crawlclean: --lang is 'fr': write en or zh\n"


def test_a_crawl_and_the_questions_after_it_are_in_chinese(tmp_path: Path) -> None:
    pages = {
        f"/n/{n}": html(f"第{n}条", *["今天的海风很大，渔民们都回到了港口。" * 3] * 3)
        for n in range(3)
    }
    links = {f"/n/{n}": f"第{n}条" for n in range(3)} | {"/gone": "没有"}
    pages["/"] = html("首页", "今天的海风很大，渔民们都回到了港口。" * 3, links=links)
    data = ("--data", str(tmp_path / "data"), "--lang", "zh")
    with Web(tmp_path / "web", pages) as web:
        ran = crawlclean("run", web.url(), "--allow-private", *data)
        host = web.host
    assert re.search(
        r"中有 1 个主机的 4 条记录，其中新增 4 条，失败 1 个，用时 \d+秒\n", ran.stdout
    )
    assert "失败：HTTP 状态码 404 1（见 `failures`）\n" in ran.stdout
    assert ran.stderr.startswith(f"开始抓取 {web.url()}，存入 ")
    assert re.search("已抓取 \\d+，已清洗 4，失败 1，处理中 0，等待 0，", ran.stderr)
    outputs = {
        "crawls": r"任务 +状态 +记录数 +失败数 +待抓取 +处理中 +开始于 +种子\n\S+ +已完成 +4 +1 ",
        "hosts": rf"主机 +记录数 .*\n{host} +4 ",
        f"hosts {host}": r"  页面      5: 记录 4，抓取失败 1\n",
        "failures": r"/gone  HTTP 状态码：状态码 404（尝试 1 次）\n",
        "failures --causes": r"HTTP 状态码 404 +1 +1 ",
        f"show {host}/n/1": r"\n标题       第1条\n",
        f"why {host}/n/1": r"：有记录\n  来源 .*\n.*  发现  链接\n.*  交给爬虫  第 1 次尝试\n",
        "crawl pause": "没有暂停的任务或主机",
        f"crawl purge {host} --dry-run": r"将删除主机 .*的：4 条记录，1 个失败的网址，",
    }
    for words, expected in outputs.items():
        told = crawlclean(*words.split(), *data).stdout
        assert re.search(expected, told), told
    refused = crawlclean("crawl", "pause", "host", *data, check=False)
    assert (refused.returncode, refused.stderr) == (
        1,
        "crawlclean: 没有名为 host 的任务或主机；`crawls` 列出任务，`hosts` 列出主机\n",
    )
    spoken = crawlclean("why", f"{host}/n/1", "--json", *data).stdout
    assert spoken == crawlclean("why", f"{host}/n/1", "--json", *data[:2], "--lang", "en").stdout


@pytest.mark.parametrize("words", ["x, and y: ", "a: b (c), d; ", "; "])
def test_a_server_s_words_are_not_searched_for_long(words: str) -> None:
    line = words * (MOST_CHARS // len(words))
    token = LANGUAGE.set(Language.CHINESE)
    try:
        spoken.told("warm")
        begun = time.process_time()
        assert spoken.told(line)
        assert spoken.told(line * 100) == line * 100
        assert time.process_time() - begun < 1  # seconds; a list has 50 lines
    finally:
        LANGUAGE.reset(token)
