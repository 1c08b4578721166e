"""What commands print: no page decides what the terminal does."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Step
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.cli import main
from crawlclean.workers.control_characters import CONTROL, printable
from crawlclean.workers.output.printing import print_answer, print_line, table, text_width
from tests.kit.commands import DataFolder
from tests.kit.crawls import crawlclean
from tests.kit.outcomes import T0, make_failure, make_outcome
from tests.kit.web import Web

EVIL = "\x1b]0;x\x07\x9b31m\x7f\r\x00\x85\u2028\u202e\u200e\u061c\ud800"
HOST = f"forum{EVIL}.example"
URL = "https://forum.example/t/1"


def is_shown(text: str) -> bool:
    """Whether a terminal shows the text and does nothing else."""
    return all(line.isprintable() for line in text.split("\n"))


ROWS = [
    ("CRAWL", "STATE", "RECORDS", "WAITING", "STARTED", "SEED"),
    (
        "www.example.com-c764",
        "running",
        "120",
        "4012",
        "2026-11-22 22:37",
        "https://例子.example/a",
    ),
]
WIDE = table(ROWS)


@pytest.mark.parametrize("columns", [200, 80, 60, 40, 20])
def test_a_table_fits_its_terminal(columns: int) -> None:
    text = table(ROWS, columns, drop=("SEED", "STARTED"))
    head, row = text.splitlines()
    if columns >= 200:
        assert text == WIDE
    if columns >= 40:
        assert max(map(text_width, (head, row))) <= columns
    assert head.split()[:2] == ["CRAWL", "STATE"]
    assert row.startswith("www.example.com-c764" if columns >= 60 else "www")
    assert "running" in row
    assert ("SEED" in head) is (columns >= 200)
    assert ("STARTED" in head) is (columns >= 80)


def test_printable() -> None:
    assert printable("a\tb\nc") == "a b c"
    assert printable("a\tb\nc\r", keep_lines=True) == "a\tb\nc "
    assert printable("标题 é 😀 ‑") == "标题 é 😀 ‑"
    assert printable(EVIL) == " ]0;x  31m" + " " * (len(EVIL) - 10)
    assert printable(EVIL, keep_lines=True) == printable(EVIL)
    assert is_shown(table([("HOST", "N"), (f"a{EVIL}\nb", "1")]))


def test_json_is_escaped_and_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"a": EVIL, "标": ["题", 1]}
    print_answer(data)
    line = capsys.readouterr().out
    assert is_shown(line)
    assert line.count("\n") == 1
    assert json.loads(line) == data | {"a": EVIL.replace("\ud800", "\ufffd")}
    assert "标" in line


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    store = SqliteStore(tmp_path / "records.sqlite")
    spec = CrawlSpec(crawl_id="c1", seeds=(f"https://forum.example/{EVIL}",))
    store.crawls.put(spec, CrawlState.FINISHED)
    made = make_outcome("/t/1")
    assert made.record is not None
    told = replace(made.queued.provenance, referrer=f"https://x/{EVIL}", link_text=EVIL)
    store.save(
        [
            replace(
                made,
                queued=replace(made.queued, provenance=told, host=HOST),
                record=replace(made.record, title=EVIL, author=EVIL, body=f"a{EVIL}\nb"),
                log=(Step(at=T0, step="fetched", detail=EVIL),),
            )
        ]
    )
    failed = make_failure("/f")
    assert failed.failure is not None
    store.save([replace(failed, failure=replace(failed.failure, detail=EVIL))])
    store.close()
    return DataFolder(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        ["show", URL],
        ["why", URL],
        ["failures"],
        ["hosts"],
        ["hosts", HOST.replace("\ud800", "\ufffd")],
        ["crawls"],
        ["show", URL, "--json"],
        ["failures", "--json"],
    ],
)
def test_what_pages_say_never_steers_the_terminal(folder: DataFolder, command: list[str]) -> None:
    said = folder.output(*command)
    assert said
    assert is_shown(said)


@pytest.mark.parametrize("form", ["markdown", "text"])
def test_an_export_is_as_stored_but_not_on_a_terminal(
    folder: DataFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    assert "\x1b]0;" in folder.output("export", "--format", form)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["export", "--format", form, "--data", str(folder.data)]) == 0
    assert is_shown(capsys.readouterr().out.replace("\f", ""))


def test_the_summary_of_a_run_shows_no_control_character(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "records.sqlite")
    failed = make_failure("/f", crawl_id="c")
    assert failed.failure is not None
    store.save([replace(failed, failure=replace(failed.failure, detail=f"said{EVIL}"))])
    store.close()
    with Web(tmp_path / "web", {}) as web:
        call = ["run", web.url(), "--crawl", "c", "--allow-private", "--data", str(tmp_path)]
        done = crawlclean(*call, check=False)
    assert done.returncode == 1
    assert "https://forum.example/f: said ]0;x" in done.stderr
    assert is_shown(done.stderr)


def test_a_line_of_bytes_is_escaped_like_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    for code in [*range(0x20, 0x3000), 0x3000, 0xFFFD, 0x1F600]:
        data = {"text": chr(code)}
        print_line(json.dumps(data, ensure_ascii=False).encode("utf-8"))
        [line] = capsys.readouterr().out.splitlines()
        assert json.loads(line) == data
        assert not CONTROL.search(line)
