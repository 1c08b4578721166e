"""Wrong verdicts: reported by a button, listed, exported, withdrawn; versions of a page."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from cleaning.revisits import VisitClass, VisitKind
from cleaning.urls.normal_form import page_id
from storage.crawl_types import CrawlSpec, CrawlState
from storage.sqlite.store import SqliteStore
from tests.kit.commands import call
from tests.kit.console import acting_console, do, open_console, settings_of
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
    base = tmp_path_factory.mktemp("cases")
    share = f"<div class=share>分享到微博 {HOSTILE.replace('<', '&lt;')}</div>"
    body = f"{TEXT}</p>{share}<p>{TEXT[:40]}<a href=/b.html>另一页</a><img src=/n.png>"
    row = {"url": URL, "fetched_at": "2026-03-01T12:00:00Z", "html": html("秋雨", body)}
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
    return acting_console(settings_of(data), data)


def buttons(text: str) -> set[str]:
    return set(re.findall(r"report_verdict\?target=[^\"]*?part=([\w+]+)", text))


def test_everything_on_a_page_can_be_reported(client: FlaskClient, data: Path) -> None:
    text = client.get(f"/pages/{ID}").text
    assert buttons(text) >= {"title", "kind", "author", "published_at", "link+0", "image+0"}
    assert {part for part in buttons(text) if part.startswith("text+")} >= {"text+1", "text+2"}
    assert "report_verdict" not in open_console(data).get(f"/pages/{ID}").text


def test_a_report_is_listed_exported_and_withdrawn(client: FlaskClient) -> None:
    number = re.search(r"#v(\d+)\">[^<]*<bdi>分享到微博", client.get(f"/pages/{ID}").text)
    assert number
    part = f"text {number[1]}"
    page = do(
        client, "report_verdict", URL, part=part, crawl="", typed_why=HOSTILE, typed_wanted="body"
    )
    assert "finished" in page.text
    assert "Undo: Withdraw the report" in page.text
    shown = client.get("/cases").text
    assert "belongs to the body" in shown
    assert "<script>window" not in shown
    (case,) = set(re.findall(r'href="/cases/([0-9a-f]{16})"', shown))
    one = client.get(f"/cases/{case}").text
    assert "still as reported" in one
    assert "<code>body</code>" in one
    assert "<script>window" not in one
    assert f'href="/cases/{case}"' in client.get(f"/pages/{ID}").text
    for path in (f"/cases/{case}/folder.zip", "/cases.zip"):
        answer = client.get(path)
        assert answer.content_type == "application/zip"
        with zipfile.ZipFile(io.BytesIO(answer.data)) as file:
            assert {"url", "page.html", "expected.json", "cases.json"} <= {
                Path(name).name for name in file.namelist()
            }
    again = client.get("/actions/report_verdict", query_string={"target": URL, "part": part})
    assert "reported before" in again.text
    page = do(client, "withdraw_case", case)
    assert "Undo: This is wrong" in page.text
    undo = re.search(r'href="(/actions/report_verdict[^"]+)"', page.text)
    assert undo
    assert "U+202E" in client.get(undo[1].replace("&amp;", "&")).text
    assert client.get(f"/cases/{case}").status_code == 404


def test_a_wrong_value_is_an_error_of_the_audit(client: FlaskClient) -> None:
    page = do(client, "report_verdict", URL, part="published_at", crawl="", typed_wanted="soon")
    assert "is not a time" in page.text
    assert "Nobody has reported" in client.get("/cases").text


def test_what_is_not_there(client: FlaskClient) -> None:
    for path in ("/cases/0000000000000000", "/cases/x", "/cases/0000000000000000/folder.zip"):
        assert client.get(path).status_code == 404
    assert client.get("/cases?after=x").status_code == 400
    missing = {"target": URL, "part": "text 999"}
    assert client.get("/actions/report_verdict", query_string=missing).status_code == 404
    wrong = {"target": URL, "part": "all"}
    assert client.get("/actions/report_verdict", query_string=wrong).status_code == 400


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
