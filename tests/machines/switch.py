"""A switch in a program: TUN devices, one a machine; what a machine sends comes late or never.

``python -m tests.machines.switch SOCKET WIRES.json`` opens a device for each wire, prints ``0`` and
passes packets of IPv4 on until it is killed; its devices go with it. A wire is an object with
``device``, ``addresses`` (where its machine is), ``delay_ms`` and ``loss`` (of what the machine
sends, 0..1). Each message to SOCKET is an order, answered by the figures of all wires:
``cut NAME``, ``mend NAME``, ``calm`` (no delay, no loss from now on), ``count``.

It stands in for a bridge with netem, which many kernels are built without. It moves real packets
between real network stacks; 10,000 packets cost it about a second of processor time.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import random
import socket
import struct
import sys
from pathlib import Path
from typing import Any

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
VERSION_4 = 4
DESTINATION = slice(16, 20)  # of an IPv4 header
LONGEST = 65535
SEED = 1


class Wire:
    """The cable of one machine, and what went over it."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.device = str(about["device"])
        self.addresses = [socket.inet_aton(address) for address in about["addresses"]]
        self.delay_s = float(about["delay_ms"]) / 1000
        self.loss = float(about["loss"])
        self.is_cut = False
        self.sent = self.lost = self.cut = 0
        self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        request = struct.pack("16sH22x", self.device.encode(), IFF_TUN | IFF_NO_PI)
        fcntl.ioctl(self.file, TUNSETIFF, request)

    def figures(self) -> dict[str, int]:
        """Packets that its machine sent, how many of them were lost, and how many cut off."""
        return {"sent": self.sent, "lost": self.lost, "cut": self.cut}


class Switch:
    """All wires of a network."""

    def __init__(self, wires: dict[str, Wire]) -> None:
        self._wires = wires
        self._place = {address: wire for wire in wires.values() for address in wire.addresses}
        self._chance = random.Random(SEED)
        self._loop = asyncio.get_running_loop()
        for wire in wires.values():
            self._loop.add_reader(wire.file, self._take, wire)

    def _take(self, wire: Wire) -> None:
        try:
            while packet := os.read(wire.file, LONGEST):
                self._pass(wire, packet)
        except BlockingIOError:
            return
        except OSError:  # its machine is gone
            self._loop.remove_reader(wire.file)

    def _pass(self, wire: Wire, packet: bytes) -> None:
        to = self._place.get(packet[DESTINATION])
        if packet[0] >> 4 != VERSION_4 or to is None:
            return
        wire.sent += 1
        if wire.is_cut or to.is_cut:
            wire.cut += 1
        elif self._chance.random() < wire.loss:
            wire.lost += 1
        else:
            self._loop.call_later(wire.delay_s, self._deliver, wire, to, packet)

    @staticmethod
    def _deliver(wire: Wire, to: Wire, packet: bytes) -> None:
        try:
            os.write(to.file, packet)
        except OSError:  # its machine is not up, or its queue is full
            wire.lost += 1

    def obey(self, order: str) -> dict[str, dict[str, int]]:
        """Carries an order out; the figures of all wires."""
        what, _, name = order.partition(" ")
        if what in ("cut", "mend"):
            self._wires[name].is_cut = what == "cut"
        for wire in self._wires.values() if what == "calm" else ():
            wire.delay_s = wire.loss = 0.0
        return {name: wire.figures() for name, wire in self._wires.items()}


async def serve(place: str, about: dict[str, dict[str, Any]]) -> None:
    """Passes packets on and takes orders, without end."""
    switch = Switch({name: Wire(each) for name, each in about.items()})
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as orders:
        orders.bind(place)
        orders.listen()
        orders.setblocking(False)
        sys.stdout.write("0\n")
        sys.stdout.flush()
        while True:
            caller, _ = await loop.sock_accept(orders)
            with caller:
                caller.setblocking(False)
                order = (await loop.sock_recv(caller, 1000)).decode()
                await loop.sock_sendall(caller, json.dumps(switch.obey(order)).encode())


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], json.loads(Path(sys.argv[2]).read_text("utf-8"))))
