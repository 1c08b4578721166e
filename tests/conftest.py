"""How `make test` spreads its files: the folders that take longest first, none left for the end."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

LONGEST_FIRST = ("chaos", "flow", "house", "fuzz", "workers", "storage")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One process more than cores: now and then a crawl waits for a clock."""
    return (yield) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The others keep their order behind them."""

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)
