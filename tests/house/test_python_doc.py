"""The examples of docs/python.md run as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import crawlclean
from crawlclean.storage.config import StorageConfig
from crawlclean.workers.config import Settings
from tests.kit.commands import call
from tests.kit.web import html

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 8


def test_examples_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"url": "http://a.example/1.html", "html": html("页", TEXT)}))
    settings = Settings(storage=StorageConfig(data=tmp_path / "crawlclean-data"))
    assert call(settings, "import", str(rows)) == 0
    text = DOCUMENT.read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    assert len(examples) == 7
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, str(DOCUMENT), "exec"), names)  # noqa: S102 - our own document
    out = capsys.readouterr().out
    assert "1 records of ['a.example']" in out
    assert "http://a.example/1.html" in out


def test_names_in_examples_are_public() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    named = {
        name.strip()
        for names in re.findall(r"^from crawlclean import (.+)$", text, flags=re.M)
        for name in names.split(",")
    }
    assert {*named} - {"..."} <= set(crawlclean.__all__)
    for name in crawlclean.__all__:
        assert getattr(crawlclean, name)
