"""What other programs import: pages in memory become records, data folders are read."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawlclean import (
    ConfigError,
    NotFound,
    NotHtml,
    PageKind,
    RawPage,
    ServiceError,
    clean,
    clean_html,
    clean_text,
    learn_site,
    open_data,
)
from crawlclean.one_page import UTF_8
from crawlclean.storage.config import StorageConfig
from crawlclean.workers.config import Settings
from tests.kit.commands import call
from tests.kit.web import html

URL = "https://a.example/news/1.html"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"


def test_bytes_and_text_of_one_page_give_one_body() -> None:
    page = html("标题", TEXT)
    of_text = clean_html(page, URL)
    assert of_text.body == TEXT
    assert clean_html(page.encode(), URL).body == TEXT
    gbk = page.encode("gbk")
    assert clean_html(gbk, URL, content_type="text/html; charset=gbk").body == TEXT


FIGURE = (
    f"<h1>标题</h1><p>{TEXT}</p><p>{TEXT[:-1]}；{TEXT}</p>"
    "<figure><img src=/a.jpg width=600><figcaption>图为标题的说明</figcaption></figure>"
    f"<p>最后一段也有不少的汉字，{TEXT}</p>"
)


@pytest.mark.parametrize("page", [html("标题", TEXT), FIGURE, "<p>一行", "<p>\ud800 字"])
def test_the_text_alone_is_that_of_the_record(page: str) -> None:
    record = clean_html(page, URL)
    source = page.encode(errors="replace")
    for text in clean_text(page, URL), clean_text(source, URL, content_type=UTF_8):
        assert text == (record.title, record.body)
    assert "说明" not in record.body


def test_a_text_needs_no_address_but_a_page() -> None:
    assert clean_text(html("标题", TEXT)).text == TEXT
    with pytest.raises(NotHtml, match="no tag"):
        clean_text("plain words")


def test_what_is_no_page_is_refused_in_one_clear_line() -> None:
    with pytest.raises(TypeError, match="html is int: give bytes or str"):
        clean_html(5, URL)  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(TypeError, match="clean takes a RawPage, clean_html bytes or text"):
        clean(b"<p>x")  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(TypeError, match="body is str: give bytes"):
        RawPage.from_bytes(URL, "<p>x")  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(NotHtml, match="PDF"):
        clean_html(b"%PDF-1.7\n" + b"x" * 600, URL)


def test_what_a_site_taught_is_used() -> None:
    pages = [
        RawPage.from_bytes(
            f"https://a.example/news/{n}.html",
            html(f"第{n}页", f"{TEXT}第{n}次</p><p>本站文章转载请注明出处").encode(),
        )
        for n in range(10)
    ]
    model = learn_site(pages)
    assert (model.host, model.page_count) == ("a.example", 10)
    assert clean(pages[0]).model_version == 0
    assert clean(pages[0], model).model_version == model.version == 1
    with pytest.raises(ConfigError, match=r"the model of a\.example was given for a page of b"):
        clean_html("<p>x", "http://b.example/", model=model)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data")
    rows = place / "rows.jsonl"
    with rows.open("w") as file:
        for host in ("a.example", "b.example"):
            for n in range(3):
                page = html(f"第{n}页", TEXT * (n + 1))
                row = {"url": f"http://{host}/{n}.html", "html": page}
                file.write(json.dumps(row | {"fetched_at": f"2026-01-0{n + 1}"}) + "\n")
    settings = Settings(storage=StorageConfig(data=place / "crawlclean-data"))
    assert call(settings, "import", str(rows), "--no-learn") == 0
    return settings.storage.data


def test_a_data_folder_gives_its_records(folder: Path) -> None:
    with open_data(folder) as data:
        assert len(data) == len(list(data)) == 6
        of_host = list(data.records(host="b.example"))
        assert {record.host for record in of_host} == {"b.example"}
        assert len(of_host) == 3
        assert len(list(data.records(unique=True))) == 3
        assert len(list(data.records(min_chars=len(TEXT) + 1))) == 4
        kinds = {record.kind for record in data}
        assert list(data.records(kind=[*PageKind])) == list(data)
        assert not list(data.records(kind=(set(PageKind) - kinds).pop()))
        assert not list(data.records(since=datetime.now(UTC)))
        with pytest.raises(ValueError, match="'paper' is not a valid PageKind"):
            data.records(kind="paper")
        url = "http://a.example/1.html"
        record, page = data.record(url), data.page(url)
        assert record is not None
        assert page is not None
        assert clean(page) == record
        assert data.record("http://a.example/9.html") is None
        assert data.page("http://a.example/9.html") is None
        assert {each.host for each in data.hosts()} == {"a.example", "b.example"}
        assert data.model("a.example") is None


@pytest.mark.parametrize("text", ["", b"", "Only text.", "只有文字", b"\x00\x01" * 9])
def test_what_has_no_tag_is_no_page(text: str | bytes) -> None:
    with pytest.raises(NotHtml, match="not HTML"):
        clean_html(text, "http://a.example/")


def test_a_page_without_a_time_is_of_now() -> None:
    begun = datetime.now(UTC)
    record = clean_html("<p>x", "http://a.example/")
    assert begun <= record.fetched_at <= datetime.now(UTC)
    assert len(repr(record)) < 300
    assert "http://a.example/" in repr(record)


def test_a_folder_without_a_crawl_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="holds no crawl"):
        open_data(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    assert issubclass(NotFound, ServiceError)


def run(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Python code in a folder of somebody's, who has installed the program."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=cwd, env={}, capture_output=True, text=True, check=False)


def test_cleaning_imports_nothing_that_crawls(tmp_path: Path) -> None:
    code = (
        "import sys, crawlclean\n"
        "crawlclean.clean_html('<p>x', 'http://a.example/'), crawlclean.learn_site\n"
        "print({n.removeprefix('crawlclean.').partition('.')[0] for n in sys.modules} & {"
        "'storage', 'workers', 'crawler', 'scrapy', 'twisted', 'redis', 'rq', 'pymongo', "
        "'asyncio'})"
    )
    done = run(code, tmp_path)
    assert done.stdout == "set()\n", done.stderr


def test_packages_of_the_user_with_our_names_stay_theirs(folder: Path, tmp_path: Path) -> None:
    for name in ("storage", "workers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"print('their {name}')")
    code = (
        "import storage, workers\n"
        "from crawlclean import clean_html, open_data\n"
        "print(clean_html('<p>x', 'http://a.example/').kind)\n"
        f"print(len(open_data({str(folder)!r})), storage.__file__)"
    )
    done = run(code, tmp_path)
    theirs = tmp_path / "storage" / "__init__.py"
    assert done.stdout.splitlines()[:2] == ["their storage", "their workers"], done.stderr
    assert done.stdout.endswith(f"6 {theirs}\n"), done.stderr


def test_a_scrapy_project_may_be_named_like_one_of_our_folders(tmp_path: Path) -> None:
    made = run(
        "from scrapy.cmdline import execute; execute(['scrapy', 'startproject', 'crawler'])",
        tmp_path,
    )
    assert made.returncode == 0, made.stderr
    code = (
        "import crawler.settings, crawlclean.crawler.config\n"
        "print(crawler.settings.BOT_NAME, crawler.settings.__file__)\n"
        "import crawlclean; print(crawlclean.clean_html('<p>x', 'http://a.example/').kind)"
    )
    done = run(code, tmp_path / "crawler")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"crawler {tmp_path / 'crawler' / 'crawler'}"), done.stdout
