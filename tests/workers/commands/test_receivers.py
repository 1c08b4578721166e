"""`receivers`: made, changed, tried, removed, taken back, in both languages, without secrets."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder, call_main
from tests.kit.receiver import Receiver

SECRET = "0a1b2c3d-4e5f-6789-0a1b-2c3d4e5f6789"  # noqa: S105 - of a test
URL = f"https://open.feishu.cn/open-apis/bot/v2/hook/{SECRET}"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        store.crawls.all()
    return DataFolder(tmp_path)


def test_a_receiver_is_made_changed_removed_and_taken_back(folder: DataFolder) -> None:
    assert "there is no receiver" in folder.output("receivers")
    made = ("kind=feishu", f"target={URL}", "signs=bad", "stories=quake, flood", "lang=zh")
    (row,) = folder.rows("receivers", "oncall", *made, "--json")
    assert (row["name"], row["kind"], row["signs"]) == ("oncall", "feishu", "bad")
    assert (row["stories"], row["most_an_hour"]) == (["quake", "flood"], 20)
    (row,) = folder.rows("receivers", "oncall", "quiet=22:00-07:00", "red_passes=yes", "--json")
    assert (row["signs"], row["quiet"], row["red_passes"]) == ("bad", "22:00-07:00", True)
    shown = folder.output("receivers")
    assert "oncall  feishu  https://open.feishu.cn/open-apis/bot/v2/hook/***" in shown
    assert "signs=bad stories=quake,flood" in shown
    assert SECRET not in shown
    assert folder.rows("receivers", "oncall", "--remove", "--json") == []
    (row,) = folder.rows("receivers", "oncall", "--undo", "--json")
    assert row["quiet"] == "22:00-07:00"


def test_a_test_message_says_how_it_went(folder: DataFolder) -> None:
    with Receiver(lambda _: 200) as web:
        web.text = '{"code":0}'
        folder.output("receivers", "oncall", "kind=feishu", f"target={web.url}", "lang=zh")
        assert "发给 oncall 的测试消息  (sent)" in folder.output("receivers", "oncall", "--test")
        web.text = '{"code":19021,"msg":"sign match fail"}'
        told = folder.output("receivers", "oncall", "--test", status=1)
        assert "(not taken: code 19021: sign match fail)" in told
    log = folder.rows("receivers", "oncall", "--log", "--json")
    assert [bool(each["error"]) for each in log] == [True, False]
    assert len(web.got) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--test",), "请给出接收方的名称"),
        (("nobody", "--test"), "没有接收方 nobody"),
        (("a", "signs"), "应为 键=值"),
        (("a", "signs=bad", "--log"), "键=值 单独使用"),
        (("a b", "kind=slack", "target=https://c.example/"), "不是接收方的名称"),
        (("a", "kind=mail", "target=ops"), "ops 不是邮箱地址"),
        (("a", "kind=slack", "target=https://c.example/", "zone=Mars"), "zone 为 Mars"),
    ],
)
def test_what_cannot_be_is_told_in_words(
    folder: DataFolder, arguments: tuple[str, ...], told: str
) -> None:
    data = ("--data", str(folder.data), "--lang", "zh")
    status, _, error = call_main("receivers", *arguments, *data)
    assert status != 0
    assert told in error
