"""The compose project of one machine: the repository's files unchanged, one override, secrets."""

from __future__ import annotations

import json
import re
import resource
import secrets
import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.kit.crawls import ROOT
from tests.kit.documents import blocks_of
from tests.stack.podman import Podman

NAME = "crawl"
COMPOSE_LIMIT_S = 300.0
HEALTH_LIMIT_S = 600.0
HEALTH_LOOK_S = 3.0
PASSWORDS, REPLICATION = "chmod 700 deploy/secrets", "+psync"
BASE, SERVE, JOIN = "docker-compose.yml", "deploy/serve.yml", "deploy/join.yml"
OVERRIDE, UPGRADE = "override.yml", "upgrade.yml"


class Project:
    """Containers of one machine, as podman-compose makes them."""

    def __init__(self, podman: Podman, tools: Path, settings: dict[str, str]) -> None:
        """Copies the deployment into podman's folder.

        Args:
            podman: On the machine of the project.
            tools: The virtual environment with podman-compose.
            settings: Environment of podman-compose.
        """
        self.podman = podman
        self.folder = podman.folder / "checkout"
        self.settings = settings
        self.files: Sequence[str] = (BASE, OVERRIDE)
        self.queue_server = f"{NAME}_redis_1"
        self._tools = tools
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        shutil.copy(ROOT / BASE, self.folder)
        shutil.copytree(ROOT / "deploy", self.folder / "deploy")
        files = min(64000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        # A limit above this machine's own cannot be given.
        limits = {"nofile": {"soft": files, "hard": files}, "nproc": 4096}
        self.write(OVERRIDE, {"services": {"mongo": {"ulimits": limits}}})

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Writes a compose file; JSON is YAML, too."""
        (self.folder / name).write_text(json.dumps(content), "utf-8")

    def make_passwords(self) -> None:
        """Runs the commands of docs/operate.md that make them."""
        [block] = [b for b in blocks_of(ROOT / "docs/operate.md") if PASSWORDS in b.text]
        script = "\n".join(line[2:] for line in block.text.splitlines() if line[:2] in ("$ ", "> "))
        self.podman.run(["bash", "-ec", script], folder=self.folder)

    def let_replicate(self) -> None:
        """Adds the users that docs/operate.md names for a replica and its promotion."""
        [users] = [b for b in blocks_of(ROOT / "docs/operate.md") if REPLICATION in b.text]
        password = secrets.token_hex()
        (self.folder / "deploy/secrets/replica_password").write_text(password, "utf-8")
        with (self.folder / "deploy/redis-users.acl").open("a", encoding="utf-8") as file:
            file.write(f"\n{users.text.replace('PASSWORD', password)}\n")

    def password(self, name: str) -> str:
        """A secret, ``redis_admin``."""
        return (self.folder / f"deploy/secrets/{name}_password").read_text("utf-8").strip()

    @property
    def command(self) -> list[str]:
        """podman-compose with its options."""
        files = [word for name in self.files for word in ("-f", name)]
        options = ["--podman-path", str(self.podman.program), "-p", NAME, "--in-pod=false"]
        return [str(self._tools / "bin/podman-compose"), *options, *files]

    def compose(self, *words: str, limit_s: float = COMPOSE_LIMIT_S) -> str:
        """Output of podman-compose."""
        # docker compose enables the profile of a service that is named by itself.
        profile = ["--profile", "cli"] if words[0] == "run" else []
        told = self.podman.run(
            [*self.command, *profile, *words],
            limit_s=limit_s,
            environment=self.settings,
            folder=self.folder,
        )
        if words[0] == "up":
            self.podman.hold_bridges()
        return told

    def script(self, name: str, *words: str) -> str:
        """Output of a script of ``deploy/``, with podman-compose for ``docker compose``."""
        settings = {**self.settings, "COMPOSE": shlex.join(self.command)}
        return self.podman.run(
            ["sh", f"deploy/{name}", *words],
            limit_s=COMPOSE_LIMIT_S,
            environment=settings,
            folder=self.folder,
        )

    def scale(self, **counts: int) -> None:
        """Starts or ends containers of roles; podman-compose takes one role at a time."""
        for role, count in counts.items():
            words = ("--no-build", "--no-recreate", "--no-deps", "--scale", f"{role}={count}")
            self.compose("up", "--detach", *words, role)

    def containers(self, role: str = "") -> list[str]:
        """Names of the running containers of a role, or of all."""
        name = re.compile(rf"{NAME}_({role or '.+'})_[0-9]+")
        return sorted(filter(name.fullmatch, self.podman("ps", "--format", "{{.Names}}").split()))

    def await_health(self, *containers: str, limit_s: float = HEALTH_LIMIT_S) -> float:
        """Seconds until the health checks of containers pass.

        Raises:
            RuntimeError: One does not in time.
        """
        begun = time.monotonic()
        for name in containers:
            while why := self.sickness(name):
                if time.monotonic() - begun > limit_s:
                    raise RuntimeError(f"{name} is not healthy: {why}")
                time.sleep(HEALTH_LOOK_S)
        return round(time.monotonic() - begun, 1)

    def sickness(self, container: str) -> str:
        """Why the health check of a container fails now; ``""`` when it passes."""
        try:
            self.podman("healthcheck", "run", container)
        except RuntimeError as error:
            return str(error).rpartition("status ")[2]
        return ""

    def queue(self, *words: str) -> list[str]:
        """Lines that redis-cli prints for a command of the user ``admin``."""
        login = ["--user", "admin", "--pass", self.password("redis_admin"), "--no-auth-warning"]
        return self.podman(
            "exec", self.queue_server, "redis-cli", *login, *words, limit_s=20
        ).splitlines()
