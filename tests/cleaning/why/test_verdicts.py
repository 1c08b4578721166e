from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from crawlclean import CleanRecord, ConfigError, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.features.lines import Trail
from crawlclean.cleaning.page import read
from crawlclean.cleaning.records import Verdict, VerdictKind, VerdictReason
from crawlclean.cleaning.why import explain, verdicts

URL = "http://www.example.com/a/b.html"
FORUM = "http://bbs.example.com/thread/5"
CASES = sorted(path.parent for path in (Path(__file__).parents[2] / "pages").glob("*/page.html"))
TEXT = "<p>这一段文字很长，它有逗号，也有句号，所以它是正文的一部分，没有人会怀疑这一点。</p>"


def page(html: str, url: str = URL) -> RawPage:
    return RawPage.from_bytes(url, html.encode("utf-8", "replace"))


def flat(text: str) -> str:
    return "".join(text.split())


def unquoted(body: str) -> str:
    """The text of a post without the marks of its quotes, and any others like them."""
    return flat(body).replace(">", "")


def check(given: RawPage, model: SiteModel | None = None) -> tuple[CleanRecord, list[Verdict]]:
    """Compares record and verdicts of a page; returns both."""
    record, found = explain(given, model)
    assert record == clean(given, model)
    assert [each.text for each in found if each.block < 0] == [record.title] * bool(record.title)
    shown = [each for each in found if each.block >= 0]
    assert flat("".join(each.text for each in shown if each.in_body)) == flat(record.body)
    for number, post in enumerate(record.posts):
        text = "".join(each.text for each in shown if each.post == number)
        assert unquoted(text) == unquoted(post.body)
    tree = parse(given.html)
    assert Counter(flat("".join(each.text for each in shown))) == Counter(flat(tree.text()))
    lines = [line for each in shown for line in range(each.line, each.line + each.lines)]
    assert sorted(set(lines)) == list(range(len(tree.line_starts)))
    if model is None:
        assert_every_cut_is_noted(given, shown)
    for each in shown:
        assert each.block == tree.line_blocks[each.line]
        assert each.is_kept or not (each.in_body or each.post >= 0)
    return record, shown


def assert_every_cut_is_noted(given: RawPage, shown: list[Verdict]) -> None:
    """A text of the container that no rule noted would count as outside of it."""
    trail = Trail()
    tree = read(given, trail=trail).document.tree
    container = trail.chosen.container if trail.chosen else -1
    outside = [each for each in shown if each.reason is VerdictReason.OUTSIDE_CONTAINER]
    assert container >= 0 or not outside
    for each in outside:
        assert not container <= each.block < tree.block_ends[container], each


def reasons(html: str) -> dict[str, tuple[VerdictKind, VerdictReason]]:
    """The verdict on each text of a page."""
    _, shown = check(page(html))
    return {each.text: (each.kind, each.reason) for each in shown}


@pytest.mark.parametrize("case", CASES, ids=lambda path: str(path.name))
def test_the_kept_texts_of_golden_pages_are_their_records(case: Path) -> None:
    url = (case / "url").read_text("utf-8").strip()
    check(RawPage.from_bytes(url, (case / "page.html").read_bytes()))


PIECES = st.sampled_from(
    (
        "<div>", "</div>", "<p>", "</p>", "<br>", "<nav>", "</nav>", "<footer>", "</footer>",
        "<h1>", "</h1>", "<h2>相关阅读</h2>", "<ul><li>", "<li>", "</ul>", "<table><tr><td>",
        "<td>", "</table>", "<div class=sidebar>", "<div class=comment-list>", "<pre>", "</pre>",
        "<div style='display:none'>", "<blockquote>", "</blockquote>", "<a href=/b/c.html>",
        "</a>", "<img src=/p.jpg>", "<title>", "</title>", "<form>", "<script>", "</script>",
        "<div class=post><span class=time>2024-5-1 08:30</span><div class=message>", "<select>",
        "扫描二维码关注我们的微信公众号", "网友评论", "图为山城的夜景", "来源：山城网", "1", "2",
        "A line of words, with marks, that reads like a sentence.", "下一页",
        "版权所有，未经许可不得转载。",
        "这一段文字超过了十五个汉字，所以它算是正文，真的。", "[a]", "|", "¶", "责任编辑：李明",
    )
)  # fmt: skip


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=80).map("".join),
    st.sampled_from((URL, FORUM)),
)
def test_each_visible_text_has_one_verdict_and_the_kept_ones_are_the_record(
    html: str, url: str
) -> None:
    check(page(html, url))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=30).map("".join),
        min_size=3,
        max_size=4,
    ),
    st.sampled_from((URL, FORUM)),
)
def test_with_a_model_the_kept_texts_are_the_record_too(pages: list[str], url: str) -> None:
    head, foot = "<div class=head>山城网 首页 新闻</div>", "<div class=foot>版权所有</div>"
    frame = f"<body>{head}<div class=main>{{}}</div>{foot}"
    read = [page(frame.format(html), f"{url}{n}.html") for n, html in enumerate(pages)]
    model = learn_site(read)
    for each in read:
        check(each, model)


