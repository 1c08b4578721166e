"""`export`: choice of records, formats, fields, files; values that the web wrote stay values.

More than 400 lines: all formats are read from one data folder.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.records import CleanRecord, PageKind
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.cli import main
from crawlclean.workers.operations.files.whole_files import page_name
from crawlclean.workers.output.record_writers import markdown_of, text_of
from tests.kit.commands import DataFolder
from tests.kit.crawls import ROOT, environment
from tests.kit.outcomes import HOST, make_outcome, make_record

BASE = f"https://{HOST}"
HOSTILE = '<img src=x onerror=alert(1)> [a](javascript:b) "q"\x1b[31m\x9b\u202e\f\n---\nend'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """Two crawls; both know /t/1. The bodies of /t/1, /t/2 and /t/4 are equal, /t/3 is short."""
    data = tmp_path_factory.mktemp("export")
    store = SqliteStore(data / "records.sqlite")
    for crawl in ("c1", "c2"):
        spec = CrawlSpec(crawl_id=crawl, seeds=(f"{BASE}/",))
        store.crawls.put(spec, CrawlState.FINISHED)
    third: dict[str, Any] = {
        "kind": PageKind.ARTICLE,
        "title": HOSTILE,
        "body": "=1+1",
        "markdown": "",
    }
    third |= {"signature": "1" * 16, "author": None, "confidence": 0.5}
    store.save([outcome("/t/1"), outcome("/t/2"), outcome("/t/3", **third)])
    store.save([outcome("/t/4", host="other.example:8080")])
    store.save([outcome("/t/1", crawl_id="c2")])
    store.close()
    return DataFolder(data)


def outcome(path: str, crawl_id: str = "c1", host: str = HOST, **fields: Any) -> Outcome:
    """A saved page with a body that others have, and fields of its record."""
    made = make_outcome(path, crawl_id=crawl_id)
    assert made.record
    record = replace(made.record, **{"signature": "a" * 16, "host": host, **fields})
    return replace(made, record=record, queued=replace(made.queued, host=host))


@pytest.fixture
def printed(folder: DataFolder) -> Printed:
    return Printed(folder.data)


class Printed(DataFolder):
    """Runs `export` and returns what it prints."""

    def __call__(self, *arguments: str) -> str:
        return self.output("export", *arguments)

    def paths(self, *arguments: str) -> list[str]:
        """The paths of the records' URLs, ``/t/1``."""
        lines = self(*arguments).splitlines()
        return [json.loads(line)["url"].removeprefix(BASE) for line in lines]


def test_json_lines_are_the_stored_ones(printed: Printed) -> None:
    store = SqliteStore(printed.data / "records.sqlite")
    stored = b"".join(line + b"\n" for line in store.records.lines())
    store.close()
    assert "\u202e".encode() in stored
    escaped = stored.decode().replace("\u202e", "\\u202e").replace("\x9b", "\\u009b")
    assert printed() == escaped
    assert printed.paths() == ["/t/1", "/t/2", "/t/3", "/t/4", "/t/1"]


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["--crawl", "c2"], ["/t/1"]),
        (["--kind", "article"], ["/t/3"]),
        (["--kind", "article,index"], ["/t/3"]),
        (["--kind", "thread", "--crawl", "c1", "--host", HOST], ["/t/1", "/t/2"]),
        (["--host", "OTHER.example:8080"], ["/t/4"]),
        (["--unique"], ["/t/1", "/t/3"]),
        (["--unique", "--min-chars", "5"], ["/t/1"]),
        (["--min-chars", "60"], ["/t/1", "/t/2", "/t/4", "/t/1"]),
        (["--min-chars", "61"], []),
        (["--min-confidence", ".5"], ["/t/3"]),
        (["--min-confidence", ".51"], []),
        (["--since", "2020-01-01T00:00:00+08:00", "--kind", "article"], ["/t/3"]),
        (["--since", "2999-12-31"], []),
    ],
)
def test_a_choice_of_records(arguments: list[str], paths: list[str], printed: Printed) -> None:
    assert printed.paths(*arguments) == paths
    assert printed("--format", "text", *arguments).count("\f\n") == len(paths)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--since", "soon"], "'soon' is not a time"),
        (["--kind", "article,forum"], "article, thread, index, other"),
        (["--min-chars", "-1"], "cannot be below 0"),
        (["--min-confidence", "80"], "give 0 to 1"),
        (["--fields", "url,links.url"], "no field 'links.url'"),
        (["--fields", "links", "--no-links"], "leaves no field"),
        (["--fields", "url", "--format", "text"], "jsonl, csv, parquet"),
        (["--file-per-page"], "--output DIR"),
        (["--file-per-page", "--output", "x", "--format", "csv"], "not for --format csv"),
        (["--output", "/dev/null"], "not a regular file"),
        (["--format", "xml"], "jsonl, csv, parquet, markdown, text"),
        (["--format", "parquet"], "needs --output"),
        (["--format", "parquet", "--output", "x", "--gzip"], "compressed already"),
        (["--chunk-size", "9"], "--output DIR"),
        (["--chunk-size", "9", "--output", "x", "--file-per-page"], "contradict"),
        (["--chunk-size", "0", "--output", "x"], "as 10000, or a size, as 200MB"),
        (["--chunk-size", "9KB", "--output", "x"], "as 10000, or a size, as 200MB"),
    ],
)
def test_wrong_options(arguments: list[str], text: str, folder: DataFolder) -> None:
    assert text in folder.error("export", *arguments, status=2)


