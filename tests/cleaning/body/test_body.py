from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean.cleaning.body.page_body import Body, extract_body
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import count_words, is_meta
from crawlclean.cleaning.features.parts import PartKind, kind_of_part
from crawlclean.cleaning.posts.posts import is_forum
from crawlclean.cleaning.records import BodySource

SENTENCES = (
    "入秋以来，山上的核桃陆续成熟，村里的合作社组织村民上山采收。",
    "今年春天请来了农技员，教大家修枝和施肥的办法，收购价也高了。",
    "The road to the orchard was paved in spring, so carts reach the trees now.",
)
PIECES = st.sampled_from(
    [
        *(f"<p>{text}</p>" for text in SENTENCES),
        *SENTENCES,
        "<div>", "</div>", "<div class=comment>", "<div class='sidebar'>", "<article>",
        "</article>", "<ul>", "<li>", "</ul>", "<br>", "<h1>标题在这里</h1>", "<h3>相关阅读</h3>",
        "<a href=/1>一条别的新闻的标题</a>", "<a href=/2>首页</a>", "<table><tr><td>", "</table>",
        "<footer>", "</footer>", "<form>", "<button>", "发表于 2026-1-2 10:00", "短", "<p>", "  ",
        "<title>标题在这里_某网</title>", "</html>", "<div style='display:none'>", "<blockquote>",
    ]
)  # fmt: skip
ADDRESSES = st.sampled_from(["", "http://news.example.com/1", "http://bbs.example.com/thread-1"])


def body_of(html: str, url: str = "") -> Body:
    return extract_body(parse(html), url)


def kept_lines(tree: Tree, body: Body) -> list[str]:
    return [
        tree.line_text(line)
        for line, start in enumerate(tree.line_starts)
        if body.is_kept[start]
    ]  # fmt: skip


@settings(deadline=2000)
@given(st.lists(PIECES, max_size=60).map("".join), ADDRESSES)
def test_a_body_is_lines_of_the_page_in_their_order(html: str, url: str) -> None:
    tree = parse(html)
    body = extract_body(tree, url)
    assert body == extract_body(parse(html), url)
    assert body.text == "\n".join(kept_lines(tree, body))
    assert len(body.is_kept) == len(tree.texts)
    assert (body.source is BodySource.NONE) == (body.text == "")
    # A line is kept whole.
    for line in range(len(tree.line_starts)):
        start, end = tree.line_runs(line)
        assert len(set(body.is_kept[start:end])) == 1


@settings(deadline=2000)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_the_blocks_of_a_tree_fit_into_each_other(html: str) -> None:
    tree = parse(html)
    for block, (parent, end) in enumerate(zip(tree.block_parents, tree.block_ends, strict=True)):
        assert block < end <= len(tree.block_tags)
        if block:
            assert 0 <= parent < block
            assert end <= tree.block_ends[parent]
    assert tree.block_lines == sorted(tree.block_lines)
    for line, block in enumerate(tree.line_blocks):
        assert tree.block_lines[block] <= line < tree.line_end(block)
        assert tree.line_text(line)


@settings(deadline=2000)
@given(st.lists(st.sampled_from(SENTENCES[:2]), min_size=2, max_size=9), st.integers(0, 40))
def test_links_around_an_article_do_not_change_its_body(texts: list[str], links: int) -> None:
    article = "".join(f"<p>{i}、{text}</p>" for i, text in enumerate(texts))
    around = "".join(f"<li><a href=/{i}>第{i}条别的新闻的标题</a></li>" for i in range(links))
    alone = body_of(f"<div class=x>{article}</div>")
    assert alone.text.count("\n") == len(texts) - 1
    crowded = body_of(f"<ul>{around}</ul><div class=x>{article}</div><div><ul>{around}</ul></div>")
    assert crowded.text == alone.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("\n" + 20 * "\t" + "四个汉字\n", 4),
        ("two words", 2),
        ("十个汉字的一句话在此", 10),
        ("Вот три слова", 3),
        ("ひらがな", 4),
    ],
)
def test_words_are_counted_by_script(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("tag", "names", "kind"),
    [
        ("div", "", PartKind.PLAIN),
        ("div", "article-content", PartKind.PLAIN),
        ("div", "comment-list", PartKind.COMMENT),
        ("div", "postComments", PartKind.COMMENT),
        ("div", "relatedPosts", PartKind.NOISE),
        ("ul", "tuijian_list", PartKind.NOISE),
        ("nav", "", PartKind.NOISE),
        ("div", "footer", PartKind.NOISE),
        ("figure", "figure-footer", PartKind.WEAK),
        ("div", "left sidebar", PartKind.WEAK),
        ("div", "sidebar-content", PartKind.PLAIN),
        ("div", "bottom-bar", PartKind.WEAK),
        ("div", "padding-bottom", PartKind.PLAIN),
        ("button", "", PartKind.WEAK),
        ("div", "post-signature", PartKind.USER),
        ("div", "message-userContent js-box", PartKind.PLAIN),
        ("div", "post-userinfo-details", PartKind.USER),
        ("div", "sig-content", PartKind.USER),
        ("div", "reviews-carousel", PartKind.PLAIN),
        ("div", "calendar with-ads", PartKind.PLAIN),
        ("div", "page-has-sidebar", PartKind.PLAIN),
        ("div", "tw-bg-canvas-secondary", PartKind.PLAIN),
        ("div", "sidebar-with-shadow", PartKind.WEAK),
        ("div", "post-content", PartKind.PLAIN),
    ],
)
def test_what_names_say_of_a_part(tag: str, names: str, kind: PartKind) -> None:
    assert kind_of_part(tag, names) is kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("责任编辑：王五", True),
        ("2026年11月1日 山城晚报", True),
        ("Posted by somebody", True),
        ("他把编辑部的门关上了。", False),
        ("She shares her views.", False),
    ],
)
def test_lines_about_the_body(text: str, expected: bool) -> None:
    assert is_meta(text) is expected


