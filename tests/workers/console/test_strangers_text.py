from __future__ import annotations

import pytest

from crawlclean.workers.console.strangers_text import plain, shown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "<bdi>plain</bdi>"),
        ("<script>", "<bdi>&lt;script&gt;</bdi>"),
        ("a\u202eb", '<bdi>a<span class="ctl">U+202E</span>b</bdi>'),
        ("\x00", '<bdi><span class="ctl">U+0000</span></bdi>'),
        ("\ud800<", '<bdi><span class="ctl">U+D800</span>&lt;</bdi>'),
        ("two\r\n lines", "<bdi>two  lines</bdi>"),
        ("中文\u3000字", "<bdi>中文\u3000字</bdi>"),
        ("a\u200db", '<bdi>a<span class="ctl">U+200D</span>b</bdi>'),
    ],
)
def test_hidden_characters_are_shown(text: str, html: str) -> None:
    assert shown(text) == html


def test_prose_keeps_joiners() -> None:
    assert shown("👩\u200d💻", is_prose=True) == "<bdi>👩\u200d💻</bdi>"


def test_plain_text_has_no_markup() -> None:
    assert plain("a\u202e\x07b\nc") == "a[U+202E][U+0007]b c"
