"""Processes that are told to stop, twice, in the middle of a crawl; disks that are full."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.chaos.fleets import Fleet, Servers, fleet_of
from tests.chaos.processes import send, until
from tests.chaos.rest import complaints
from tests.chaos.sites import Sites
from tests.servers import require
from tests.storage.disks import tiny_disk

NO_SPACE = 14031  # MongoDB's OutOfDiskSpace
WRITES = ["insert", "update", "findAndModify"]


def needs_mongo() -> None:
    if find_spec("secantus") is None:
        require("needs secantusdb, of the extra `test`")


def fill(file: Path) -> None:
    """Writes until the system refuses."""
    with file.open("wb", buffering=0) as opened:
        while True:
            opened.write(bytes(1 << 16))


def go_on(fleet: Fleet, condition: Callable[[], bool]) -> None:
    """Looks after the processes until the condition holds."""

    def looked() -> bool:
        fleet.look_after()
        return condition()

    until(looked, 60)


def at_rest(fleet: Fleet, sites: Sites) -> list[str]:
    """What is wrong when the crawl has ended."""
    go_on(fleet, fleet.is_done)
    fleet.come_to_rest()
    frontier, store = fleet.frontier(), fleet.open_store()
    frontier.sweep()
    found = complaints(fleet.client, fleet.crawl_id(), store, sites)
    frontier.close()
    store.close()
    return found


@pytest.mark.parametrize("store", ["sqlite", "mongo"])
def test_who_is_told_twice_to_stop_loses_nothing(tmp_path: Path, store: str) -> None:
    if store == "mongo":
        needs_mongo()
    roles = ("run",) if store == "sqlite" else ("spider", "worker", "sweeper")
    with (
        Sites(tmp_path, 120, 20, seed=5, hosts=1) as sites,
        fleet_of(store, tmp_path, sites.seeds, hurry=True) as fleet,
    ):
        go_on(fleet, lambda: sites.asked() > 40)
        told = [member for member in fleet.members if member.role in roles]
        for _ in range(2):
            for member in told:
                send(member.pid, signal.SIGTERM)
            with suppress(AssertionError):  # some need no second request
                until(lambda: not any(m.is_running() for m in told), 0.3)
        until(lambda: not any(m.is_running() for m in told), 30)
        for member in told:
            member.start()
        assert at_rest(fleet, sites) == []
        again = sum(sites.requests().values()) - 120
        assert again <= 16, "what was under way at the second request"


def test_a_full_disk_of_either_server_is_waited_for(tmp_path: Path) -> None:
    needs_mongo()
    with (
        tiny_disk(tmp_path / "disk", "size=16m") as disk,
        Sites(tmp_path, 120, 20, seed=6, hosts=1) as sites,
        Servers(tmp_path, sites.seeds, hurry=True, queue_folder=disk) as fleet,
    ):
        go_on(fleet, lambda: sites.asked() > 30)
        with fleet.mongo_server.failing("alwaysOn", WRITES, errorCode=NO_SPACE):
            go_on(fleet, lambda: "no space left" in str(fleet.lines()))
        go_on(fleet, lambda: sites.asked() > 60)
        ballast = disk / "ballast"
        with pytest.raises(OSError, match="No space left"):
            fill(ballast)
        go_on(fleet, lambda: str(fleet.lines()).count("MISCONF") >= 3)
        ballast.unlink()
        assert at_rest(fleet, sites) == []
        for who, lines in fleet.lines().items():
            assert not any("Traceback" in line for line in lines), (who, lines)
            assert sum("away, waiting" in line for line in lines) <= 3, (who, lines)
        assert sum(sites.requests().values()) == 120
