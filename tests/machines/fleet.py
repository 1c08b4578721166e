"""A crawl's processes on three machines, each with a clock of its own; the sites on a fourth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crawlclean.storage.crawl_types import CrawlSpec
from tests.chaos.fleets import CRAWL, Servers
from tests.kit.web import Page, Web
from tests.machines.namespaces import HERE, Machine, Network

DELAY_MS = 300
SERVERS = "198.18.77.1"
SITES = ("198.18.77.101", "198.18.77.102", "198.18.77.103")
PORT = 8000
# The queue's time is the servers'. Event.wait() never ends under libfaketime 0.9.10, and workers
# and the housekeeper wait by it: their clock is right.
CLOCKS_S = {"spiders": 300, "workers": 0, "servers": 0}
ROLES = {
    **dict.fromkeys(("queue", "mongo"), "servers"),
    "spider": "spiders",
    **dict.fromkeys(("worker", "housekeeper"), "workers"),
}
# Each has a name, as machines have: processes of one are told apart from those of another by it.
NAMED = ("unshare", "--uts", "--", "sh", "-c", 'hostname "$0" && exec "$@"')


def machines(delay_ms: float, loss: float) -> dict[str, Machine]:
    """The network: what every machine sends takes ``delay_ms``; ``loss`` (0..1) never arrives."""
    places = {
        "servers": (SERVERS,),
        "spiders": ("198.18.77.2",),
        "workers": ("198.18.77.3",),
        "web": ("198.18.77.4", *SITES),
    }
    found = {
        name: Machine(addresses=addresses, delay_ms=delay_ms, loss=loss)
        for name, addresses in places.items()
    }
    return {**found, HERE: Machine(addresses=("198.18.77.100",))}


class PlacedWeb(Web):
    """A site on the machine ``web``, at an address of its own."""

    def __init__(
        self, network: Network, folder: Path, pages: Mapping[str, Page], number: int
    ) -> None:
        """Prepares site ``number`` (from 0)."""
        super().__init__(folder, pages, SITES[number], PORT)
        self.command = network.on("web", self.command)

    def await_ready(self) -> None:
        """Returns when the site listens; its port is known."""
        super().await_ready()
        assert self.port == PORT


class Machines(Servers):
    """Two spiders, two workers and a housekeeper on two machines, their servers on a third."""

    address = SERVERS

    def __init__(
        self, folder: Path, seeds: tuple[str, ...], network: Network, faketime: Path
    ) -> None:
        """Prepares the processes; ``faketime`` is the library that shifts clocks."""
        self.network = network
        self._faketime = faketime
        super().__init__(folder, seeds, hurry=False)

    def placed(self, role: str, command: Sequence[str]) -> Sequence[str]:
        """The command line on the machine of the role, with this machine's name and clock."""
        machine = ROLES[role]
        clock = CLOCKS_S[machine]
        # Its monotonic clock is shifted, too: libfaketime 0.9.10 spoils time.sleep() otherwise.
        shifted = ("env", f"LD_PRELOAD={self._faketime}", f"FAKETIME={clock:+d}s")
        return self.network.on(machine, [*NAMED, machine, *(shifted if clock else ()), *command])

    def spec(self) -> CrawlSpec:
        """The order of the crawl: the sites are polite hosts, not those of a loopback."""
        return CrawlSpec(crawl_id=CRAWL, seeds=self.seeds, allow_private=True, delay_ms=DELAY_MS)

    def stored(self) -> int:
        """Records so far, as the queue counts them."""
        return int(self.client.hget(f"cc:c:{CRAWL}", "stored") or 0)
