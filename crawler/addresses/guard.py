"""The address guard: no request reaches a private address, unless its crawl allows private ones.

- The guard is part of the resolver, so it sees every hop (pages, redirects, robots.txt, sitemaps),
  IP literals in any spelling, and exactly the addresses of the connections: a name cannot resolve
  publicly when checked and privately when used.
- A crawl that may reach private addresses has connections of its own
  (``transfer/downloading.py``): no other crawl of the same spider can use them.
- ``address_of`` looks up the address of a host, for hosts that share a clock (ADR 10).
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from scrapy.crawler import Crawler
from twisted.internet._resolver import GAIResolver
from twisted.internet.interfaces import (
    IAddress,
    IHostnameResolver,
    IHostResolution,
    IResolutionReceiver,
)
from zope.interface import implementer

from crawlclean.crawler.addresses.public import is_public, read_address

MAX_HOSTS = 100_000  # names remembered
TEMPORARY_ERRORS = frozenset({socket.EAI_AGAIN, socket.EAI_MEMORY, socket.EAI_SYSTEM})

# Ports of services that may read a request line as a command: those that browsers refuse
# (https://fetch.spec.whatwg.org/#port-blocking), and those of databases and daemons.
BAD_PORTS = frozenset(
    {
        0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
        102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389,
        427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
        989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665,
        6666, 6667, 6668, 6669, 6679, 6697, 10080,
        445, 2375, 2376, 3306, 5432, 6379, 11211, 27017,
    }
)  # fmt: skip


def is_web_port(port: int | None) -> bool:
    """Whether requests may be sent to a port; None is the scheme's default port."""
    return port not in BAD_PORTS


class AddressGuard:
    """Remembers, of the last ``max_hosts`` lookups, the names without a permitted address."""

    def __init__(self, max_hosts: int = MAX_HOSTS) -> None:
        self._max_hosts = max_hosts
        self._refused: OrderedDict[str, None] = OrderedDict()
        self._unsure: OrderedDict[str, None] = OrderedDict()
        self._proxies: set[str] = set()

    def admits(self, hostname: str, *, allow_private: bool) -> bool:
        """Whether a crawl may request this host, judged before the name is resolved."""
        return allow_private or not (_is_private_literal(hostname) or hostname in self._proxies)

    def trust_proxy(self, hostname: str) -> None:
        """Permits connections to an operator's proxy; no crawl may fetch pages of its host."""
        self._proxies.add(hostname)

    def passes(self, hostname: str, address: str) -> bool:
        """Whether a name may be connected to at this address of its lookup."""
        return is_public(address) or hostname in self._proxies

    def refused(self, hostname: str) -> bool:
        """Whether the last lookup of the name found only private addresses."""
        return hostname in self._refused

    def unsure(self, hostname: str) -> bool:
        """Whether the last lookup failed with a temporary error: the name may have an address."""
        return hostname in self._unsure

    def looked_up(self, hostname: str, error: OSError | None) -> None:
        """Records whether a lookup ended with a temporary error; called from a thread."""
        if isinstance(error, socket.gaierror) and error.errno in TEMPORARY_ERRORS:
            self._remember(self._unsure, hostname)
        else:
            self._unsure.pop(hostname, None)

    def end_lookup(self, hostname: str, *, kept: int, refused: int) -> None:
        """Records the numbers of permitted and of refused addresses of a lookup."""
        if refused and not kept:
            self._remember(self._refused, hostname)
        else:
            self._refused.pop(hostname, None)

    def _remember(self, names: OrderedDict[str, None], hostname: str) -> None:
        names[hostname] = None
        names.move_to_end(hostname)
        if len(names) > self._max_hosts:
            names.popitem(last=False)


def _is_private_literal(hostname: str) -> bool:
    """Whether a name is an IP literal of a private address."""
    return read_address(hostname) is not None and not is_public(hostname)


def is_local_name(hostname: str) -> bool:
    """Whether a name is localhost or, in any spelling, a private address."""
    if hostname == "localhost" or hostname.endswith(".localhost"):
        return True
    try:
        spelled = socket.inet_ntoa(socket.inet_aton(hostname))  # 2130706433, 0x7f.1
    except (OSError, ValueError):
        return _is_private_literal(hostname)
    return not is_public(spelled)


