"""Sites whose links name one page in several forms, crawled by the real command: none is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from storage.crawl_types import FailureReason
from storage.sqlite.store import SqliteStore
from tests.kit.crawls import crawlclean, run_crawl
from tests.kit.web import Web, html

WORDS = "山水江湖风云日月春夏秋冬东西南北花鸟鱼虫天地玄黄宇宙洪荒"


def said(seed: str, length: int = 60) -> str:
    r = random.Random(seed)
    return "".join(r.choice(WORDS) for _ in range(length)) + "。"


def article(name: str) -> str:
    return html(said(name, 9), *(said(f"{name} {n}") for n in range(3)), links={"/": "首页"})


@pytest.mark.parametrize("form", ["/a/{}.html?view=print", "/a/{}.html?action=print", "/a/{}/amp/"])
def test_what_waits_as_a_duplicate_is_fetched_in_its_better_form(tmp_path: Path, form: str) -> None:
    """Half of the articles are linked by the other form alone."""
    lists = {f"/list{k}.html": f"列表{k}" for k in range(12)}
    site = {"/": html("首页", links=lists)}
    for k, name in enumerate(lists):
        both = {f"/a/{n}.html": said(f"{n}", 9) for n in range(10 * k, 10 * k + 10) if n < 60}
        other = {form.format(n): "打印" for n in range(10 * k, 10 * k + 10)}
        site[name] = html(f"列表{k}", links=both | other)
    for n in range(120):
        site |= dict.fromkeys((f"/a/{n}.html", form.format(n)), article(f"{n}"))
    with Web(tmp_path / "web", site) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--slots", "2")
        store = SqliteStore(data / "records.sqlite")
        titles = {record.title for record in store.records.scan(None)}
        left = list(store.urls.failures())
        store.close()
        assert titles >= {said(f"{n}", 9) for n in range(120)}
        assert left
        assert {each.reason for each in left} == {FailureReason.DUPLICATE}
        told = crawlclean("why", left[0].url, "--data", str(data)).stdout
        assert "duplicate: /a/{n}" in told
