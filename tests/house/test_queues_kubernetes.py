"""deploy/kubernetes-queues says what deploy/queues.yml says; no cluster runs in tests."""

from __future__ import annotations

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.house.test_kubernetes import (
    ALL_ROLES,
    BY_NAME,
    DEPLOY,
    SCHEMA,
    Object,
    container,
    merged,
)
from tests.house.test_queues_compose import merged as merged_service

COMPONENT = yaml.safe_load((DEPLOY / "kubernetes-queues" / "kustomization.yaml").read_text("utf-8"))
SERVERS = 2


def patched() -> dict[tuple[str, str], Object]:
    """The objects that the component changes, as it leaves them."""
    found = {}
    for each in COMPONENT["patches"]:
        key = each["target"]["kind"], each["target"]["name"]
        patch = yaml.safe_load(each["patch"])
        assert (patch["kind"], patch["metadata"]["name"]) == key
        found[key] = merged(BY_NAME[key], {"spec": patch["spec"]})
    return found


OBJECTS = patched()


@pytest.mark.parametrize("key", OBJECTS, ids=" ".join)
def test_it_is_an_object_of_kubernetes(key: tuple[str, str]) -> None:
    schema = {**SCHEMA["kinds"][key[0]], "$defs": SCHEMA["$defs"]}
    errors = Draft202012Validator(schema).iter_errors(OBJECTS[key])
    assert [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in errors] == []


def test_there_are_two_servers_and_nobody_drains_one() -> None:
    assert COMPONENT["kind"] == "Component"
    assert OBJECTS["StatefulSet", "redis"]["spec"]["replicas"] == SERVERS
    assert OBJECTS["PodDisruptionBudget", "redis"]["spec"]["minAvailable"] == SERVERS
    service = BY_NAME["Service", "redis"]["spec"]
    assert service["clusterIP"] == "None", "each pod has a name"
    assert OBJECTS["StatefulSet", "redis"]["spec"]["serviceName"] == "redis"


@pytest.mark.parametrize("role", ALL_ROLES)
def test_every_role_has_the_list_of_compose(role: str) -> None:
    env = container(OBJECTS["Deployment", role])["env"]
    (url,) = (each["value"] for each in env if each["name"] == "CRAWLCLEAN_REDIS_URL")
    wanted = merged_service(role)["environment"]["CRAWLCLEAN_REDIS_URL"]
    wanted = wanted.replace("@redis:", "@redis-0.redis:").replace("@redis2:", "@redis-1.redis:")
    assert url == wanted
    before = container(BY_NAME["Deployment", role])["env"]
    assert [each["name"] for each in env] == [each["name"] for each in before]


@pytest.mark.parametrize("role", ["spider", "worker", "sweeper"])
def test_a_role_has_a_pod_for_each_server(role: str) -> None:
    assert OBJECTS["Deployment", role]["spec"]["replicas"] >= SERVERS
