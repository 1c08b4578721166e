"""A reported verdict becomes a golden folder: it fails for the reported reason alone."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from cleaning.errors import ConfigError, NotFound
from storage.opening import open_store
from tests.kit.commands import DataFolder, call
from tests.kit.console import settings_of
from tests.kit.golden_folders import read_folder
from tests.kit.web import html
from workers.answers.cases import CaseState
from workers.config import Settings
from workers.operations.cases.cases import case_details, read_part, report, withdraw
from workers.operations.cases.exporting import export_cases, folders, zip_of
from workers.operations.cases.golden import as_text, expected_of, shown
from workers.operations.cases.parts import right_value

URL = "http://a.example/1.html"
FIRST = "今年秋天，镇上的老茶馆重新开张，掌柜把二十多张旧方桌擦得发亮，从清早到黄昏都坐满了人。"
SECOND = "掌柜说，茶馆停业的三年里常有老主顾敲门来问，如今重新烧起灶火，茶价仍旧是两块钱一碗。"
SHARE = "分享到微博"
HOSTILE = "<script>alert(1)</script>\u202e"
HTML = html(
    "秋雨",
    f"{FIRST}</p><div class=share>{SHARE}</div><p>{SECOND}<a href='/b.html'>另一页</a>",
    "<img src='/n.png'>",
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A data folder with one page, in a charset that only its header names."""
    row = {"url": URL, "fetched_at": "2026-03-01T12:00:00Z", "html": HTML}
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row), "utf-8")
    found = settings_of(tmp_path / "data")
    found.storage.data.mkdir()
    assert call(found, "import", str(file)) == 0
    return found


def part_of(settings: Settings, is_wanted: Callable[[str], bool]) -> str:
    """The name of the first text for which a condition holds."""
    for number in range(1, 100):
        if is_wanted(read_part(settings, URL, "", f"text {number}").part.text):
            return f"text {number}"
    raise AssertionError


def say(settings: Settings, part: str, wanted: str, note: str = "") -> str:
    return report(settings, read_part(settings, URL, "", part), wanted, note, "session 1").case_id


def exported(settings: Settings, into: Path) -> Path:
    (folder,) = export_cases(settings, into)
    return Path(folder.folder)


def differing(folder: Path) -> list[str]:
    """What the golden test finds different: keys of ``expected.json``."""
    found = shown(read_folder(folder))
    expected = expected_of(folder, found)
    assert expected.keys() == found.keys()
    return [name for name in found if found[name] != expected[name]]


def wrong_parts(settings: Settings) -> list[tuple[str, str, list[str]]]:
    share = part_of(settings, lambda text: text == SHARE)
    second = part_of(settings, lambda text: text.startswith(SECOND))
    return [
        (share, "body", ["body"]),
        (second, "not_body", ["body"]),
        ("title", "秋雨 二", ["title"]),
        ("author", "老周", ["author"]),
        ("published_at", "2026-10-05 18:30", ["published_at"]),
        ("kind", "index", ["kind"]),
        ("link 0", "ad", ["links", "outlinks"]),
        ("image 0", "ad", ["images"]),
    ]


def test_a_folder_fails_for_what_was_reported_alone(settings: Settings, tmp_path: Path) -> None:
    for number, (part, wanted, keys) in enumerate(wrong_parts(settings)):
        case_id = say(settings, part, wanted, HOSTILE)
        folder = exported(settings, tmp_path / f"{number}")
        assert differing(folder) == keys, part
        with closing(open_store(settings.storage)) as store:
            case = store.cases.get(case_id)
            assert case is not None
            found = case_details(store, case)
        assert (found.state, list(found.differs)) == (CaseState.STANDS, keys)
        told = json.loads((folder / "cases.json").read_text("utf-8"))
        assert [(each["wanted"], each["note"]) for each in told] == [(case.wanted, HOSTILE)]
        (folder / "expected.json").write_text(as_text(shown(read_folder(folder))), "utf-8")
        assert differing(folder) == []
        withdraw(settings, case_id)


