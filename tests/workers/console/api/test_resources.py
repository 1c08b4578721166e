"""Every address answers by its schema, and as the commands do."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from tests.kit.api import EVENTS, IMPORTED, PAGES, TOPIC, A, Program, all_items, check
from tests.kit.commands import DataFolder
from tests.kit.console import open_console

PLACES = {
    "/crawls/{crawl}": f"/crawls/{IMPORTED}",
    "/hosts/{host}": f"/hosts/{A}",
    "/hosts/{host}/classes": f"/hosts/{A}/classes",
    "/hosts/{host}/models": f"/hosts/{A}/models",
    "/hosts/{host}/models/{version}": f"/hosts/{A}/models/1",
    "/failures/urls": f"/failures/urls?crawl={IMPORTED}&host=forum.example&reason=timeout",
    "/search": "/search?q=正文",
    "/urls": f"/urls?url=http://{A}/1.html",
    "/records": f"/records?url=http://{A}/1.html",
    "/topics/{topic}": f"/topics/{TOPIC}",
    "/topics/{topic}/stories": f"/topics/{TOPIC}/stories",
    "/operations/{seq}": "/operations/1",
    "/versions": f"/versions?url=http://{A}/1.html",
}

AT_REST = {"/hosts/{host}/classes", "/processes", "/signs", "/queues/shared"}
"""Lists that are empty while no crawl runs."""


@pytest.fixture(scope="module")
def described(reader: Program) -> dict[str, Any]:
    return reader.description()


@pytest.fixture(scope="module")
def folder(data: Path) -> DataFolder:
    return DataFolder(data)


def test_every_address_answers_by_its_schema(reader: Program, described: dict[str, Any]) -> None:
    story = reader.value("/stories?limit=1")["items"][0]["story"]
    asked = 0
    for path, methods in described["paths"].items():
        if "get" not in methods:
            continue
        template = path.removeprefix("/api/v1")
        if template == "/versions/difference":
            continue  # of a page with two versions: test_versions.py
        value = reader.value(PLACES.get(template, template).replace("{story}", story))
        check(described, template, value)
        assert value.get("items", True) or template in AT_REST, f"{template} is empty"
        asked += 1
    assert asked >= 20


def test_errors_have_their_schema(reader: Program, described: dict[str, Any]) -> None:
    for path, template, status in (
        ("/crawls/none", "/crawls/{crawl}", 404),
        ("/hosts/none.example", "/hosts/{host}", 404),
        (f"/hosts/{A}/models/99", "/hosts/{host}/models/{version}", 404),
        ("/topics/none", "/topics/{topic}", 404),
        ("/topics/none/stories", "/topics/{topic}/stories", 404),
        ("/stories/none", "/stories/{story}", 404),
        ("/operations/99", "/operations/{seq}", 404),
        ("/records?url=http://a.example/none", "/records", 404),
        ("/records?url=ftp://a.example/", "/records", 400),
        ("/urls?url=ffffff", "/urls", 404),
        ("/hosts?limit=0", "/hosts", 400),
    ):
        answer = reader.get(path)
        assert answer.status_code == status, answer.text
        assert answer.content_type == "application/problem+json"
        assert answer.json
        assert answer.json["status"] == status
        assert "\n" not in answer.json["detail"]
        check(described, template, answer.json, status)


def test_the_same_answers_as_the_commands(reader: Program, folder: DataFolder) -> None:
    assert reader.value(f"/crawls/{IMPORTED}") in folder.rows("crawls", "--json")
    assert (
        reader.value(f"/records?url={A}/1.html")
        == folder.rows("show", f"http://{A}/1.html", "--json")[0]
    )
    (host,) = folder.rows("hosts", A, "--json")
    host.pop("image_requests", None)
    assert reader.value(f"/hosts/{A}") == host
    (model,) = folder.rows("model", A, "--json")
    assert reader.value(f"/hosts/{A}/models/{model['version']}") == model
    assert reader.value(f"/hosts/{A}/models")["items"] == model["versions"]
    causes = folder.rows("failures", IMPORTED, "--causes", "--json")
    assert reader.value(f"/failures/causes?crawl={IMPORTED}")["items"] == causes
    assert reader.value("/topics")["items"] == folder.rows("topics", "--json")
    report = folder.rows("topic", TOPIC, "--report", "--json")[0]
    told = reader.value(f"/topics/{TOPIC}")
    assert without_queue(told) == without_queue(report)
    stories = folder.rows("stories", "--json")
    assert reader.value(f"/stories?limit={len(stories)}")["items"] == stories
    one = stories[0]["story"]
    assert reader.value(f"/stories/{one}") == folder.rows("stories", one, "--json")[0]


def without_queue(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what the queue holds, which only the command opens at rest."""
    return {**report, "made_at": None, "waiting": None}


