"""The scripts of ``deploy/`` that copy volumes and put them back, on folders for volumes.

No container engine is needed: a program stands in for ``docker compose``. It runs what would run in
a container on a folder in place of the service's volume.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.crawls import ROOT

COMPOSE = """#!{python}
import os, sys
from pathlib import Path

folder = Path({folder!r})
with (folder / "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[1] == "run":
    assert sys.argv[2:6] == ["--rm", "-T", "--no-deps", "--entrypoint"]
    program, service, *words = sys.argv[6:]
    if (folder / "interrupt").exists():  # the script that runs this, by one who is tired of it
        os.kill(os.getppid(), int((folder / "interrupt").read_text()))
        sys.exit(130)
    if "--extract" not in words:
        sys.stdin.read()  # `run` hands a container all of its standard input
    place = {{"redis": "/data", "mongo": "/data/db"}}[service]
    volume = str(folder / "volumes" / service)
    os.execvp(program, [program, *(word.replace(place, volume) for word in words)])
"""
FILES = {"redis/appendonlydir/a.aof": b"*1\r\n\0\xff", "mongo/x.wt": b"\0" * 3000}


@dataclass
class Deployment:
    """Volumes as folders, and the scripts."""

    folder: Path

    @property
    def volumes(self) -> Path:
        return self.folder / "volumes"

    def run(self, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        return self.shell('sh "$@"', str(ROOT / "deploy" / script), *words)

    def shell(self, command: str, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command, "sh", *words],
            input=given,
            env={"PATH": "/usr/bin:/bin", "COMPOSE": f"{sys.executable} {self.folder / 'compose'}"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls(self) -> list[str]:
        """First words of the calls of compose, with the service of a run."""
        lines = (self.folder / "calls").read_text("utf-8").splitlines()
        return [
            " ".join(words[5:7] if words[0] == "run" else words) for words in map(str.split, lines)
        ]

    def empty(self) -> None:
        """Makes the volumes anew."""
        shutil.rmtree(self.volumes, ignore_errors=True)
        for volume in ("redis", "mongo"):
            (self.volumes / volume).mkdir(parents=True)

    def content(self) -> dict[str, bytes]:
        found = (path for path in sorted(self.volumes.rglob("*")) if path.is_file())
        return {path.relative_to(self.volumes).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    made = Deployment(tmp_path)
    (tmp_path / "compose").write_text(
        COMPOSE.format(python=sys.executable, folder=str(tmp_path)), "utf-8"
    )
    made.empty()
    for name, content in FILES.items():
        file = made.volumes / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    return made


def test_copies_come_back_as_they_were(deployment: Deployment) -> None:
    copies = deployment.folder / "copies of today"
    done = deployment.run("backup.sh", str(copies))
    assert done.returncode == 0, done.stderr
    assert deployment.calls() == ["stop", "tar redis", "tar mongo", "start"]
    assert sorted(file.name for file in copies.iterdir()) == ["mongo-data.tar", "redis-data.tar"]
    assert all(file.stat().st_mode & 0o077 == 0 for file in copies.iterdir())
    deployment.empty()
    done = deployment.run("restore.sh", str(copies))
    assert done.returncode == 0, done.stderr
    assert deployment.content() == dict(sorted(FILES.items()))


def test_nothing_is_overwritten(deployment: Deployment) -> None:
    copies = deployment.folder / "copies"
    assert deployment.run("backup.sh", str(copies)).returncode == 0
    again = deployment.run("backup.sh", str(copies))
    assert again.returncode == 1
    assert "is there already" in again.stderr
    assert deployment.calls().count("stop") == 1, "nothing is stopped for nothing"
    into_full = deployment.run("restore.sh", str(copies))
    assert into_full.returncode == 1
    assert "is not empty" in into_full.stderr
    assert deployment.content() == dict(sorted(FILES.items()))


def test_what_was_stopped_starts_again_when_a_copy_fails(deployment: Deployment) -> None:
    shutil.rmtree(deployment.volumes / "mongo")
    copies = deployment.folder / "copies"
    done = deployment.run("backup.sh", str(copies))
    assert done.returncode != 0
    assert deployment.calls()[-1] == "start"
    assert not (copies / "mongo-data.tar").exists(), "half a copy has not the name of a whole one"
    assert deployment.run("restore.sh", str(copies)).returncode == 1


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_was_stopped_starts_again_after_an_interrupt(
    deployment: Deployment, signum: signal.Signals
) -> None:
    (deployment.folder / "interrupt").write_text(str(int(signum)))
    done = deployment.run("backup.sh", str(deployment.folder / "copies"))
    assert done.returncode != 0
    assert deployment.calls() == ["stop", "tar redis", "start"]


def test_a_list_of_folders_is_read_to_its_end(deployment: Deployment) -> None:
    folders = [str(deployment.folder / name) for name in ("one", "two")]
    script, given = str(ROOT / "deploy" / "backup.sh"), "".join(f"{each}\n" for each in folders)
    done = deployment.shell('while read -r f; do sh "$1" "$f"; done', script, given=given)
    assert done.returncode == 0, done.stderr
    assert [(Path(each) / "mongo-data.tar").exists() for each in folders] == [True, True]
