"""At which address a host is: hosts that share one may share a clock."""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import nullcontext
from typing import Any

from twisted.internet.interfaces import IAddress, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from crawler.addresses.guard import installed_resolver


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
    """The address that stands for a host: of those a crawl may ask the first in numerical order.

    ``""`` when there is none. Every process finds the same, whatever order its resolver gives.
    """
    resolver = installed_resolver()
    receiver: Any = _Addresses()
    with resolver.permitting() if allow_private else nullcontext():
        resolver.resolveHostName(receiver, hostname)
    found = []
    for text in await receiver.complete:
        try:
            found.append(ipaddress.ip_address(text.partition("%")[0]))
        except ValueError:
            continue
    return str(min(found, key=lambda ip: (ip.version, int(ip)))) if found else ""
