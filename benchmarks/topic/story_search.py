"""One search for near-duplicates among many synthetic signatures: a part of ``stories.py``.

Pages of a host share a tenth of their minima; every fiftieth page is a copy in one of 20 stories,
which are therefore large: 1,000 pages each among a million. A search is timed with everything that
a save reads to find the stories of a page, for a new page of a stored host, for a copy of a page,
and for a copy of one of the large stories. On a machine that other processes use, times on the wall
have the pauses of the scheduler in them; CPU times have not.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import bson

from crawlclean.cleaning.topics.stories import BINS, KEYS, SIGNATURE_BYTES, story_keys
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.mongo.stories import MongoStoryRows
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.sqlite.stories import SqliteStoryRows
from crawlclean.storage.store.stories import StoryMember, StoryRows, matches
from tests.kit.mongo_server import MongoServer

HOST_PAGES = 2_000
STEP = 10_000
T0_US = 1_772_366_400_000_000
SHARED = 26  # of 256: the share of a page's minima that are its host's
LARGE_EVERY, LARGE_STORIES = 50, 20
KEPT_IN_STORY, KEPT_IN_COPY = 218, 128  # of 256
SEARCHES, WARM_UP = 1_000, 100


def search(number: int) -> dict[str, Any]:
    """Bytes a page and time of one search with its candidates checked, in SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.sqlite"
        with closing(SqliteStore(path)) as store:
            store.crawls.all()
            empty = path.stat().st_size
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                _fill_signatures(db, number)
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                size = path.stat().st_size - empty
                _fill_records(db, number)
            rows = SqliteStoryRows(store._db)
            result = {
                "pages": number,
                "bytes_a_page": round(size / number),
                **_searches(rows, number),
            }
    return {"search": result}


