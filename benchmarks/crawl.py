"""What the pipeline costs: processor time of all processes, beside Scrapy and scrapy-redis.

One site, served on loopback by a process whose time is not counted. Ours runs whole (``run``:
spider, queue server, workers, sweeper); plain Scrapy fetches exactly the URLs our spider asked for,
without reading them; scrapy-redis crawls the site with its defaults while trafilatura reads its
pages. ``make bench-crawl``; the peers are installed into ``build/peers``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections import defaultdict
from pathlib import Path
from typing import Any

from redis import Redis

from benchmarks.keeping import ROOT, keep
from benchmarks.serving import labelled_sites, served_sites
from storage.clients import queue_errors, wait_for_queue
from storage.embedded import find_server
from storage.sqlite import SqliteStore
from tests.chaos.processes import children_of
from tests.crawls import command, environment

PEERS = ROOT / "build" / "peers"
PACKAGES = ("scrapy==2.19.0", "scrapy-redis==0.9.1", "trafilatura==2.3.1", "lxml_html_clean")
PORT = 8801
TICKS = os.sysconf("SC_CLK_TCK")
ROLES = ("spider", "worker", "sweeper")


def main() -> int:
    """Measures the sites that are named and keeps the result."""
    parser = argparse.ArgumentParser(description="Processor time of a crawl, beside peers.")
    parser.add_argument("sites", nargs="*", default=["linuxcn.test", "stzikao.test"])
    a = parser.parse_args()
    sites = labelled_sites()
    python = peers_python()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served_sites(folder, PORT):
            for site in a.sites:
                host = sites[site]["address"]
                home = f"http://{host}:{PORT}{sites[site]['home']}"
                results[site] = measure(home, host, folder / f"of-{site}", python)
                sys.stderr.write(f"{site}: {json.dumps(results[site])}\n")
    keep("crawl", {"sites": results})
    return 0


def measure(home: str, host: str, folder: Path, python: Path) -> dict[str, Any]:
    """One site: ours, plain Scrapy on the same URLs, scrapy-redis with trafilatura."""
    folder.mkdir()
    by_role, ours_s = run_ours(home, folder / "data")
    urls, records, requests = what_was_fetched(folder / "data")
    listed = folder / "urls.json"
    listed.write_text(json.dumps(urls), "utf-8")
    plain, plain_s = run_peer(python, "plain", str(listed))
    with_redis, redis_s, redis_server_s = run_scrapy_redis(python, home, host, folder)
    return {
        "records": records,
        "requests": requests,
        "ours_cpu_s": {**by_role, "all": ours_s},
        "ours_cpu_ms_per_record": round(1000 * ours_s / records, 2),
        "ours_responses_per_spider_cpu_s": round(requests / by_role["spider"]),
        "plain_scrapy": plain,
        "plain_responses_per_cpu_s": round(plain["responses"] / plain_s),
        "spider_against_plain": round(
            (requests / by_role["spider"]) / (plain["responses"] / plain_s), 2
        ),
        "scrapy_redis": with_redis,
        "scrapy_redis_cpu_s": round(redis_s + redis_server_s, 2),
        "scrapy_redis_cpu_ms_per_text": round(
            1000 * (redis_s + redis_server_s) / max(1, with_redis["texts"]), 2
        ),
        "ours_against_scrapy_redis_per_record": round(
            (ours_s / records) / ((redis_s + redis_server_s) / max(1, with_redis["texts"])), 3
        ),
    }


def run_ours(home: str, data: Path) -> tuple[dict[str, float], float]:
    """(processor seconds by role, of all) of a whole `run`."""
    before = waited_cpu_s()
    process = subprocess.Popen(  # noqa: S603 - our own program
        command("run", home, "--allow-private", "--json", "--data", str(data)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        cwd=ROOT,
    )
    seen: dict[int, tuple[str, float]] = {}
    while process.poll() is None:
        for pid in [process.pid, *children_of(process.pid)]:
            role = role_of(pid, process.pid)
            cpu = cpu_s(pid, with_children=role != "run")
            if role and cpu is not None:
                seen[pid] = (role, cpu)
        time.sleep(0.05)
    by_role: dict[str, float] = defaultdict(float)
    for role, cpu in seen.values():
        by_role[role] += cpu
    return {role: round(cpu, 2) for role, cpu in by_role.items()}, round(waited_cpu_s() - before, 2)


def run_peer(python: Path, *arguments: str) -> tuple[dict[str, int], float]:
    """(what it printed, processor seconds) of a peer."""
    before = waited_cpu_s()
    done = subprocess.run(  # noqa: S603 - our own program
        [str(python), str(ROOT / "benchmarks" / "peers_crawl.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"a peer failed: {done.stderr}")
    printed: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return printed, waited_cpu_s() - before


def run_scrapy_redis(
    python: Path, home: str, host: str, folder: Path
) -> tuple[dict[str, int], float, float]:
    """(what it printed, its processor seconds, its Redis server's)."""
    server = subprocess.Popen(  # noqa: S603 - our own server, with its own defaults
        [find_server(), "--port", str(PORT + 1), "--bind", "127.0.0.1", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        url = f"redis://127.0.0.1:{PORT + 1}"
        with Redis.from_url(url) as client:
            wait_for_queue(lambda: _ping(client), limit_s=30)
        printed, cpu = run_peer(python, "redis", home, url, f"{host}:{PORT}")
        return printed, cpu, cpu_s(server.pid) or 0.0
    finally:
        server.kill()
        server.wait()


def _ping(client: Redis) -> None:
    with queue_errors():
        client.ping()


def what_was_fetched(data: Path) -> tuple[list[str], int, int]:
    """(every URL that was asked for, records, requests)."""
    store = SqliteStore(data / "records.sqlite")
    try:
        records = [record.url for record in store.records()]
        failed = [row.url for row in store.failures(limit=1_000_000) if row.status]
    finally:
        store.close()
    return records + failed, len(records), len(records) + len(failed)


def waited_cpu_s() -> float:
    """Processor seconds of every descendant that was waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_s(pid: int, *, with_children: bool = True) -> float | None:
    """Processor seconds of a process, and of its dead children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(int(n) for n in fields[11 : 15 if with_children else 13]) / TICKS


def role_of(pid: int, run: int) -> str:
    """What a process is in our crawl."""
    if pid == run:
        return "run"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").split()
    except OSError:
        return ""
    if words and "valkey-server" in words[0]:
        return "queue server"
    return next((w for w in words if w in ROLES), "")


def peers_python() -> Path:
    """The interpreter of the peers' environment, made when it is not there."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / "packages.txt"
    if not stamp.exists() or stamp.read_text("utf-8") != "\n".join(PACKAGES):
        venv.create(PEERS, with_pip=True, clear=True)
        subprocess.run(  # noqa: S603 - our own environment
            [str(python), "-m", "pip", "install", "-qq", *PACKAGES], check=True
        )
        stamp.write_text("\n".join(PACKAGES), "utf-8")
    return python


if __name__ == "__main__":
    sys.exit(main())
