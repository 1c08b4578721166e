"""`import`: pages that others fetched, kept as if a crawl had fetched them."""

from __future__ import annotations

import gzip
import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from crawlclean import RawPage, SiteModel
from crawlclean.cleaning.page import Reading, read
from crawlclean.cleaning.records import Via
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, UrlState
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from tests.kit.commands import DataFolder
from tests.kit.timing import wait_until
from tests.kit.web import html

TEMPLATE = "本站所有文章均由编辑部审核，转载请注明出处并保留原文链接，谢谢合作。"


def row(n: int, host: str = "a.example", **more: str) -> str:
    text = f"第{n}篇文章的正文，写的是一件只在这一页出现的事情，编号{n}，所以它不会是模板。" * 3
    page = html(f"第{n}页", f"{text}</p><p>{TEMPLATE}")
    return json.dumps(
        {"url": f"http://{host}/article/{n}.html", "html": page, **more}, ensure_ascii=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data")


@pytest.fixture
def stored(folder: DataFolder) -> Iterator[Store]:
    store = open_store(StorageConfig(data=folder.data), create=True)
    yield store
    store.close()


def write_rows(path: Path, *rows: str) -> Path:
    path.write_text("".join(each + "\n" for each in rows))
    return path


def test_records_name_their_file_and_line_and_keep_its_date(
    folder: DataFolder, stored: Store, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", row(1, fetched_at="2020-02-03T04:05:06Z"), row(2))
    assert folder.output("import", str(rows)) == "2 pages of 1 host are stored as crawl import\n"
    first = stored.records.get(page_id("http://a.example/article/1.html"))
    assert first is not None
    assert first.fetched_at == datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert first.origin == f"{rows}:1"
    assert stored.urls.rows(first.page_id)[0].via is Via.IMPORT
    second = stored.records.get(page_id("http://a.example/article/2.html"))
    assert second is not None
    assert second.fetched_at.timestamp() == pytest.approx(rows.stat().st_mtime)


def test_a_host_with_enough_pages_is_learned_and_its_template_cut(
    folder: DataFolder, stored: Store, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", *(row(n) for n in range(12)), row(1, "b.example"))
    out = folder.output("import", str(rows))
    assert "13 pages of 2 hosts are stored" in out
    assert "a.example: learned version 1 of its model, 12 pages re-cleaned" in out
    assert "b.example" not in out  # one page has nothing in common with others
    record = stored.records.get(page_id("http://a.example/article/3.html"))
    assert record is not None
    assert record.model_version == 1
    assert "编号3" in record.body


def test_the_same_command_does_the_rest(folder: DataFolder, stored: Store, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    first, second, *others = (row(n, fetched_at="2026-01-31T12:00:00Z") for n in range(4))
    write_rows(rows, first, second)
    folder.output("import", str(rows), "--no-learn")
    write_rows(rows, first, second, others[0], "{}", others[1])
    status, out, err = folder.call("import", str(rows), "--no-learn")
    assert status == 1
    assert "4 pages of 1 host are stored as crawl import (2 were stored before)" in out
    assert f"{rows}:4: has no url" in err
    assert stored.records.count() == 4


def test_a_newer_answer_of_an_input_replaces_the_older(
    folder: DataFolder, stored: Store, tmp_path: Path
) -> None:
    old = row(1, fetched_at="2020-01-01T00:00:00Z")
    new = row(1, fetched_at="2021-01-01T00:00:00Z").replace("一件", "另一件")
    for order in ([old, new], [new, old]):
        rows = write_rows(tmp_path / "rows.jsonl", *order)
        folder.output("import", str(rows), "--no-learn")
        record = stored.records.get(page_id("http://a.example/article/1.html"))
        assert record is not None
        assert "另一件" in record.body
    assert stored.records.count() == 1


def test_what_is_no_html_is_a_failure_with_its_reason(
    folder: DataFolder, stored: Store, tmp_path: Path
) -> None:
    pdf = json.dumps({"url": "http://a.example/a.pdf", "html": "%PDF-1.7 \n" + "x" * 600})
    rows = write_rows(tmp_path / "rows.jsonl", pdf, row(1))
    said = folder.error("import", str(rows))
    assert f"{rows}:1: http://a.example/a.pdf: the response is" in said
    [failure] = stored.urls.failures(None, None)
    assert failure.url == "http://a.example/a.pdf"
    assert stored.urls.rows(page_id(failure.url))[0].state is UrlState.FAILED


def test_a_crawl_that_fetches_is_no_place_for_imports(
    folder: DataFolder, stored: Store, tmp_path: Path
) -> None:
    stored.crawls.put(
        CrawlSpec(crawl_id="import", seeds=("http://a.example/",)), CrawlState.RUNNING
    )
    rows = write_rows(tmp_path / "rows.jsonl", row(1))
    assert "choose another --crawl" in folder.error("import", str(rows), status=2)
    assert stored.records.count() == 0


def test_commands_that_list_crawls_take_an_import(folder: DataFolder, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", row(1))
    folder.output("import", str(rows))
    assert "imported" in folder.output("crawls")
    folder.output("crawl", "recover")
    assert f"{rows}:1" in folder.output("why", "http://a.example/article/1.html")


def test_standard_input_and_other_columns(
    folder: DataFolder, stored: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [json.loads(row(n)) for n in range(3)]
    data = "".join(json.dumps({"address": r["url"], "page": r["html"]}) + "\n" for r in rows)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(data.encode()))))
    columns = ["--url-column", "address", "--html-column", "page"]
    folder.output("import", "-", "--no-learn", *columns)
    record = stored.records.get(page_id(rows[2]["url"]))
    assert record is not None
    assert record.origin == "stdin:3"
    assert stored.records.count() == 3


def test_a_text_file_is_not_imported(folder: DataFolder, stored: Store, tmp_path: Path) -> None:
    sites = tmp_path / "sites.txt"
    sites.write_text("http://a.example/\n")
    assert folder.error("import", str(sites)).startswith(f"{sites}: this is no HTML")
    assert stored.records.count() == 0


def test_an_interrupted_import_is_status_130(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press_ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "crawlclean.workers.operations.files.page_import.import_pages", press_ctrl_c
    )
    rows = write_rows(tmp_path / "rows.jsonl", row(1))
    said = folder.error("import", str(rows), status=130)
    assert "interrupted; the same command does the rest" in said


def is_stored_or_over(store: Store, goal: int, process: subprocess.Popen[bytes]) -> bool:
    return store.records.count() >= goal or process.poll() is not None


def test_nothing_is_lost_or_doubled_by_kills(
    folder: DataFolder, stored: Store, tmp_path: Path
) -> None:
    pages = 600
    rows = tmp_path / "rows.jsonl.gz"
    with gzip.open(rows, "wt") as file:
        file.writelines(row(n) + "\n" for n in range(pages))
    command = [sys.executable, "-m", "crawlclean.workers.cli", "import", str(rows), "--no-learn"]
    command += ["--data", str(folder.data)]
    kills = 0
    for goal in (1, 150, 300):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_until(partial(is_stored_or_over, stored, goal, process))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{pages} pages of 1 host are stored as crawl import" in done.stdout
    assert stored.records.count() == pages
    stored.statistics.refresh()
    statistics = stored.statistics.get("a.example")
    assert statistics is not None
    assert statistics.pages_by_state == {"record": pages}


def test_a_defect_in_one_page_costs_that_page(
    folder: DataFolder, stored: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(page: RawPage, model: SiteModel | None) -> Reading:
        if page.url.endswith("/2.html"):
            raise IndexError("list index out of range")
        return read(page, model)

    monkeypatch.setattr("crawlclean.workers.jobs.outcomes.read", defective)
    rows = write_rows(tmp_path / "rows.jsonl", *(row(n) for n in range(4)))
    said = folder.error("import", str(rows), "--no-learn")
    assert "/2.html: IndexError: list index out of range" in said
    assert stored.records.count() == 3
    assert [each.url for each in stored.urls.failures(None, None)] == [
        "http://a.example/article/2.html"
    ]
