"""A golden folder as a person asks for it: the golden test takes it, or fails for their word."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.storage.crawl_types import FailureReason, FetchResult, KeepRaw
from crawlclean.storage.opening import open_store
from crawlclean.workers.jobs.outcomes import end_page
from tests.kit.commands import call
from tests.kit.console import settings_of
from tests.kit.golden_folders import as_text, expected_of, read_folder, shown
from tests.kit.outcomes import make_failure
from tests.kit.web import html
from tests.pages import test_pages
from tests.pages.make_golden import main

URL = "http://a.example/1.html"
FIRST = "今年秋天，镇上的老茶馆重新开张，掌柜把二十多张旧方桌擦得发亮，从清早到黄昏都坐满了人。"
SECOND = "掌柜说，茶馆停业的三年里常有老主顾敲门来问，如今重新烧起灶火，茶价仍旧是两块钱一碗。"
SHARE = "分享到微博"
HTML = html(
    "秋雨",
    f"{FIRST}</p><div class=share>{SHARE}</div><p>{SECOND}<a href='/b.html'>另一页</a>",
    "<img src='/n.png'><p>Copyright 2026",
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one page."""
    base = tmp_path_factory.mktemp("golden")
    row = {"url": URL, "fetched_at": "2026-03-01T12:00:00Z", "html": HTML}
    (base / "rows.jsonl").write_text(json.dumps(row), "utf-8")
    data = base / "data"
    data.mkdir()
    assert call(settings_of(data), "import", str(base / "rows.jsonl")) == 0
    return data


def made(data: Path, into: Path, *words: str) -> Path:
    return main(["tea", "a.example/1.html", "--data", str(data), "--into", str(into), *words])


def differing(folder: Path) -> list[str]:
    """What the golden test finds different: keys of ``expected.json``."""
    found = shown(read_folder(folder))
    expected = expected_of(folder, found)
    assert expected.keys() == found.keys()
    return [name for name in found if found[name] != expected[name]]


def passes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails where the golden test would fail with this folder."""
    monkeypatch.setattr(test_pages, "HERE", folder.parent)
    test_pages.test_golden_page(folder.name)


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["--body", SHARE], ["body"]),
        (["--not-body", SECOND[:12]], ["body"]),
        (["--not-body", FIRST, "--body", SHARE], ["body"]),
        (["--field", "title=秋雨 二"], ["title"]),
        (["--field", "title="], ["title"]),
        (["--field", "author=老周"], ["author"]),
        (["--field", "published_at=2026-10-05 18:30+08:00"], ["published_at"]),
        (["--field", "kind=index"], ["kind"]),
        (["--link", "http://a.example/b.html=ad"], ["links", "outlinks"]),
        (["--image", "http://a.example/n.png=ad", "--field", "kind=index"], ["kind", "images"]),
    ],
)
def test_a_folder_fails_for_what_was_said_alone(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], keys: list[str]
) -> None:
    folder = made(data, tmp_path, *words)
    assert differing(folder) == keys
    with pytest.raises(AssertionError):
        passes(folder, monkeypatch)
    (folder / "expected.json").write_text(as_text(shown(read_folder(folder))), "utf-8")
    passes(folder, monkeypatch)


def test_a_page_without_a_word_passes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(data, tmp_path)
    assert (folder / "page.html").read_text("utf-8") == HTML
    assert (folder / "url").read_text("utf-8") == f"{URL}\n"
    passes(folder, monkeypatch)


def test_the_right_body_has_the_text_at_its_place(data: Path, tmp_path: Path) -> None:
    folder = made(data, tmp_path, "--body", SHARE, "--not-body", FIRST)
    body = json.loads((folder / "expected.json").read_text("utf-8"))["body"]
    assert body[0] == SHARE
    assert body[1].startswith(SECOND)
    assert FIRST not in body
    both = made(data, tmp_path / "both", "--body", SHARE)
    body = json.loads((both / "expected.json").read_text("utf-8"))["body"]
    assert body[:2] == [FIRST, SHARE]
    assert body[2].startswith(SECOND)


def test_a_kind_without_its_rule_passes_by_any_rule(data: Path, tmp_path: Path) -> None:
    folder = made(data, tmp_path, "--link", "http://a.example/b.html=navigation")
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    assert expected["links"][0][2:] == ["navigation", None]
    mended = json.loads(json.dumps(shown(read_folder(folder))))
    mended["links"][0][2:] = ["navigation", "link_list"]
    mended["outlinks"] = expected["outlinks"]
    assert expected_of(folder, mended) == mended


def test_the_page_may_be_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "saved.html"
    file.write_bytes(HTML.encode("gbk"))
    words = ["--into", str(tmp_path / "out"), "--field", "author=老周"]
    folder = main(["tea", str(file), "--url", URL, *words])
    assert differing(folder) == ["author"]
    assert (folder / "page.html").read_bytes() == HTML.encode("gbk")
    deadly = main(["deadly", str(file), "--url", URL, "--kills", *words[:2]])
    assert {each.name for each in deadly.iterdir()} == {"url", "page.html", "fetched_at"}
    passes(deadly, monkeypatch)


def test_a_page_that_kills_workers_is_not_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued = make_failure("/kill", reason=FailureReason.POISON).queued
    types = (("content-type", "text/html; charset=gbk"),)
    result = FetchResult(status=200, headers=types, body=b"<p>kills\xff", elapsed_ms=3)
    page = replace(queued, poison=True, crashes=3, result=result)
    settings = settings_of(tmp_path)
    with closing(open_store(settings.storage, create=True)) as store:
        store.save([end_page(page, KeepRaw.ALL).outcome])
    words = ["--data", str(tmp_path), "--into", str(tmp_path / "out"), "--kills"]
    folder = main(["deadly", page.url, *words])
    files = {each.name: each.read_bytes() for each in folder.iterdir()}
    assert files.keys() == {"url", "page.html", "fetched_at", "content_type"}
    assert files["page.html"] == result.body
    assert files["content_type"] == b"text/html; charset=gbk\n"
    passes(folder, monkeypatch)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--body", "nowhere on the page"], NotFound),
        (["--body", FIRST], ConfigError),
        (["--not-body", SHARE], ConfigError),
        (["--not-body", "掌柜"], NotFound),
        (["--field", "body=x"], ConfigError),
        (["--field", "colour=x"], ConfigError),
        (["--field", "kind=article of mine"], ValueError),
        (["--field", "published_at=yesterday"], ValueError),
        (["--link", "http://a.example/none.html=ad"], NotFound),
        (["--image", "http://a.example/n.png=beautiful"], ValueError),
    ],
)
def test_what_is_wrong_makes_no_folder(
    data: Path, tmp_path: Path, words: list[str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        made(data, tmp_path, *words)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ServiceError):
        main(["tea", "a.example/none", "--data", str(data), "--into", str(tmp_path)])
