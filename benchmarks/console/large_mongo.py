"""The large store of ``large_store.py`` in a MongoDB server of its own process.

Rows that lists and statistics read are copied; records have no content there either.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from benchmarks.console.large_store import write_store
from storage.mongo.store import MongoStore
from storage.opening import DATABASE
from storage.store.ports import KEYS, PAGE_KEY
from tests.kit.mongo_server import plain_client

TABLES = ("urls", "hosts", "host_rows", "host_states", "failure_groups", "crawl_counts", "causes")
STEP = 5_000


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
