"""What a host teaches about its bodies, links, images and titles, and what it must not lose."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean import (
    BodySource,
    ImageKind,
    LinkKind,
    LinkReason,
    PageKind,
    RawPage,
    clean,
    learn_site,
)
from crawlclean.cleaning.learn.views import MAX_SAMPLE, choose_sample
from crawlclean.cleaning.model.rules import DropReason
from crawlclean.cleaning.page_warnings import WarningKind

SENTENCE = (
    "第{n}号渔船昨天夜里回到了港口，船上的人都说那边的风浪比往年大得多，{n}个人一夜没有合眼。"
)


def article(n: int, extra: str = "", host: str = "www.example.com") -> RawPage:
    text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(4))
    return RawPage.from_bytes(
        f"http://{host}/news/{n}.html",
        f"""<title>渔港见闻之{n * 7}_海边小站</title>
        <div class=top><a href=/>首页</a><a href=/news/>新闻</a><a href=/about.html>我们</a></div>
        <div class=side><img src=/img/side.png><a href=/news/9001.html>全市渔民技能大赛今天开幕</a>
        <a href=/news/9002.html>港务局公布新的停泊办法</a></div>
        <div class=article id=a{n}><h2>前言</h2>{text}<pre>cast({n}, net)</pre>{extra}
        <p><img src=/photo/{n}.jpg></p>
        <div class=share><span>分享到：</span><a href=/share>微博</a> <a href=/s2>空间</a></div>
        <div class=banner><a href=http://shop.other.net/buy><img src=/ads/1.gif></a></div>
        </div><div class=foot>海边小站版权所有，未经允许不得转载本站的任何内容。</div>""".encode(),
    )


def site(count: int = 8) -> list[RawPage]:
    return [article(n) for n in range(1, count + 1)]


def test_a_place_is_learned_with_what_is_not_of_the_body() -> None:
    rule = learn_site(site()).body_rule
    (place,) = rule.places
    assert place.path == "html/body/div.article.a#"
    assert place.on.bit_count() == place.seen_on == 8
    assert place.classes == (("/news/*.html", 8),)
    assert {d.path.rpartition("/")[2]: d.reason for d in place.dropped} == {
        "div.share": DropReason.REPEATS
    }


def test_a_text_with_its_title_in_one_part_is_no_list() -> None:
    """Many links around it, an address of lists: what makes it a text is the title above it."""
    links = "".join(f"<a href=/tags/t{i}.html>第{i}个标签的长长的名字</a>" for i in range(60))
    pages = [
        RawPage.from_bytes(
            f"http://www.example.com/tags/t{n}.html",
            f"""<title>标签{n}</title><div class=side>{links}</div><div class=main><h1>标签{n}</h1>
            <p>{SENTENCE.format(n=n)}</p><p>{n}{SENTENCE.format(n=n * 7)}</p></div>""".encode(),
        )
        for n in range(20, 28)
    ]
    records = [clean(page, learn_site(pages)) for page in pages]
    assert {record.kind for record in records} == {PageKind.ARTICLE}


def test_everything_else_in_the_block_is_body() -> None:
    model = learn_site(site())
    rare = "<table><tr><td>潮位</td><td>3.5</td></tr></table><pre>only(once)</pre>"
    record = clean(article(77, rare), model)
    assert record.body_source is BodySource.SITE
    for piece in ("前言", "cast(77, net)", "潮位", "only(once)", SENTENCE.format(n=7703)):
        assert piece in record.body
    for piece in ("分享", "版权所有", "技能大赛", "首页"):
        assert piece not in record.body
    assert "only(once)" in record.markdown


def test_a_model_explains_itself() -> None:
    model = learn_site(site(5))
    (line,) = [each for each in model.template.lines if "版权所有" in each.text]
    assert line.on.bit_count() == 5
    assert model.pages(line.on) == model.sample


def test_links_and_images_by_their_host() -> None:
    record = clean(
        article(77, "<p>见<a href=/news/5.html>上一次的报道</a>。</p>"), learn_site(site())
    )
    kinds = {link.url.rpartition("/")[2]: (link.kind, link.reason) for link in record.links}
    assert kinds["9001.html"] == (LinkKind.NAVIGATION, LinkReason.HOST_REPEATS)
    assert kinds["5.html"][0] is LinkKind.BODY
    images = {image.src: image.kind for image in record.images}
    assert images == {
        "/img/side.png": ImageKind.CHROME,
        "/photo/77.jpg": ImageKind.CONTENT,
        "/ads/1.gif": ImageKind.AD,
    }


def test_the_name_of_the_site_goes_from_titles() -> None:
    model = learn_site(site())
    assert clean(article(77), model).title == "渔港见闻之539"
    home = replace(article(1), html="<title>海边小站</title>")
    assert clean(home, model).title == "海边小站"


def test_pages_of_another_shape_are_read_as_without_a_model() -> None:
    model = learn_site(site())
    text = "".join(f"<p>{SENTENCE.format(n=i)}</p>" for i in range(9))
    other = replace(article(50), html=f"<div class=story>{text}</div>")
    assert clean(other, model).body == clean(other).body != ""


def test_a_short_block_does_not_replace_a_long_body() -> None:
    model = learn_site(site())
    text = "".join(f"<p>{SENTENCE.format(n=i)}</p>" for i in range(200))
    other = replace(
        article(50), html=f"<div class=article id=a5>暂无内容。</div><div class=story>{text}</div>"
    )
    assert clean(other, model).body.count("渔船") == 200


def test_a_body_that_is_a_line_of_the_template_is_none() -> None:
    model = learn_site(site())
    page = replace(
        article(50),
        html="<div class=x><p>海边小站版权所有，未经允许不得转载本站的任何内容。</p></div>",
    )
    record = clean(page, model)
    assert (record.body, record.body_source) == ("", BodySource.NONE)
    assert [each.kind for each in record.warnings] == [WarningKind.TEMPLATE_BODY]
    assert clean(page).body in record.warnings[0].detail


def notice(n: int, folder: str = "lists", foot: str = "") -> RawPage:
    """A page with nothing but the frame and the footer of its site, or another footer."""
    page = article(n)
    head, _, rest = page.html.partition("<div class=article")
    html = f"{head}<div class=foot>{foot or rest.partition('<div class=foot>')[2]}"
    return replace(page, url=f"http://www.example.com/{folder}/{n}.html", html=html)


def test_a_footer_is_no_body_even_of_half_of_the_pages() -> None:
    """Pages without a text of their own have no say: on the others the footer is around bodies."""
    lists = [notice(n) for n in range(20, 27)] + [notice(30, "map"), notice(31, "login")]
    model = learn_site(site(9) + lists)
    for page in (*lists, notice(40), notice(41, "tags")):
        record = clean(page, model)
        assert record.body == "", page.url
        assert [each.kind for each in record.warnings] == [WarningKind.TEMPLATE_BODY]


def test_a_footer_of_one_url_class_is_no_body() -> None:
    """It is on few of the host's pages, and on all of its class."""
    foot = "的客服电话一二三四五，每天早上九点到晚上六点，欢迎来电咨询。</div>"
    goods = [
        replace(page, html=page.html.replace("版权所有，未经允许不得转载本站的任何内容。", foot))
        for n in range(4)
        if (page := replace(article(n), url=f"http://www.example.com/shop/{n}.html"))
    ]
    model = learn_site(site(12) + goods)
    assert clean(notice(40, "shop", f"海边小站{foot}"), model).body == ""
    assert clean(notice(40, "shop", f"海边小站{foot}")).body