def test_names_that_are_not_stored(folder: DataFolder, tmp_path: Path) -> None:
    for option, text in (("--crawl", "no crawl is named none"), ("--host", "host none is stored")):
        arguments = (option, "none", "--output", str(tmp_path / "a"))
        assert text in folder.error("export", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_fields_of_json_lines(printed: Printed) -> None:
    whole = json.loads(printed("--kind", "article"))
    [line] = printed("--kind", "article", "--fields", "title, url,links,title").splitlines()
    assert list(json.loads(line)) == ["title", "url", "links"]
    assert json.loads(line) == {name: whole[name] for name in ("title", "url", "links")}
    without = printed("--kind", "article", "--no-links")
    left = json.loads(without)
    assert left == {k: v for k, v in whole.items() if k not in ("links", "outlinks", "link_blocks")}
    record = CleanRecord.from_json(without)
    assert (record.title, record.links) == (whole["title"], ())


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (";=1+1", ";'=1+1"),
        ("a; +cmd|x", "a;' +cmd|x"),
        ("a\n@SUM(1)\n=2", "a\n'@SUM(1)\n'=2"),
        ("=1;=2", "'=1;'=2"),
        ("a;-) b\n- item\n-1 degree; + more", "a;-) b\n- item\n-1 degree; + more"),
    ],
)
def test_csv_guards_cells_of_lists_that_semicolons_separate(
    tmp_path: Path, text: str, cell: str
) -> None:
    store = SqliteStore(tmp_path / "records.sqlite")
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(f"{BASE}/",)), CrawlState.FINISHED)
    store.save([outcome("/t/1", body=text)])
    store.close()
    printed = DataFolder(tmp_path).output("export", "--format", "csv", "--fields", "body")
    assert list(csv.reader(io.StringIO(printed)))[1] == [cell]


def test_csv(printed: Printed) -> None:
    rows = list(csv.reader(io.StringIO(printed("--format", "csv", "--crawl", "c1"))))
    assert rows[0][:3] == ["url", "host", "fetched_at"]
    assert [row[0] for row in rows[1:]] == [f"{BASE}/t/{n}" for n in range(1, 5)]
    third = dict(zip(rows[0], rows[3], strict=True))
    assert third["body"] == "'=1+1", "a spreadsheet would calculate"
    assert third["author"] == ""
    assert third["title"] == HOSTILE
    fields = "url,posts,lcr,model_version"
    _, row, *_ = csv.reader(io.StringIO(printed("--format", "csv", "--fields", fields)))
    assert json.loads(row[1])[0]["author"] == "甲"
    assert float(row[2]) == 0


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\t=1", "＝1"])
def test_a_csv_cell_is_no_formula(text: str) -> None:
    from crawlclean.workers.output.record_writers import CsvWriter

    record = replace(make_record(f"{BASE}/"), title=text)
    assert CsvWriter(["title"]).row(record.to_json()).strip('"\n') == f"'{text}"


