"""The drill's world: the site, a crawl of its hosts with three workers, and a console."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from flask import Flask, Response, request
from waitress.server import create_server

from benchmarks.drill.drill_site import BULK_HOST, HOSTS, POISON, DrillSite
from cleaning.errors import ServiceError
from storage.console_file import ConsoleFile
from storage.opening import join_queue, open_store
from storage.queue.frontier import Frontier
from storage.store.protocol import Store
from tests.kit.console import serving
from tests.kit.crawls import ROOT, command, environment
from workers.config import Settings, load_settings
from workers.console.access import Access, generated_password
from workers.console.actions import Actions
from workers.console.app import create_app
from workers.console.routes import Console
from workers.operations.watching.kept_backends import KeptBackends

CRAWL, OLD_CRAWL = "drill", "last-week"
WORKERS = 3
DELAY_S = 0.3
NEVER_A_TRAP = "1000000"
"""`--trap-pages` by which nothing is stopped by itself, and accounts are kept."""

DISK_BYTES = 300 << 20
LEFT_BYTES = 6 << 20
"""What a filled disk has left: a crawl stops at 8 MiB."""

LOOK_S = 0.2

# Loaded by every interpreter of the crawl: cleaning one page kills the worker's process.
SABOTAGE = f"""
import os, signal, sys
if {{"run", "worker"}} & {{*sys.orig_argv}}:
    import workers.jobs.outcomes as endings
    real = endings.read
    def clean(raw, *rest):
        if raw.url.endswith("{POISON}"):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(raw, *rest)
    endings.read = clean
"""


class World:
    """One drill's site, crawl and console; for a ``with`` block."""

    def __init__(
        self, folder: Path, *, has_old_crawl: bool = False, short_host: int | None = None
    ) -> None:
        """Starts nothing yet.

        Args:
            folder: An empty folder.
            has_old_crawl: Whether a finished crawl with large pages is in the archive, on a disk
                of its own.
            short_host: Number of a host with few pages; None: all have many.
        """
        self.folder = folder
        self.site = DrillSite(short_host)
        self.clicks: list[str] = []
        self.clicked_at: list[float] = []
        self.address = ""
        self.password = generated_password()
        self._has_old_crawl = has_old_crawl
        self._stack = ExitStack()

    def __enter__(self) -> World:
        """Starts everything; returns when pages are stored."""
        with ExitStack() as stack:
            stack.enter_context(self.site)
            if self._has_old_crawl:
                stack.callback(_mount(self.folder))
            self.data = self.folder / "data"
            self.settings: Settings = load_settings({}, {"data": self.data})
            self._start_crawl(stack)
            self._start_console(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends everything."""
        self._stack.close()

    def _start_crawl(self, stack: ExitStack) -> None:
        sabotage = self.folder / "sabotage"
        sabotage.mkdir()
        (sabotage / "sitecustomize.py").write_text(SABOTAGE, "utf-8")
        environ = environment(PYTHONPATH=f"{sabotage}:{ROOT}")
        usual = ("--allow-private", "--data", str(self.data), "--workers", str(WORKERS))
        if self._has_old_crawl:
            words = command("run", self._home(BULK_HOST), "--crawl", OLD_CRAWL, *usual)
            subprocess.run(  # noqa: S603 - our own command
                words, env=environ, cwd=ROOT, check=True, capture_output=True
            )
        seeds = [self._home(number) for number in range(HOSTS)]
        limits = ("--delay", str(DELAY_S), "--trap-pages", NEVER_A_TRAP)
        words = command("run", *seeds, "--crawl", CRAWL, *usual, *limits)
        with (self.folder / "crawl.log").open("wb") as log:
            crawl = subprocess.Popen(  # noqa: S603 - our own command
                words, env=environ, cwd=ROOT, stdout=log, stderr=log
            )
        stack.callback(_end, crawl)
        self.wait_until(lambda: self.records() >= HOSTS, 180)

    def _home(self, number: int) -> str:
        return f"http://{self.site.host(number)}/"

    def _start_console(self, stack: ExitStack) -> None:
        file = stack.enter_context(closing(ConsoleFile(self.data)))
        access = Access(file, self.password, is_generated=True)
        backends = stack.enter_context(closing(KeptBackends(self.settings)))
        actions = Actions(self.settings, access, file)
        app = create_app(Console(self.settings, backends, access, actions))
        _count_clicks(app, self.clicks, self.clicked_at)
        server = create_server(app, host="127.0.0.1", port=0, threads=4)
        stack.enter_context(serving(server))
        self.address = f"http://127.0.0.1:{server.effective_port}/"

    def forget_clicks(self) -> None:
        """Counts clicks from now on."""
        self.clicked_at.clear()
        self.clicks.clear()

    def store(self) -> Store:
        """The store; to be closed."""
        return open_store(self.settings.storage)

    def queue(self) -> Frontier:
        """The queue; to be closed."""
        return join_queue(self.settings.storage)

    def records(self, host: str = "") -> int:
        """Stored records, of one host or of all."""
        try:
            with closing(self.store()) as store:
                return sum(store.hosts.by_model(host).values()) if host else store.records.count()
        except ServiceError:
            return 0

    def wait_until(self, condition: Callable[[], bool], limit_s: float) -> float:
        """Waits for a condition; returns the seconds.

        Raises:
            TimeoutError: It did not hold in time.
        """
        begun = time.monotonic()
        while not condition():
            if time.monotonic() - begun > limit_s:
                raise TimeoutError(f"not in {limit_s:.0f} s")
            time.sleep(LOOK_S)
        return time.monotonic() - begun


def _count_clicks(app: Flask, clicks: list[str], times: list[float]) -> None:
    """Notes what a person asks for: no parts of pages, no files, not what a form leads to."""
    led_to: set[str] = set()

    @app.after_request
    def note(response: Response) -> Response:
        path = request.full_path.rstrip("?")
        is_part = path.split("?")[0].endswith("/live") or request.endpoint == "static"
        if path in led_to:
            led_to.discard(path)
        elif not is_part and not path.startswith(("/login", "/raw/", "/favicon")):
            times.append(time.monotonic())
            clicks.append(f"{request.method} {path}")
        if response.status_code == 303 and request.method == "POST":
            led_to.add(response.location.removeprefix(request.host_url.rstrip("/")))
        return response


def _mount(folder: Path) -> Callable[[], bool]:
    """Mounts a small disk; returns what takes it away."""
    size = f"size={DISK_BYTES}"

    def has_done(*words: str) -> bool:
        done = subprocess.run(words, capture_output=True, check=False)  # noqa: S603 - two commands
        return done.returncode == 0

    if os.geteuid() or not has_done("mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)):
        sys.exit("trouble 4 needs the right to mount a tmpfs")
    return lambda: has_done("umount", "-l", str(folder))


def _end(process: subprocess.Popen[bytes]) -> None:
    for signum, patience_s in ((signal.SIGINT, 1), (signal.SIGINT, 20), (signal.SIGKILL, 20)):
        process.send_signal(signum)
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return
