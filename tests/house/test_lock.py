"""The lock files fit pyproject.toml and hold versions and hashes, no places."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
RUN = [
    *PROJECT["project"]["dependencies"],
    *EXTRAS["crawl"],
    *EXTRAS["mongo"],
    *PROJECT["build-system"]["requires"],
]
TEST = [*RUN, *EXTRAS["test"]]
CASES = [("requirements.lock", RUN), ("requirements-test.lock", TEST)]


def pins(name: str) -> dict[str, str]:
    """Version by distribution."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return {
        canonicalize_name(found[1]): found[2]
        for found in re.finditer(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)
    }


@pytest.mark.parametrize(("name", "wanted"), CASES)
def test_every_dependency_is_locked(name: str, wanted: list[str]) -> None:
    locked = pins(name)
    for requirement in map(Requirement, wanted):
        version = locked.get(canonicalize_name(requirement.name))
        assert version, f"{requirement} is not in {name}: make lock"
        assert requirement.specifier.contains(version, prereleases=True), f"{name}: make lock"


@pytest.mark.parametrize("name", [name for name, _ in CASES])
def test_only_versions_hashes_and_reasons(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    pin = r'[\w.-]+==[\w.]+( ; [\w ".<>=]+)? \\'
    known = re.compile(rf"{pin}|    --hash=sha256:[0-9a-f]{{64}}( \\)?|    # via .*|#.*|")
    assert [line for line in text.splitlines() if not known.fullmatch(line)] == []
    assert "://" not in text
    for block in re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block


def test_tests_run_what_users_run() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-test.lock").items()
