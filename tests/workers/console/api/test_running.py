"""The API while a crawl runs: the queue answers, and workers do long actions."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from crawlclean.workers.console.api.tokens import TokenScope
from crawlclean.workers.operations.api_tokens import make_token
from tests.kit.api import RUNNING, Program, check, examples
from tests.kit.console import acting_console, settings_of
from tests.kit.crawls import start
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Web, html

CRAWL = "slow"
PAGES = 800
LATENCY_MS = 300
"""At one request at a time: the crawl outlives every test of a slow machine, and does little."""

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4


@pytest.fixture(scope="module")
def actor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A program that may act on a crawl that goes on for long."""
    base = tmp_path_factory.mktemp("running")
    links = {f"/{n}.html": f"第{n}页" for n in range(PAGES)}
    pages = {
        path: {"body": html(text, text + TEXT), "latency_ms": LATENCY_MS}
        for path, text in links.items()
    }
    with Web(base / "web", {"/": html("首页", TEXT, links=links), **pages}) as web:
        crawl = start(
            "run", web.url("/"), "--crawl", CRAWL, "--allow-private", "--data", str(base / "data"),
            CRAWLCLEAN_SLOTS="1",
        )  # fmt: skip
        try:
            data = base / "data"
            made = make_token(data, "acts", TokenScope.ACT, None)
            asking = Program(acting_console(settings_of(data), data), made.token)
            wait_until(lambda: records(asking) >= 5, LIMIT_S)
            yield asking
        finally:
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=LIMIT_S)


def shape(value: Any) -> Any:
    """The names of an object's fields, within each other; lists are empty or not."""
    return {name: shape(of) for name, of in value.items()} if isinstance(value, dict) else ""


def records(asking: Program) -> int:
    """Records of the crawl, 0 before it is there."""
    answer = asking.get(f"/crawls/{CRAWL}")
    return int(answer.get_json()["records"]) if answer.status_code == 200 else 0


@pytest.fixture(scope="module")
def host(actor: Program) -> str:
    """Its host."""
    return str(actor.value(f"/crawls/{CRAWL}")["hosts_left"][0]["host"])


def last_page(host: str) -> str:
    """A URL that waits."""
    return f"http://{host}/{PAGES - 1}.html"


def test_what_runs_is_told_by_its_schema(actor: Program, host: str) -> None:
    described = actor.description()
    for path, template in (
        ("/now", "/now"),
        ("/queues", "/queues"),
        ("/queues/shared", "/queues/shared"),
        ("/processes", "/processes"),
        ("/crawls", "/crawls"),
        (f"/crawls/{CRAWL}", "/crawls/{crawl}"),
        (f"/hosts/{host}", "/hosts/{host}"),
        (f"/hosts/{host}/classes", "/hosts/{host}/classes"),
        (f"/urls?url={last_page(host)}", "/urls"),
    ):
        check(described, template, actor.value(path))
    queue = actor.value("/queues")
    assert queue["state"] == "answers"
    assert {each["role"] for each in queue["queue"]["processes"]} >= {"worker", "housekeeper"}
    now = actor.value("/now")
    assert (now["running"], now["held_back"]["cause"] != "at_rest") == (1, True)
    crawl = actor.value(f"/crawls/{CRAWL}")
    assert crawl["state"] == "running"
    assert crawl["waiting"] > 0
    assert actor.value(f"/hosts/{host}")["waits"][0]["crawl"] == CRAWL
    (trace,) = actor.value(f"/urls?url={last_page(host)}")["traces"]
    assert trace["state"] == "pending"
    assert trace["waits_for"]


def test_processes_are_told_with_their_work(actor: Program, host: str) -> None:
    """As the screen has them: each job and each lease belongs to one of them."""

    def roles() -> set[str]:
        return {each["process"]["role"] for each in actor.value("/processes")["items"]}

    wait_until(
        lambda: roles() >= {"spider", "worker", "housekeeper"}, LIMIT_S
    )  # each is heard later
    found = actor.value("/processes")["items"]
    assert [each["is_lost"] for each in found] == sorted(each["is_lost"] for each in found)

    def is_held() -> bool:
        rows = actor.value("/processes")["items"]
        jobs = [job for each in rows for job in each["jobs"]]
        assert all(
            job["worker"].startswith(f"{each['process']['name']}.")
            for each in rows
            for job in each["jobs"]
        )
        return any(job["host"] == host for job in jobs)

    wait_until(is_held, LIMIT_S)
    wait_until(lambda: any(each["leases"] for each in actor.value("/processes")["items"]), LIMIT_S)


def test_the_queue_of_the_crawl_shares_the_store_with_none(actor: Program) -> None:
    wait_until(lambda: bool(actor.value("/queues/shared")["items"]), LIMIT_S)
    (one,) = actor.value("/queues/shared")["items"]
    assert (one["is_own"], one["is_alive"], one["crawls"]) == (True, True, 1)
    assert "@" not in one["place"]


@pytest.mark.parametrize(("arguments", "printed"), examples(RUNNING), ids=str)
def test_examples_of_a_running_crawl_have_the_fields_of_answers(
    actor: Program, arguments: list[str], printed: Any
) -> None:
    path = urlsplit(arguments[-1]).path.removeprefix("/api/v1")
    answer = actor.value(path)
    check(actor.description(), path, printed)
    assert shape(printed["items"][0]) == shape(answer["items"][0])


def test_a_long_action_is_an_operation(actor: Program, host: str) -> None:
    begun = actor.post("/actions/learn_host", {"target": host}, "learn")
    assert begun.status_code == 202, begun.text
    check(actor.description(), "/actions/{name}", begun.get_json(), 202)
    number = begun.get_json()["operation"]
    operation = actor.value(f"/operations/{number}")
    assert (operation["kind"], operation["target"]) == ("learn", host)
    assert actor.post("/actions/learn_host", {"target": host}, "learn").status_code == 202
    assert actor.value("/operations?limit=1")["items"][0]["seq"] == number
    wait_until(lambda: actor.value(f"/operations/{number}")["state"] in ("done", "failed"), LIMIT_S)


def test_a_pause_holds_the_running_crawl(actor: Program, host: str) -> None:
    """The last test: a `run` ends when all URLs that wait are those of paused hosts."""
    done = actor.post("/actions/pause_host", {"target": host, "values": {"why": "drill"}}, "p")
    assert done.status_code == 200, done.text
    wait_until(lambda: actor.value(f"/hosts/{host}")["waits"][0]["reason"] == "paused", LIMIT_S)
    assert actor.post("/actions/resume_host", {"target": host}, "r").status_code == 200
    assert not actor.value(f"/hosts/{host}")["is_paused"]
