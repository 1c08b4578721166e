"""`clean`: saved models, standard input, files per page, formats, columns, refused files."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.workers.cli import main
from crawlclean.workers.operations.files import page_files
from tests.kit.archived_site import article_html, article_url
from tests.kit.commands import Cleaned, call_main
from tests.kit.web import html

HOST = "a.example:8000"
LEARN = ("--learn", "--save-model")
LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
Out = pytest.CaptureFixture[str]


def write_rows(path: Path, numbers: range, *hosts: str) -> Path:
    pages = [(article_url(n, host), article_html(n)) for n in numbers for host in hosts or (HOST,)]
    rows = ({"url": url, "html_base64": b64encode(body).decode()} for url, body in pages)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def give_input(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_Pipe(data))))


class _Pipe(io.BytesIO):
    """Standard input whose first bytes come one by one, and which cannot be read again."""

    def readinto(self, buffer: Any) -> int:
        piece = self.read(1 if self.tell() < 9 else len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def seekable(self) -> bool:
        return False


def refused(*arguments: Path | str) -> str:
    """The one line of a command that is wrong, and cleans nothing."""
    said = Cleaned(*arguments)
    assert (said.status, said.records) == (2, [])
    [line] = said.errors
    return line


def test_a_saved_model_cleans_pages_of_another_day(tmp_path: Path) -> None:
    models = tmp_path / "models"
    today = write_rows(tmp_path / "today.jsonl", range(6), HOST, "b.example")
    assert "learned 2 hosts from 12 pages" in Cleaned(today, *LEARN, models).errors
    assert sorted(file.name for file in models.iterdir()) == [
        "a.example%3A8000.json",
        "b.example.json",
    ]
    assert SiteModel.from_json((models / "b.example.json").read_text()).host == "b.example"
    tomorrow = write_rows(tmp_path / "tomorrow.jsonl", range(20, 21))
    for place in (models, models / "a.example%3A8000.json"):
        [record] = Cleaned(tomorrow, "--model", place).records
        assert (record["model_version"], record["body_source"]) == (1, "site")


def test_only_hosts_without_a_saved_model_are_learned(tmp_path: Path) -> None:
    one = tmp_path / "one.json"
    said = Cleaned(write_rows(tmp_path / "a.jsonl", range(4)), *LEARN, one)
    assert "learned 1 host from 4 pages" in said.errors
    both = write_rows(tmp_path / "both.jsonl", range(5), HOST, "b.example")
    more = tmp_path / "more"
    said = Cleaned(both, "--model", one, *LEARN, more)
    assert "learned 1 host from 5 pages" in said.errors
    assert set(said.of_each("model_version")) == {1}
    assert [file.name for file in more.iterdir()] == ["b.example.json"]


def test_a_wrong_model_is_one_line(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "a.jsonl", range(2))
    empty = tmp_path / "empty"
    empty.mkdir()
    files = {
        "text.json": b"no json",
        "other.json": b'{"name": "package"}',
        "old.json": b'{"format": 9}',
        "bytes.json": b"\xff\xfe\xff",
        "long.json": b" " * 300_000,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        assert re.search(f"{name}: .*site model", refused(rows, "--model", tmp_path / name))
    for place, text in ((empty, "holds no .json"), (tmp_path / "none", "does not exist")):
        assert text in refused(rows, "--model", place)


def test_a_model_of_a_host_without_pages_is_reported(tmp_path: Path) -> None:
    model = tmp_path / "b.json"
    b_rows = write_rows(tmp_path / "b.jsonl", range(3), "b.example")
    assert Cleaned(b_rows, *LEARN, model).status == 0
    said = Cleaned(write_rows(tmp_path / "a.jsonl", range(2)), "--model", model)
    assert (said.status, said.errors) == (1, [f"{model}: no page is of b.example"])
    assert len(said.records) == 2


def test_two_models_of_one_host_are_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "a.jsonl", range(3))
    models = tmp_path / "models"
    assert Cleaned(rows, *LEARN, models).status == 0
    [model] = models.iterdir()
    (models / "copy.json").write_bytes(model.read_bytes())
    assert "are both models of a" in refused(rows, "--model", models)


def test_wrong_use(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "a.jsonl", range(2), HOST, "b.example")
    assert "--save-model needs --learn" in refused(rows, "--save-model", tmp_path / "m")
    assert "give a folder for 2 hosts" in refused(rows, *LEARN, tmp_path / "m.json")
    assert "is not a folder" in refused(rows, "-o", rows)
    assert "can be read once" in refused("-", "-")


@pytest.mark.parametrize("zipped", [False, True])
def test_rows_of_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool
) -> None:
    data = b"\n " + write_rows(tmp_path / "a.jsonl", range(3)).read_bytes()
    data = gzip.compress(data) if zipped else data
    for options in ([], ["--learn"]):  # which reads the input three times
        give_input(monkeypatch, data)
        said = Cleaned("-", *options)
        assert said.of_each("url") == [article_url(n, HOST) for n in range(3)]
        assert said.of_each("origin") == ["stdin:2", "stdin:3", "stdin:4"]
        assert set(said.of_each("model_version")) == {len(options)}


@pytest.mark.parametrize("zipped", [False, True])
def test_one_page_of_standard_input(monkeypatch: pytest.MonkeyPatch, zipped: bool) -> None:
    page = html("页", LONG).encode()
    give_input(monkeypatch, gzip.compress(page) if zipped else page)
    [record] = Cleaned("-", "--url", "http://a.example/1").records
    assert (record["url"], record["title"]) == ("http://a.example/1", "页")
    give_input(monkeypatch, b"a list\nhttp://a.example/\n")
    said = Cleaned("-")
    assert (said.status, said.errors[0][:22]) == (1, "stdin: this is no HTML")
    give_input(monkeypatch, b'{"url": "x"}')
    assert "standard input has rows" in refused("-", "--url", "http://a.example/1")


def test_a_file_per_page(tmp_path: Path) -> None:
    urls = [
        "http://a.example/",
        "http://a.example/../../etc/passwd?x=../..",
        "http://a.example/%2e%2e%2f%00%1b",
        "http://a.example/" + "长" * 400,
        "http://a.example/news/3.html",
        "http://a.example/news_3.html",
    ]
    rows = tmp_path / "rows.jsonl"
    page = html("页", LONG)
    rows.write_text("".join(json.dumps({"url": url, "html": page}) + "\n" for url in urls))
    for form, suffix in (("jsonl", "json"), ("markdown", "md"), ("text", "txt")):
        out = tmp_path / "out" / form
        for _ in range(2):  # again, the same files
            status, printed, said = call_main("clean", str(rows), "-o", str(out), "--format", form)
            assert (status, printed, said) == (0, "", f"wrote 6 pages to {out}\n")
            names = [path.name for path in (out / "a.example").iterdir()]
            assert len(names) == len(urls)
            assert all(name.isprintable() and name.endswith(f".{suffix}") for name in names)
            assert not [name for name in names if name.startswith(".")]
        assert [path.name for path in out.iterdir()] == ["a.example"]
    texts = [path.read_text() for path in (tmp_path / "out/text").rglob("*.txt")]
    assert f"http://a.example/\n页\n{LONG}\n\f\n" in texts
    found = [json.loads(path.read_text()) for path in (tmp_path / "out/jsonl").rglob("*.json")]
    assert len({record["url"] for record in found}) == len(urls)


def test_a_write_that_fails_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = write_rows(tmp_path / "a.jsonl", range(1))

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", fail)
    assert Cleaned(rows, "-o", tmp_path / "out").status == 130
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []


def test_markdown_has_front_matter_and_escaped_titles(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text(html("[甲](javascript:x) &lt;img src=x&gt;", LONG))
    url = ("--url", "http://a.example/1")
    status, out, _ = call_main("clean", str(file), "--format", "markdown", *url)
    assert status == 0
    assert out.startswith('---\nurl: "http://a.example/1"\n')
    assert "\n---\n\n# " in out
    assert "[甲](" not in out
    assert "<img" not in out.replace("\\<", "")


def test_columns_have_other_names(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    page = html("页", LONG)
    row = {
        "address": "http://a.example/1",
        "page": page,
        "raw_base64": b64encode(page.encode()).decode(),
    }
    rows.write_text(json.dumps(row) + "\n")
    for column in ("page", "raw_base64"):
        said = Cleaned(rows, "--url-column", "address", "--html-column", column)
        assert said.of_each("title") == ["页"]
    said = Cleaned(rows, "--url-column", "address", "--html-column", "source")
    assert (said.status, said.errors) == (1, [f"{rows}:1: has no source"])


def test_errors_of_rows_name_what_is_missing(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"url": "http://a.example/"}\n{"html": "<p>"}\n[1]\n{"url": "x", "html": 5}\n')
    said = Cleaned(rows)
    assert said.status == 1
    assert said.errors == [
        f"{rows}:1: has no html or html_base64",
        f"{rows}:2: has no url",
        f"{rows}:3: is no JSON object",
        f"{rows}:4: has no html or html_base64",
    ]


@pytest.mark.parametrize(
    ("name", "text", "is_html"),
    [
        ("sites.txt", "https://a.example/\nJo <jo@a.example>\n", False),
        ("pyproject.toml", '[project]\nname = "x"\nmarks = "<5>"\n', False),
        ("notes.md", "# Title\n\n<p align=center>x</p>", False),
        ("rows.ndjson", '{"url": "http://a.example/"}\n', False),
        ("saved.txt", "<!DOCTYPE html><p>" + LONG, True),
        ("page.php", "\n<div class=x>" + LONG, True),
        ("page", "text before <a href=1>a link</a>", True),
        ("page.html", LONG, True),
    ],
)
def test_a_text_file_is_no_page(tmp_path: Path, name: str, text: str, is_html: bool) -> None:
    file = tmp_path / name
    file.write_text(text)
    said = Cleaned(file)
    assert (said.status, len(said.records), len(said.errors)) == (not is_html, is_html, not is_html)
    for line in said.errors:
        assert line.startswith(f"{file}: this is no HTML: its first 1024 bytes")


def test_pages_in_utf_16_and_gzip_are_html(tmp_path: Path) -> None:
    (tmp_path / "wide").write_bytes(html("宽", LONG).encode("utf-16"))
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(html("压", LONG).encode()))
    said = Cleaned(tmp_path / "wide", tmp_path / "a.html.gz")
    assert (said.status, said.of_each("title")) == (0, ["宽", "压"])


def test_a_page_over_the_limit_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_files, "MAX_PAGE_BYTES", 1 << 20)
    (tmp_path / "bomb.html").write_bytes(gzip.compress(b"<p>" + b"x" * (1 << 20)))
    said = Cleaned(tmp_path / "bomb.html")
    assert (said.status, said.errors) == (1, [f"{tmp_path / 'bomb.html'}: over 1 MB"])


def test_a_message_with_control_characters_is_one_plain_line() -> None:
    status, _, err = call_main("clean", "a\x1b[31m\u202e\n.html")
    assert (status, err) == (2, "crawlclean: a [31m  .html does not exist\n")


@pytest.mark.parametrize("form", ["jsonl", "markdown", "text"])
def test_a_terminal_gets_no_control_characters(
    tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    rows = tmp_path / "rows.jsonl"
    bad = "\x9b31m\u202e\x1b]"
    page = html(f"页{bad}", LONG + bad)
    broken = json.dumps({"url": f"mailto:{bad}", "html": page})
    rows.write_text(json.dumps({"url": "http://a.example/1", "html": page}) + "\n" + broken + "\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["clean", str(rows), "--format", form]) == 1
    said = capsys.readouterr()
    assert not set("\x9b\u202e\x1b") & set(said.out + said.err)
    assert "页" in said.out