@pytest.mark.parametrize(
    ("url", "title", "expected"),
    [
        ("http://bbs.example.com/x", "", True),
        ("http://example.com/forum/12", "", True),
        ("http://example.com/viewtopic.php?t=3", "", True),
        ("http://example.com/thread-12-1-1.html", "", True),
        ("http://example.com/t/some-topic/12", "", True),
        ("http://tech.example.com/t/2026-11-01/12.html", "", False),
        ("http://example.com/2026/questions-about-the-forum-of-rome.html", "", False),
        ("http://example.com/a/1", "柠檬树 - 园艺论坛", True),
        ("http://example.com/a/1", "柠檬树 - 园艺网", False),
        ("http://example.com/a/1", "柠檬树 园艺论坛", True),
        ("http://example.com/a/1", "社区里的人不知道怎么种柠檬树 - 园艺网", False),
        ("", "", False),
    ],
)
def test_what_speaks_of_a_forum(url: str, title: str, expected: bool) -> None:
    assert is_forum(url, title) is expected


def test_plain_lines_are_a_body_only_where_there_is_no_text() -> None:
    rows = "".join(f"<p>第{i}号 甲队 乙队" for i in range(9))
    only = body_of(f"<div>{rows}</div>")
    assert (only.source, only.text.count("\n")) == (BodySource.PLAIN_LINES, 8)
    text = "".join(f"<p>{i}、{SENTENCES[0]}" for i in range(9))
    beside = body_of(f"<div>{rows}</div><div>{text}</div>")
    assert beside.source is BodySource.CONTAINER
    assert "甲队" not in beside.text


def page_of(*parts: str) -> str:
    return f"<title>核桃熟了</title><body><h1>核桃熟了</h1>{''.join(parts)}</body>"


@pytest.mark.parametrize("name", ["elementor-widget", "x-widget box", "hot-{0} c{0}"])
def test_a_name_of_most_of_the_text_is_no_evidence(name: str) -> None:
    parts = [f'<div class="{name.format(n)}" id="w{n}"><p>{SENTENCES[n]}</p></div>' for n in (0, 1)]
    side = '<div class="sidebar"><p>订阅我们的来信，每周一封，随时都可以退订。</p></div>'
    assert body_of(page_of(*parts, side)).text == "\n".join(SENTENCES[:2])


def test_what_follows_a_name_without_evidence_is_evidence_still() -> None:
    part = '<div class="e-widget e-widget-{}"><p>{}</p></div>'
    parts = [part.format("text", SENTENCES[0]), part.format("text", SENTENCES[1])]
    menu = part.format("menu", "关于我们，联系我们，加入我们，支持我们。")
    assert body_of(page_of(*parts, menu)).text == "\n".join(SENTENCES[:2])


def test_posts_with_a_profile_are_posts() -> None:
    post = (
        '<div id="p{0}" class="post has-profile bg{0}"><p>2026-01-0{0} 10:00</p>'
        '<dl class="postprofile"><dt><a href="/u{0}">人{0}</a></dt></dl>'
        '<div class="content">{1}</div></div>'
    )
    posts = "".join(post.format(n + 1, text) for n, text in enumerate(SENTENCES))
    body = body_of(page_of(posts), "http://a.test/viewtopic.php?t=5")
    assert body.source is BodySource.POSTS
    assert body.text == "\n".join(SENTENCES)


def test_a_page_drawn_by_scripts_is_read_as_browsers_without_scripts_show_it() -> None:
    text = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES * 8)
    html = f"<title>核桃</title><body><div id=app></div><noscript>{text}</noscript></body>"
    assert body_of(html).text.startswith(SENTENCES[0])
    request = "<noscript>请启用 JavaScript 才能浏览本站，谢谢。</noscript>"
    assert body_of(f"<body><div id=app></div>{request}</body>").text == ""
    both = f"<body><p>{SENTENCES[2] * 6}</p><noscript>{text}</noscript></body>"
    assert SENTENCES[0] not in body_of(both).text


