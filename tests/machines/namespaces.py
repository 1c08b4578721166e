"""Machines as network namespaces of this one, joined by a switch."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.kit.processes import is_alive
from tests.kit.server_process import Running, ServerProcess

PREFIX = "crawl"
MARK = re.compile(rf"{PREFIX}(\d+)-")  # of a namespace: the process that made it
CALL_LIMIT_S = 20.0
HERE = "operator"  # no namespace: where the program that makes the network runs


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine of the network.

    Attributes:
        addresses: Where it is, the first one its own: ``("198.18.77.1",)`` of 198.18.77.0/24.
        delay_ms: How long each packet takes that it sends.
        loss: Part of its packets that never arrive, 0..1.
    """

    addresses: tuple[str, ...]
    delay_ms: float = 0.0
    loss: float = 0.0


def hindrance() -> str:
    """Why namespaces cannot be made here; ``""`` when they can."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip") or not shutil.which("nsenter"):
        return "ip (iproute2) or nsenter (util-linux) is not installed"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "/dev/net/tun cannot be opened"
    try:
        call("ip", "netns", "add", _name("try"))
        call("ip", "netns", "delete", _name("try"))
    except RuntimeError as error:
        return f"no network namespace can be made: {error}"
    return ""


def call(*words: str, limit_s: float = CALL_LIMIT_S) -> str:
    """Output of a command.

    Raises:
        RuntimeError: Its status is not 0, or the time is over.
    """
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"{' '.join(words)}: not done in {limit_s:.0f} s") from error
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: status {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def _name(machine: str) -> str:
    return f"{PREFIX}{os.getpid()}-{machine}"


class Network(Running):
    """Some machines on one switch, for a ``with`` block."""

    def __init__(self, folder: Path, machines: dict[str, Machine]) -> None:
        """Prepares machines by name; one named ``operator`` is where this program runs."""
        folder.mkdir(parents=True, exist_ok=True)
        self.machines = machines
        self._socket = folder / "switch"
        self._devices = {name: f"w{os.getpid()}{n}" for n, name in enumerate(machines)}
        wires = folder / "wires.json"
        wires.write_text(
            json.dumps(
                {
                    name: {
                        "device": self._devices[name],
                        "addresses": each.addresses,
                        "delay_ms": each.delay_ms,
                        "loss": each.loss,
                    }
                    for name, each in machines.items()
                }
            ),
            "utf-8",
        )
        self._switch = ServerProcess(
            [sys.executable, "-m", "tests.machines.switch", str(self._socket), str(wires)]
        )
        self._endings = ExitStack()

    def start(self) -> None:
        """Makes the namespaces and plugs them in."""
        _remove_orphans()
        self._socket.unlink(missing_ok=True)
        self._endings.enter_context(self._switch)
        for name, machine in self.machines.items():
            device, inside = self._devices[name], ["ip"]
            if name != HERE:
                call("ip", "netns", "add", _name(name))
                self._endings.callback(call, "ip", "netns", "delete", _name(name))
                call("ip", "link", "set", device, "netns", _name(name))
                inside += ["-n", _name(name)]
                call(*inside, "link", "set", "lo", "up")
            for address in machine.addresses:
                call(*inside, "address", "add", f"{address}/24", "dev", device)
            call(*inside, "link", "set", device, "up")

    def stop(self) -> None:
        """Removes namespaces and switch; processes in them have to be ended before."""
        self._endings.close()

    def namespace(self, machine: str) -> Path:
        """The file of a machine's namespace."""
        return Path("/run/netns") / _name(machine)

    def on(self, machine: str, command: Sequence[str]) -> list[str]:
        """The command line that runs a command on a machine."""
        if machine == HERE:
            return list(command)
        return ["nsenter", f"--net={self.namespace(machine)}", *command]

    def cut(self, machine: str) -> None:
        """Cuts the cable of a machine: what it sends and what is sent to it never arrives."""
        self._order(f"cut {machine}")

    def mend(self, machine: str) -> None:
        """Puts a new cable in."""
        self._order(f"mend {machine}")

    def calm(self) -> None:
        """Ends delay and loss."""
        self._order("calm")

    def figures(self) -> dict[str, dict[str, int]]:
        """Packets that each machine sent, how many were lost, and how many cut off."""
        return self._order("count")

    def _order(self, order: str) -> dict[str, dict[str, int]]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as talk:
            talk.settimeout(CALL_LIMIT_S)
            talk.connect(str(self._socket))
            talk.sendall(order.encode())
            found: dict[str, dict[str, int]] = json.loads(talk.recv(65536))
            return found


def _remove_orphans() -> None:
    """Removes namespaces of programs that were killed before they could do so."""
    for line in call("ip", "netns", "list").splitlines():
        name = line.split()[0]
        mark = MARK.match(name)
        if mark and not is_alive(int(mark[1])):
            call("ip", "netns", "delete", name)
