"""The queue's server as ``docker-compose.yml`` starts it, with script and users of ``deploy/``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from redis import Redis, exceptions

from crawlclean.storage.queue.embedded import find_server
from tests.kit.server_process import ROOT, ServerProcess
from tests.kit.timing import wait_until

DEPLOY = ROOT / "deploy"
ROLES = ("admin", "worker", "housekeeper", "spider", "console", "dashboard")


class DeployedRedis(ServerProcess):
    """The server's process, on a socket, for a ``with`` block."""

    def __init__(self, program: Path | None = None) -> None:
        """Writes the container's files into a folder with a short name, as a socket needs.

        Args:
            program: Another server than the one of the embedded mode.
        """
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        self.socket = folder / "s"
        for role in ROLES:
            (folder / f"redis_{role}_password").write_text(self.password(role) + "\n")
        (folder / "redis-server").symlink_to(program or find_server())
        conf = (DEPLOY / "redis.conf").read_text("utf-8").replace("dir /data", f"dir {folder}")
        (folder / "redis.conf").write_text(f"{conf}\nport 0\nunixsocket {self.socket}\n")
        (folder / "redis-users.acl").write_text((DEPLOY / "redis-users.acl").read_text("utf-8"))
        script = (DEPLOY / "redis-start.sh").read_text("utf-8")
        script = script.replace("/run/secrets", str(folder)).replace("/etc/crawl", str(folder))
        path = {"PATH": f"{folder}:/usr/bin:/bin"}
        super().__init__(["sh", "-c", script], log=folder / "log", env=path)

    @staticmethod
    def password(role: str) -> str:
        """The password of a role, with every character that a shell or a URL could take wrongly."""
        return f'{role} "b\\c d$HOME&/@:%'

    def url(self, role: str) -> str:
        """The URL with which a role connects."""
        return f"unix://{role}:{quote(self.password(role), safe='')}@{self.socket}"

    def client(self, role: str) -> Any:
        """A plain client of a role."""
        password = self.password(role)
        return Redis(unix_socket_path=str(self.socket), username=role, password=password)

    def await_ready(self) -> None:
        """Returns when the server answers the health check of the compose file."""

        def is_up() -> bool:
            assert self.is_running(), self.log_file
            health = self.client("health")
            try:
                return bool(health.ping())
            except exceptions.ConnectionError:
                return False
            finally:
                health.close()

        wait_until(is_up)

    def stop(self) -> None:
        """Ends the server and deletes its folder."""
        super().stop()
        self._folder.cleanup()
