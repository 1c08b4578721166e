"""podman and podman-compose with a storage of their own, on one machine of a network."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.machines.namespaces import Network, call, hindrance

PROGRAMS = ("podman", "runc", "iptables", "debootstrap", "bash", "openssl")
HELPERS = ("netavark", "aardvark-dns", "catatonit")
HELPER_FOLDERS = ("/usr/lib/podman", "/usr/libexec/podman", "/usr/libexec/catatonit", "/usr/bin")
CALL_LIMIT_S = 120.0
REMOVAL_LIMIT_S = 400.0
REMOVALS = 5
CONFIGURATION = """
[containers]
default_ulimits = ["nofile=1024:{files}", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "{networks}"
"""
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{images}"
runroot = "{run}"
[storage.options]
additionalimagestores = [{shared}]
"""


def missing() -> str:
    """What the stack needs and is not here, in one line; ``""`` when it can run."""
    if why := hindrance():
        return why
    absent = [name for name in PROGRAMS if not shutil.which(name)]
    absent += [
        name
        for name in HELPERS
        if not any((Path(folder) / name).exists() for folder in HELPER_FOLDERS)
    ]
    if absent:
        return f"not installed: {', '.join(absent)}"
    try:
        call("podman", "--version")
    except RuntimeError as error:
        return f"podman does not run: {error}"
    return ""


class Podman:
    """podman on one machine; images of ``shared`` are its own, too."""

    def __init__(
        self, folder: Path, network: Network | None, machine: str, shared: Path | None = None
    ) -> None:
        """Writes the configuration into a folder; without a network, podman runs right here."""
        self.folder = folder
        self.images = folder / "images"
        self._network, self._machine = network, machine
        folder.mkdir(parents=True, exist_ok=True)
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        networks = folder / "networks"
        networks.mkdir(exist_ok=True)
        configuration, storage = folder / "containers.conf", folder / "storage.conf"
        configuration.write_text(CONFIGURATION.format(files=files, networks=networks), "utf-8")
        storage.write_text(
            STORAGE.format(
                images=self.images, run=folder / "run", shared=f'"{shared}"' if shared else ""
            ),
            "utf-8",
        )
        self.environment = {
            "CONTAINERS_CONF": str(configuration),
            "CONTAINERS_STORAGE_CONF": str(storage),
            "DISABLE_HC_SYSTEMD": "true",  # health checks are run by hand: no timers of systemd
        }
        options = ["--tmpdir", folder / "tmp"]
        words = ["podman", *map(str, options)]
        self.program = folder / "podman"  # what podman-compose calls
        self.program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', "utf-8")
        self.program.chmod(0o755)

    def __call__(self, *words: str, limit_s: float = CALL_LIMIT_S) -> str:
        """Output of ``podman WORDS``.

        Raises:
            RuntimeError: Its status is not 0, or the time is over.
        """
        return self.run([str(self.program), *words], limit_s=limit_s)

    def run(
        self,
        command: list[str],
        *,
        limit_s: float = CALL_LIMIT_S,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> str:
        """Output of any command on this machine, with podman's environment."""
        given = {**self.environment, **(environment or {})}
        words = ["env", *(f"--chdir={folder}" for _ in [0] if folder)]
        words += [f"{name}={value}" for name, value in given.items()]
        placed = [*words, *command]
        if self._network is not None:
            placed = self._network.on(self._machine, placed)
        return call("nice", "-n", str(_niceness()), *placed, limit_s=limit_s)

    def inspect(self, container: str, template: str) -> str:
        """What a container is like, by a template of Go: ``{{.State.Pid}}``."""
        return self("inspect", "--format", template, container).strip()

    def hold_bridges(self) -> None:
        """Gives every bridge the address that it has, for good.

        Otherwise it is that of one of its containers. When that one is removed, what others send
        over the bridge goes to the old address for up to a minute.
        """
        for bridge in json.loads(self.run(["ip", "-json", "link", "show", "type", "bridge"])):
            self.run(["ip", "link", "set", bridge["ifname"], "address", bridge["address"]])

    def remove_all(self) -> None:
        """Ends and removes all containers, volumes and networks of this storage."""
        for _ in range(REMOVALS):  # of containers on which others depend, podman 4.3 keeps some
            if not self("ps", "--all", "--quiet").strip():
                break
            with suppress(RuntimeError):
                self("rm", "--all", "--force", "--time", "0", "--volumes", limit_s=REMOVAL_LIMIT_S)
        if left := self("ps", "--all", "--external", "--quiet").split():  # of a killed build
            self("rm", "--force", *left, limit_s=REMOVAL_LIMIT_S)
        self("volume", "prune", "--force", limit_s=REMOVAL_LIMIT_S)
        self("network", "prune", "--force", limit_s=REMOVAL_LIMIT_S)


def _niceness() -> int:
    return max(0, 10 - os.nice(0))  # on top of this process's own
