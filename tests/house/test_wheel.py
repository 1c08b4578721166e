"""The wheel holds one package, whole, and nothing else at its top."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("cleaning", "storage", "crawler", "workers", "crawlclean")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel built from a copy, so that no old build folder slips into it."""
    source = tmp_path_factory.mktemp("source")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=LEFT_OUT)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for neighbour in ("tests", "benchmarks", "deploy", "docs"):
        (source / neighbour).mkdir()
        (source / neighbour / "__init__.py").touch()
    # The build backend itself, from this environment: no isolation, hence no network.
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(source / "dist")],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (source / "dist").glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_its_one_top_level_package_is_ours(wheel_names: list[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"crawlclean"}


def test_every_file_of_the_packages_is_in(wheel_names: list[str]) -> None:
    """Scripts of the queue, word lists, type markers, pages of the console, and the modules."""
    source = {
        ("" if folder == "crawlclean" else "crawlclean/") + path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in wheel_names if ".dist-info/" not in name} == source
    assert any(name.endswith(".lua") for name in source)
    assert any(name.startswith("crawlclean/cleaning/data/") for name in source)
    assert "crawlclean/py.typed" in source
