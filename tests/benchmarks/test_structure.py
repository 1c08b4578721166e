"""The import graph is read from source: circles, and the drawing of the rooms."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.structure.drawing import draw_house
from benchmarks.structure.imports import ImportGraph, read_graph

ROOT = Path(__file__).parents[2]


def graph_of(folder: Path, files: dict[str, str]) -> ImportGraph:
    """The graph of a checkout with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_graph(folder)


def test_a_circle_is_found_once(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        {
            "cleaning/a.py": "from crawlclean.cleaning.b import x",
            "cleaning/b.py": "import cleaning.c",
            "cleaning/c.py": "from crawlclean.cleaning import a",
        },
    )
    assert graph.circles() == [["cleaning.a", "cleaning.b", "cleaning.c"]]


@pytest.fixture(scope="module")
def product() -> ImportGraph:
    return read_graph(ROOT)


def test_the_product_has_no_circle(product: ImportGraph) -> None:
    assert product.circles() == []


def test_every_room_is_in_the_drawing(product: ImportGraph) -> None:
    drawing = draw_house(product)
    for package in ("cleaning", "storage", "crawler", "workers", "crawlclean"):
        for folder in (ROOT / package).iterdir():
            if any(p.name != "__init__.py" for p in folder.glob("*.py")):
                assert f">{folder.name}/<" in drawing
