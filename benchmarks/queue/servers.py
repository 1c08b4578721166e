"""Several queue servers: what one, two and four of them do in a second of their processor time.

``moves``: the same URLs of the same hosts go through the queue, on 1, 2 and 4 servers with their
append-only files: offered by workers as links of pages, each page with links to hosts of all
servers; leased and put; claimed and acked. Processor time is that of the servers, so that other
programs on the machine do not count. ``capacity`` is the sum over the servers of URLs a second of
processor time; ``busiest`` divides all URLs by the time of the server with most of it, which
is what N cores do. Goal: two servers lease and put 1.8 times as many URLs a second as one.

``crawl``: crawls of two sizes by `run` on 1 and on 2 servers, with as many workers together. The
processor time of a page, in all processes of the program and in the servers, is the difference of
both sizes divided by their pages, so that the start of processes does not count; ``start_s`` is the
rest. A crawl that does not end in ``LIMIT_S`` is stopped, and ends the benchmark without a result.

``make bench-servers``; one part with ``make bench-servers ARGS="moves"``.
"""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from redis import Redis

from benchmarks.kit.parts import choose_parts, measure_kept
from benchmarks.queue.frontier import ANSWER, opened
from storage.crawl_types import CrawlSpec, Discovery, Lease, PageRole, UrlState
from storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from storage.queue.servers.members import WorkingMember
from storage.queue.servers.spread import open_queue
from storage.server_list import server_of
from tests.kit.crawls import ROOT, environment
from tests.kit.mongo_server import MongoServer, free_port
from tests.kit.queue_server import QueueServer
from tests.kit.web import Page, Web, html
from tests.kit.wide_web import NAMES

CRAWL = "news"
NUMBERS = (1, 2, 4)
HOSTS, PAGES = 240, 40
LINKS = 100  # of a page: half to its own host, half to others
LEASE = 16
GOAL = 1.8
LEASED = "leased_and_put_a_second"
SITES = 8
SMALL, LARGE = 3, 12
"""Pages of a site in the crawls of both sizes; the smaller one alone with ``--quick``."""
LIMIT_S = 600
"""Of one crawl: two busy cores needed 330 s for 160 pages."""
TEXT = "这是一段足够长的正文文字，用来让页面看起来像一篇真正的文章。" * 8


def main() -> None:
    """Measures the chosen parts and keeps their results."""
    choice = choose_parts("Work of several queue servers.", ("moves", "crawl"), "a tenth of it")
    measure_kept(choice, "servers", {"moves": measure_moves, "crawl": measure_crawls})


def measure_moves(quick: bool) -> dict[str, Any]:
    """Moves URLs through 1, 2 and 4 servers."""
    hosts = HOSTS // 10 if quick else HOSTS
    rows = []
    for number in NUMBERS:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            servers = [
                stack.enter_context(QueueServer(Path(folder) / str(n))) for n in range(number)
            ]
            rows.append(_moves([each.url for each in servers], hosts))
            sys.stderr.write(f"{rows[-1]}\n")
    for row in rows:
        row["times_one"] = round(row["capacity"] / rows[0]["capacity"], 2)
        row["busiest_times_one"] = round(row["busiest"] / rows[0]["busiest"], 2)
        row["leased_times_one"] = round(row[LEASED] / rows[0][LEASED], 2)
    missed = [row for row in rows if row["servers"] == 2 and row["leased_times_one"] < GOAL]
    return {"moves": {"hosts": hosts, "rows": rows, "goal": GOAL, "missed": bool(missed)}}


def _url(host: int, page: int) -> str:
    return f"http://h{host}.example/{page}.html"


