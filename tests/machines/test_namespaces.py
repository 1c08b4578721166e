"""Packets between machines in namespaces: passed on, late, lost, cut off."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.timing import wait_until
from tests.machines.namespaces import HERE, Machine, Network, hindrance

# A machine that answers each datagram by itself.
ECHO = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as echo:
    echo.bind((sys.argv[1], 7))
    while True:
        echo.sendto(*echo.recvfrom(1000))
"""
SMALL = {
    HERE: Machine(addresses=("198.18.79.9",)),
    "near": Machine(addresses=("198.18.79.1",)),
    "far": Machine(addresses=("198.18.79.2", "198.18.79.3"), delay_ms=50),
    "deaf": Machine(addresses=("198.18.79.4",), loss=1.0),
}
ECHOES = {"near": "198.18.79.1", "far": "198.18.79.3", "deaf": "198.18.79.4"}


def is_answered(address: str, limit_s: float = 0.3) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(limit_s)
        asking.sendto(b"?", (address, 7))
        try:
            return asking.recv(10) == b"?"
        except TimeoutError:
            return False


def test_packets_are_passed_on_until_a_cable_is_cut(tmp_path: Path) -> None:
    if why := hindrance():
        pytest.skip(why)
    with Network(tmp_path, SMALL) as network:
        echoes = [
            subprocess.Popen(network.on(name, [sys.executable, "-c", ECHO, address]))
            for name, address in ECHOES.items()
        ]
        try:
            wait_until(lambda: is_answered(ECHOES["near"]))
            wait_until(lambda: is_answered(ECHOES["far"]))
            network.cut("far")
            before = network.figures()
            assert not is_answered(ECHOES["far"])
            assert is_answered(ECHOES["near"], 10.0), "only one cable is cut"
            assert network.figures()[HERE]["cut"] > before[HERE]["cut"]
            network.mend("far")
            wait_until(lambda: is_answered(ECHOES["far"]))
            wait_until(lambda: is_answered(ECHOES["deaf"]) or network.figures()["deaf"]["lost"] > 0)
            deaf = network.figures()["deaf"]
            assert deaf["sent"] == deaf["lost"] > 0
        finally:
            for echo in echoes:
                echo.kill()
                echo.wait()
    assert not network.namespace("near").exists()
    wires = json.loads((tmp_path / "wires.json").read_text("utf-8"))
    assert wires["far"]["delay_ms"] == 50
