"""The units for systemd: read by systemd itself, and beside docker-compose.yml."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from crawlclean.workers.cli import parse
from crawlclean.workers.config import FILE_SUFFIX, SECRETS, variable
from tests.house.test_deploy import ROLES, SERVICES, size

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
ALL_ROLES = (*ROLES, "console")
SCALED = ("spider", "worker")
EXPOSURE = 20  # of 100, by systemd's own count
a_role = pytest.mark.parametrize("role", ALL_ROLES)


def unit(role: str) -> Path:
    return UNITS / f"crawlclean-{role}{'@' if role in SCALED else ''}.service"


def values(role: str, name: str) -> list[str]:
    """What a unit says under a name, in its order."""
    return re.findall(rf"^{name}=(.*)$", unit(role).read_text("utf-8"), re.MULTILINE)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The units as a machine has them, with a program that is there."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd here")
    folder = tmp_path / "system"
    shutil.copytree(UNITS, folder)
    for path in folder.glob("*.service"):
        text = path.read_text("utf-8").replace("/opt/crawlclean/.venv/bin/crawlclean", "/bin/true")
        path.write_text(text)
    return folder


def analyze(folder: Path, *arguments: str) -> str:
    """What systemd-analyze says of the units; "" for nothing wrong."""
    found = subprocess.run(
        ["systemd-analyze", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"},
    )
    return found.stderr if found.returncode == 0 else f"{found.returncode} {found.stderr}"


def test_systemd_takes_every_unit(installed: Path) -> None:
    units = [str(path) for path in sorted(installed.glob("*.service"))]
    assert "crawlclean" not in analyze(
        installed, "verify", *units, f"{installed}/crawlclean.target"
    )


def test_systemd_refuses_what_is_wrong(installed: Path) -> None:
    path = installed / "crawlclean-housekeeper.service"
    path.write_text(path.read_text("utf-8").replace("TasksMax=", "TasksMost="))
    assert "TasksMost" in analyze(installed, "verify", str(path))


@a_role
def test_a_role_is_locked_in(installed: Path, role: str) -> None:
    limit = f"--threshold={EXPOSURE}"
    name = unit(role).name.replace("@", "@1")
    if role in SCALED:
        shutil.copy(installed / unit(role).name, installed / name)
    assert not analyze(installed, "security", "--offline=yes", limit, name).startswith("1 ")


@a_role
def test_a_role_is_that_of_compose(role: str) -> None:
    service = SERVICES[role]
    (command,) = values(role, "ExecStart")
    program, *arguments = shlex.split(command)
    assert program.endswith("/bin/crawlclean")
    parse(arguments)
    assert arguments[:2] == ["join", role] or arguments[0] == role == "console"
    (memory,) = values(role, "MemoryMax")
    assert size(memory.lower()) == size(service["mem_limit"])
    assert values(role, "TasksMax") == [str(service["pids_limit"])]
    grace = service["stop_grace_period"].removesuffix("s")
    assert values(role, "TimeoutStopSec") == [grace]
    needed = {"mongodb_url": "mongo_password", "webhook_secret": "webhook_password"}
    secrets = {"redis_url": f"{role}_redis_url"}
    secrets |= {name: name for name, of in needed.items() if of in service["secrets"]}
    secrets |= dict.fromkeys(set(service["secrets"]) & {"console_password"}, "console_password")
    loaded = [f"{name}:/etc/crawlclean/secrets/{file}" for name, file in secrets.items()]
    assert sorted(values(role, "LoadCredential")) == sorted(loaded)
    common = (UNITS / "crawlclean-.service.d" / "role.conf").read_text("utf-8")
    given = re.findall(r"^Environment=(\S+)=%d/", unit(role).read_text("utf-8") + common, re.M)
    assert set(given) == {variable(s) + FILE_SUFFIX for s in secrets if s in SECRETS}
    assert values(role, "WantedBy") == ["crawlclean.target"]
