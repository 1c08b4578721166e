"""The files for Kubernetes say what docker-compose.yml says; no cluster runs in tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.house.test_deploy import ROLES, SERVICES, size

DEPLOY = Path(__file__).parents[2] / "deploy"
KUSTOMIZATION = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text("utf-8"))
SCHEMA = json.loads((DEPLOY / "schema" / "kubernetes.json").read_text("utf-8"))
ALL_ROLES = (*ROLES, "console")
Object = dict[str, Any]


def merged(base: Any, patch: Any) -> Any:
    """A strategic merge: objects by key, lists of named things by name, other lists replaced."""
    if isinstance(base, Mapping) and isinstance(patch, Mapping):
        return {
            key: merged(base.get(key), patch.get(key)) if key in base and key in patch
            else base.get(key, patch.get(key))
            for key in {**base, **patch}
        }  # fmt: skip
    if isinstance(base, list) and base and isinstance(base[0], Mapping) and "name" in base[0]:
        names = list(dict.fromkeys(each["name"] for each in base + patch))
        of = [{each["name"]: each for each in some} for some in (base, patch)]
        return [merged(of[0].get(n, {}), of[1].get(n, {})) for n in names]
    return patch


def read(name: str) -> list[Object]:
    return [found for found in yaml.safe_load_all((DEPLOY / name).read_text("utf-8")) if found]


def applies(target: Mapping[str, str], found: Object) -> bool:
    """Whether a patch is for an object."""
    if found["kind"] != target["kind"]:
        return False
    labels = found["metadata"].get("labels", {})
    for term in target["labelSelector"].split(","):
        name, _, value = term.replace("!=", "=!").partition("=")
        is_equal = labels.get(name) == value.lstrip("!")
        if is_equal == value.startswith("!"):
            return False
    return True


def objects() -> list[Object]:
    """What `kubectl apply -k deploy` creates, but for the generated maps and secrets."""
    found = [each for name in KUSTOMIZATION["resources"] for each in read(name)]
    for patch in KUSTOMIZATION["patches"]:
        (text,) = read(patch["path"])
        body = {"spec": text["spec"]}
        found = [merged(x, body) if applies(patch["target"], x) else x for x in found]
    return found


OBJECTS = objects()
BY_NAME = {(each["kind"], each["metadata"]["name"]): each for each in OBJECTS}


def pod(found: Object) -> Object:
    spec: Object = found["spec"]["template"]["spec"]
    return spec


def container(found: Object) -> Object:
    (only,) = pod(found)["containers"]
    return dict(only)


WORKLOADS = [each for each in OBJECTS if each["kind"] in ("Deployment", "StatefulSet")]
a_workload = pytest.mark.parametrize("found", WORKLOADS, ids=lambda each: each["metadata"]["name"])
a_role = pytest.mark.parametrize("role", ALL_ROLES)


@pytest.mark.parametrize(
    "found", OBJECTS, ids=lambda x: f"{x['kind']} {x['metadata']['name']}".lower()
)
def test_it_is_an_object_of_kubernetes(found: Object) -> None:
    schema = {**SCHEMA["kinds"][found["kind"]], "$defs": SCHEMA["$defs"]}
    errors = Draft202012Validator(schema).iter_errors(found)
    assert [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in errors] == []


def test_the_schema_refuses_what_is_wrong() -> None:
    wrong = {**BY_NAME["Service", "redis"], "spec": {"ports": [{"port": "http"}]}}
    schema = {**SCHEMA["kinds"]["Service"], "$defs": SCHEMA["$defs"]}
    assert not Draft202012Validator(schema).is_valid(wrong)


def test_every_file_is_used_and_every_named_one_is_there() -> None:
    named = {*KUSTOMIZATION["resources"], *(each["path"] for each in KUSTOMIZATION["patches"])}
    assert named == {f"kubernetes/{each.name}" for each in (DEPLOY / "kubernetes").iterdir()}
    for made in KUSTOMIZATION["configMapGenerator"]:
        for file in made.get("files", ()):
            assert (DEPLOY / file).is_file(), file
    secrets = {Path(file).name for file in KUSTOMIZATION["secretGenerator"][0]["files"]}
    used = {
        item["key"]
        for each in WORKLOADS
        for volume in pod(each)["volumes"]
        for source in volume.get("projected", {}).get("sources", ())
        for item in source["secret"]["items"]
    }
    assert used == secrets


@a_role
def test_a_role_is_that_of_compose(role: str) -> None:
    found, service = BY_NAME["Deployment", role], SERVICES[role]
    app = container(found)
    assert app["args"] == service["command"]
    assert app["image"] == service["image"]
    given = {name: value for name, value in service["environment"].items() if value is not None}
    assert {each["name"]: each["value"] for each in app["env"]} == given
    (volume,) = (each for each in pod(found)["volumes"] if each["name"] == "secrets")
    items = volume["projected"]["sources"][0]["secret"]["items"]
    assert [each["key"] for each in items] == service["secrets"]
    assert all(each["key"] == each["path"] for each in items)
    limits = app["resources"]["limits"]
    assert size(limits["memory"].replace("i", "").lower()) == size(service["mem_limit"])
    grace = int(service["stop_grace_period"].removesuffix("s"))
    assert pod(found)["terminationGracePeriodSeconds"] == grace
    assert ("exec" in app["readinessProbe"]) == (role != "console")


@a_workload
def test_a_workload_is_locked_in(found: Object) -> None:
    security, app = pod(found)["securityContext"], container(found)
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] > 0
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert app["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod(found)["automountServiceAccountToken"] is False
    assert app["readinessProbe"]
    assert {"cpu", "memory"} <= set(app["resources"]["limits"])
    names = {each["name"] for each in pod(found)["volumes"]}
    claims = {each["metadata"]["name"] for each in found["spec"].get("volumeClaimTemplates", ())}
    assert {each["name"] for each in app["volumeMounts"]} == names | claims


@a_workload
def test_selectors_find_their_pods(found: Object) -> None:
    labels = found["spec"]["template"]["metadata"]["labels"]
    assert found["spec"]["selector"]["matchLabels"].items() <= labels.items()
    name = found["metadata"]["name"]
    for kind in ("Service", "PodDisruptionBudget"):
        other = BY_NAME.get((kind, name))
        if other:
            selector = other["spec"]["selector"]
            assert selector.get("matchLabels", selector).items() <= labels.items()


def chosen(selector: Object) -> set[str]:
    """Names of the workloads that a selector of pods finds."""
    found = set()
    for each in WORKLOADS:
        labels = each["spec"]["template"]["metadata"]["labels"]
        fits = selector.get("matchLabels", {}).items() <= labels.items() and all(
            term["operator"] == "In" and labels.get(term["key"]) in term["values"]
            for term in selector.get("matchExpressions", ())
        )
        if fits:
            found.add(each["metadata"]["name"])
    return found


def ways(side: str, kind: str) -> set[tuple[str, str]]:
    """(from, to) of what policies permit on one side; an address is ``internet``."""
    found = set()
    for policy in (each["spec"] for each in OBJECTS if each["kind"] == "NetworkPolicy"):
        for rule in policy.get(kind, ()):
            for peer in rule[side]:
                if "ipBlock" in peer:
                    others = {"internet"}
                elif "podSelector" in peer:
                    others = chosen(peer["podSelector"])
                else:
                    others = set()  # those who look up names
                for own in chosen(policy["podSelector"]):
                    found |= {(own, o) if side == "to" else (o, own) for o in others}
    return found


def test_who_may_talk_to_whom() -> None:
    store = {"worker", "housekeeper", "console"}
    inside = {(role, "redis") for role in ALL_ROLES} | {(role, "mongo") for role in store}
    out = {("spider", "internet"), ("housekeeper", "internet")}
    assert ways("to", "egress") == inside | out | {("mongo", "mongo")}
    assert ways("from", "ingress") == inside | {("mongo", "mongo")}
    everybody = BY_NAME["NetworkPolicy", "nothing-else"]["spec"]
    assert everybody["podSelector"] == {}
    assert everybody["policyTypes"] == ["Ingress", "Egress"]
