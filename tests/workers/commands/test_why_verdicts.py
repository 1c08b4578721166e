"""`why URL --text TEXT`: which rule kept or cut a text of a stored page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit.crawls import crawlclean, run_crawl
from tests.kit.web import Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder with one page, and its URL."""
    base = tmp_path_factory.mktemp("verdicts")
    page = html(
        "秋雨", f"{TEXT}</p><nav>首页 新闻</nav><div class=share>分享到微博</div><p>{TEXT[:40]}"
    )
    with Web(base / "web", {"/": page}) as web:
        run_crawl(base / "data", web.url("/"))
        return base / "data", web.url("/")


def test_a_text_has_its_rule_and_the_part_that_decided(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    done = crawlclean("why", url, "--text", "分享到 微博", "--data", str(data))
    assert done.returncode == 0
    sure, first, path, text = done.stdout.splitlines()
    assert sure.startswith("the body is right with probability 0.9")
    assert "the page has no date" in sure
    assert (
        first == "cut as other: in a part of noise by its class or id: sidebar, share (div.share)"
    )
    assert path.endswith("/div.share")
    assert text.strip() == "分享到微博"


def test_all_texts_as_json(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    done = crawlclean("why", url, "--text", "", "--json", "--data", str(data))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[0]["kind"] == "title"
    assert {row["reason"] for row in rows} >= {"part_tag", "part_name", "running_text"}
    assert all(row["in_body"] == (row["kind"] == "body") for row in rows)


def test_a_text_that_the_page_does_not_hold(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    done = crawlclean("why", url, "--text", "没有这样的文字", "--data", str(data), check=False)
    assert done.returncode == 1
    assert done.stdout.endswith("\nno text of the page holds this\n")


def test_a_page_that_is_not_stored(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    done = crawlclean("why", f"{url}missing", "--text", "x", "--data", str(data), check=False)
    assert done.returncode == 1
    assert f"no answer of {url}missing is archived" in done.stderr
