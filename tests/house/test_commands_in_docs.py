"""Every command of the documents is run, on the practice sites in place of the web.

A document is a story: its blocks run in their order, in one folder. What cannot run here is in
``NOT_RUN`` with its reason; the program's own command lines in it are parsed all the same.
"""

from __future__ import annotations

import ast
import csv
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from crawlclean.workers.cli import parse
from tests.kit.doc_shell import DocShell, own_arguments
from tests.kit.documents import Block, Command, blocks_of, commands_of, differences
from tests.kit.named_web import NamedWeb
from tests.kit.practice_sites import EXAMPLE, other_crawlers_files, pages

ROOT = Path(__file__).parents[2]
STORIES = (
    "README.md",
    "docs/operate.md",
    "docs/tutorial.md",
    "docs/recipes.md",
)  # a story may begin where an earlier one ended
BEGINS_AFTER = {"docs/operate.md": "README.md", "docs/recipes.md": "docs/tutorial.md"}
# Folders of a story that begin as a copy of its crawled folder: a crawl into them finds its pages
# there. Crawls into new folders, with patterns or a crawl file, are tested in tests/flow.
BEGINS_CRAWLED = {"docs/operate.md": ("chosen", "news-data")}
# A translation: every block of it is a block of the original.
SAME_COMMANDS = {"README.zh.md": "README.md", "docs/tutorial.zh.md": "docs/tutorial.md"}
CRAWL = "example.com-db35"
PLACEHOLDERS = {"CRAWL": CRAWL, "HOST": EXAMPLE.host, "URL": EXAMPLE.root}
NOT_RUN = {
    r"(.*\s)?docker ": "needs Docker; test_server_commands.py has who runs them",
    r"sudo ": "changes the machine",
    r"kubectl ": "needs a cluster",
    r"sh deploy/(backup|restore)\.sh": "needs Docker; tests/house/test_backup_scripts.py runs them",
    r"make test": "is the test run itself",
    r"\. \.venv/": "the tests have an environment of their own",
    r"chmod 700|for ": "makes passwords for containers; test_server_commands.py runs it",
    r"crawlclean join\b": "joins a crawl; see tests/workers/processes",
    r"crawlclean console\b": "does not end; tests/workers/console/test_serving.py starts it",
    r"curl |crawlclean console tokens\b": "asks a console; tests/workers/console/api/ does so",
    r"crawlclean classes 127\.": "needs a spider trap; tests/flow/test_traps.py has one",
    r"crawlclean topics?\b": "follows a topic; tests/flow/test_topics.py does so",
    r"crawlclean (images quake|export --topic)": "asks a topic; test_topic_images.py does so",
    r"crawlclean why http://news\.example/a/": "explains a page of a topic; test_topics.py does so",
    r"rq ": "needs a running crawl",
    r"crawlclean .*--keep-fresh": "does not end; tests/flow/test_keep_fresh.py runs it",
    r"crawlclean crawl recover news\b": "needs two servers; tests/flow/test_two_queues.py has them",
    r"export CRAWLCLEAN_(REDIS|MONGODB)_URL": "needs servers; tests/flow/test_servers.py has them",
}


@dataclass
class World:
    """The practice sites, and the folders of the stories that have run."""

    base: Path
    web: NamedWeb
    told: dict[str, Path] = field(default_factory=dict)

    def hosts_file(self, own: str = "") -> str:
        """A hosts file that leads to the practice sites, with the tables of a document."""
        given = dict.fromkeys(("*.example", EXAMPLE.host), "")
        parts = re.split(r'^\["([^"]+)"\].*\n', own, flags=re.MULTILINE)[1:]
        given |= dict(zip(parts[::2], parts[1::2], strict=True))
        return "".join(
            f'["{name}"]\nproxy = "{self.web.proxy}"\n'
            + ("" if "delay_s" in text else "delay_s = 0\nslots = 8\n")
            + text
            for name, text in given.items()
        )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The practice sites, served."""
    base = tmp_path_factory.mktemp("documents")
    with NamedWeb(base / "web", pages()) as web:
        yield World(base, web)


@pytest.mark.parametrize("name", STORIES)
def test_commands_print_what_is_shown(
    name: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(name, world, monkeypatch)


def tell(name: str, world: World, patch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of a story, once."""
    if name in world.told:
        return
    folder = world.base / name.replace("/", "-")
    before = BEGINS_AFTER.get(name)
    if before is None:
        folder.mkdir()
    else:
        tell(before, world, patch)
        copy(world.told[before], folder)
    for crawled in BEGINS_CRAWLED.get(name, ()):
        copy(folder / "crawlclean-data", folder / crawled)
    other_crawlers_files(folder)
    hosts_file = world.base / "hosts.toml"
    hosts_file.write_text(world.hosts_file(), "utf-8")
    tools = world.base / "tools"
    tools.mkdir(exist_ok=True)
    with patch.context() as inner:
        inner.setenv("CRAWLCLEAN_HOSTS_FILE", str(hosts_file))
        inner.setenv("SSL_CERT_FILE", str(world.web.ca_file))
        shell = DocShell(folder, inner, tools)
        wrong = [
            problem for block in blocks_of(ROOT / name) for problem in run(block, shell, world)
        ]
    world.told[name] = folder
    assert wrong == []


