"""The story of the stack, step by step: built, crawled with, scaled, upgraded, killed, moved."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.chaos.sites import Sites
from tests.kit.server_process import Running
from tests.kit.timing import wait_until
from tests.machines.namespaces import Network, call
from tests.stack import images
from tests.stack.checks import at_rest
from tests.stack.machines import FIRST, NETWORK, SITES, NumberedWeb, news_sites
from tests.stack.podman import Podman
from tests.stack.project import BASE, JOIN, NAME, OVERRIDE, SERVE, UPGRADE, Project

HOSTS = 3  # of each crawl
DELAY_S = 1.0  # what `run` keeps to without --delay
MORE = 15  # records, which tell that work goes on
SECOND_PART = 5  # of the pages
CRAWL_LIMIT_S = 900.0
LOOK_S = 1.0
RESTART_LIMIT_S = 30.0
CUT_S = 6.0
UPGRADED = "crawlclean:upgraded"
ROLES = ("spider", "worker", "sweeper", "keeper", "sender", "console")
SEED = f"{NAME}-seed"
SHOWN = 10  # complaints


@dataclass
class Crawl:
    """A crawl of three sites, and its name in the queue."""

    sites: Sites
    pages: int
    name: str = ""


@dataclass
class Stack(Running):
    """All that the story uses, for a ``with`` block.

    Attributes:
        folder: For everything; images in it are used again.
        tools: The virtual environment with podman-compose.
        pages: Of the first crawl; the second has a fifth of them.
        say: Gets lines of progress.
    """

    folder: Path
    tools: Path
    pages: int
    say: Callable[[str], None]
    facts: dict[str, Any] = field(default_factory=dict)
    kills: int = 0

    def start(self) -> None:
        """Makes the network, the sites and the projects; starts no container."""
        self.network = Network(self.folder / "network", NETWORK)
        self.network.start()
        self.first = Project(self._podman("first"), self.tools, {"CRAWLCLEAN_CONTACT": "a@b.test"})
        self.first.podman.remove_all()  # what a killed one left
        shared = self.first.podman.images
        self.second = Project(
            self._podman("second", shared), self.tools, {"SERVERS_ADDRESS": FIRST}
        )
        self.crawls = []
        for n, pages in enumerate((self.pages, self.pages // SECOND_PART)):
            web = self.folder / "web" / f"{os.getpid()}-{n}"
            sites = news_sites(pages, n + 1, HOSTS)
            served = Sites(web, sites, partial(NumberedWeb, self.network, n * HOSTS))
            crawl = Crawl(served, pages)
            self.crawls.append(crawl)
            crawl.sites.start()

    def _podman(self, machine: str, shared: Path | None = None) -> Podman:
        return Podman(self.folder / machine, self.network, machine, shared)

    def stop(self) -> None:
        """Removes all containers, volumes and networks; images stay."""
        for crawl in getattr(self, "crawls", ()):
            crawl.sites.stop()
        for project in (getattr(self, name, None) for name in ("second", "first")):
            if project is not None:
                with suppress(RuntimeError):
                    project.podman.remove_all()
        self.network.stop()

    # What an operator sees

    def stored(self, crawl: Crawl) -> int:
        """Records of a crawl so far; -1 while the queue cannot be asked."""
        try:
            [found] = self.first.queue("hget", f"cc:c:{crawl.name}", "stored") or ["0"]
        except RuntimeError:
            return -1
        return int(found or 0)

    def is_finished(self, crawl: Crawl) -> bool:
        """Whether a crawl is finished."""
        with suppress(RuntimeError):
            return self.first.queue("hget", f"cc:c:{crawl.name}", "state") == ["finished"]
        return False

    def await_more(self, crawl: Crawl) -> int:
        """Records of a crawl, some more than at the call.

        Raises:
            RuntimeError: It is finished: what was to happen while it crawls came too late.
        """
        wait_until(lambda: self.stored(crawl) >= 0, CRAWL_LIMIT_S, LOOK_S)
        goal = self.stored(crawl) + MORE
        if goal > crawl.pages:
            raise RuntimeError(f"{crawl.name} is over too soon: it needs more --pages")
        wait_until(lambda: self.stored(crawl) >= goal, CRAWL_LIMIT_S, LOOK_S)
        return self.stored(crawl)

    def seed(self, crawl: Crawl) -> None:
        """Starts or resumes a crawl by a container of ``cli``, as docs/operate.md does."""
        before = {*self.first.queue("smembers", "cc:crawls")}
        self.first.podman("rm", "--force", "--ignore", SEED)  # podman-compose leaves it there
        self.first.compose(
            *("run", "-T", "--rm", "--detach", "--no-deps", "--name", SEED),
            *("cli", "run", *crawl.sites.seeds, "--workers", "1", "--allow-private"),
        )

        def is_named() -> bool:
            new = {*self.first.queue("smembers", "cc:crawls")} - before - {""}
            crawl.name = crawl.name or "".join(sorted(new)[:1])
            return bool(crawl.name)

        wait_until(is_named, look_s=LOOK_S)

    def stop_seed(self) -> None:
        """Stops the container that runs the crawl."""
        self.first.podman("stop", "--time", "200", SEED, limit_s=240)


# The steps, in their order; each tells facts, and raises when it does not work.


def build(stack: Stack) -> Iterator[tuple[str, Any]]:
    """Images: from the Dockerfile, and stand-ins."""
    podman = Podman(stack.folder / "first", None, "")
    yield "images", images.build(podman, UPGRADED, stack.say)


def start(stack: Stack) -> Iterator[tuple[str, Any]]:
    """The stack comes up, locked in and healthy."""
    first = stack.first
    first.make_passwords()
    first.compose("up", "--detach", "--no-build", "--scale", "spider=2")
    first.scale(worker=2)
    running = first.containers()
    yield "containers", len(running)
    yield "healthy_s", first.await_health(*running)
    for name in running:
        _is_locked_in(first, name)
    yield "locked_in", "read-only, no capability, no root: all"
    yield "pages", {port: _status(first, port) for port in (8484, 9181)}


def _status(project: Project, port: int) -> int:
    """Status of a page for people, asked for on the machine itself.

    Raises:
        RuntimeError: It is refused.
    """
    look = f"import http.client as h; c = h.HTTPConnection('127.0.0.1', {port}, timeout=60)"
    code = f"{look}; c.request('GET', '/'); print(c.getresponse().status)"
    return int(project.podman.run([sys.executable, "-c", code]))


def _is_locked_in(project: Project, name: str) -> None:
    values = ("HostConfig.ReadonlyRootfs", "EffectiveCaps", "Config.User", "HostConfig.Memory")
    template = " ".join(f"{{{{.{value}}}}}" for value in values)
    read_only, caps, user, memory = project.podman.inspect(name, template).split()
    if (read_only, caps) != ("true", "[]") or user.startswith("0") or memory == "0":
        raise RuntimeError(f"{name} is not locked in: {read_only} {caps} {user} {memory}")


def scale(stack: Stack) -> Iterator[tuple[str, Any]]:
    """More and fewer spiders and workers while they crawl."""
    crawl = stack.crawls[0]
    stack.seed(crawl)
    yield "up_at", stack.await_more(crawl)
    stack.first.scale(spider=3, worker=3)
    yield "containers", len(stack.first.containers())
    yield "down_at", stack.await_more(crawl)
    stack.first.scale(spider=2, worker=2)
    gone = {f"{NAME}_spider_3", f"{NAME}_worker_3"} & set(stack.first.containers())
    for name in sorted(gone):  # podman-compose keeps what a smaller number leaves over
        stack.first.podman("stop", "--time", "190", name, limit_s=220)
        stack.first.podman("rm", name)
    yield "removed_by_hand", sorted(gone)
    yield "later", stack.await_more(crawl)


def upgrade(stack: Stack) -> Iterator[tuple[str, Any]]:
    """Another image, role by role, while they crawl."""
    first = stack.first
    yield "at", stack.stored(stack.crawls[0])
    services = {role: {"image": UPGRADED} for role in ROLES}
    first.write(UPGRADE, {"services": services})
    first.files = (BASE, OVERRIDE, UPGRADE)
    counts = {"spider": 2, "worker": 2}
    wanted = first.podman("images", "--quiet", "--no-trunc", UPGRADED).strip()
    for role in ROLES:
        words = ("--no-build", "--no-deps", "--scale", f"{role}={counts.get(role, 1)}", role)
        first.compose("up", "--detach", *words, limit_s=500)
        now = first.containers(role)
        found = {first.podman.inspect(name, "{{.Image}}") for name in now}
        if len(now) != counts.get(role, 1) or any(each not in wanted for each in found):
            raise RuntimeError(f"{role} is not upgraded: {now} of {found}, not {wanted}")
    yield "roles", list(ROLES)
    yield "healthy_s", first.await_health(*(n for r in ROLES for n in first.containers(r)))
    yield "later", stack.await_more(stack.crawls[0])


def kill(stack: Stack) -> Iterator[tuple[str, Any]]:
    """kill -9 of Redis, MongoDB, a spider and a worker, from outside the containers."""
    crawl = stack.crawls[0]
    for role in ("redis", "mongo", "spider", "worker"):
        at = stack.stored(crawl)
        name = f"{NAME}_{role}_1"
        restarts = _restarts(stack, name)
        os.kill(int(stack.first.podman.inspect(name, "{{.State.Pid}}")), signal.SIGKILL)
        by_policy = True
        try:
            wait_until(partial(_is_back, stack, name, restarts), RESTART_LIMIT_S, LOOK_S)
        except AssertionError:
            by_policy = False
            stack.first.podman("start", name)
        stack.first.await_health(name)
        stack.kills += 1
        yield role, {"at": at, "restarted_by_policy": by_policy, "later": stack.await_more(crawl)}


def _restarts(stack: Stack, name: str) -> int:
    return int(stack.first.podman.inspect(name, "{{.RestartCount}}"))


def _is_back(stack: Stack, name: str, restarts: int) -> bool:
    running = stack.first.podman.inspect(name, "{{.State.Running}}") == "true"
    return running and _restarts(stack, name) > restarts


def cut(stack: Stack) -> Iterator[tuple[str, Any]]:
    """A spider's network of the servers is away for seconds; then the crawl ends."""
    crawl = stack.crawls[0]
    yield "at", stack.stored(crawl)
    name = f"{NAME}_spider_2"
    before = _restarts(stack, name)
    inside = ["nsenter", f"--target={stack.first.podman.inspect(name, '{{.State.Pid}}')}", "--net"]
    subnet = "{{(index .Subnets 0).Subnet}}"
    servers = stack.first.podman(
        "network", "inspect", "--format", subnet, f"{NAME}_servers"
    ).rpartition(".")[0]
    addresses = call(*inside, "ip", "-o", "-4", "address").splitlines()
    [device] = [line.split()[1] for line in addresses if f" {servers}." in line]
    call(*inside, "ip", "link", "set", device, "down")
    time.sleep(CUT_S)  # the cut itself
    call(*inside, "ip", "link", "set", device, "up")
    stack.first.await_health(name)
    yield "later", stack.await_more(crawl)
    wait_until(lambda: stack.is_finished(crawl), CRAWL_LIMIT_S, LOOK_S)
    yield "restarts", _restarts(stack, name) - before
    yield "records", stack.stored(crawl)


