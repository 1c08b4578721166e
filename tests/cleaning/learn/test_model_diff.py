"""Two models of one host in words, why something is template, and what a new model changes."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from crawlclean import LinkKind, RawPage, clean, learn_site
from crawlclean.cleaning.learn.model_diff import change_of, describe, differences, explain
from tests.cleaning.body.test_with_model import article, site


def test_equal_models_do_not_differ() -> None:
    model = learn_site(site())
    assert differences(model, learn_site(site())) == ()


def test_differences_are_named() -> None:
    old, new = learn_site(site(2)), learn_site([*site(), *shop()])
    lines = differences(old, new)
    assert "learned from 12 pages, was 2" in lines
    assert any(line.startswith("bodies stand at: + ") and "div.goods" in line for line in lines)
    assert any(line.startswith("left out of bodies: + ") for line in lines)
    assert any(line.startswith("bodies stand at: - ") for line in differences(new, old))


def test_a_model_in_words() -> None:
    lines = describe(learn_site(site()))
    assert "bodies stand at html/body/div.article.a# on 8 of 8 pages" in lines
    assert "  without /div.share (repeats, 8 pages)" in lines
    assert "template: '海边小站版权所有，未经允许不得转载本站的任何内容。' on 8 pages" in lines


def test_why_a_text_is_template() -> None:
    model = learn_site(site(6))
    (line,) = explain(model, "海边小站版权所有，未经允许不得转载本站的任何内容。")
    assert "on 6 of 6 pages: http://www.example.com/news/" in line
    assert line.endswith(" ...")
    assert explain(model, "没有见过的句子") == ()


def test_what_a_model_changes_in_a_record() -> None:
    alone = clean(article(77))
    after = clean(article(77), learn_site(site()))
    change = change_of(alone, after)
    assert change
    assert change.title
    assert change.links
    assert not change_of(after, after)
    assert not change_of(after, replace(after, model_version=9))
    other = msgspec.structs.replace(after.links[0], kind=LinkKind.OTHER)
    assert change_of(after, replace(after, links=(other, *after.links[1:]))).links == 1


def shop() -> list[RawPage]:
    return [
        replace(
            page,
            url=f"http://www.example.com/shop/{n}/",
            html=page.html.replace("class=article id=a", "class=goods id=g"),
        )
        for n, page in enumerate(map(article, range(300, 304)))
    ]