def test_the_way_of_a_url_is_that_of_why(reader: Program, folder: DataFolder) -> None:
    told = reader.value(f"/urls?url=http://{A}/1.html")
    lines = folder.rows("why", f"http://{A}/1.html", "--json")
    assert [*told["traces"], *told["topics"], told["story"]] == lines
    unknown = reader.value(f"/urls?url=http://{A}/none.html")
    assert unknown["traces"] == []
    status, _, _ = folder.call("why", f"http://{A}/none.html", "--json")
    assert status == 1
    assert {each["crawl"] for each in unknown["not_taken"]} >= {IMPORTED}


def test_lists_are_read_in_parts(reader: Program) -> None:
    hosts = reader.value("/hosts?limit=200")["items"]
    assert len(hosts) > 4
    for sort in ("records", "failed", "last_seen"):
        parts = all_items(reader, f"/hosts?sort={sort}", 2)
        assert [row["host"] for row in parts] == [
            row["host"] for row in reader.value(f"/hosts?sort={sort}&limit=200")["items"]
        ]
        assert {row["host"] for row in parts} == {row["host"] for row in hosts}
    assert len(all_items(reader, "/crawls", 1)) == 2
    assert len(all_items(reader, "/events?kind=died", 3)) == EVENTS
    numbers = [row["seq"] for row in all_items(reader, "/events", 3)]
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) == len(numbers)
    failed = f"/failures/urls?crawl={IMPORTED}&host=forum.example&reason=timeout"
    assert len(all_items(reader, failed, 2)) == 5


def test_stories_of_a_topic_are_read_in_parts(reader: Program) -> None:
    assert all_items(reader, "/topics", 1) == reader.value("/topics")["items"]
    for asked in ("show=stories", "show=other", "days=1&unread=true"):
        path = f"/topics/{TOPIC}/stories?{asked}"
        whole = all_items(reader, path, 200)
        assert all_items(reader, path, 7) == whole
        for each in filter(itemgetter("story"), whole):
            told = reader.value(f"/stories/{each['story']}")
            assert each["url"] in {page["url"] for page in told["pages"]}
    assert reader.value(f"/topics/{TOPIC}/stories?words=地震")["items"]


def test_hosts_are_found_by_name(reader: Program) -> None:
    (one,) = reader.value(f"/hosts?q={A}")["items"]
    assert (one["host"], one["records"]) == (A, PAGES)
    assert {row["host"] for row in reader.value(f"/hosts?q={A[:1]}")["items"]} >= {A}
    assert reader.value("/hosts?q=exampel")["items"] == []
    assert reader.value("/hosts?paused=true")["items"] == []


def test_now_names_what_holds_the_crawls_back(reader: Program) -> None:
    now = reader.value("/now")
    assert now["held_back"]["level"] == "rest"
    assert now["held_back"]["text"] == "No crawl is running."
    assert now["queue"]["state"] == "at_rest"
    assert {crawl["crawl"] for crawl in now["crawls"]} == {IMPORTED, TOPIC}


def test_before_any_crawl_there_is_nothing_and_no_folder_is_made(tmp_path: Path) -> None:
    client = open_console(tmp_path / "absent")
    assert client.get("/api/v1/hosts").status_code == 401
    assert not (tmp_path / "absent").exists()


def test_pages_refuse_numbers_that_no_database_keeps(data: Path) -> None:
    client = open_console(data)
    large = "9" * 25
    for path, status in (
        (f"/hosts?after={large}~a", 400),
        (f"/failures?after={large}~a", 400),
        (f"/events?after={large}~", 400),
        (f"/operations/{large}", 404),
        (f"/audit/{large}", 404),
        (f"/hosts?limit={large}", 200),
    ):
        assert client.get(path).status_code == status, path
