"""Pages that read as gone, although their host answered 200."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawlclean.cleaning.records import Post
from crawlclean.cleaning.revisits import absence_words, has_vanished
from tests.kit.outcomes import make_outcome
from tests.kit.some import some

MADE = some(make_outcome("/1").record)
ARTICLE = replace(MADE, title="灯塔的故事", body="第一段写灯塔。\n第二段写海。", posts=())


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("404 Not Found", ""),
        ("出错了 - 晨报", "抱歉，您访问的页面不存在或已被删除。"),
        ("Oops", "The page you asked for could not be found.\nThis page does not exist."),
        ("提示信息", "帖子已被删除"),
    ],
)
def test_a_page_that_names_its_absence_has_vanished(title: str, body: str) -> None:
    after = replace(ARTICLE, title=title, body=body)
    assert absence_words(after)
    assert has_vanished(ARTICLE, after)
    assert not has_vanished(after, after), "the address never showed another page"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("灯塔的故事", "第一段写灯塔。\n第二段改写了。"),
        ("404 Not Found", "第一段写灯塔。\n第二段写海。"),  # the title alone is wrong
        ("为什么有 404 not found", "一篇长文。" * 80),
        ("短讯", "今天没有新闻。"),
    ],
)
def test_a_page_that_has_changed_has_not_vanished(title: str, body: str) -> None:
    assert not has_vanished(ARTICLE, replace(ARTICLE, title=title, body=body))


def test_a_thread_about_missing_pages_has_not_vanished() -> None:
    posts = tuple(Post(author="甲", published_at=None, floor=n, body="?") for n in range(2))
    thread = replace(ARTICLE, title="page not found", body="?", posts=posts)
    assert not has_vanished(ARTICLE, thread)