def test_the_rules_that_cut_are_named() -> None:
    html = f"""<html><head><title>山城的夜景_山城网</title></head><body>
        <nav>首页</nav><div class=sidebar>本周天气晴朗，适合出门，也适合读书，还适合散步。</div>
        <div class=main><h1>山城的夜景</h1>{TEXT * 3}
        <div class=note><p>扫描二维码关注我们</p></div>
        <p>第二段文字也很长，它也有逗号，也有句号，所以它也是正文的一部分，大家都知道这一点。</p>
        <h3>相关阅读</h3><p>另外一篇文章的摘要在这里。</p></div>
        <div style="display:none">看不见的文字</div>
        <div class=other>另外的一段文字，它在容器之外。</div></body></html>"""
    found = reasons(html)
    assert found["山城的夜景"] == (VerdictKind.HEADLINE, VerdictReason.TITLE_LINE)
    assert found["首页"] == (VerdictKind.NAVIGATION, VerdictReason.PART_TAG)
    assert found["本周天气晴朗，适合出门，也适合读书，还适合散步。"][1] is VerdictReason.PART_NAME
    assert found["扫描二维码关注我们"] == (VerdictKind.ADVERTISING, VerdictReason.PROMOTION)
    assert found["相关阅读"] == (VerdictKind.RELATED, VerdictReason.MARKER)
    assert found["另外一篇文章的摘要在这里。"][1] is VerdictReason.MARKER
    assert found["看不见的文字"] == (VerdictKind.HIDDEN, VerdictReason.HIDDEN_PART)
    assert found["另外的一段文字，它在容器之外。"][1] is VerdictReason.OUTSIDE_CONTAINER


def test_a_text_outside_the_container_has_both_scores_and_the_container() -> None:
    html = f"<body><div class=main>{TEXT * 4}</div><div class=b><p>另一段文字，它很短。</p></div>"
    _, shown = check(page(html))
    (cut,) = (each for each in shown if each.reason is VerdictReason.OUTSIDE_CONTAINER)
    assert cut.path == "html/body/div.b/p"
    assert cut.by == "html/body/div.main"
    assert cut.score is not None
    assert cut.against is not None
    assert 0 < cut.score < cut.against


def test_lines_of_links_have_the_kind_of_their_links() -> None:
    links = "".join(f"<li><a href=/n/{n}.html>第{n}条新闻的标题在这里</a></li>" for n in range(9))
    html = f"<body><div class=main>{TEXT * 4}</div><h3>相关阅读</h3><ul>{links}</ul>"
    _, shown = check(page(html))
    kinds = {each.kind for each in shown if "条新闻" in each.text}
    assert kinds == {VerdictKind.RELATED}


def test_posts_have_their_numbers_and_the_texts_beside_them_reasons() -> None:
    posts = "".join(
        f"<div class=post><a class=author href=/user/{n}>用户{n}</a>"
        f" <span>2024-05-0{n} 08:30</span>"
        f"<div class=message>第{n}个人说了这些话，他说得很清楚，大家都同意。{n * '嗯'}</div></div>"
        for n in range(1, 5)
    )
    record, shown = check(
        page(f"<title>夜景 - 论坛</title><body><h1>夜景</h1>{posts}<div>论坛规则</div>", FORUM)
    )
    assert len(record.posts) == 4
    assert sorted({each.post for each in shown}) == [-1, 0, 1, 2, 3]
    assert {each.reason for each in shown if each.post >= 0} == {VerdictReason.POST_TEXT}
    beside = [each for each in shown if "用户" in each.text]
    assert {each.reason for each in beside} == {VerdictReason.ABOUT_POST}
    assert {each.kind for each in beside} <= {VerdictKind.ABOUT, VerdictKind.NAVIGATION}


def test_the_model_names_its_place_and_the_parts_that_it_drops() -> None:
    pages = [
        page(
            f"<body><div class=top>山城网</div><div class=main><p class=meta>来源：山城网</p>"
            f"<p>第{n}篇文章说的是{'山水城河路桥'[n]}的事，它有逗号，也有句号，所以它是正文。</p>"
            f"<p>{'山水城河路桥'[n] * 30}，这里还有另外的一段文字，它也很长，也有句号。</p>"
            f"<div class=share>分享到微信微博，收藏本文，告诉朋友们</div></div>"
            f"<div class=side>本周天气晴朗，适合出门，也适合读书，{'山水城河路桥'[n] * 9}。</div>",
            f"http://www.example.com/news/{n}.html",
        )
        for n in range(6)
    ]
    model = learn_site(pages)
    _, shown = check(pages[0], model)
    kept = {each.reason for each in shown if each.in_body}
    assert kept == {VerdictReason.AT_PLACE}
    place = next(each for each in shown if each.in_body)
    assert place.by == "html/body/div.main"
    assert place.score == 6 / 6.5
    outside = next(each for each in shown if "本周天气" in each.text)
    assert outside.reason is VerdictReason.OUTSIDE_PLACE


def test_numbers_beside_code_are_cut_and_its_text_is_kept() -> None:
    rows = "\n".join(f"{n} print({n})" for n in range(1, 9))
    _, shown = check(page(f"<body><h1>代码</h1>{TEXT * 3}<pre>{rows}</pre>{TEXT}"))
    cut = [each for each in shown if each.reason is VerdictReason.LINE_NUMBERS]
    assert [each.text for each in cut] == ["1 2 3 4 5 6 7 8"]


def test_paths_have_a_bound() -> None:
    deep = "".join(f"<div class='{'x' * 30}-{n}-{'y' * 30}'>" for n in range(900))
    found = verdicts(page(f"<body>{deep}{TEXT}"))
    assert max(len(each.path) for each in found) <= 400


def test_the_model_of_another_host_is_refused() -> None:
    with pytest.raises(ConfigError):
        verdicts(page(TEXT), learn_site([page(TEXT, "http://other.example/")]))
