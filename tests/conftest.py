"""How `make test` spreads its files: the folders that take longest first, none left for the end."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

# An example may take its time while other work takes the machine.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

TESTS = Path(__file__).parent
LONGEST_FIRST = ("chaos", "flow", "browser", "house", "fuzz", "workers", "storage")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One process more than cores: now and then a crawl waits for a clock."""
    return (yield) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Imports this process's share of all test files before the others.

    In a fresh clone every process would compile every file at the same moment as the others
    (12 s of processor time each); here it finds what the others have compiled.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
    for path in sorted(TESTS.rglob("test_*.py"))[number::count]:
        with suppress(Exception):  # pytest reports it when it collects the file
            importlib.import_module(".".join(path.relative_to(TESTS.parent).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The others keep their order behind them."""

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(TESTS).parts[0]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)
