from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    LinkKind,
    Outlink,
    PageKind,
    Post,
    Via,
)
from crawlclean.cleaning.versions import (
    Edit,
    compare,
    edits_back,
    go_back,
    kept_lines,
    record_of,
    shown_lines,
    stable,
)

AT = datetime(2026, 3, 1, tzinfo=UTC)
URL = "http://a.example/news/1.html"
TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
LINES = st.lists(st.sampled_from(["", "a", "b", "c", "一行", "另一行"]), max_size=30)


def article(body: str = "正文。", **changes: object) -> CleanRecord:
    made = CleanRecord(
        page_id="0" * 32,
        url=URL,
        canonical_url=URL,
        host="a.example",
        fetched_at=AT,
        kind=PageKind.ARTICLE,
        title="标题",
        body=body,
        body_source=BodySource.CONTAINER,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def index(*urls: str, kind: LinkKind = LinkKind.BODY) -> CleanRecord:
    outlinks = tuple(Outlink(url=url, via=Via.LINK, kind=kind) for url in urls)
    return article("", kind=PageKind.INDEX, outlinks=outlinks)


@given(LINES, LINES)
def test_edits_make_the_older_lines(new: list[str], old: list[str]) -> None:
    assert go_back(new, edits_back(new, old)) == tuple(old)


@given(LINES)
def test_equal_lines_have_no_edits(lines: list[str]) -> None:
    assert edits_back(lines, lines) == ()


def test_long_differences_are_kept_in_linear_time() -> None:
    new = [f"{n % 7}" for n in range(30_000)]
    old = [f"{n % 5}" for n in range(30_000)]
    assert go_back(new, edits_back(new, old)) == tuple(old)


def test_edits_of_other_lines_are_damage() -> None:
    with pytest.raises(StoreDamaged):
        go_back(["a"], [Edit(0, 2, ("b",))])


@given(
    body=TEXT,
    title=TEXT,
    author=st.none() | TEXT,
    posts=st.lists(st.tuples(st.none() | TEXT, TEXT), max_size=3),
    published=st.none() | st.datetimes(timezones=st.just(UTC)),
    urls=st.lists(TEXT, max_size=3),
)
def test_kept_lines_give_the_texts_back_exactly(
    body: str,
    title: str,
    author: str | None,
    posts: list[tuple[str | None, str]],
    published: datetime | None,
    urls: list[str],
) -> None:
    made = article(
        body,
        title=title,
        author=author,
        published_at=published,
        posts=tuple(
            Post(author=name, published_at=published, floor=n, body=text)
            for n, (name, text) in enumerate(posts, 1)
        ),
        outlinks=tuple(Outlink(url=url, via=Via.LINK, text=url) for url in urls),
    )
    back = record_of(kept_lines(made), made.page_id, AT)
    assert back == made


def test_lines_of_others_are_damage() -> None:
    for lines in ([], ["h{}"], ["x"], [*kept_lines(article()), "tno post"], ["h[]", "b"]):
        with pytest.raises(StoreDamaged):
            record_of(lines, "0" * 32, AT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("阅读 1,024 次", "阅读 2,048 次"),
        ("12条评论", "13条评论"),
        ("Posted 3 minutes ago", "Posted 2 hours ago"),
        ("发布于 5分钟前", "发布于 2小时前"),
        ("Page generated in 0.31 s, updated 12:01", "Page generated in 0.28 s, updated 12:09"),
        ("Views: 99", "Views: 100"),
        ("© 2026-03-01", "© 2026-03-02"),
    ],
)
def test_counts_and_dates_are_no_change(before: str, after: str) -> None:
    assert stable(before) == stable(after)
    old, new = (article(f"一样的正文。\n{line}") for line in (before, after))
    assert not compare(old, new).is_changed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("价格 12 元", "价格 13 元"),
        ("The interviews took 3 days", "The interviews took 4 days"),
        ("Version 1.2.3 of the program", "Version 1.2.4 of the program"),
        ("死者增至 12 人。", "死者增至 13 人。"),
        (f"3月1日,{'很长的一句话,' * 10}12例。", f"3月1日,{'很长的一句话,' * 10}13例。"),
        ("一句话。", "一句话。\n又一句。"),
    ],
)
def test_other_differences_are_changes(before: str, after: str) -> None:
    assert compare(article(before), article(after)).is_changed


def test_white_space_and_template_are_no_change() -> None:
    old = article("第一段。\n\n第二段。\n本站共有12个频道")
    new = article("第一段。 \n第二段。\n\n本站共有13个频道\n请勿转载")
    assert compare(old, new).is_changed
    template = {"本站共有#个频道", "请勿转载"}
    assert not compare(old, new, template).is_changed


def test_title_author_of_a_post_and_new_posts_are_changes() -> None:
    post = Post(author="甲", published_at=None, floor=1, body="一楼")
    thread = article("", kind=PageKind.THREAD, posts=(post,))
    more = replace(thread, posts=(post, replace(post, floor=2, body="二楼")))
    assert not compare(thread, thread).is_changed
    assert compare(thread, more).is_changed
    assert compare(thread, replace(thread, title="另一标题")).is_changed
    # times of posts are read as "3 minutes ago" on many boards
    assert not compare(thread, replace(thread, posts=(replace(post, published_at=AT),))).is_changed


def test_a_list_changes_by_a_new_address_only() -> None:
    one, two = "http://a.example/1", "http://a.example/2"
    assert compare(index(one), index(two, one)).new_urls == (two,)
    assert not compare(index(one, two), index(two)).is_changed
    assert not compare(index(one, two), index(two, one)).is_changed
    other = "http://b.example/ad"
    assert not compare(index(one), index(one, other)).is_changed  # another site's
    assert compare(index("http://c.example/"), index(other)).is_changed  # a list of other sites
    assert not compare(index(one), index(one, two, kind=LinkKind.AD)).is_changed


def test_shown_lines_have_title_body_and_the_links_of_a_list() -> None:
    assert shown_lines(article("一\n二")) == ["标题", "", "一", "二"]
    assert shown_lines(index("http://a.example/1")) == ["标题", "http://a.example/1"]
