"""Long runs of any characters in any place of a page take time in proportion to their length.

One line of 10,000 dots once cost four seconds: a pattern for the edges of a line read the run anew
from each of its places.
"""

from __future__ import annotations

import time

import pytest

from crawlclean import RawPage, clean

CHARS = 10_000
MOST_S = 1.5
"""CPU seconds of a page of 14 such runs: 0.1 to 0.3 here; a quadratic pattern takes over 4."""

PAGE = (
    "<title>{0}</title><meta name=author content='{0}'><meta name=description content='{0}'>"
    "<div class='{0}'><h1>{0}</h1><p class=info>{0}</p><p>{1}</p><p>{0}</p><p>{1}</p>"
    "<a href='/a?{0}'>{0}</a><img src='/{0}.jpg' alt='{0}' width='{0}' style='{0}'>"
    "<table><tr><td>{0}</td></tr></table><pre>{0}</pre><ul><li>{0}</li></ul></div>"
)
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
RUNS = (
    *".-_,;:/\\(['%#=*!|~1aA中年。，·…",
    "&lt;",
    *(" \u3000", "\xa0", "ab ", "1 ", "a1", "1-", "a.", "%4", "a@", "1:", "中 ", "1年", "A.", "/1"),
    *("http://", "www.", "2026-1-1 ", "第1", "a·", "作者"),
)
AROUND = (("x", "x"), ("作者：", ""), ("2026年1月1日 ", "中"), ("", "请关注我们的微信公众号。"))


@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_is_cleaned_at_once(run: str) -> None:
    for before, after in AROUND:
        line = before + (run * (CHARS // len(run) + 1))[:CHARS] + after
        page = RawPage.from_bytes("http://a.example/1", PAGE.format(line, TEXT).encode())
        begun = time.process_time()
        record = clean(page)
        assert time.process_time() - begun < MOST_S, (before, after)
        assert record.url == page.url
