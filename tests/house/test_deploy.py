"""The deployment says what it should: read here, because no container engine runs in the tests."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft201909Validator

from crawlclean.workers.cli import parse
from crawlclean.workers.config import FILE_SUFFIX, SECRETS, load_settings, variable as variable_of
from tests.house.test_lock import pins
from tests.kit.deployed_redis import DeployedRedis

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SCHEMA = json.loads((DEPLOY / "schema" / "compose-spec.json").read_text(encoding="utf-8"))
FILES = ("docker-compose.yml", "deploy/serve.yml", "deploy/join.yml")
ROLES = ("spider", "worker", "housekeeper")
PACKAGES = {"cleaning", "storage", "crawler", "workers", "crawlclean"}
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
UNITS = {"m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30}


def load(name: str) -> dict[str, Any]:
    """A compose file, its anchors and merges resolved."""
    content: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return content


COMPOSE = load("docker-compose.yml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
a_service = pytest.mark.parametrize("name", SERVICES)


def size(text: str) -> int:
    """Bytes of ``2gb`` or ``512m``."""
    number, unit = re.fullmatch(r"(\d+)([a-z]+)", text).groups()  # type: ignore[union-attr]
    return int(number) * UNITS[unit]


def environments() -> list[tuple[str, str, str | None]]:
    """(service, variable, value) of every compose file."""
    return [
        (name, variable, value)
        for file in FILES
        for name, service in load(file)["services"].items()
        for variable, value in service.get("environment", {}).items()
    ]


@pytest.mark.parametrize("file", FILES)
def test_it_is_a_compose_file(file: str) -> None:
    errors = Draft201909Validator(SCHEMA).iter_errors(load(file))
    assert [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for e in errors] == []
    assert "version" not in load(file), "obsolete"


def test_the_schema_refuses_what_is_wrong() -> None:
    wrong = {"services": {"a": {"image": "b", "restarts": "always"}}}
    assert not Draft201909Validator(SCHEMA).is_valid(wrong)


def test_what_is_named_is_declared() -> None:
    for name, service in SERVICES.items():
        assert set(service["networks"]) <= set(COMPOSE["networks"]), name
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"]), name
        assert set(service.get("depends_on", ())) <= set(SERVICES), name
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            if source.startswith("."):
                assert (ROOT / source).is_file(), mount
                assert mount.endswith(":ro"), mount
            else:
                assert source in COMPOSE["volumes"], mount
    for file in FILES[1:]:
        assert set(load(file)["services"]) <= set(SERVICES), file


@a_service
def test_a_service_is_locked_in(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"]), "not root, by number"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["init"] is True
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc"} & set(service)
    assert size(service["mem_limit"]) > 0
    assert {"cpus", "pids_limit"} <= set(service)
    assert service["logging"]["options"]["max-size"]


@a_service
def test_a_service_is_looked_after(name: str) -> None:
    service = SERVICES[name]
    assert service["restart"] == ("no" if name == "cli" else "unless-stopped")
    assert service["healthcheck"]["test"]
    for dependency in service.get("depends_on", {}).values():
        assert dependency == {"condition": "service_healthy"}


@a_service
def test_an_image_is_named_by_version(name: str) -> None:
    image, tag = SERVICES[name]["image"].split(":")
    assert re.search(r"\d+\.\d+", tag), "a tag that moves least"
    if image.startswith("crawlclean"):
        assert tag == VERSION
        assert any(
            s["image"] == SERVICES[name]["image"] and "build" in s for s in SERVICES.values()
        )


@pytest.mark.parametrize("role", ROLES)
def test_a_role_can_be_scaled(role: str) -> None:
    service = SERVICES[role]
    assert service["command"] == ["join", role]
    assert not {"container_name", "hostname", "ports", "volumes", "scale", "profiles"} & set(
        service
    )


def test_the_commands_exist() -> None:
    for service in SERVICES.values():
        if service["image"].startswith("crawlclean:") and "command" in service:
            parse(service["command"])


def test_only_pages_for_people_are_published_and_only_here() -> None:
    published = {name: s["ports"] for name, s in SERVICES.items() if "ports" in s}
    assert published == {
        "console": ["127.0.0.1:8484:8484"],
        "rq-dashboard": ["127.0.0.1:9181:9181"],
        "grafana": ["127.0.0.1:3000:3000"],
        "alertmanager": ["127.0.0.1:9093:9093"],
    }
    assert "--password-file=/run/secrets/console_password" in SERVICES["console"]["command"]
    assert "console_password" in SERVICES["console"]["secrets"]
    assert COMPOSE["networks"]["servers"] == {"internal": True}
    assert all(SERVICES[name]["networks"] == ["servers"] for name in ("redis", "mongo", "worker"))


def test_servers_are_opened_at_an_address_one_has_to_name() -> None:
    for name, service in load("deploy/serve.yml")["services"].items():
        for port in service["ports"]:
            assert port.startswith("${PRIVATE_ADDRESS:?"), f"{name}: no default, never everywhere"


def test_every_setting_exists() -> None:
    documented = set(re.findall(r"`(CRAWLCLEAN_\w+)`", (ROOT / "docs/settings.md").read_text()))
    documented |= {variable_of(name) + FILE_SUFFIX for name in SECRETS}
    named = {variable for _, variable, _ in environments()}
    named |= {word.split("=")[0] for words in instructions("ENV") for word in shlex.split(words)}
    ours = {name for name in named if name.startswith("CRAWLCLEAN_")}
    assert ours - documented == set()
    assert {"CRAWLCLEAN_REDIS_URL", "CRAWLCLEAN_MONGODB_URL", "CRAWLCLEAN_DATA"} <= ours


def test_a_spider_without_a_place_for_its_fetch_log_writes_none() -> None:
    spider = SERVICES["spider"]
    assert "volumes" not in spider
    assert spider["environment"]["CRAWLCLEAN_FETCH_LOG_BYTES"] == "0"


def test_no_password_has_a_default() -> None:
    """A password is a secret's file, or the place of one in a URL; the service is given it."""
    for name, variable, value in environments():
        granted = SERVICES[name]["secrets"]
        if "PASSWORD" in variable or variable.endswith(FILE_SUFFIX):
            found = re.fullmatch(r"/run/secrets/(\w+)", value or "")
            assert found, variable
            assert found[1] in granted
        if value and "://" in value:
            place = re.search(r"://\w*:\{(\w+)\}@", value)
            assert place, variable
            assert place[1] in granted, variable
    for text in ((ROOT / file).read_text(encoding="utf-8") for file in FILES):
        assert not re.search(r"\$\{\w*(PASS|SECRET|TOKEN)", text)