def _signature(page: int) -> bytes:
    """The signature of a page: of a large story, or with some of its host's minima."""
    if page % LARGE_EVERY == 0:
        return _copy(_large(page // LARGE_EVERY % LARGE_STORIES), KEPT_IN_STORY, page)
    own = random.Random(page)  # noqa: S311 - a page keeps its text
    mine, (theirs, of_host_high) = own.randbytes(BINS), _of_host(page // HOST_PAGES)
    shared = [each < SHARED for each in own.randbytes(BINS)]
    low = [theirs[place] if shared[place] else mine[place] for place in range(BINS)]
    high = own.randbytes(KEYS)
    more = []
    for place in range(KEYS):
        masks = (0xF0 if shared[2 * place] else 0) | (0x0F if shared[2 * place + 1] else 0)
        more.append(of_host_high[place] & masks | high[place] & ~masks & 0xFF)
    return bytes(low + more)


def _story_of(page: int) -> int | None:
    """The number of the large story of a page."""
    return None if page % LARGE_EVERY else 1 + page // LARGE_EVERY % LARGE_STORIES


@lru_cache(maxsize=LARGE_STORIES)
def _large(story: int) -> bytes:
    return random.Random(-100_000 - story).randbytes(SIGNATURE_BYTES)  # noqa: S311 - of all its pages


def _copy(signature: bytes, kept: int, seed: int) -> bytes:
    """A signature with each byte kept with the probability ``kept`` / 256."""
    chance = random.Random(seed)  # noqa: S311 - the same copies in each run
    other, fates = chance.randbytes(SIGNATURE_BYTES), chance.randbytes(SIGNATURE_BYTES)
    pieces = zip(signature, other, fates, strict=True)
    return bytes(old if fate < kept else new for old, new, fate in pieces)


@lru_cache(maxsize=2_000)
def _of_host(host: int) -> tuple[bytes, bytes]:
    of_host = random.Random(-1 - host)  # noqa: S311 - of all its pages
    return of_host.randbytes(BINS), of_host.randbytes(KEYS)


def _fill_signatures(db: sqlite3.Connection, number: int) -> None:
    """Adds pages in the order of their arrival, as saves do, in steps of 10,000."""
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA cache_size = -600000")
    for start in range(0, number, STEP):
        pages = {page: _signature(page) for page in range(start + 1, min(start + STEP, number) + 1)}
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO signatures VALUES (?, ?, 1700, ?, ?)",
            [
                (page, each, T0_US + page * 1_000_003, _story_of(page))
                for page, each in pages.items()
            ],
        )
        # Sorted within a step: the pages of the index are met in order, and are filled as by saves.
        keys = sorted((key, page) for page, each in pages.items() for key in story_keys(each))
        db.executemany("INSERT INTO story_keys VALUES (?, ?)", keys)
        db.execute("COMMIT")
        if start % 100_000 == 0:
            sys.stderr.write(f"{start} pages\n")


def _fill_records(db: sqlite3.Connection, number: int) -> None:
    columns = [row[1] for row in db.execute("PRAGMA table_info(records)")]
    given = {"saved_seq", "page_id", "crawl_id", "host"}
    zeros = {name: "0" for name in columns if name not in given}
    values = {
        "saved_seq": "seq",
        "page_id": "printf('%032x', seq)",
        "crawl_id": "'news'",
        "host": f"'h' || (seq / {HOST_PAGES})",
        **zeros,
    }
    db.execute("DROP INDEX records_of_site")
    db.execute(
        f"INSERT INTO records ({', '.join(columns)}) "  # noqa: S608 - our names
        f"SELECT {', '.join(values[name] for name in columns)} FROM signatures LIMIT {number:d}"
    )


def _searches(rows: StoryRows, number: int) -> dict[str, Any]:
    """Searches for new pages of stored hosts, and for copies that keep half of their minima."""
    chance = random.Random(9)  # noqa: S311 - the same pages in each run
    searched: dict[str, Callable[[int], bytes]] = {
        "new": lambda page: _signature((number + page) // LARGE_EVERY * LARGE_EVERY + 1),
        "copy": lambda page: _copy(_signature(page), KEPT_IN_COPY, -page),
        "copy of a large story": lambda page: _copy(
            _large(page % LARGE_STORIES), KEPT_IN_COPY, -page
        ),
    }
    result: dict[str, Any] = {}
    for kind, signature_of in searched.items():
        times, cpu, hits = [], [], 0
        for turn in range(SEARCHES + WARM_UP):
            signature = signature_of(chance.randrange(1, number))
            page, keys = _page(signature), story_keys(signature)
            begun, begun_cpu = time.perf_counter(), time.process_time()
            found = matches(rows, page, keys)
            if turn >= WARM_UP:
                times.append(time.perf_counter() - begun)
                cpu.append(time.process_time() - begun_cpu)
                hits += bool(found)
        result[kind] = {
            **_quantiles("wall", times),
            **_quantiles("cpu", cpu),
            "found": round(hits / len(times), 4),
        }
    return result


def _page(signature: bytes) -> StoryMember:
    """A page of a host of its own that is to be saved."""
    return StoryMember(
        ref=-1,
        page_id="f" * 32,
        crawl_id="c",
        host="x",
        sketch=signature[:BINS],
        chars=1700,
        at=0,
    )


def _quantiles(name: str, times_s: list[float]) -> dict[str, float]:
    """The median and the 95th percentile, in milliseconds."""
    ordered = sorted(times_s)
    return {
        f"{name}_p50_ms": round(ordered[len(ordered) // 2] * 1000, 3),
        f"{name}_p95_ms": round(ordered[int(len(ordered) * 0.95)] * 1000, 3),
    }


def mongo(number: int) -> dict[str, Any]:
    """The same in the stand-in server: its times and bytes are not those of MongoDB."""
    with tempfile.TemporaryDirectory() as folder, MongoServer(Path(folder)) as server:
        server.await_ready()
        with closing(MongoStore(server.url("stories"))) as store:
            store.crawls.all()
            with store._db.use() as database:
                for start in range(0, number, 500):
                    database.signatures.insert_many(map(_document, range(start, start + 500)))
                one = database.signatures.find_one()
            bson_bytes = len(_encoded(one))
            found = _searches(MongoStoryRows(store._db), number)
    return {"mongo": {"server": "stand-in", "pages": number, "bson_bytes": bson_bytes, **found}}


def _encoded(document: dict[str, Any]) -> bytes:
    return bytes(bson.encode(document))


def _document(page: int) -> dict[str, Any]:
    signature = _signature(page)
    return {
        "_id": f"{page:032x}:news",
        "page_id": f"{page:032x}",
        "crawl_id": "news",
        "host": f"h{page // HOST_PAGES}",
        "fetched_at": T0_US + page,
        "model_version": 0,
        "digest": bytes(16),
        "signature": signature[:BINS],
        "chars": 1700,
        "at": T0_US + page,
        "keys": list(story_keys(signature)),
        **({} if _story_of(page) is None else {"story": _story_of(page)}),
    }
