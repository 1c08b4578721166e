"""deploy/queues.yml: two queue servers, with a process of each role for each."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft201909Validator

from storage.server_list import split_list
from tests.house.test_deploy import SCHEMA, SERVICES, load
from workers.config import load_settings

FILE = "deploy/queues.yml"
OVERRIDE = load(FILE)
ROLES = ("spider", "worker", "sweeper")
"""Roles of which a process works on one server."""
OF_ALL = ("keeper", "sender", "cli", "console")
URL, PLACE = "CRAWLCLEAN_REDIS_URL", "CRAWLCLEAN_QUEUE_SERVER"


def merged(name: str) -> dict[str, Any]:
    """A service of both files, as Compose merges mappings."""
    found: dict[str, Any] = dict(SERVICES.get(name, {}))
    for key, value in OVERRIDE["services"].get(name, {}).items():
        found[key] = {**found.get(key, {}), **value} if isinstance(value, dict) else value
    return found


def test_it_is_a_compose_file() -> None:
    errors = Draft201909Validator(SCHEMA).iter_errors(OVERRIDE)
    assert [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for e in errors] == []
    assert OVERRIDE["services"].keys() == {
        *ROLES,
        *(f"{role}2" for role in ROLES),
        *OF_ALL,
        "redis2",
    }


def test_the_second_server_is_as_the_first() -> None:
    second = json.loads(json.dumps(OVERRIDE["services"]["redis2"]).replace("redis2-", "redis-"))
    assert second == SERVICES["redis"]
    assert OVERRIDE["volumes"] == {"redis2-data": {}}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_works_on_each_server(role: str) -> None:
    first, second = merged(role), merged(f"{role}2")
    assert [first["environment"].pop(PLACE), second["environment"].pop(PLACE)] == ["0", "1"]
    first.pop("build", None)  # one builds for all who use the image
    assert second == first


@pytest.mark.parametrize("name", [*ROLES, *(f"{role}2" for role in ROLES), *OF_ALL])
def test_everybody_has_the_same_list(name: str) -> None:
    service = merged(name)
    urls = split_list(service["environment"][URL])
    places = [re.fullmatch(r"redis://(\w+):\{(\w+)\}@(\w+):6379/0", url) for url in urls]
    assert [place[3] for place in places if place] == ["redis", "redis2"]
    for place in places:
        assert place
        assert place[2] in service["secrets"]
        assert place[2] == f"redis_{place[1]}_password"
    assert {"redis", "redis2"} <= service["depends_on"].keys()


def test_the_settings_are_those_of_two_servers() -> None:
    for name, place in (("worker", 0), ("worker2", 1)):
        given = {k: v for k, v in merged(name)["environment"].items() if v is not None}
        given = {k: v.replace("{", "").replace("}", "") for k, v in given.items()}
        storage = load_settings(given).storage
        assert len(storage.redis_urls) == 2
        assert storage.queue_server == place