def reprint(n: int, without: tuple[int, ...] = ()) -> RawPage:
    """One of the addresses of a text of six lines, of which an editor may have cut some."""
    lines = [f"<p>{SENTENCE.format(n=9000 + i)}</p>" for i in range(6) if i not in without]
    html = f"""<title>转载的渔港见闻</title><div class=top><a href=/>首页</a></div>
    <div class=text>{"".join(lines)}</div>
    <div class=foot>海边小站版权所有，未经允许不得转载本站的任何内容。</div>"""
    return RawPage.from_bytes(f"http://www.example.com/copies/{n}.html", html.encode())


@pytest.mark.parametrize("others", [0, 9])
def test_reprints_of_a_text_keep_it(others: int) -> None:
    """Every line of the text is on most pages of its URL class, and in their bodies."""
    copies = [reprint(n, cut) for n, cut in enumerate(combinations(range(6), 2))]
    model = learn_site(site(others) + copies)
    for page in (*copies, reprint(50), reprint(51, (2,))):
        record = clean(page, model)
        assert len(record.body) >= 4 * len(SENTENCE), page.url
        assert "版权所有" not in record.body


def test_repeated_bodies_teach_no_place() -> None:
    same = [replace(article(1), url=f"http://www.example.com/news/{n}.html") for n in range(8)]
    assert learn_site(same).body_rule.places == ()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=1, unique=True), st.randoms(use_true_random=False))
def test_the_sample_is_a_function_of_the_set_of_urls(
    numbers: list[int], chance: random.Random
) -> None:
    urls = [f"http://a.example/{'ab'[n % 2]}/{n}.html" for n in numbers]
    sample = choose_sample(urls, 50)
    chance.shuffle(urls)
    assert choose_sample(urls + urls[:3], 50) == sample
    assert len(sample) == min(50, len(numbers))
    assert set(sample) <= set(urls)


def test_small_classes_are_in_the_sample() -> None:
    urls = [f"http://a.example/article/{n}.html" for n in range(5000)]
    few = [f"http://a.example/board/{n}/" for n in range(20)]
    sample = choose_sample(urls + few)
    assert len(sample) == MAX_SAMPLE
    assert len(set(sample) & set(few)) >= 4


def test_more_pages_than_the_sample_give_one_model_in_any_order() -> None:
    pages = [article(n) for n in range(1, 131)]
    expected = learn_site(pages)
    assert expected.page_count == MAX_SAMPLE
    random.Random(5).shuffle(pages)
    assert learn_site(pages).to_json() == expected.to_json()


@pytest.mark.parametrize("count", [1, 2])
def test_few_pages(count: int) -> None:
    model = learn_site(site(count))
    assert clean(article(9), model).body


def related(n: int) -> str:
    others = "".join(
        f"<li><a href=/news/{m}.html>渔港见闻之{m * 7}：第{m}号渔船昨夜回港</a></li>"
        for m in (n + 1, n + 2, n + 3, 1)
    )
    return f"<div class=more><h3>相关阅读</h3><ul>{others}</ul></div>"


def test_related_links_keep_their_place() -> None:
    pages = [article(n, related(n)) for n in range(1, 9)]
    model = learn_site(pages)
    assert [place.path.rpartition("/")[2] for place in model.related_rule.places] == ["li"]
    record = clean(article(77, related(77)), model)
    found = [link.url.rpartition("/")[2] for link in record.links if link.kind is LinkKind.RELATED]
    assert found == ["78.html", "79.html", "80.html", "1.html"]
    assert "相关阅读" not in record.body