def test_secrets_are_files_that_nobody_commits_or_copies() -> None:
    for name, secret in COMPOSE["secrets"].items():
        assert secret == {"file": f"./deploy/secrets/{name}"}
    assert (DEPLOY / "secrets" / ".gitignore").read_text().split() == ["*", "!.gitignore"]
    assert "secrets" not in "".join(sent_to_the_builder())


def test_the_programs_settings_are_servers() -> None:
    given = {v: value for s, v, value in environments() if s == "worker" and value is not None}
    given = {v: value.replace("{", "").replace("}", "") for v, value in given.items()}
    assert not load_settings(given).storage.is_embedded


# Dockerfile


def instructions(kind: str = "") -> list[str]:
    """The Dockerfile's instructions, whole, in order; of one kind without the word itself."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return [x.removeprefix(f"{kind} ") for x in lines if not kind or x.startswith(f"{kind} ")]


def stages() -> dict[str, list[str]]:
    """Instructions by the name of their stage."""
    found: dict[str, list[str]] = {"": []}
    for line in instructions():
        if line.startswith("FROM "):
            found[line.split()[-1]] = []
        list(found.values())[-1].append(line)
    return found


def copied() -> set[str]:
    """What the Dockerfile takes from the checkout."""
    return {
        source.rstrip("/")
        for line in instructions("COPY")
        if not line.startswith("--from=")
        for source in line.split()[:-1]
    }


def sent_to_the_builder() -> list[str]:
    """What `.dockerignore` lets through."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*", "nothing, but what is named"
    return [line[1:] for line in rules if line.startswith("!")]


def test_what_is_copied_exists_and_nothing_else_is_sent() -> None:
    assert [name for name in copied() if not (ROOT / name).exists()] == []
    assert copied() == set(sent_to_the_builder())
    assert copied() >= PACKAGES | {"pyproject.toml", "README.md", "LICENSE", "requirements.lock"}


def test_what_is_installed_is_locked_with_hashes() -> None:
    installs = re.findall(r"pip install ([^&]*)", " && ".join(instructions("RUN")))
    assert len(installs) == 5
    for arguments in installs:
        if "-r" in arguments.split():
            assert "--require-hashes" in arguments
        else:
            assert {"--no-index", "--no-deps"} <= set(arguments.split())
    read = set(re.findall(r"-r (\S+)", " ".join(installs)))
    assert read == {"build.lock", "requirements.lock", "dashboard.lock"}


