"""The console over the large store of ``large_store.py`` in a MongoDB server of its own process.

Rows that lists and statistics read are copied; records have no content there either. The server is
that of the tests; a mongod was not asked. A part of ``make bench-console``, with ``--mongo``.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from flask.testing import FlaskClient

from benchmarks.console.large_store import fill_queue, write_store
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.console_tokens import TokenScope
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.store.ports import PAGE_KEY
from crawlclean.storage.store.tables import KEYS
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.api_tokens import make_token
from tests.kit.console import console_of
from tests.kit.mongo_server import plain_client, running
from tests.kit.processes import cpu_s

TABLES = ("urls", "hosts", "host_rows", "host_states", "failure_groups", "crawl_counts", "causes")
STEP = 5_000
WRITTEN = "written"


def measure_on_mongo(
    folder: Path, sizes: tuple[int, int, int], paths: Sequence[str], requests: int
) -> dict[str, Any]:
    """Measures each address; with ``store_cpu_ms``, the processor time of the database's server.

    Args:
        folder: For the database; one that is there already is asked as it is.
        sizes: Hosts, records, failures.
        paths: The addresses; there is no topic: theirs have no figures.
        requests: Of each address.
    """
    with running(folder / "mongo") as mongo:
        url = mongo.url("crawl")
        if not (folder / WRITTEN).exists():
            write_mongo(folder / "sqlite", url, *sizes)
            (folder / WRITTEN).touch()
        queue = EmbeddedServer(folder / "queue")
        queue.start()
        try:
            fill_queue(queue.url, sizes[0])
            servers = StorageConfig(data=folder / "console", redis_url=queue.url, mongodb_url=url)
            with console_of(Settings(storage=servers)) as client:
                token = make_token(servers.data, "bench", TokenScope.READ, days=1).token
                client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
                return {path: _measured(client, path, requests, mongo.pid) for path in paths}
        finally:
            queue.stop()


def _measured(client: FlaskClient, path: str, requests: int, server: int) -> dict[str, Any]:
    begun = time.perf_counter()
    first = client.get(path)
    first_ms = 1000 * (time.perf_counter() - begun)
    if first.status_code == 404:
        return {}
    if first.status_code != 200:
        sys.exit(f"{path}: {first.status}")
    walls, cpus, used_s = [], [], cpu_s(server)
    for _ in range(requests):
        wall, cpu = time.perf_counter(), time.process_time()
        client.get(path)
        cpus.append(1000 * (time.process_time() - cpu))
        walls.append(1000 * (time.perf_counter() - wall))
    return {
        "first_ms": round(first_ms, 1),
        "wall_ms": round(median(walls), 1),
        "wall_p95_ms": round(quantiles(walls, n=20)[-1], 1),
        "cpu_ms": round(median(cpus), 1),
        "store_cpu_ms": round(1000 * (cpu_s(server) - used_s) / requests, 1),
    }


def write_mongo(folder: Path, url: str, hosts: int, records: int, failures: int) -> None:
    """Writes a store with its statistics into an empty database.

    Args:
        folder: For the store in SQLite that is copied.
        url: Of the database.
        hosts: Hosts.
        records: URLs with a record.
        failures: URLs that failed.
    """
    folder.mkdir(exist_ok=True)
    if not (folder / DATABASE).exists():
        write_store(folder, hosts, records, failures)
    with closing(MongoStore(url)) as store:
        store.crawls.all()  # makes the indexes
    with closing(sqlite3.connect(folder / DATABASE)) as file, plain_client(url) as client:
        database = client.get_default_database()
        for table in (*TABLES, "crawls"):
            rows = file.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own names
            names = [column[0] for column in rows.description]
            key = KEYS[table]
            while some := rows.fetchmany(STEP):
                named = [dict(zip(names, row, strict=True)) for row in some]
                database[table].insert_many([_document(table, key, row) for row in named])


def _document(table: str, key: tuple[str, ...], row: dict[str, object]) -> dict[str, object]:
    """A row as ``storage/mongo/ports.py`` keeps it."""
    separator = ":" if key == PAGE_KEY else "/"
    doc = {name: value for name, value in row.items() if value is not None}
    if table == "urls":
        del doc["page_id"]
    doc.pop("is_dirty", None)
    return {"_id": separator.join(str(row[name]) for name in key), **doc}