def test_markdown(printed: Printed) -> None:
    text = printed("--format", "markdown", "--crawl", "c2")
    front, body = text.removeprefix("---\n").split("---\n\n", 1)
    values = dict(line.split(": ", 1) for line in front.splitlines())
    assert {name: json.loads(value) for name, value in values.items()} == {
        "url": f"{BASE}/t/1",
        "title": "帖子 le/t/1",
        "author": "作者",
        "published": "2026-02-26T12:00:00.123456+00:00",
        "language": "zh",
        "kind": "thread",
        "fetched_at": "2026-03-01T12:00:00.123456+00:00",
    }
    assert body == f"# 帖子 le/t/1\n\n{'正文。' * 20}\n\n"


@pytest.mark.parametrize(
    ("title", "markdown", "body"),
    [
        ("A *b*", "## A \\*b\\*\n\nText.", "# A \\*b\\*\n\nText.\n\n"),
        ("A", "# A\n\nText.", "# A\n\nText.\n\n"),
        ("A", "### A", "# A\n\n"),
        ("A", "## A b\n\nText.", "# A\n\n## A b\n\nText.\n\n"),
        ("A", "Text.\n\n## A", "# A\n\nText.\n\n## A\n\n"),
        ("A", "A\n\nText.", "# A\n\nA\n\nText.\n\n"),
    ],
)
def test_the_title_stands_once(title: str, markdown: str, body: str) -> None:
    record = replace(make_record(f"{BASE}/"), title=title, markdown=markdown)
    assert markdown_of(record).partition("\n---\n\n")[2] == body


def test_a_title_is_no_markup_and_no_front_matter() -> None:
    record = replace(make_record(f"{BASE}/"), title=HOSTILE, author=HOSTILE, markdown="")
    text = markdown_of(replace(record, body="<b>\n# a\n[x](javascript:y)\n==="))
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    for part in (front, body):
        assert "](" not in part.replace("\\](", "")
        assert "<" not in part.replace("\\<", "")
    assert not {"\x1b", "\x9b", "\u202e"} & set(front)
    title = next(line for line in front.splitlines() if line.startswith("title: "))
    shown = json.loads(title.removeprefix("title: "))
    assert shown.startswith(
        '<img src=x onerror=alert(1)> [a](javascript:b) "q"\x1b[31m\x9b\u202e ---'
    )
    assert "\n" not in shown
    assert body.splitlines()[1].startswith("# \\<img")
    assert body.splitlines()[3::2] == ["\\<b>", "\\# a", "[x\\](javascript:y)", "\\==="]


def test_text_of_a_hostile_record() -> None:
    record = replace(make_record(f"{BASE}/"), title=HOSTILE, body="a\fb\r\n\tc")
    lines = text_of(record).split("\n")
    assert len(lines) == 6
    assert lines[2:] == ["a b\r", "\tc", "\f", ""]


def test_output_to_a_file(printed: Printed, tmp_path: Path) -> None:
    whole = printed()
    target = tmp_path / "new" / "a.jsonl"
    assert printed("--output", str(target)) == ""
    assert target.read_text(encoding="utf-8") == whole
    assert printed("--output", "-") == printed("-o", "-") == whole
    assert printed("-o", str(tmp_path / "b.jsonl")) == ""
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8") == whole
    printed("--output", str(tmp_path), "--format", "csv", "--gzip")
    with gzip.open(tmp_path / "records.csv.gz", "rt", encoding="utf-8") as stream:
        assert stream.read() == printed("--format", "csv")
    link = tmp_path / "link"
    link.symlink_to(target)
    printed("--output", str(link), "--kind", "index")
    assert link.is_symlink()
    assert target.read_bytes() == b""
    assert list(tmp_path.rglob("*.part")) == []


def test_gzip_on_standard_output(
    printed: Printed, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["export", "--gzip", "--format", "text", "--data", str(printed.data)]) == 0
    zipped = capfdbinary.readouterr().out
    assert gzip.decompress(zipped).decode() == printed("--format", "text")