def copy(folder: Path, to: Path) -> None:
    """Copies a folder with the data of crawls that do not run."""
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("socket"))


def run(block: Block, shell: DocShell, world: World) -> list[str]:
    """Runs or writes a block; what is not as the document has it."""
    if block.language == "python":
        return run_python(block, shell)
    if block.file_name:
        is_hosts = block.file_name == "hosts.toml"
        text = world.hosts_file(block.text) if is_hosts else block.text
        (shell.folder / block.file_name).write_text(text, "utf-8")
    if block.language != "console":
        return []
    wrong = []
    for command in commands_of(block):
        if not any(re.match(pattern, command.text) for pattern in NOT_RUN):
            wrong += run_command(command, shell)
    return wrong


def run_command(command: Command, shell: DocShell) -> list[str]:
    """Runs a command; it fails only where its failure is shown."""
    text = re.sub(r"^make run URL=(\S+)(?: ARGS=\"(.*)\")?", r"crawlclean run \1 \2", command.text)
    for name, value in PLACEHOLDERS.items():
        text = re.sub(rf"(?<![\w/-]){name}(?![\w/-])", value, text)
    status, printed = shell.run(text)
    wrong = differences(command.shown, printed)
    if status not in (0, 3) and not command.shown:
        wrong.append(f"status {status}: {printed}")
    return [f"{command.place} $ {command.text}: {line}" for line in wrong]


def run_python(block: Block, shell: DocShell) -> list[str]:
    """Runs an example of Python, in the folder of the story."""
    if "import pandas" in block.text:
        return missing_columns(block, shell)
    page = "<title>A page</title><p>Some text.</p>"
    with redirect_stdout(StringIO()):
        exec(compile(block.text, block.place, "exec"), {"html": page})  # noqa: S102 - our own document
    return []


def missing_columns(block: Block, shell: DocShell) -> list[str]:
    """pandas is no dependency of the tests: the columns that an example names must exist."""
    strings = {
        str(node.slice.value)
        for node in ast.walk(ast.parse(block.text))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    }
    with (shell.folder / "pages.csv").open(encoding="utf-8", newline="") as rows:
        columns = next(csv.reader(rows))
    return [f"{block.place}: no column {name}" for name in strings - {*columns}]


def documents() -> list[Path]:
    """Every document with commands."""
    every = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    return [path for path in every if any(b.language == "console" for b in blocks_of(path))]


def test_every_document_with_commands_is_run() -> None:
    strangers = [
        f"{command.place} $ {command.text}"
        for path in documents()
        if path.relative_to(ROOT).as_posix() not in {*STORIES, *SAME_COMMANDS}
        for block in blocks_of(path)
        if block.language == "console"
        for command in commands_of(block)
        if not any(re.match(pattern, command.text) for pattern in NOT_RUN)
    ]
    assert strangers == []


@pytest.mark.parametrize("name", SAME_COMMANDS)
def test_blocks_of_a_translation_are_those_of_the_original(name: str) -> None:
    known = {block.text for block in blocks_of(ROOT / SAME_COMMANDS[name])}
    assert [b.place for b in blocks_of(ROOT / name) if b.text not in known] == []


def test_the_list_of_what_is_not_run_has_nothing_superfluous() -> None:
    texts = [
        command.text
        for path in documents()
        for block in blocks_of(path)
        if block.language == "console"
        for command in commands_of(block)
    ]
    assert [p for p in NOT_RUN if not any(re.match(p, text) for text in texts)] == []


def test_every_command_line_of_the_program_can_be_parsed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong = []
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for block in blocks_of(path):
            if path.name == "cli.md" or block.language in {"python", "toml", "json"}:
                continue
            is_console = block.language == "console"
            texts = [c.text for c in commands_of(block)] if is_console else [block.text]
            for words in own_arguments("\n".join(texts)):
                try:
                    parse(words)
                except SystemExit as end:
                    if end.code:
                        error = capsys.readouterr().err.splitlines()[-1]
                        wrong.append(f"{block.place} {' '.join(words)}: {error}")
    assert wrong == []