def test_a_page_that_lists_others_is_their_list() -> None:
    title = '<h3><a href="/n{0}">第{0}条新闻的标题在这里</a></h3>'
    card = f'<article class="card">{title}<p>{{1}}</p></article>'
    cards = "".join(card.format(n, SENTENCES[n % 3]) for n in range(9))
    page = f'<div class="feed">{cards}</div><div class="sidebar"><p>订阅我们的来信吧。</p></div>'
    body = body_of(page_of(page))
    assert body.source is BodySource.LIST
    assert body.text.startswith("第0条新闻的标题在这里\n" + SENTENCES[0])
    assert "订阅" not in body.text
    assert extract_body(parse(page_of(page)), may_be_list=False).source is not BodySource.LIST


def test_text_behind_a_list_leaves_it_the_body() -> None:
    """A shop writes about its goods below them; an article stands above what ends it."""
    link = '<h3><a href="/n{0}">第{0}件商品的名字在这里</a></h3>'
    cards = "".join(
        f'<div class="card">{link.format(n)}<p>{SENTENCES[n % 3]}</p></div>' for n in range(9)
    )
    text = f'<div class="about"><p>{SENTENCES[0] * 3}</p></div>'
    head = "<title>乌桕</title><body><div class=page><h1>乌桕</h1>"
    shop = body_of(f'{head}<div class="goods">{cards}</div>{text}</div>')
    assert shop.source is BodySource.LIST
    assert "第8件商品的名字在这里" in shop.text
    article = body_of(f'{head}{text}<div class="goods">{cards}</div></div>')
    assert SENTENCES[0] * 3 in article.text
    assert "商品" not in article.text


def test_questions_that_unfold_are_no_teasers() -> None:
    item = '<div class="panel"><a href="#a{0}">第{0}个常见问题是什么</a><p>{1}</p></div>'
    items = "".join(item.format(n, SENTENCES[n % 3] * 2) for n in range(6))
    body = body_of(page_of(f'<div class="questions">{items}</div>'))
    assert body.source is BodySource.CONTAINER
    assert all(sentence * 2 in body.text for sentence in SENTENCES)


def test_sections_named_by_their_headings_are_text() -> None:
    """Such a name is what a part is about; ``related-posts`` is what it is."""
    section = '<section id="{}"><h2>{}</h2><p>{}</p></section>'
    heads = ("Introduction", "Write the sidebar first", "Search ranking", "Related posts")
    parts = [
        section.format(head.lower().replace(" ", "-"), head, SENTENCES[n % 3] * (n + 2))
        for n, head in enumerate(heads)
    ]
    text = body_of(page_of("<div class=page>", *parts, "</div>")).text
    assert all(SENTENCES[n % 3] * (n + 2) in text for n in range(3))
    assert "Search ranking" in text
    assert "Related posts" not in text


def test_names_leave_no_page_with_much_text_without_a_body() -> None:
    halves = ("recommend", "copyright")
    parts = [f'<div class="{name}"><p>{SENTENCES[0] * 10}</p></div>' for name in halves]
    assert SENTENCES[0] in body_of(page_of(*parts)).text


def test_names_do_not_leave_a_line_of_a_page_with_much_text() -> None:
    """A word in the name of a part decides between texts, not that there is none."""
    banner = f'<div class="banner home"><p>{SENTENCES[0] * 2}</p><p>{SENTENCES[1]}</p></div>'
    foot = f"<footer><p>{SENTENCES[2] * 6}</p></footer>"
    text = body_of(page_of("<div><p>欢迎来到山里。</p></div>", banner, foot)).text
    assert SENTENCES[0] in text
    assert SENTENCES[2] not in text


def test_weak_names_together_take_no_more_than_half_of_a_page() -> None:
    names = ("player", "hot", "sponsor", "rank")
    part = '<div class="{}"><p>{}</p></div>'
    parts = [part.format(name, SENTENCES[n % 3] * (n + 1)) for n, name in enumerate(names)]
    body = body_of(page_of("<div class=box>", *parts, "</div>"))
    assert all(SENTENCES[n % 3] * (n + 1) in body.text for n in range(4))


def test_a_second_layout_is_cut_with_its_short_lines() -> None:
    text = f"<p>{SENTENCES[2]} {SENTENCES[2]}</p><ul><li>Two carts</li><li>One road</li></ul>"
    layouts = f"<div class=wide>{text}</div><p>{SENTENCES[0]}</p><div class=small>{text}</div>"
    body = body_of(page_of(f"<div class=page>{layouts}</div>"))
    assert body.text.count("Two carts") == body.text.count(SENTENCES[0]) == 1
    assert body.text.count(SENTENCES[2]) == 2


def test_a_line_of_several_like_parts_is_their_own_text() -> None:
    """Manuals write one note below several functions, shops one below several goods."""
    note = f"<p class=note>{SENTENCES[2]}</p>"
    parts = "".join(
        f"<div class=function><h2>Function {n}</h2><p>Returns {n} carts of nuts, or none.</p>"
        f"<div class=notes>{note}</div></div>"
        for n in range(4)
    )
    assert body_of(page_of(f"<div class=page>{parts}</div>")).text.count(SENTENCES[2]) == 4