def test_an_interrupted_export_leaves_the_old_file(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.csv"
    target.write_text("old")

    def interrupt(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("crawlclean.workers.output.record_writers.CsvWriter.row", interrupt)
    folder.output("export", "--format", "csv", "--output", str(target), status=130)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert target.read_text() == "old"


def test_a_place_that_cannot_be_written(folder: DataFolder, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot write" in folder.error(
        "export", "--output", str(tmp_path / "file" / "a"), status=2
    )
    assert "is a file" in folder.error(
        "export", "--file-per-page", "--output", str(tmp_path / "file"), status=2
    )


def test_a_file_for_each_page(printed: Printed, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in printed().splitlines()]
    names = {page_name(row["url"]) for row in rows}
    assert {name.partition("/")[0] for name in names} == {HOST}
    for form, suffix in (("markdown", ".md"), ("jsonl", ".json"), ("text", ".txt.gz")):
        folder = tmp_path / form
        packed = ["--gzip"] if suffix.endswith(".gz") else []
        printed("--file-per-page", "--output", str(folder), "--format", form, *packed)
        written = {
            path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file()
        }
        assert written == {name + suffix for name in names}
    one = tmp_path / "jsonl" / f"{page_name(f'{BASE}/t/4')}.json"
    assert json.loads(one.read_bytes())["url"] == f"{BASE}/t/4"


@pytest.mark.parametrize(
    ("text", "read"),
    [("a\r\nb\rc\nd", "a\nb\nc\nd"), ("a\0b", "a\ufffdb"), ('"a",b', '"a",b'), ("\r=1", "'\n'=1")],
)
def test_a_csv_cell_ends_where_it_should(text: str, read: str) -> None:
    from crawlclean.workers.output.record_writers import CsvWriter

    record = replace(make_record(f"{BASE}/"), title=text)
    row = CsvWriter(["title", "url"]).row(record.to_json())
    assert list(csv.reader(io.StringIO(row, newline=""))) == [[read, f"{BASE}/"]]


def test_parquet(printed: Printed, tmp_path: Path) -> None:
    parquet = needs_pyarrow()
    target = tmp_path / "a.parquet"
    printed("--format", "parquet", "--output", str(target))
    rows = parquet.read_table(target).to_pylist()
    records = [CleanRecord.from_json(line) for line in printed().splitlines()]
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        assert list(row) == [field.name for field in fields(CleanRecord)]
        assert (row["url"], row["title"], row["body"]) == (record.url, record.title, record.body)
        assert (row["fetched_at"], row["kind"]) == (record.fetched_at, record.kind)
        assert [link["url"] for link in row["links"]] == [link.url for link in record.links]
        assert [post["published_at"] for post in row["posts"]] == [
            post.published_at for post in record.posts
        ]
        assert json.loads(row["extra"]) == record.extra
    printed(
        "--format", "parquet", "--output", str(target), "--fields", "url,lcr", "--kind", "index"
    )
    empty = parquet.read_table(target)
    assert (empty.num_rows, empty.column_names) == (0, ["url", "lcr"])


def needs_pyarrow() -> Any:
    """The module, which the test environment has and an older environment has not."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        if os.environ.get("CI"):
            raise
        pytest.skip("pyarrow is not installed")


def test_an_absent_pyarrow_is_named(folder: DataFolder, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None; from crawlclean.workers.cli import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = ("export", "--format", "parquet", "--output", str(tmp_path / "a.parquet"))
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments, "--data", str(folder.data)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        cwd=ROOT,
    )
    assert done.returncode == 1
    assert "pip install 'crawlclean[parquet]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_progress_goes_to_standard_error(folder: DataFolder, tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"
    said = folder.call("export", "--output", str(target), "--crawl", "c2")
    assert said == (0, "", f"1 record written to {target}\n")
    assert folder.call("export")[2] == ""


def test_an_export_without_stored_images_names_the_option_that_fetches_them(
    folder: DataFolder, tmp_path: Path
) -> None:
    said = folder.error("export", "--images", str(tmp_path / "images"), status=0)
    assert "no image of these records is stored: `run --images`" in said
