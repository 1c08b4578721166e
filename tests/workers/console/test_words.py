"""Every word of the pages is in both languages, and no word stands in a template."""

from __future__ import annotations

import re
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from string import Formatter

import pytest
from jinja2 import Environment, nodes

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    ImageKind,
    ImageReason,
    LinkKind,
    LinkReason,
    PageKind,
    UrlKind,
    VerdictKind,
    VerdictReason,
    Via,
)
from crawlclean.storage.crawl_types import CrawlState, FailureReason, Scope, UrlState
from crawlclean.storage.live_state import ProcessRole, WaitReason
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.store.journal import EventKind, OperationState
from crawlclean.storage.store.models import DriftOutcome, LearnReason
from crawlclean.workers.console.actions import Refusal
from crawlclean.workers.console.words import language_of, say
from crawlclean.workers.operations.acting.action import Fact, Note
from crawlclean.workers.operations.acting.actions import ACTIONS
from crawlclean.workers.operations.acting.running import Detail
from crawlclean.workers.operations.pages.pages import MomentKind
from crawlclean.workers.operations.watching.signs.following import TrialState
from crawlclean.workers.operations.watching.signs.judging import SignKind
from crawlclean.workers.words import Language, all_words

ROOM = Path(__file__).parents[3] / "workers" / "console"
TEMPLATES = sorted((ROOM / "templates").glob("*.html"))
ENUMS: dict[str, type[StrEnum]] = {
    "state": CrawlState,
    "url_state": UrlState,
    "reason": FailureReason,
    "wait": WaitReason,
    "scope": Scope,
    "learned": LearnReason,
    "sign": DriftSign,
    "outcome": DriftOutcome,
    "page_kind": PageKind,
    "link_kind": LinkKind,
    "image_kind": ImageKind,
    "url_kind": UrlKind,
    "trial": TrialState,
    "event": EventKind,
    "role": ProcessRole,
    "verdict": VerdictKind,
    "rule": VerdictReason,
    "link_reason": LinkReason,
    "image_reason": ImageReason,
    "body_source": BodySource,
    "warning": WarningKind,
    "fact": Fact,
    "note": Note,
    "refusal": Refusal,
    "operation": OperationState,
    "moment": MomentKind,
    "detail": Detail,
    "sign_kind": SignKind,
    "via": Via,
    "receiver": ReceiverKind,
}
SYMBOLS = {"GET", "N", "n", "k", "j", "g", "Enter", "AES"}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_fill_the_same_placeholders() -> None:
    wrong = []
    for key, entry in all_words().items():
        wanted = placeholders(entry[-1])
        wrong += [key for text in entry[:-1] if placeholders(text) != wanted and len(entry) == 2]
        if len(entry) == 3 and not (placeholders(entry[1]) == wanted >= placeholders(entry[0])):
            wrong.append(key)
        if len(entry) == 3 and "n" not in wanted:
            wrong.append(key)
    assert wrong == []


def test_chinese_words_are_chinese() -> None:
    same = {"time.seconds"}
    wrong = [
        key
        for key, entry in all_words().items()
        if key not in same and not re.search(r"[\u4e00-\u9fff]", entry[-1])
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", ENUMS)
def test_every_value_has_words(kind: str) -> None:
    assert [v for v in ENUMS[kind] if f"{kind}.{v.value}" not in all_words()] == []


def texts_of(path: Path) -> list[str]:
    """What a template writes as it stands."""
    tree = Environment(autoescape=True).parse(path.read_text("utf-8"))
    return [
        node.data for part in tree.find_all(nodes.Output) for node in part.nodes
        if isinstance(node, nodes.TemplateData)
    ]  # fmt: skip


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_word_stands_in_a_template(path: Path) -> None:
    text = re.sub(r"<!doctype html>", "", "\0".join(texts_of(path)))
    text = re.sub(r"<(code|kbd)\b.*?</\1>", "", text, flags=re.DOTALL)
    seen = re.sub(r"<[^>]*>|&\w+;", " ", text.replace("\0", ""))
    found = set(re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]+", seen)) - SYMBOLS
    assert found == set()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_keep_the_content_policy(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"\bstyle\s*=|\son\w+=|<style|javascript:|\|\s*safe\b", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)


def test_every_key_of_the_templates_exists_and_every_entry_is_used() -> None:
    rooms = (ROOM, ROOM.parent / "operations", ROOM.parent / "sending")  # of screens and messages
    programs = [file for room in rooms for file in room.rglob("*.py")]
    sources = [*TEMPLATES, *(ROOM / "static").glob("*.js"), *programs]
    text = "\n".join(p.read_text("utf-8") for p in sources if p.parent.name != "words")
    asked = set(re.findall(r"""\b_\(\s*["']([\w.]+)["']\s*[,)]""", text))
    assert asked - set(all_words()) == set()
    begun = set(re.findall(r"""["']([\w.]+\.(?:[a-z]+_)?)["']\s*~""", text))
    begun |= set(re.findall(r"""f["']([\w.]+\.)\{""", text))
    begun |= {f"{kind}." for kind in re.findall(r"""term\(["'](\w+)["']\)""", text)}
    begun |= {f"{kind}." for kind in ENUMS}
    quoted = set(re.findall(r"""["']([a-z_]+\.[\w.]+)["']""", text))
    unused = [
        key for key in all_words() if key not in asked | quoted and not key.startswith(tuple(begun))
    ]
    assert unused == []


def test_every_field_of_a_record_and_every_value_of_an_action_has_words() -> None:
    names = {f"field.{each.name}" for each in fields(CleanRecord)}
    names |= {f"asked.{each}" for action in ACTIONS.values() for each in action.values}
    names |= {f"asked.{each}" for action in ACTIONS.values() for each in action.inputs}
    names |= {f"action.{each}" for each in ACTIONS} | {f"action_about.{each}" for each in ACTIONS}
    assert names - set(all_words()) == set()


def test_the_number_chooses_the_words() -> None:
    assert say(Language.ENGLISH, "time.days", n=1) == "1 day"
    assert say(Language.ENGLISH, "time.days", n=2000) == "2,000 days"
    assert say(Language.CHINESE, "time.days", n=1) == "1 天"


def test_values_are_escaped() -> None:
    assert say(Language.ENGLISH, "frame.times", zone="<b>") == "Times in &lt;b&gt;"


@pytest.mark.parametrize(
    ("cookie", "accepted", "language"),
    [
        (None, "", Language.ENGLISH),
        (None, "fr, zh-CN;q=0.9, en;q=0.8", Language.CHINESE),
        ("en", "zh", Language.ENGLISH),
        ("xx", "zh-TW", Language.CHINESE),
    ],
)
def test_the_language_is_the_chosen_or_the_browsers(
    cookie: str | None, accepted: str, language: Language
) -> None:
    assert language_of(cookie, accepted) is language