def back_up(stack: Stack) -> Iterator[tuple[str, Any]]:
    """A second crawl is stopped half-way; ``deploy/backup.sh`` copies queue and store."""
    crawl = stack.crawls[1]
    stack.seed(crawl)
    stack.await_more(crawl)
    stack.stop_seed()
    copies = stack.folder / "copies"
    for old in copies.glob("*"):
        old.unlink()
    yield "records", [stack.stored(each) for each in stack.crawls]
    stack.first.script("backup.sh", str(copies))
    yield "bytes", {file.name: file.stat().st_size for file in sorted(copies.iterdir())}
    yield "healthy_s", stack.first.await_health(*stack.first.containers())


def restore(stack: Stack) -> Iterator[tuple[str, Any]]:
    """Everything is removed, volumes too, and comes back from the copies."""
    first = stack.first
    first.podman.remove_all()
    left = first.podman("volume", "ls", "--quiet").split()
    if left:
        raise RuntimeError(f"volumes are left: {left}")
    first.settings["PRIVATE_ADDRESS"] = FIRST
    first.files = (BASE, SERVE, OVERRIDE)
    first.script("restore.sh", str(stack.folder / "copies"))
    first.compose("up", "--detach", "--no-build", "--scale", "spider=2")
    first.scale(worker=2)
    yield "healthy_s", first.await_health(*first.containers())
    yield "records", [stack.stored(each) for each in stack.crawls]


