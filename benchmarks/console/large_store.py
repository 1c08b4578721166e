"""A large store, written by SQL: many hosts of very different size, records and failures.

The rows have what lists and statistics read; all records have one content.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.rows import compress, encode_record
from tests.kit.outcomes import make_record

CRAWLS = 20
SPREAD = 1_000_000
"""Row n is of host (n * 7919 % SPREAD)^2 / SPREAD^2 * hosts: the first has 1 % of all rows."""

START = 1_770_000_000_000_000
"""Time of the first row, microseconds; one every 10 ms."""

_REASONS = ("timeout", "http_status", "dns", "not_html", "connect", "too_large")


def host_name(number: int) -> str:
    """The name of a host: ``h00042.example``; 0 is the largest."""
    return f"h{number:05}.example"


def write_store(data: Path, hosts: int, records: int, failures: int) -> None:
    """Writes a store into a folder, with its statistics."""
    with closing(SqliteStore(data / DATABASE)) as store:
        for number in range(CRAWLS):
            seeds = (f"http://{host_name(number)}/",)
            store.crawls.put(CrawlSpec(crawl_id=f"c{number}", seeds=seeds), CrawlState.RUNNING)
    with closing(sqlite3.connect(data / DATABASE)) as file:
        file.execute("PRAGMA synchronous = OFF")
        file.execute("PRAGMA cache_size = -200000")
        values = {"state": "'record'", "status": "200", "fetched_bytes": "30000"}
        _fill(file, "urls", hosts, range(records), values | {"html_chars": "28000"})
        links = {f"links_{kind}": f"n % {mod}" for kind, mod in _LINKS.items()}
        kind = "CASE n % 3 WHEN 0 THEN 'article' WHEN 1 THEN 'thread' ELSE 'index' END"
        values = {"is_current": "1", "kind": kind, "body_chars": "n % 4000", **links}
        _fill(file, "records", hosts, range(records), values)
        one = make_record("http://h00000.example/0.html", text="一段正文，有逗号。" * 60)
        blobs = tuple(map(compress, encode_record(one)))
        file.execute("INSERT INTO record_blobs SELECT saved_seq, ?, ? FROM records", blobs)
        which = " ".join(f"WHEN {n} THEN '{reason}'" for n, reason in enumerate(_REASONS))
        failed = {
            "state": "'failed'",
            "reason": f"CASE n % {len(_REASONS)} {which} END",
            "status": f"CASE n % {len(_REASONS)} WHEN 1 THEN 400 + n % 5 ELSE 0 END",
            "detail": "'no answer'",
            "attempts": "3",
        }
        _fill(file, "urls", hosts, range(records, records + failures), failed)
        file.execute(
            "INSERT INTO hosts (crawl_id, host, is_dirty) "
            "SELECT DISTINCT crawl_id, host, 1 FROM urls"
        )
        file.commit()
    with closing(SqliteStore(data / DATABASE)) as store:
        store.statistics.refresh()


def fill_queue(url: str, hosts: int) -> None:
    """Opens a crawl with a URL of every host, without a spider."""
    frontier = Frontier(url)
    frontier.open_crawl(CrawlSpec(crawl_id="c0", seeds=()))
    frontier.offer(
        "c0", [Discovery(url=f"http://{host_name(number)}/next.html") for number in range(hosts)]
    )
    frontier.close()


_LINKS = {"body": 7, "related": 5, "navigation": 41, "ad": 4, "hot": 9}


def _fill(
    file: sqlite3.Connection, table: str, hosts: int, numbers: range, values: dict[str, str]
) -> None:
    """Inserts a row for each number; columns that nobody names are empty or 0."""
    host = f"((n * 7919 % {SPREAD}) * (n * 7919 % {SPREAD}) / ({SPREAD} * {SPREAD} / {hosts}))"
    known = {
        "page_id": "printf('%08x%024x', n * 2654435761 % 4294967296, n)",
        "crawl_id": f"'c' || ({host} % {CRAWLS})",
        "host": f"printf('h%05d.example', {host})",
        "url": f"printf('http://h%05d.example/%d.html', {host}, n)",
        "fetched_at": f"{START} + n * 10000",
        "saved_at": f"{START} + n * 10000",
        "model_version": "n % 4",
        "role": "'page'",
        "via": "'link'",
        "log": "'[]'",
        **values,
    }
    columns = file.execute(f"PRAGMA table_info({table})").fetchall()
    named = {name: known.get(name) or _empty(kind) for _, name, kind, must, _, key in columns
             if (must or name in known) and name != "saved_seq"}  # fmt: skip
    file.execute(
        f"WITH RECURSIVE count(n) AS (SELECT {numbers.start} UNION ALL SELECT n + 1 FROM count "  # noqa: S608
        f"WHERE n + 1 < {numbers.stop}) INSERT INTO {table} ({', '.join(named)}) "
        f"SELECT {', '.join(named.values())} FROM count"
    )


def _empty(kind: str) -> str:
    return {"TEXT": "''", "BLOB": "x''"}.get(kind, "0")