def _links(host: int, page: int, hosts: int) -> Iterator[Discovery]:
    """The links of a page: to later pages of its host, and to the same page of other hosts."""
    for n in range(LINKS // 2):
        yield Discovery(url=_url(host, (page * 3 + n) % PAGES))
        yield Discovery(url=_url((host + 7 * n + 1) % hosts, page))


def _moves(urls: Sequence[str], hosts: int) -> dict[str, Any]:
    number = len(urls)
    with ExitStack() as stack:
        whole = stack.enter_context(closing(open_queue(",".join(urls))))
        seeds = tuple(_url(host, 0) for host in range(hosts))
        whole.open_crawl(CrawlSpec(crawl_id=CRAWL, seeds=seeds, delay_ms=0, slots=16, max_depth=99))
        clients: list[Any] = [stack.enter_context(Redis.from_url(url)) for url in urls]
        runner = stack.enter_context(asyncio.Runner())
        queues = [runner.run(opened(url)) for url in urls]
        workers: list[Any] = (
            [stack.enter_context(closing(WorkingMember(urls, i))) for i in range(number)]
            if number > 1
            else [whole]
        )
        for queue in queues:
            runner.run(_answer_robots(queue, hosts))
        begun = _cpu_s(clients)
        own_begun = _own_cpu_s()
        for host in range(hosts):
            for page in range(0, PAGES, 2):
                worker = workers[server_of(f"h{host}.example", number)]
                worker.offer(CRAWL, list(_links(host, page, hosts)))
        offered = _cpu_s(clients)
        put = [runner.run(_lease_and_put(queue)) for queue in queues]
        leased = _cpu_s(clients)
        for worker, client in zip(workers, clients, strict=True):
            _clean(worker, client)
        acked = _cpu_s(clients)
        own_s = _own_cpu_s() - own_begun
        for queue in queues:
            runner.run(queue.close())
    lease_s = [b - a for a, b in zip(offered, leased, strict=True)]
    all_s = [b - a for a, b in zip(begun, acked, strict=True)]
    offer_s = sum(b - a for a, b in zip(begun, offered, strict=True))
    total = sum(put)
    return {
        "servers": number,
        "urls": total,
        "urls_by_server": put,
        "capacity": round(sum(n / s for n, s in zip(put, all_s, strict=True))),
        "busiest": round(total / max(all_s)),
        LEASED: round(sum(n / s for n, s in zip(put, lease_s, strict=True))),
        "server_us_a_url": {
            "offer": round(offer_s / total * 1e6),
            "lease and put": round(sum(lease_s) / total * 1e6),
            "claim and ack": round((sum(all_s) - sum(lease_s) - offer_s) / total * 1e6),
        },
        "client_us_a_url": round(own_s / total * 1e6),
    }


def _cpu_s(clients: Sequence[Any]) -> list[float]:
    """Processor time of each server so far, seconds."""
    return [
        float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])
        for cpu in (client.info("cpu") for client in clients)
    ]


def _own_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def _answer_robots(queue: FetchQueue, hosts: int) -> None:
    """Answers every robots.txt; the pages that were leased meanwhile are put."""
    leases: Sequence[Lease] = (await queue.lease(hosts)).leases
    while leases:
        for lease in leases:
            if lease.role is PageRole.ROBOTS:
                await queue.put_robots(lease, RobotsVerdict(rules=""))
            else:
                await queue.put(lease, ANSWER)
        leases = (await queue.lease(hosts)).leases


async def _lease_and_put(queue: FetchQueue) -> int:
    """Leases and puts every URL of a server; returns their number."""
    done = 0
    while leases := (await queue.lease(LEASE)).leases:
        for lease in leases:
            await queue.put(lease, ANSWER)
        done += len(leases)
    await queue.flush(0)
    return done


def _clean(worker: Any, client: Any) -> None:
    """Claims and acks every page."""
    for name in client.zrange("cc:jobs", 0, -1):
        job = name.decode()
        if pages := worker.claim(job, "bench"):
            worker.ack(job, [(page, UrlState.RECORD) for page in pages])


def measure_crawls(quick: bool) -> dict[str, Any]:
    """Crawls of both sizes on one and on two servers."""
    rows = []
    for number in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            small = _crawl(Path(folder) / "small", number, SMALL)
            if quick:
                rows.append(small)
                continue
            large = _crawl(Path(folder) / "large", number, LARGE)
        rows.append(_slope(number, small, large))
    if quick:
        return {"crawl": {"sites": SITES, "rows": rows}}
    ratio = rows[1]["cpu_ms_a_page"] / rows[0]["cpu_ms_a_page"]
    return {"crawl": {"sites": SITES, "rows": rows, "two_of_one": round(ratio, 2)}}


