"""`clean --learn`: pages of others, each host learned from its own before all are cleaned."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from crawlclean.workers.operations.files import file_cleaning
from tests.kit.archived_site import article_html, article_url
from tests.kit.commands import Cleaned

HOSTS = ("a.example", "b.example")


def write_rows(path: Path, hosts: tuple[str, ...] = HOSTS, count: int = 6) -> None:
    """Pages of several hosts, shuffled; one host has a page alone."""
    pages = [(article_url(n, host), article_html(n)) for n in range(count) for host in hosts]
    pages.append((article_url(1, "alone.example"), article_html(1)))
    with path.open("w") as rows:
        for url, body in pages:
            row = {"url": url, "html_base64": b64encode(body).decode()}
            rows.write(json.dumps(row) + "\n")


def test_each_host_is_learned_and_its_pages_cleaned_with_that(tmp_path: Path) -> None:
    write_rows(tmp_path / "pages.jsonl")
    said = Cleaned(tmp_path / "pages.jsonl", "--learn")
    assert said.status == 0
    records = dict(zip(said.of_each("url"), said.records, strict=True))
    assert len(records) == 13
    for host in HOSTS:
        record = records[article_url(3, host)]
        assert (record["model_version"], record["body_source"]) == (1, "site")
        assert record["title"] == "渔港见闻之21"
    alone = records[article_url(1, "alone.example")]
    assert alone["model_version"] == 0


def test_a_folder_and_what_is_no_page(tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}.html").write_bytes(article_html(n))
    (tmp_path / "5.html").write_bytes(b"%PDF-1.7")
    (tmp_path / "6.jsonl").write_text("no row\n")
    said = Cleaned(tmp_path, "--learn", "--url", "http://a.example/news/")
    assert (said.status, said.of_each("model_version")) == (1, [1] * 5)


def test_many_hosts_are_learned_some_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_cleaning, "SAMPLED_PAGES", 5)
    write_rows(tmp_path / "pages.jsonl", ("a.example", "b.example", "c.example"), 4)
    said = Cleaned(tmp_path / "pages.jsonl", "--learn")
    assert (said.status, said.of_each("model_version").count(1)) == (0, 12)
    assert "learned 3 hosts from 12 pages" in said.errors
