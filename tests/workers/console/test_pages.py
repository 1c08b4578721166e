"""The screens of a page: verdicts beside the silent answer, its way, an address that is unknown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawlclean.cleaning.urls.normal_form import page_id
from tests.kit.console import open_console
from tests.kit.crawls import run_crawl
from tests.kit.web import Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4
HOSTILE = "<img src=//x onerror=window.pwned=1><script>window.pwned=1</script>"


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder with two pages, and the URL of the first."""
    base = tmp_path_factory.mktemp("pages")
    body = f"{TEXT}</p><div class=share>分享到微博</div>{HOSTILE}<p>{TEXT[:40]}"
    links = {"/b.html": HOSTILE.replace("<", "&lt;")}
    pages = {"/": html("秋雨", body, links=links), "/b.html": html("second", f"b{TEXT}")}
    pages["/robots.txt"] = "User-agent: *\nDisallow:\n"
    with Web(base / "web", pages) as web:
        run_crawl(base / "data", web.url("/"))
        return base / "data", web.url("/")


def test_an_address_leads_to_its_page(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    client = open_console(data)
    assert client.get("/pages").status_code == 200
    for text in (url, url.removeprefix("http://"), page_id(url), page_id(url)[:10]):
        answer = client.get("/pages", query_string={"url": text})
        assert (answer.status_code, answer.location) == (303, f"/pages/{page_id(url)}")


def test_an_unknown_address_is_explained(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    client = open_console(data)
    for text in (f"{url}missing.html", "ffffffffff"):
        answer = client.get("/pages", query_string={"url": text})
        assert answer.status_code in (200, 404)
    answer = client.get("/pages", query_string={"url": f"{url}missing.html"})
    assert "No crawl has taken this address" in answer.text
    assert client.get("/pages", query_string={"url": "<script>"}).status_code in (200, 400)


def test_each_text_has_its_verdict_beside_the_page(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    client = open_console(data)
    page = client.get(f"/pages/{page_id(url)}")
    assert page.status_code == 200
    assert "分享到微博" in page.text
    assert "in a part that is no content, by its class or id" in page.text
    assert "div.share" in page.text
    assert f'src="/raw/{page_id(url)}"' in page.text
    assert "<script>window" not in page.text
    cut = client.get(f"/pages/{page_id(url)}?show=cut").text
    assert "分享到微博" in cut
    assert TEXT not in cut.partition('class="verdicts"')[2].partition("</ol>")[0]
    later = client.get(f"/pages/{page_id(url)}?after=100000~").text
    assert "分享到微博" not in later.partition('class="verdicts"')[2].partition("</ol>")[0]
    assert client.get(f"/pages/{page_id(url)}?after=x").status_code == 400


def test_the_difference_of_a_new_reading_stores_nothing(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    answer = open_console(data).get(f"/pages/{page_id(url)}/again")
    assert answer.status_code == 200
    assert "No difference." in answer.text


def test_pages_that_are_not_there(crawl: tuple[Path, str]) -> None:
    data, _ = crawl
    client = open_console(data)
    for path in ("/pages/{}", "/pages/{}/again", "/raw/{}"):
        assert client.get(path.format("0" * 32)).status_code == 404
        assert client.get(path.format("nothing")).status_code == 404


def test_every_row_of_the_store_has_a_page(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    client = open_console(data)
    for path in ("robots.txt", "b.html", "favicon.ico"):
        answer = client.get("/pages", query_string={"url": url + path}, follow_redirects=True)
        assert answer.status_code == 200, path


def test_the_answer_is_silent_and_only_for_a_frame(crawl: tuple[Path, str]) -> None:
    data, url = crawl
    client = open_console(data)
    path = f"/raw/{page_id(url)}"
    answer = client.get(path, headers={"Sec-Fetch-Dest": "iframe"})
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none';")
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "<script" not in answer.text
    assert not re.search(r"<[^>]*\b(?:onerror|src|href)\s*=", answer.text)
    assert 'data-kind="body"' in answer.text
    assert "分享到微博</v-t>" in answer.text
    for destination in ("document", "empty", "script", "image"):
        assert client.get(path, headers={"Sec-Fetch-Dest": destination}).status_code == 403
