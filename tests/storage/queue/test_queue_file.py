"""The append-only file of the private server: its size, and what a power loss leaves of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crawlclean.storage.queue import embedded
from tests.kit.queue_server import running
from tests.kit.timing import wait_until


@pytest.mark.parametrize("cut", [0, 10])
@pytest.mark.parametrize("zeros", [1, 4096, 200_000])
def test_zeros_at_the_end_of_the_file_are_cut(tmp_path: Path, zeros: int, cut: int) -> None:
    with running(tmp_path) as (first, client):
        for n in range(100):
            client.set(f"k{n}", n)
    assert first.notice == ""
    [file] = (tmp_path / "queue/appendonlydir").glob("*.incr.aof")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) - cut] + bytes(zeros))
    with running(tmp_path) as (again, client):
        assert client.dbsize() == (99 if cut else 100)
        client.set("new", 1)
        assert f"ended in {zeros} zeros" in again.notice


def _queue_bytes(data: Path) -> int:
    return sum(path.stat().st_size for path in (data / "queue").rglob("*.*") if path.is_file())


@pytest.mark.parametrize("keys", [10, 1000])
def test_the_file_is_written_anew_at_a_stop(tmp_path: Path, keys: int) -> None:
    """With many keys it was written anew before, while it held all of them."""
    with running(tmp_path) as (_, client):
        for n in range(1000):
            client.set(f"k{n % keys}", os.urandom(2000))
        if keys > 10:
            client.bgrewriteaof()
            wait_until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
            client.delete(*(f"k{n}" for n in range(10, keys)))
        kept = client.mget([f"k{n}" for n in range(10)])
        assert _queue_bytes(tmp_path) > 2_000_000
    assert _queue_bytes(tmp_path) < 30_000
    with running(tmp_path) as (_, client):
        assert client.mget([f"k{n}" for n in range(10)]) == kept


def test_the_file_is_written_anew_while_it_grows(tmp_path: Path) -> None:
    with running(tmp_path) as (_, client):

        def is_small_again() -> bool:
            # It grows on: what came while a slow machine wrote it anew counts as its size.
            client.set("k", os.urandom(100_000))
            return _queue_bytes(tmp_path) < 3 * embedded.REWRITE_BYTES

        for _ in range(300):
            client.set("k", os.urandom(100_000))
        wait_until(is_small_again)