def _slope(number: int, small: dict[str, Any], large: dict[str, Any]) -> dict[str, Any]:
    """The cost of a page, from two crawls."""
    pages = large["records"] - small["records"]
    own_s = large["processes_s"] - small["processes_s"]
    queue_s = large["queue_servers_s"] - small["queue_servers_s"]
    start_s = small["processes_s"] - own_s / pages * small["records"]
    return {
        "servers": number,
        "records": [small["records"], large["records"]],
        "cpu_ms_a_page": round((own_s + queue_s) / pages * 1e3, 1),
        "of_it_queue_servers_ms": round(queue_s / pages * 1e3, 2),
        "start_s": round(start_s, 1),
    }


def _site(port: int, pages: int) -> dict[str, Page]:
    site: dict[str, Page] = {}
    for at in range(SITES):
        host, after = f"s{at}.test", f"s{(at + 1) % SITES}.test"
        for n in range(pages):
            links = {f"http://{after}:{port}/{after}/{n}": f"下一站的文章 {n}"}
            for m in (2 * n + 1, 2 * n + 2):
                if m < pages:
                    links[f"http://{host}:{port}/{host}/{m}"] = f"本站的文章 {m}"
            site[f"/{host}/{n}"] = html(f"{host} 第 {n} 篇", f"{host} {n} {TEXT}", links=links)
    return site


def _crawl(folder: Path, number: int, pages: int) -> dict[str, Any]:
    names = folder / "names"
    names.mkdir(parents=True)
    (names / "sitecustomize.py").write_text(NAMES, "utf-8")
    port = free_port()
    with ExitStack() as stack:
        servers = [stack.enter_context(QueueServer(folder / f"q{n}")) for n in range(number)]
        mongo = stack.enter_context(MongoServer(folder / "mongo"))
        stack.enter_context(Web(folder / "web", _site(port, pages), port=port))
        settings = {
            "PYTHONPATH": f"{names}:{ROOT}",
            "CRAWLCLEAN_REDIS_URL": ",".join(each.url for each in servers),
            "CRAWLCLEAN_MONGODB_URL": mongo.url("crawl"),
            "CRAWLCLEAN_DATA": str(folder / "data"),
        }
        clients: list[Any] = [stack.enter_context(Redis.from_url(each.url)) for each in servers]
        before, used = _cpu_s(clients), _children_s()
        begun = time.monotonic()
        sys.stderr.write(f"crawls {SITES * pages} pages on {number} queue servers\n")
        arguments = [
            *(sys.executable, "-m", "workers.cli", "run", f"http://s0.test:{port}/s0.test/0"),
            *("--scope", "any", "--allow-private", "--delay", "0", "--json"),
            *("--workers", str(2 // number)),
        ]
        records = json.loads(_told(arguments, environment(**settings)))["records"]
        own_s = _children_s() - used
        queue_s = sum(_cpu_s(clients)) - sum(before)
    return {
        "servers": number,
        "records": records,
        "took_s": round(time.monotonic() - begun),
        "processes_s": round(own_s, 1),
        "queue_servers_s": round(queue_s, 2),
    }


def _told(arguments: Sequence[str], settings: Mapping[str, str]) -> str:
    """What a crawl prints.

    Raises:
        SystemExit: It failed, or did not end in time: its processes have ended.
    """
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
        arguments, stdout=subprocess.PIPE, text=True, env=dict(settings), cwd=ROOT
    )
    try:
        told, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise SystemExit(
            f"the crawl did not end in {LIMIT_S} s: the machine is busy; --quick crawls fewer pages"
        ) from None
    if process.returncode:
        raise SystemExit(f"the crawl failed with status {process.returncode}")
    return told


def _children_s() -> float:
    """Processor time of processes that this one has started and that have ended, seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