@implementer(IResolutionReceiver)
class _PublicOnly:
    """Forwards the public addresses of one lookup."""

    def __init__(self, receiver: Any, hostname: str, guard: AddressGuard) -> None:
        self._receiver = receiver
        self._hostname = hostname
        self._guard = guard
        self._kept = self._refused = 0

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802 - the interface's name
        self._receiver.resolutionBegan(resolution)

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802 - the interface's name
        if self._guard.passes(self._hostname, str(getattr(address, "host", ""))):
            self._kept += 1
            self._receiver.addressResolved(address)
        else:
            self._refused += 1

    def resolutionComplete(self) -> None:  # noqa: N802 - the interface's name
        self._guard.end_lookup(self._hostname, kept=self._kept, refused=self._refused)
        self._receiver.resolutionComplete()


@implementer(IHostnameResolver)
class GuardedResolver:
    """Twisted's resolver behind the guard; named in Scrapy's ``TWISTED_DNS_RESOLVER``.

    There is no cache: a spider runs for weeks, and addresses change.
    """

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._permits = False
        self.guard = AddressGuard()
        self._original: Any = reactor.nameResolver
        if isinstance(self._original, GAIResolver):
            look_up: Any = self._look_up  # Twisted passes the arguments by position
            self._original = GAIResolver(reactor, reactor.getThreadPool, look_up)

    def _look_up(self, hostname: Any, *arguments: Any) -> Any:
        """Calls the system's resolver and records its error, which Twisted drops."""
        try:
            found = socket.getaddrinfo(hostname, *arguments)
        except OSError as error:
            self.guard.looked_up(hostname, error)
            raise
        self.guard.looked_up(hostname, None)
        return found

    @classmethod
    def from_crawler(cls, _crawler: Crawler, reactor: Any) -> GuardedResolver:
        """Creates the resolver of a Scrapy process."""
        return cls(reactor)

    @contextmanager
    def permitting(self) -> Iterator[None]:
        """Lets every address pass for lookups begun in the block; the block must not await."""
        self._permits = True
        try:
            yield
        finally:
            self._permits = False

    def install_on_reactor(self) -> None:
        """Makes this the resolver of every lookup of the process."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 - the interface's name
        self,
        resolutionReceiver: Any,  # noqa: N803 - the interface's name
        hostName: str,  # noqa: N803 - the interface's name
        portNumber: int = 0,  # noqa: N803 - the interface's name
        addressTypes: Sequence[type[IAddress]] | None = None,  # noqa: N803 - the interface's name
        transportSemantics: str = "TCP",  # noqa: N803 - the interface's name
    ) -> IHostResolution:
        """Resolves a name; only permitted addresses reach the receiver."""
        receiver = resolutionReceiver
        if not self._permits:
            receiver = _PublicOnly(resolutionReceiver, hostName, self.guard)
        answer: IHostResolution = self._original.resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )
        return answer


def installed_resolver() -> GuardedResolver:
    """Returns the resolver of this process.

    Raises:
        RuntimeError: The reactor resolves names unguarded: nothing may be fetched.
    """
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    if not isinstance(resolver, GuardedResolver):
        raise RuntimeError("the address guard is not installed")
    return resolver


def installed_guard() -> AddressGuard:
    """Returns the guard of this process.

    Raises:
        RuntimeError: The reactor resolves names unguarded: nothing may be fetched.
    """
    return installed_resolver().guard


@implementer(IResolutionReceiver)
class _Addresses:
    """Collects the addresses of one lookup."""

    def __init__(self) -> None:
        self._found: list[str] = []
        self.complete: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()

    def resolutionBegan(self, resolution: IHostResolution) -> None:  # noqa: N802 - the interface's name
        pass

    def addressResolved(self, address: IAddress) -> None:  # noqa: N802 - the interface's name
        self._found.append(str(getattr(address, "host", "")))

    def resolutionComplete(self) -> None:  # noqa: N802 - the interface's name
        if not self.complete.done():
            self.complete.set_result(self._found)


async def address_of(hostname: str, *, allow_private: bool) -> str:
    """Looks up the numerically first permitted address of a host: ``192.0.2.7``, ``""`` for none.

    In numerical order every process finds the same address, whatever the resolver's order.
    """
    resolver = installed_resolver()
    receiver: Any = _Addresses()
    with resolver.permitting() if allow_private else nullcontext():
        resolver.resolveHostName(receiver, hostname)
    found = [ip for ip in map(read_address, await receiver.complete) if ip]
    return str(min(found, key=lambda ip: (ip.version, int(ip)))) if found else ""
