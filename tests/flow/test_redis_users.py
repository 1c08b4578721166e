"""Each role works with its own user of Redis, and can do nothing else."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from redis import Redis, exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry
from rq import Queue
from rq.registry import FailedJobRegistry, StartedJobRegistry
from rq.worker import Worker

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlSpec
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.queue.clients import script_source
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.config import load_settings
from tests.flow.test_images import LONG, article, picture, png
from tests.flow.test_one_crawl import small_site
from tests.flow.test_topic_images import OF_QUAKES, QUERY, site as topic_site
from tests.kit.commands import call_main
from tests.kit.console import console_of
from tests.kit.crawls import command, crawlclean, environment
from tests.kit.deployed_redis import DEPLOY, ROLES, DeployedRedis
from tests.kit.mongo_server import MongoServer
from tests.kit.private_queue import Program
from tests.kit.receiver import Receiver
from tests.kit.timing import wait_until
from tests.kit.web import Page, Web, html
from tests.storage.store.receivers_contract import put_receiver
from tests.storage.store.topics_contract import judged

CRAWL = "新闻.站"
FORBIDDEN = (
    ["CONFIG", "GET", "maxmemory"],
    ["CONFIG", "SET", "maxmemory", "1"],
    ["MODULE", "LIST"],
    ["ACL", "LIST"],
    ["FLUSHALL"],
    ["FLUSHDB"],
    ["SHUTDOWN", "NOSAVE"],
    ["KEYS", "*"],
    ["MONITOR"],
    ["SAVE"],
    ["REPLICAOF", "NO", "ONE"],
    ["CLIENT", "KILL", "TYPE", "normal"],
    ["SCRIPT", "FLUSH"],
    ["FUNCTION", "LIST"],
    ["EVAL", "return 1", "0"],
)
SPIDER_SCRIPTS = (
    "lease", "reconcile", "put", "flush", "nack", "host_unreachable", "locate", "robots",
    "keep_cookies",
)  # fmt: skip


@dataclass(frozen=True)
class Crawled:
    """After a crawl by processes that each had the user of their role."""

    redis: DeployedRedis
    settings: dict[str, str]
    logs: dict[str, str]
    web: Web
    crawl: Any


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("roles")
    site: dict[str, Page] = {
        **small_site(),
        "/c.html": article("丙文", "/1.png"),
        "/1.png": picture(png(1)),
        **{f"/more/{i}.html": html(f"文 {i}", LONG * (i + 1)) for i in range(6)},
    }
    seeds = ["/", *(f"/more/{i}.html" for i in range(6))]
    with ExitStack() as stack:
        redis = stack.enter_context(DeployedRedis())
        mongo = stack.enter_context(MongoServer(folder / "mongo"))
        web = stack.enter_context(Web(folder / "web", site))
        store = {"CRAWLCLEAN_MONGODB_URL": mongo.url("crawl")}
        programs = {}
        for role in ("spider", "worker", "housekeeper"):
            settings = {"CRAWLCLEAN_REDIS_URL": redis.url(role)}
            settings |= {} if role == "spider" else store
            settings["CRAWLCLEAN_DATA"] = str(folder / role)
            log = folder / f"{role}.log"
            program = Program(command(role), log=log, env=environment(**settings))
            programs[role] = stack.enter_context(program)
        frontier = stack.enter_context(closing(Frontier(redis.url("admin"))))
        spec = CrawlSpec(
            crawl_id=CRAWL,
            seeds=tuple(web.url(path) for path in seeds),
            allow_private=True,
            delay_ms=0,
            images=True,
            keep_fresh=True,
        )
        frontier.open_crawl(spec)

        def is_done() -> bool:
            for role, program in programs.items():
                assert program.is_running(), (folder / f"{role}.log").read_text("utf-8")
            counts = frontier.counts(CRAWL)
            return bool(counts.stored) and not counts.open and not frontier.learning.count()

        wait_until(is_done)
        make_due(mongo.url("crawl"), web.url("/c.html"))
        told = stack.enter_context(Receiver())
        make_waiting(mongo.url("crawl"), told.url)
        wait_until(lambda: frontier.counters().get("revisits_due") == 1)
        wait_until(lambda: bool(told.got))
        wait_until(is_done)
        counts = frontier.counts(CRAWL)
        for program in programs.values():
            assert program.terminate() == 0
        logs = {role: (folder / f"{role}.log").read_text("utf-8") for role in programs}
        admin = {"CRAWLCLEAN_REDIS_URL": redis.url("admin"), **store}
        yield Crawled(redis, admin | {"CRAWLCLEAN_DATA": str(folder / "cli")}, logs, web, counts)


def make_due(where: str, url: str) -> None:
    """As if the next visit of a page were due now."""
    with closing(MongoStore(where)) as store, store._db.use() as database:
        asked = {"page_id": page_id(url), "next_visit": {"$gt": 0}}
        assert database.urls.update_one(asked, {"$set": {"next_visit": 1}}).modified_count == 1


def make_waiting(where: str, url: str) -> None:
    """As if a page on a topic had been found that a webhook is to be told of."""
    with closing(MongoStore(where)) as store:
        kept = put_receiver(store, target=url, signs="warn", ended=True)
        store.save([judged("/told", 0.9, notify=(kept.name,))])


def test_roles_crawl_a_site_together(crawled: Crawled) -> None:
    assert crawled.crawl.stored == 12
    for role, log in crawled.logs.items():
        assert "NOPERM" not in log, (role, log)
        assert "Traceback" not in log, (role, log)
        assert "refuses this user" not in log, (role, log)
    assert " learned " in crawled.logs["worker"]


def test_the_admin_runs_every_command(
    crawled: Crawled, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """First a topic, which fetches images and tells of its stories."""
    with Web(tmp_path, {}, "127.0.7.9") as elsewhere, Receiver() as told:
        with Web(tmp_path / "web", topic_site(elsewhere.url(""))) as web:
            words = ("--seeds", web.url("/"), "--query", QUERY, "--images")
            hook = ("--webhook", told.url, "--allow-private")
            done = crawlclean("topic", "two", *words, *hook, env=crawled.settings)
            asked = {path for path in web.requests() if path.endswith(("jpg", "png", "gif", "svg"))}
        assert "NOPERM" not in done.stderr
        assert asked == OF_QUAKES
        relevant = {web.url("/1.html"), web.url("/2.html")}
    for name, value in crawled.settings.items():
        monkeypatch.setenv(name, value)
    status, out, err = call_main("topic", "two", "--report", "--json")
    assert status == 0, err
    report = json.loads(out)
    assert (report["images"]["stored"], report["images"]["pictures"]) == (4, 2)
    assert (report["stories"], report["copies"]) == (1, 1)
    (kept,) = report["topic"]["receivers"]
    assert kept["sent"] == len(told.got) >= 1
    assert kept["waiting"] == 0
    assert {each.data["url"] for each in told.got} <= relevant
    for arguments in (
        ("crawls",),
        ("hosts", crawled.web.host),
        ("classes", crawled.web.host),
        ("metrics",),
        ("pause", crawled.web.host),
        ("resume", crawled.web.host),
        ("learn", crawled.web.host),
        ("recover",),
        ("purge", "two", "--yes"),
    ):
        status, _, err = call_main(*arguments)
        assert status == 0, f"{arguments}: {err}"


def test_the_dashboard_reads_what_rq_has(crawled: Crawled) -> None:
    with closing(crawled.redis.client("dashboard")) as client:
        assert {queue.name for queue in Queue.all(connection=client)} >= {"pages"}
        assert Worker.all(connection=client) == []
        for registry in (FailedJobRegistry, StartedJobRegistry):
            assert registry("pages", connection=client).get_job_ids() == []
        for wanted in (["SET", "rq:job:x", "1"], ["DEL", "rq:queues"], ["SMEMBERS", "cc:crawls"]):
            with pytest.raises(exceptions.NoPermissionError):
                client.execute_command(*wanted)


def test_the_console_reads_everything_and_changes_nothing(crawled: Crawled) -> None:
    given = crawled.settings | {"CRAWLCLEAN_REDIS_URL": crawled.redis.url("console")}
    host = crawled.web.host
    with console_of(load_settings(given)) as client:
        for path in (
            "/", "/crawls", "/hosts", f"/hosts/{host}", f"/hosts/{host}/live",
            "/hosts?state=trouble", "/failures", "/queues", "/traps", "/events", "/metrics",
        ):  # fmt: skip
            answer = client.get(path)
            assert answer.status_code == 200, f"{path}: {answer.text}"
            assert "refuses this user" not in answer.text, path
    with closing(crawled.redis.client("console")) as plain:
        for wanted in (
            ["HSET", "cc:c:news", "state", "stopped"],
            ["DEL", "cc:crawls"],
            ["LPUSH", "rq:queue:pages", "j1"],
            ["PUBLISH", "cc:wake", "a"],
            ["SCAN", "0"],
        ):
            with pytest.raises(exceptions.NoPermissionError):
                plain.execute_command(*wanted)


@pytest.mark.parametrize("role", ROLES)
def test_nobody_changes_or_empties_the_server(crawled: Crawled, role: str) -> None:
    with closing(crawled.redis.client(role)) as client:
        for wanted in FORBIDDEN:
            with pytest.raises(exceptions.NoPermissionError):
                client.execute_command(*wanted)
        with pytest.raises(exceptions.ResponseError):  # the server refuses it to everybody
            client.execute_command("DEBUG", "SLEEP", "0")


def test_a_spider_reaches_neither_rules_nor_claims_nor_records_of_rq(crawled: Crawled) -> None:
    with closing(crawled.redis.client("spider")) as client:
        for wanted in (
            ["HSET", "cc:up:a.example", "/x", "forbid"],
            ["ZADD", "cc:claims", "0", "j1"],
            ["HSET", "cc:ts:news:a.example", "/x", "stopped"],
            ["DEL", "cc:crawls"],
            ["SMEMBERS", "rq:workers"],
            ["GET", "anything"],
            ["SCAN", "0"],
            ["PUBLISH", "rq:pubsub:x", "shutdown"],
        ):
            with pytest.raises(exceptions.NoPermissionError):
                client.execute_command(*wanted)
        script = client.register_script("return redis.call('HSET', 'cc:up:a.example', '/x', 'f')")
        with pytest.raises(exceptions.ResponseError, match="permissions"):
            script()


def test_without_a_name_or_with_a_wrong_password_nobody_gets_in(crawled: Crawled) -> None:
    refused = exceptions.AuthenticationError
    at_once: Any = {
        "unix_socket_path": str(crawled.redis.socket),
        "retry": Retry(NoBackoff(), 0),  # the library tries a refused user again for 4 s
    }
    with closing(Redis(**at_once)) as stranger, pytest.raises(refused):
        stranger.ping()
    of_another = crawled.redis.password("worker")
    thief = Redis(**at_once, username="spider", password=of_another)
    with closing(thief), pytest.raises(refused):
        thief.ping()
    with closing(crawled.redis.client("health")) as health:
        assert health.ping()
        with pytest.raises(exceptions.NoPermissionError):
            health.info()


def test_every_key_of_a_spiders_scripts_is_permitted() -> None:
    """A script with a new key would fail on servers alone; this names the key."""
    text = (DEPLOY / "redis-users.acl").read_text("utf-8")
    [rules] = [line for line in text.splitlines() if line.startswith("user spider ")]
    allowed = {key.removesuffix(":*") for key in re.findall(r"~(cc:[a-z:*]+)", rules)}
    used = {
        key for name in SPIDER_SCRIPTS for key in re.findall(r"'(cc:[a-z]+)", script_source(name))
    }
    assert used - {"cc:wake"} <= allowed


@pytest.mark.parametrize("server", ["embedded", "redis-server"])
def test_a_restart_loses_nothing_that_scripts_wrote(server: str) -> None:
    """Redis reads its file as the user ``default``, and leaves out what that user may not do."""
    program = None if server == "embedded" else shutil.which(server)
    if server != "embedded" and program is None:
        pytest.skip("no redis-server is installed: Valkey alone shows less")
    with DeployedRedis(Path(program) if program else None) as redis:
        spec = CrawlSpec(crawl_id="c", seeds=("http://a.example/",))
        with closing(Frontier(redis.url("admin"))) as frontier:
            frontier.open_crawl(spec)
            before = frontier.counts("c")
        assert redis.terminate() == 0
        redis.start()
        with closing(Frontier(redis.url("admin"))) as frontier:
            assert frontier.counts("c") == before
        with pytest.raises(exceptions.AuthenticationError):
            Redis(unix_socket_path=str(redis.socket)).get("cc:crawls")


def test_every_user_has_a_secret_of_its_own() -> None:
    text = (DEPLOY / "redis-users.acl").read_text("utf-8")
    users = {line.split()[1]: line for line in text.splitlines() if line.startswith("user ")}
    assert set(users) == {"default", "health", *ROLES}
    assert users["default"] == "user default reset off ~* +@all", "off, but reads the file"
    for role in ROLES:
        assert f"#{{redis_{role}_password}}" in users[role]
        assert "nopass" not in users[role]