def join(stack: Stack) -> Iterator[tuple[str, Any]]:
    """A second machine joins; it cannot reach one of the sites. The second crawl ends."""
    second, crawl = stack.second, stack.crawls[1]
    secrets = second.folder / "deploy/secrets"
    for name in ("redis_spider", "redis_worker", "mongo"):
        file = secrets / f"{name}_password"
        file.write_text(stack.first.password(name), "utf-8")
        file.chmod(0o444)
    namespace = stack.network.namespace("second").name
    call("ip", "-n", namespace, "route", "add", "unreachable", f"{SITES[HOSTS]}/32")
    second.files = (BASE, JOIN, OVERRIDE)
    words = ("--detach", "--no-build", "--no-deps", "--scale", "worker=2", "spider", "worker")
    second.compose("up", *words)
    joined = second.containers()
    yield "containers", joined
    yield "healthy_s", second.await_health(*(n for n in joined if "spider" not in n))
    stack.seed(crawl)
    wait_until(lambda: stack.is_finished(crawl), CRAWL_LIMIT_S, LOOK_S)
    log = second.podman("logs", f"{NAME}_spider_1")
    yield "host_left_to_others", "a host is left to other machines" in log
    yield "its_spider_is_healthy", not second.sickness(f"{NAME}_spider_1")