def test_the_dashboard_has_the_services_versions() -> None:
    service, dashboard = pins("requirements.lock"), pins("deploy/dashboard.lock")
    assert {n: v for n, v in dashboard.items() if service.get(n, v) != v} == {}
    assert {"rq-dashboard", "rq", "redis", "six"} <= set(dashboard)
    for block in re.split(r"^(?=[\w.-]+==)", (DEPLOY / "dashboard.lock").read_text(), flags=re.M):
        assert not block or "--hash=sha256:" in block


def test_bases_are_pinned_and_parts_are_stages() -> None:
    assert re.fullmatch(
        r"PYTHON_IMAGE=python:3\.11\.\d+-slim-[a-z]+(@sha256:[0-9a-f]{64})?", instructions("ARG")[0]
    )
    known = {"${PYTHON_IMAGE}"}
    for line in instructions("FROM"):
        base, _as, name = line.split()
        assert base in known
        known.add(name)
    for line in instructions("COPY"):
        source = re.match(r"--from=(\S+)", line)
        assert not source or source[1] in known
    assert list(stages())[-1] == "app", "the default"
    targets = {s["build"]["target"] for s in SERVICES.values() if "build" in s}
    assert targets == {"app", "dashboard"}


@pytest.mark.parametrize("stage", ["app", "dashboard"])
def test_an_image_needs_no_root_and_says_how_it_is(stage: str) -> None:
    lines = stages()[stage]
    user = next(line.split()[1] for line in lines if line.startswith("USER "))
    assert {
        s["user"] for s in SERVICES.values() if s.get("image", "").startswith("crawlclean")
    } == {user}
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    assert any(line.startswith("ENTRYPOINT [") for line in lines), "no shell between"
    assert "STOPSIGNAL SIGTERM" in stages()["base"]
    assert "--uid 10001" in " ".join(stages()["base"])


def test_the_entry_point_is_where_the_health_check_looks() -> None:
    (entry,) = (x for x in stages()["app"] if x.startswith("ENTRYPOINT "))
    program = json.loads(entry.removeprefix("ENTRYPOINT "))
    assert f"COPY deploy/entrypoint.py {program[1]}" in stages()["app"]
    for role in ROLES:
        assert SERVICES[role]["healthcheck"]["test"] == ["CMD", *program, "healthcheck"]


# Redis


def test_redis_loses_and_evicts_nothing_and_fits_its_container() -> None:
    lines = (DEPLOY / "redis.conf").read_text(encoding="utf-8").splitlines()
    options = dict(line.split(maxsplit=1) for line in lines if line and line[0] != "#")
    assert options["appendonly"] == "yes"
    assert options["maxmemory-policy"] == "noeviction"
    assert 2 * size(options["maxmemory"]) <= size(SERVICES["redis"]["mem_limit"])
    assert "requirepass" not in options


def test_redis_starts_with_the_secrets_and_ends_in_order() -> None:
    """The script and the configuration, with the server that the embedded mode brings."""
    script = (DEPLOY / "redis-start.sh").read_text(encoding="utf-8")
    assert "exec redis-server /etc/crawl/redis.conf - <<" in script, "no secret among arguments"
    with DeployedRedis() as server:
        with closing(server.client("admin")) as client:
            assert client.info("memory")["maxmemory_policy"] == "noeviction"
        arguments = Path(f"/proc/{server.pid}/cmdline").read_bytes()
        assert server.password("admin").encode() not in arguments
        assert server.terminate() == 0, "SIGTERM reaches the server"


def test_a_spider_has_no_secret_of_the_store() -> None:
    for file in FILES:
        spider = load(file)["services"].get("spider", {})
        assert "mongo" not in json.dumps(spider.get("environment", {})), file
        assert "mongo" not in json.dumps(spider.get("secrets", [])), file
    assert SERVICES["spider"]["secrets"] == ["redis_spider_password"]
    assert "mongo" not in SERVICES["spider"]["depends_on"]


def test_each_role_has_its_own_user_of_redis() -> None:
    users = {
        name: re.search(r"//(\w+):\{redis_(\w+)_password\}@", value)
        for name, variable, value in environments()
        if variable == "CRAWLCLEAN_REDIS_URL" and value
    }
    found = {name: match.groups() for name, match in users.items() if match}
    roles = {role: role for role in (*ROLES, "console")} | {"cli": "admin"}
    assert found == {name: (role, role) for name, role in roles.items()}
    assert SERVICES["rq-dashboard"]["secrets"] == ["redis_dashboard_password"]
