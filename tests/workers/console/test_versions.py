"""Versions of a page: listed, compared, each with the model that cleaned it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.revisits import VisitClass, VisitKind
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import call
from tests.kit.console import open_console, settings_of
from tests.kit.outcomes import HOST, T0, make_outcome
from tests.kit.web import html

URL = "http://a.example/1.html"
ID = page_id(URL)
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4
HOSTILE = "<script>window.pwned=1</script>\u202e"
VISIT = VisitClass(VisitKind.THREAD, "/t/*")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An import of one page, and a page with three versions."""
    base = tmp_path_factory.mktemp("versions")
    row = {"url": URL, "fetched_at": "2026-03-01T12:00:00Z", "html": html("秋雨", TEXT)}
    (base / "rows.jsonl").write_text(json.dumps(row), "utf-8")
    data = base / "data"
    data.mkdir()
    assert call(settings_of(data), "import", str(base / "rows.jsonl")) == 0
    store = SqliteStore(data / "records.sqlite")
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.FINISHED)
    for number, word in enumerate(("第一", "第二", f"第三{HOSTILE}")):
        made = make_outcome("/t/1", at=T0 + timedelta(days=number), model_version=3)
        assert made.record is not None
        lines = f"共有的。\n{word}次的话，其余都不变。\n末行。"
        store.save([replace(made, record=replace(made.record, body=lines, posts=()), visit=VISIT)])
    store.close()
    return data


@pytest.fixture
def client(data: Path) -> FlaskClient:
    return open_console(data)


def test_versions_are_listed_and_two_are_compared(client: FlaskClient) -> None:
    path = f"/pages/{made_id()}/versions"
    text = client.get(path).text
    assert text.count('name="older"') == 3
    assert "<del><bdi>二</bdi></del>" in text
    assert "<ins><bdi>三" in text
    assert "<script>window" not in text
    assert "U+202E" in text
    oldest, newest = T0 + timedelta(seconds=1), T0 + timedelta(days=9)
    asked = {"older": oldest.isoformat(), "newer": newest.isoformat()}
    far = client.get(path, query_string=asked).text
    assert "<del><bdi>一</bdi></del>" in far
    assert client.get(path, query_string={"older": "x"}).status_code == 400
    one = client.get(f"/pages/{ID}/versions")
    assert "There is one version" in one.text
    assert client.get(f"/pages/{'0' * 32}/versions").status_code == 404
    happened = client.get(f"/pages/{made_id()}").text
    assert "first cleaned" in happened
    assert "other content" in happened


def made_id() -> str:
    return make_outcome("/t/1").queued.page_id


def test_each_version_has_the_model_that_cleaned_it(client: FlaskClient) -> None:
    text = client.get(f"/pages/{made_id()}/versions").text
    models = re.findall(r'data-l="Model">([^<]+)<', text)
    assert models == ["3", "3", "3"]
    assert HOST in text