def test_the_right_body_has_the_text_at_its_place(settings: Settings, tmp_path: Path) -> None:
    share = part_of(settings, lambda text: text == SHARE)
    say(settings, share, "body")
    first = part_of(settings, lambda text: text == FIRST)
    say(settings, first, "not_body")
    folder = exported(settings, tmp_path / "out")
    body = json.loads((folder / "expected.json").read_text("utf-8"))["body"]
    assert body[0] == SHARE
    assert body[1].startswith(SECOND)
    assert FIRST not in body


def test_a_kind_without_its_rule_passes_by_any_rule(settings: Settings, tmp_path: Path) -> None:
    say(settings, "link 0", "navigation")
    folder = exported(settings, tmp_path / "out")
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    assert expected["links"][0][2:] == ["navigation", None]
    found = shown(read_folder(folder))
    mended = json.loads(json.dumps(found))
    mended["links"][0][2:] = ["navigation", "link_list"]
    mended["outlinks"] = expected["outlinks"]
    assert expected_of(folder, mended) == mended


def test_a_second_report_replaces_the_first(settings: Settings) -> None:
    first = say(settings, "title", "one")
    second = say(settings, "title", "two")
    assert first == second
    assert read_part(settings, URL, "", "title").before is not None
    with closing(open_store(settings.storage)) as store:
        assert [case.wanted for case in store.cases.read()] == ["two"]


def test_the_folder_needs_neither_archive_nor_crawl(settings: Settings, tmp_path: Path) -> None:
    say(settings, "title", "right")
    with closing(open_store(settings.storage)) as store:
        store.drop_raw("import")
    with pytest.raises(NotFound):
        read_part(settings, URL, "", "title")
    assert differing(exported(settings, tmp_path / "out")) == ["title"]
    with closing(open_store(settings.storage)) as store:
        store.delete_crawl("import")
        assert store.cases.read() == []


def test_a_zip_file_has_the_same_files(settings: Settings, tmp_path: Path) -> None:
    say(settings, "title", "right")
    folder = exported(settings, tmp_path / "out")
    with closing(open_store(settings.storage)) as store:
        data = zip_of(folders(store))
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = {Path(name).name: name for name in file.namelist()}
        assert names.keys() == {each.name for each in folder.iterdir()}
        for name, path in names.items():
            assert path.startswith("a.example_")
            assert file.read(path) == (folder / name).read_bytes()


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("text 1", "index"),
        ("kind", "article of mine"),
        ("published_at", "yesterday"),
        ("title", "秋雨"),
        ("title", "x" * 2_000),
        ("nothing", "body"),
        ("text 0", "body"),
        ("text -1", "body"),
    ],
)
def test_what_is_wrong_is_refused(settings: Settings, part: str, wanted: str) -> None:
    with pytest.raises(ConfigError):
        say(settings, part, wanted)


def test_parts_that_are_not_there(settings: Settings) -> None:
    for part in ("text 999", "link 99", "image 99"):
        with pytest.raises(NotFound):
            read_part(settings, URL, "", part)


def test_a_time_without_a_zone_is_in_that_of_the_time_found(settings: Settings) -> None:
    part = read_part(settings, URL, "", "published_at").part
    at = datetime.fromisoformat(right_value(part, "2026-10-05 18:30"))
    assert at.tzinfo is not None
    assert right_value(part, "2026-10-05T18:30+08:00") == "2026-10-05T18:30:00+08:00"


def test_the_command_lists_and_exports(settings: Settings, tmp_path: Path) -> None:
    folder = DataFolder(settings.storage.data)
    assert folder.rows("cases", "--json") == []
    case_id = say(settings, "title", "right", "a note")
    (row,) = folder.rows("cases", "--json")
    assert (row["case"], row["part"], row["was"], row["wanted"]) == (
        case_id,
        "title",
        "秋雨",
        "right",
    )
    (written,) = folder.rows("cases", "--export", str(tmp_path / "out"), "--json")
    assert written["cases"] == [case_id]
    assert differing(Path(written["folder"])) == ["title"]
