"""A process that is not heard: its sign on Now, and who is not heard yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storage.crawl_types import CrawlSpec, CrawlState
from storage.live_state import ProcessRole
from storage.queue.entries import process_name
from storage.queue.processes import LIFE_S
from tests.kit.console import acting_console, do, settings_of
from tests.kit.worker_bench import Bench
from workers.operations.watching.queues import SILENT_S

NAME = process_name()


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
