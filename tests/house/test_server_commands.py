"""Every command of the documents that containers, clusters or systemd run: who runs it, and where.

``make stack`` does by podman what the documents do by Docker. What nothing here can run is listed
with its reason, and what such a command names exists.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.test_deploy import COMPOSE, SERVICES
from tests.house.test_systemd import UNITS
from tests.kit.crawls import ROOT
from tests.kit.documents import Command, blocks_of, commands_of
from tests.stack.project import PASSWORDS
from tests.stack.story import STEPS

SERVERS_COMMAND = re.compile(r"(\w+=\S+ )*(docker|kubectl|sudo|sh deploy/) ?")
DONE_IN = {  # by a step of make stack
    r"docker build --file deploy/Dockerfile": "build",
    r"docker compose build$": "build",
    r"CRAWLCLEAN_CONTACT=\S+ docker compose up --detach --scale": "start",
    r"docker compose run -T --rm --detach cli run": "scale",
    r"docker compose up --detach --no-deps --scale worker=4 worker": "upgrade",
    r"sh deploy/backup\.sh": "back_up",
    r"docker compose down --volumes": "restore",
    r"sh deploy/restore\.sh": "restore",
    r"PRIVATE_ADDRESS=\S+ CRAWLCLEAN_CONTACT=\S+ docker compose -f \S+ -f deploy/serve": "restore",
    r"SERVERS_ADDRESS=\S+ CRAWLCLEAN_CONTACT=\S+ docker compose -f \S+ -f deploy/join": "join",
}
NOWHERE = {
    r"docker run --rm --init --read-only": "one container without servers; `run` itself is tested",
    r"sudo sysctl": "changes the machine's kernel",
    r"docker compose --profile metrics": "needs the images of Prometheus and Grafana; their files "
    "are read by test_metrics_files.py",
    r"kubectl ": "needs a cluster; the objects are read by test_kubernetes.py",
}


def server_commands() -> list[Command]:
    """Commands of all documents that are not the program's own."""
    return [
        Command(found.place, " ".join(found.text.replace("\\\n", " ").split()), found.shown)
        for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
        for block in blocks_of(path)
        if block.language == "console"
        for found in commands_of(block)
        if SERVERS_COMMAND.match(found.text)
    ]


def test_each_is_run_by_the_stack_or_said_to_be_run_nowhere() -> None:
    found = server_commands()
    patterns = [*DONE_IN, *NOWHERE]
    unknown = [c for c in found if sum(bool(re.match(p, c.text)) for p in patterns) != 1]
    assert [f"{c.place} $ {c.text}" for c in unknown] == []
    assert [p for p in patterns if not any(re.match(p, c.text) for c in found)] == []
    assert {*DONE_IN.values()} <= {step.__name__ for step in STEPS}


def test_what_they_name_exists() -> None:
    for command in server_commands():
        words = command.text.split()
        files = [w for w in words if re.match(r"(deploy/|docker-compose)", w)]
        assert [f for f in files if not (ROOT / f).exists()] == [], command
        scaled = [w.split("=")[0] for w in words if re.fullmatch(r"\w+=\d+", w)]
        assert {w for w in scaled if w != "vm.overcommit_memory"} <= set(SERVICES), command
        profiles = {p for service in SERVICES.values() for p in service.get("profiles", ())}
        assert {n for o, n in itertools.pairwise(words) if o == "--profile"} <= profiles


def test_the_units_that_are_enabled_exist() -> None:
    text = (ROOT / "docs/operate.md").read_text("utf-8")
    [line] = re.findall(r"# systemctl enable --now (.*)", text)
    for name in line.split():
        assert (UNITS / f"{re.sub(r'@.*', '@', name)}.service").exists(), name


def test_the_commands_for_passwords_make_those_of_the_compose_file(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    secrets = tmp_path / "deploy" / "secrets"
    secrets.mkdir(parents=True)
    [block] = [b for b in blocks_of(ROOT / "docs/operate.md") if PASSWORDS in b.text]
    for command in commands_of(block):
        subprocess.run(["bash", "-ec", command.text], cwd=tmp_path, check=True, timeout=60)
    assert {file.name for file in secrets.iterdir()} == set(COMPOSE["secrets"])
    assert all(len(file.read_text().strip()) == 64 for file in secrets.iterdir())
    assert len({file.read_text() for file in secrets.iterdir()}) == len(COMPOSE["secrets"])
    assert secrets.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in secrets.iterdir()} == {0o444}
