"""Hooks of installed packages in real crawls, with forked workers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import valid
from tests.kit.crawls import crawlclean
from tests.kit.hook_packages import install, install_example
from tests.kit.web import Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 5
PAGES = {
    "/": html(
        "首页",
        TEXT,
        links={"/a.html": "甲", "/sold.html": "乙", "/tag/x": "标签", "/old.html": "旧闻"},
    ),
    "/a.html": html("甲", TEXT, "价格 12.50 元。"),
    "/sold.html": html("乙", TEXT, "sold out", links={"/behind.html": "丙"}),
    "/behind.html": html("丙", TEXT),
    "/tag/x": html("标签", TEXT),
    "/old.html": html("旧闻", TEXT),
}
BY_TEXT = """
def by_text(outlink, page_url):
    return f"{outlink.text} of {page_url[-1:]}" if outlink.text == "旧闻" else None
"""
BROKEN = """
import time
from dataclasses import replace

def no_verdict(outlink, page_url):
    raise ValueError("no verdict")

def broken(record):
    raise SystemExit("no price")

def no_record(record):
    return record.title

def other_page(record):
    return replace(record, url="http://other.example/", body="")

def slow(record):
    if record.url.endswith("/a.html"):
        time.sleep(1.0)  # what SLOW_S calls slow
    return replace(record, extra={"seen": True})
"""


def crawl(folder: Path, environment: dict[str, str]) -> tuple[Web, Path, str]:
    """(server, data folder, log) after a crawl of the pages."""
    with Web(folder / "web", PAGES) as web:
        arguments = ("run", web.url(), "--allow-private", "--data", str(folder / "d"), "--json")
        done = crawlclean(*arguments, "--crawl", "c", env=environment)
    logs = "".join(path.read_text() for path in (folder / "d").rglob("*.log"))
    return web, folder / "d", done.stderr + logs


def rows(environment: dict[str, str], *arguments: str) -> list[dict[str, Any]]:
    done = crawlclean(*arguments, env=environment, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def metric(environment: dict[str, str], data: Path, name: str) -> float:
    text = crawlclean("metrics", "--data", str(data), env=environment).stdout
    found = re.search(rf"^crawlclean_{name}_total ([\d.]+)$", text, re.MULTILINE)
    assert found
    return float(found[1])


def test_the_example_in_a_crawl(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    environment = install_example(package)
    (package / "text_hooks.py").write_text(BY_TEXT)
    install(package, "text-hooks", {"crawlclean.link_filters": {"by_text": "text_hooks:by_text"}})
    web, data, _ = crawl(tmp_path, environment)
    folder = ("--data", str(data))

    records = {row["url"]: valid("export", row) for row in rows(environment, "export", *folder)}
    assert set(records) == {web.url(path) for path in ("/", "/a.html", "/behind.html")}
    assert records[web.url("/a.html")]["extra"] == {"prices": [12.5]}
    assert records[web.url("/")]["extra"] == {"prices": []}

    [dropped] = rows(environment, "why", web.url("/sold.html"), "--json", *folder)
    assert dropped["state"] == "excluded"
    assert dropped["steps"][-2]["detail"] == "dropped: by the record step prices"
    [refused] = rows(environment, "why", web.url("/tag/x"), "--json", *folder)
    assert refused["reason"] == "refused by the link filter no_tag_lists: a list of keywords"
    [refused] = rows(environment, "why", web.url("/old.html"), "--json", *folder)
    assert refused["reason"] == "refused by the link filter by_text: 旧闻 of /"
    assert not {"/tag/x", "/old.html"} & {path for _, _, path in web.log()}
    assert metric(environment, data, "outlinks_link_filter") == 2
    assert metric(environment, data, "records_dropped") == 1

    doctor = crawlclean("doctor", *folder, env=environment, check=False).stdout
    assert "link filter no_tag_lists of example-hooks 1.0" in doctor
    assert "record step prices of example-hooks 1.0" in doctor
    assert "exporter xml of example-hooks 1.0" in doctor


def test_a_broken_hook_costs_a_warning_and_no_page(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "broken_hooks.py").write_text(BROKEN)
    steps = ("broken", "no_record", "other_page", "slow")
    groups = {
        "crawlclean.link_filters": {"no_verdict": "broken_hooks:no_verdict"},
        "crawlclean.record_steps": {name: f"broken_hooks:{name}" for name in steps},
    }
    environment = install(package, "broken-hooks", groups)
    web, data, log = crawl(tmp_path, environment)

    records = rows(environment, "export", "--data", str(data))
    assert {row["url"] for row in records} == {web.url(path) for path in PAGES}
    for row in records:
        assert row["extra"] == {"seen": True}
        assert row["body"]
        assert [each["detail"] for each in row["warnings"] if each["kind"] == "hook_failed"] == [
            "broken: SystemExit: no price",
            "no_record: TypeError: it returns str: return a CleanRecord or None",
            "other_page: ValueError: it changes url",
        ]
    for name in ("no_verdict", "broken", "no_record", "other_page"):
        assert len(re.findall(rf"warning worker hook failed hook={name} ", log)) == 1, log
    assert len(re.findall(r"warning worker hook slow hook=slow ", log)) == 1
    assert 'raise ValueError("no verdict")' in log  # the traceback leads to the line
    assert metric(environment, data, "hooks_failed") >= 3 * len(PAGES)
    assert metric(environment, data, "hooks_slow") == 1
    assert metric(environment, data, "hooks_seconds") >= 1


def test_a_hook_that_cannot_be_loaded_stops_a_crawl_before_it_begins(tmp_path: Path) -> None:
    (tmp_path / "half.py").write_text("import no_such_module")
    entries = {"crawlclean.record_steps": {"half": "half:step"}}
    environment = install(tmp_path, "half-hooks", entries)
    arguments = ("run", "http://127.0.0.1:9/", "--allow-private", "--data", str(tmp_path / "d"))
    done = crawlclean(*arguments, env=environment, check=False)
    assert done.returncode == 2
    assert "the record step half of half-hooks 1.0 cannot be loaded" in done.stderr
    doctor = crawlclean("doctor", "--data", str(tmp_path / "d"), env=environment, check=False)
    assert "FAIL  hooks" in doctor.stdout
    for choice, status in (("none", 0), ("half", 1), ("other", 1)):
        chosen = environment | {"CRAWLCLEAN_HOOKS": choice}
        doctor = crawlclean("doctor", "--data", str(tmp_path / "d"), env=chosen, check=False)
        assert ("FAIL  hooks" in doctor.stdout) == bool(status), choice


@pytest.mark.parametrize("command", ["import", "reclean"])
def test_other_ways_to_records_have_the_steps_too(tmp_path: Path, command: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    environment = install_example(package)
    pages = tmp_path / "rows.jsonl"
    pages.write_text(
        "\n".join(
            json.dumps({"url": f"http://a.example{path}", "html": page})
            for path, page in PAGES.items()
        )
    )
    folder = ("--data", str(tmp_path / "d"))
    without = environment | {"CRAWLCLEAN_HOOKS": "none" if command == "reclean" else "all"}
    done = crawlclean("import", str(pages), *folder, env=without)
    if command == "reclean":
        crawlclean("model", "reclean", "a.example", "--again", *folder, env=environment)
    else:
        assert "1 dropped by record steps" in done.stdout
    found = {row["url"]: row["extra"] for row in rows(environment, "export", *folder)}
    assert found["http://a.example/a.html"] == {"prices": [12.5]}
    # Re-cleaning deletes nothing: a page that a step drops keeps the record it had.
    assert ("http://a.example/sold.html" in found) == (command == "reclean")
