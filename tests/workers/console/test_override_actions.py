"""What a person says of a page's texts: two buttons, a version of the model, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from html import unescape

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.model.overrides import Override
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.workers.site_models import read_model
from tests.kit.console import acting_console, do, open_console, settings_of
from tests.kit.timing import wait_until
from tests.kit.worker_bench import Bench, answer

HOST = "a.example"
TEXT = "这一段文字很长，它有逗号，也有句号，所以它是正文的一部分，没有人会怀疑这一点。"
NOTE = "采访那天下着小雨，江边的人却不少，桥头的小店卖光了热茶。"


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(tmp_path_factory.mktemp("bench"), "") as started:
        pages = {f"{n}.html": answer("标题", f"{TEXT}</p><p class=note>{NOTE}") for n in range(3)}
        started.crawl(f"http://{HOST}/n/", CrawlState.RUNNING, pages)
        yield started


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def overrides(bench: Bench) -> tuple[Override, ...]:
    with closing(bench.store()) as store:
        stored = store.models.get(HOST)
        return read_model(stored).overrides if stored else ()


def test_a_text_is_left_out_and_taken_back(client: FlaskClient, bench: Bench) -> None:
    path = f"/pages/{page_id(f'http://{HOST}/n/1.html')}"
    page = client.get(path).text
    links = [unescape(each) for each in re.findall(r'href="(/actions/drop_text[^"]+)"', page)]
    assert len(links) == 2, "a button a block of the body"
    asked = client.get(links[1]).text
    assert "p.note" in asked
    assert "/n/*.html" in asked
    line = re.search(r"line=(\d+)", links[1])
    assert line
    done = do(client, "drop_text", HOST, url=f"http://{HOST}/n/1.html", line=line[1])
    [said] = overrides(bench)
    assert (said.pattern, said.drop) == ("/n/*.html", ("p.note",))
    assert said.by == "no password"
    wait_until(lambda: "override of the host leaves it out" in client.get(path).text)
    assert "/actions/keep_text" in client.get(path).text
    assert "/actions/forget_override" in done.text, "the way back"
    do(client, "keep_text", HOST, template="/n/*.html", selector="p.note")
    [said] = overrides(bench)
    assert (said.keep, said.drop) == (("p.note",), ())
    do(client, "forget_override", HOST, template="/n/*.html", selector="p.note")
    assert overrides(bench) == ()
    with closing(bench.store()) as store:
        assert store.models.newest(HOST) == 3
        assert [each.action for each in store.audit.read(limit=3)] == [
            "forget_override",
            "keep_text",
            "drop_text",
        ]


def test_what_cannot_be_said_is_refused(client: FlaskClient, bench: Bench) -> None:
    query = {"target": HOST, "url": f"http://{HOST}/none", "line": "1"}
    assert client.get("/actions/drop_text", query_string=query).status_code == 404
    query |= {"url": f"http://{HOST}/n/1.html", "line": "x"}
    assert client.get("/actions/drop_text", query_string=query).status_code == 400
    assert (
        "/actions/"
        not in open_console(bench.data).get(f"/pages/{page_id(f'http://{HOST}/n/1.html')}").text
    )
