"""What the documents say is so."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from benchmarks.__main__ import programs
from benchmarks.structure.file_map import FILE, file_map

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "README.zh.md", "CHANGELOG.md", "CONTRIBUTING.md")
DOCUMENTS = sorted([*(ROOT / name for name in TOP), *(ROOT / "docs").rglob("*.md")])
CODE_FOLDERS = "cleaning|storage|crawler|workers|tests|benchmarks|deploy|docs"

a_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix()
)


def prose_of(document: Path) -> str:
    """A document without its code blocks."""
    return re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors_of(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.+?) *$", prose_of(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@a_document
def test_links_lead_somewhere(document: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(<?([^)\s>]+)", prose_of(document)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name) if name else document
        is_text = target.suffix == ".md" and target.exists()
        if not target.exists() or (anchor and is_text and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []


@a_document
def test_named_files_exist(document: Path) -> None:
    """A path in backticks is a promise; patterns and placeholders (`*`, `<`) are not paths."""
    named = re.findall(rf"`((?:{CODE_FOLDERS})/[\w./-]+)`", prose_of(document))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_document_is_in_the_menu_of_the_site() -> None:
    """The menu is the table of README.md; ``make docs-site`` needs packages of PyPI."""
    spec = importlib.util.spec_from_file_location("site_conf", ROOT / ".ci" / "site" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    pages = conf.pages_in_order()
    assert len(set(pages)) == len(pages)
    assert pages[0] == "docs/tutorial.md"
    every = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(pages) == every
    source = ["# Title\n"]
    conf.add_menu(None, conf.root_doc, source)
    assert "\n".join(page.removesuffix(".md") for page in pages) in source[0]


def test_named_benchmarks_exist() -> None:
    known = set(programs())
    for document in DOCUMENTS:
        named = set(re.findall(r"\bmake bench-([a-z_]+)", document.read_text(encoding="utf-8")))
        assert sorted(named - known) == [], document


def test_every_benchmark_can_be_run_and_is_in_a_document() -> None:
    text = "".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    assert [name for name in programs() if f"bench-{name}" not in text] == []
    for program in programs().values():
        path = ROOT / f"{program.module.replace('.', '/')}.py"
        assert 'if __name__ == "__main__":' in path.read_text(encoding="utf-8"), program


def test_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run URL=" in text
    assert "make test" in text


def test_changelog_knows_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.escape(project["version"])
    assert re.search(rf"^## \[?(Unreleased|{version})\b", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", ["cli", "settings", "json", "crawl-file"])
def test_generated_reference_is_current(name: str) -> None:
    reference = importlib.import_module("benchmarks.documents.reference")
    expected: str = getattr(reference, f"{name.replace('-', '_')}_markdown")()
    assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") == expected


def test_the_map_of_the_code_is_current() -> None:
    assert FILE.read_text(encoding="utf-8") == file_map(ROOT)


def test_glossary_symbols_are_in_the_named_file() -> None:
    """Rows `| Chinese | English | symbol | file |`: a symbol in backticks stands in the file.

    What is nowhere in the code has a dash for its file and no symbol in backticks.
    """
    wrong = []
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [row.split("|") for row in re.findall(r"^\|(.+)\|$", text, flags=re.MULTILINE)]
    for *_, symbols, place in rows:
        if place.strip() in {"Where", "---"}:
            continue
        names = re.findall(r"`(\w+)`", symbols)
        file = re.fullmatch(r" `([\w/]+\.\w+)` ", place)
        if file is None:
            wrong += [] if place == " — " and not names else [f"{symbols} in {place}"]
            continue
        code = (ROOT / file[1]).read_text(encoding="utf-8") if (ROOT / file[1]).exists() else ""
        wrong += [f"{s} in {file[1]}" for s in names if not re.search(rf"\b{s}\b", code)]
    assert wrong == []
