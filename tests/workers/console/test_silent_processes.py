"""A process that is not heard: its sign on Now, and who is not heard yet."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.live_state import SILENT_S, ProcessRole
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.queue.fetch_queue import SESSION_TTL_MS
from crawlclean.storage.queue.frontier import CLAIM_TTL_MS
from crawlclean.storage.queue.live import LIFE_S, beat_args
from tests.kit.console import ORIGIN, acting_console, do, fields_in, settings_of
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.worker_bench import Bench

NAME = process_name()
CHINESE = {"Accept-Language": "zh"}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Bench(tmp_path) as made:
        with closing(made.store()) as store:
            spec = CrawlSpec(crawl_id="c", seeds=("http://a.example/",))
            store.crawls.put(spec, CrawlState.RUNNING)
        yield made


def fall_silent(bench: Bench, silent_s: float) -> None:
    bench.frontier.processes._heard = -100.0
    bench.frontier.processes.beat(ProcessRole.WORKER)
    member = f"worker {NAME}"
    bench.client.zadd("cc:who", {member: bench.client.zscore("cc:who", member) - silent_s * 1000})


def signs(bench: Bench) -> str:
    """The list of signs, read by somebody who comes now."""
    page = acting_console(settings_of(bench.data), bench.data).get("/").text
    return re.sub(r"\s+", " ", page.partition('id="now-signs"')[2].partition("</ul>")[0])


def test_a_silent_worker_is_a_sign_with_what_it_holds(bench: Bench) -> None:
    bench.fetch("http://a.example/1", "http://a.example/2")
    fall_silent(bench, 1)
    assert "process is silent" not in signs(bench)
    fall_silent(bench, SILENT_S + 1)
    [job] = bench.client.zrange("cc:jobs", 0, -1)
    bench.frontier.claim(job.decode(), f"{NAME}.0a1b2c3d")
    found = signs(bench)
    for part in ("process is silent", ">worker", NAME, "holds 2 pages", "a.example", "<time"):
        assert part in found
    assert f'href="/actions/declare_dead?target={NAME}"' in found


def test_a_worker_whose_claim_is_lost_is_silent_at_once(bench: Bench) -> None:
    bench.fetch("http://a.example/1")
    fall_silent(bench, 1)
    [job] = bench.client.zrange("cc:jobs", 0, -1)
    bench.frontier.claim(job.decode(), f"{NAME}.0a1b2c3d")
    assert "process is silent" not in signs(bench)
    bench.client.zadd("cc:claims", {job: 1})
    assert "process is silent" in signs(bench)


def test_the_sign_stays_until_the_process_is_declared_dead(bench: Bench) -> None:
    fall_silent(bench, 20 * LIFE_S)
    assert bench.frontier.processes.take_silent()
    found = signs(bench)
    assert "not heard for 20 min" in found
    assert "given to others" in found
    client = acting_console(settings_of(bench.data), bench.data)
    queues = client.get("/queues").text
    assert "silent" in queues.partition("<tbody>")[2].partition("</tr>")[0]
    assert "finished" in do(client, "declare_dead", NAME).text
    assert "process is silent" not in signs(bench)
    assert bench.frontier.processes.take_to_replace([NAME]) == [NAME]


def test_help_and_the_sign_have_one_figure(bench: Bench) -> None:
    fall_silent(bench, SILENT_S / 2)  # a busy machine may take seconds to show it
    assert "process is silent" not in signs(bench)
    fall_silent(bench, SILENT_S)
    assert "process is silent" in signs(bench)
    client = acting_console(settings_of(bench.data), bench.data)
    assert f"not heard for {SILENT_S:.0f} s" in client.get("/help").text
    assert f"{SILENT_S:.0f} 秒没有响应" in client.get("/help", headers=CHINESE).text
    assert round(SILENT_S * 1000) == CLAIM_TTL_MS == SESSION_TTL_MS, "what it holds goes then, too"


def test_only_silent_processes_have_the_button(bench: Bench) -> None:
    fall_silent(bench, 1)
    client = acting_console(settings_of(bench.data), bench.data)
    assert "declare_dead" not in client.get("/queues").text
    fall_silent(bench, SILENT_S)
    assert f"declare_dead?target={NAME}" in client.get("/queues").text


def test_the_result_names_the_process_in_its_place(bench: Bench) -> None:
    fall_silent(bench, 2 * SILENT_S)
    client = acting_console(settings_of(bench.data), bench.data)
    page = do(client, "declare_dead", NAME)
    assert "is asked to kill it" in page.text
    assert 'href="/queues">Back' in page.text
    assert "every process is heard" in page.text
    live = f"{page.request.path}/live"
    assert bench.frontier.processes.take_to_replace([NAME]) == [NAME]
    assert "Another one starts in its place" in client.get(live).text
    beat = beat_args(ProcessRole.WORKER, f"{NAME.partition('.')[0]}.999999")
    bench.frontier._scripts("beat", *beat)
    shown = client.get(live).text
    assert "started in its place" in shown
    assert ".999999" in shown
    bench.client.delete(f"cc:replaced:{NAME}")
    assert "No `run` has started it" in client.get(live).text


def test_a_process_is_declared_dead_that_keeps_the_store_locked(bench: Bench) -> None:
    """A worker that was stopped within a transaction: the action cannot wait for its own effect."""
    fall_silent(bench, 2 * SILENT_S)
    client = acting_console(settings_of(bench.data), bench.data)
    form = fields_in(client.get(f"/actions/declare_dead?target={NAME}"))
    stopped = sqlite3.connect(bench.data / "records.sqlite", isolation_level=None)
    stopped.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(client.post, "/actions/declare_dead", data=form, headers=ORIGIN)
        try:
            wait_until(lambda: bool(bench.frontier.processes.take_to_replace([NAME])), LIMIT_S)
            assert not sent.done(), "its row waits for the store"
        finally:
            stopped.close()
    assert sent.result().status_code == 303
    with closing(bench.store()) as store:
        (row,) = store.audit.read()
    assert (row.action, row.target, row.did) == ("declare_dead", NAME, "leases 0; claims 0")