def check(stack: Stack) -> Iterator[tuple[str, Any]]:
    """Records, queue and the sites' own logs: nothing lost, nothing doubled, no host hurried."""
    seed = ("ps", "--quiet", "--filter", f"name={SEED}")
    wait_until(lambda: not stack.first.podman(*seed).strip(), CRAWL_LIMIT_S, LOOK_S)
    complaints = []
    for n, crawl in enumerate(stack.crawls):
        found = at_rest(stack.first, crawl.name, crawl.sites, DELAY_S)
        yield ("first", "second")[n], {k: v for k, v in found.items() if k != "complaints"}
        complaints += [f"{crawl.name}: {each}" for each in found["complaints"]]
    if complaints:
        raise RuntimeError(f"{len(complaints)} complaints: {'; '.join(complaints[:SHOWN])}")


def tear_down(stack: Stack) -> Iterator[tuple[str, Any]]:
    """``down`` on both machines; nothing is left."""
    for project in (stack.second, stack.first):
        project.compose("down", "--volumes", "--timeout", "60", limit_s=400)
        project.podman.remove_all()
        if left := project.podman("ps", "--all", "--quiet").split():
            raise RuntimeError(f"{len(left)} containers are left")
    yield "left", 0


STEPS = (build, start, scale, upgrade, kill, cut, back_up, restore, join, check, tear_down)
