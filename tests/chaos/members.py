"""One process of a fleet: started, looked after, stopped."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from storage.queue.embedded import die_with_parent
from tests.chaos.processes import send
from tests.kit.crawls import ROOT

RESTART_S = 1.0


class Member:
    """One process that is started again when it died."""

    def __init__(self, role: str, arguments: Sequence[str], log: Path, env: dict[str, str]) -> None:
        self.role = role
        self.log = log
        self.is_held = False  # stays dead until this is taken away
        self._arguments = list(arguments)
        self._env = env
        self._due: float | None = None
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._env,
                cwd=ROOT,
                start_new_session=True,
                preexec_fn=die_with_parent(),
            )

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def look_after(self) -> None:
        """Starts it again a second after its end was seen."""
        if self.is_running() or self.is_held:
            return
        now = time.monotonic()
        if self._due is None:
            self._due = now + RESTART_S
        elif now >= self._due:
            self._due = None
            self.start()

    def stop(self, limit_s: float = 60.0) -> int:
        """Its exit status after SIGTERM."""
        assert self.process is not None
        send(self.pid, signal.SIGTERM)
        return self.process.wait(limit_s)
