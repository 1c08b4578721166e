"""Golden pages: ``<case>/page.html`` from ``<case>/url`` must give ``<case>/expected.json``.

A case without ``expected.json`` is a page that killed workers: it has to be cleaned at all. One
with ``expected_markdown.txt`` is also checked for its Markdown. The other files of a case
are listed in ``tests/kit/golden_folders.py``; ``make_golden.py`` makes such folders.

``python -m tests.pages.test_pages`` writes the expected files anew; read the difference before
committing it.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from crawlclean import CleanRecord
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.links.lists import LinkLists
from tests.kit.golden_folders import as_text, expected_of, read_folder, shown

HERE = Path(__file__).parent
CASES = sorted(path.parent.name for path in HERE.glob("*/page.html"))


def read(case: str) -> CleanRecord:
    return read_folder(HERE / case)


@pytest.mark.parametrize("case", CASES)
def test_golden_page(case: str) -> None:
    found = shown(read(case))
    if (HERE / case / "expected.json").exists():
        assert found == expected_of(HERE / case, found)


@pytest.mark.parametrize(
    "case", [case for case in CASES if (HERE / case / "expected_markdown.txt").exists()]
)
def test_golden_markdown(case: str) -> None:
    assert read(case).markdown + "\n" == (HERE / case / "expected_markdown.txt").read_text("utf-8")


def test_no_page_waits_for_the_search_for_garbage() -> None:
    """Cycles keep whole pages in memory: cleaning then costs a tenth more."""
    gc.collect()
    gc.disable()
    try:
        for case in CASES:
            read(case)
        kept = {type(each) for each in gc.get_objects()} & {Tree, LinkLists}
    finally:
        gc.enable()
    assert not kept


def test_there_are_cases() -> None:
    assert len(CASES) >= 7


if __name__ == "__main__":
    for name in CASES:
        (HERE / name / "expected.json").write_text(as_text(shown(read(name))), "utf-8")
        if (HERE / name / "expected_markdown.txt").exists():
            (HERE / name / "expected_markdown.txt").write_text(read(name).markdown + "\n", "utf-8")
