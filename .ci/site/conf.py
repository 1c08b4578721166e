"""The site of the documents, `make docs-site`: Sphinx reads the Markdown that GitHub shows.

The menu has the order of the table at the end of README.md. Warnings are errors: a link that leads
nowhere, a page that is in no menu.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"^\| (`docs/.*?) \|", re.MULTILINE)
NAME = re.compile(r"`(docs/[\w./-]+)`")

project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]
root_doc = "README"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
include_patterns = ["README.md", "README.zh.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**.md"]
exclude_patterns = [".*", "build", "crawlclean-data"]
myst_heading_anchors = 6
html_theme = "alabaster"
html_title = project
html_extra_path = ["extra"]  # index.html leads to README.html
html_show_copyright = False
html_theme_options = {"page_width": "1100px", "sidebar_width": "220px", "show_relbars": True}
highlight_language = "none"


def pages_in_order() -> list[str]:
    """The documents in the order of README's table, those of a folder by name."""
    pages: list[str] = []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for cell in TABLE.findall(readme):
        for name in NAME.findall(cell):
            path = ROOT / name
            found = sorted(path.glob("*.md")) if path.is_dir() else [path]
            pages += [each.relative_to(ROOT).as_posix() for each in found]
    return pages


def add_menu(_app: Any, name: str, source: list[str]) -> None:
    """Adds the menu, which GitHub would show as code, to the first page."""
    if name == root_doc:
        more = ["README.zh.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        entries = "\n".join(page.removesuffix(".md") for page in [*pages_in_order(), *more])
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_menu)
