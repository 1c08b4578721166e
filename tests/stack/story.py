"""The story of the stack, step by step: built, scaled, upgraded, killed, moved."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from tests.kit.timing import wait_until
from tests.machines.namespaces import call
from tests.stack import images
from tests.stack.checks import at_rest
from tests.stack.machines import FIRST, HOSTS, SITES
from tests.stack.podman import Podman
from tests.stack.project import BASE, HEALTH_LIMIT_S, JOIN, NAME, OVERRIDE, SERVE, UPGRADE, Project
from tests.stack.stack import CRAWL_LIMIT_S, LOOK_S, Stack

DELAY_S = 1.0  # what `run` keeps to without --delay
RESTART_LIMIT_S = 30.0
CUT_S = 6.0
REPLICA_PORT = 6380  # at which this machine reaches it
UPGRADED = "crawlclean:upgraded"
ROLES = ("spider", "worker", "housekeeper", "console")
SHOWN = 10  # complaints


# The steps, in their order; each tells facts, and raises when it does not work.


def build(stack: Stack) -> Iterator[tuple[str, Any]]:
    """Images: from the Dockerfile, and stand-ins."""
    podman = Podman(stack.folder / "first", None, "")
    yield "images", images.build(podman, UPGRADED, stack.say)


def start(stack: Stack) -> Iterator[tuple[str, Any]]:
    """The stack comes up, locked in and healthy."""
    first = stack.first
    first.make_passwords()
    first.let_replicate()
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
    copies = stack.empty_folder("copies")
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
    stack.await_end()
    complaints = []
    for name, crawl in zip(("first", "second"), stack.crawls[:2], strict=True):
        found = at_rest(stack.first, crawl.name, crawl.sites, DELAY_S)
        yield name, {k: v for k, v in found.items() if k != "complaints"}
        complaints += [f"{crawl.name}: {each}" for each in found["complaints"]]
    _refuse(complaints)


def _refuse(complaints: list[str]) -> None:
    if complaints:
        raise RuntimeError(f"{len(complaints)} complaints: {'; '.join(complaints[:SHOWN])}")


def fail_over(stack: Stack) -> Iterator[tuple[str, Any]]:
    """The queue's server dies in a third crawl; its replica takes over, at the same name."""
    first, crawl = stack.first, stack.crawls[2]
    stack.second.podman("stop", "--all", limit_s=220)  # they know the dead server's address alone
    replica = f"{NAME}_replica_1"
    _start_replica(first, replica)
    stack.seed(crawl)
    yield "at", stack.await_more(crawl)
    first.podman("kill", first.queue_server)  # by a person: the policy does not restart it
    first.queue_server = replica
    yield "at_of_the_replica", stack.stored(crawl)
    _as_fail_over(first, replica, "replicaof", "no", "one")
    network = f"{NAME}_servers"
    first.podman("network", "disconnect", network, replica)
    first.podman("network", "connect", "--alias", "redis", network, replica)
    yield "later", stack.await_more(crawl)
    wait_until(lambda: stack.is_finished(crawl), CRAWL_LIMIT_S, LOOK_S)
    stack.await_end()
    url = f"CRAWLCLEAN_REDIS_URL=redis://admin:{first.password('redis_admin')}@redis:6379/0"
    recover = ("python", "/opt/crawl/entrypoint.py", "crawl", "recover")
    yield "recover", first.podman("exec", "--env", url, f"{NAME}_worker_1", *recover).strip()
    found = at_rest(first, crawl.name, crawl.sites, DELAY_S, REPLICA_PORT)
    yield "third", {k: v for k, v in found.items() if k != "complaints"}
    _refuse(found["complaints"])


def _start_replica(project: Project, name: str) -> None:
    """A replica of the queue's server as docs/operate.md describes it; it is up to date."""
    users = project.folder / "deploy/redis-users.acl"
    its_own = users.with_name("replica-users.acl")  # the rest of what its server reads, too
    login = f"masteruser replica\nmasterauth {project.password('replica')}\n"
    its_own.write_text(f"{users.read_text('utf-8')}\nreplicaof redis 6379\n{login}", "utf-8")
    places = {
        "redis.conf": "/etc/crawl/redis.conf",
        "redis-start.sh": "/etc/crawl/redis-start.sh",
        its_own.name: "/etc/crawl/redis-users.acl",
    }
    secrets = (file.name for file in users.with_name("secrets").glob("redis_*"))
    places |= {f"secrets/{name}": f"/run/secrets/{name}" for name in secrets}
    mounts = [f"--volume={users.parent / k}:{v}:ro" for k, v in places.items()]
    project.podman(
        *("run", "--detach", "--name", name, "--user=999:999", "--entrypoint=sh", *mounts),
        *(f"--network={NAME}_servers,{NAME}_private", f"--publish={FIRST}:{REPLICA_PORT}:6379"),
        *(images.names()["redis"], "/etc/crawl/redis-start.sh"),
    )
    project.podman.hold_bridges()
    wait_until(partial(_is_up_to_date, project, name), HEALTH_LIMIT_S, LOOK_S)


def _is_up_to_date(project: Project, replica: str) -> bool:
    with suppress(RuntimeError):  # not up yet
        return "master_link_status:up" in _as_fail_over(project, replica, "info", "replication")
    return False


def _as_fail_over(project: Project, server: str, *words: str) -> str:
    login = ("--user", "failover", "--pass", project.password("replica"), "--no-auth-warning")
    return project.podman("exec", server, "redis-cli", *login, *words)


def tear_down(stack: Stack) -> Iterator[tuple[str, Any]]:
    """``down`` on both machines; nothing is left."""
    for project in (stack.second, stack.first):
        project.compose("down", "--volumes", "--timeout", "60", limit_s=400)
        project.podman.remove_all()
        if left := project.podman("ps", "--all", "--quiet").split():
            raise RuntimeError(f"{len(left)} containers are left")
    yield "left", 0


STEPS = (
    *(build, start, scale, upgrade, kill, cut, back_up, restore, join, check),
    *(fail_over, tear_down),
)
