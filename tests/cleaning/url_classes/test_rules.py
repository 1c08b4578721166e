"""What a crawl does with the URLs of a class."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes.rules import (
    FORBID,
    UrlRule,
    UrlRules,
    followed_inside,
    rank_of,
    refused_templates,
    url_kind,
    with_pins,
)


def rule(kind: UrlKind, template: str = "/x?id={n}", **more: float) -> UrlRule:
    return UrlRule(kind=kind, template=template, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "is_refused"),
    [
        (rule(UrlKind.FORM, urls=5, named=0.0), True),  # many links that all say 回复
        (rule(UrlKind.FORM, urls=5, named=0.9), False),  # reports of a year have titles
        (rule(UrlKind.FORM, urls=5, named=0.9, pages=2), True),
        (rule(UrlKind.LOGIN, urls=1, named=1.0), False),  # one page more or less
        (rule(UrlKind.LOGIN, urls=60, named=0.0), False),  # by its words alone
        (rule(UrlKind.LOGIN, urls=60, named=0.0, pages=2), True),
        (rule(UrlKind.CALENDAR, urls=30), True),
        (rule(UrlKind.DUPLICATE, urls=99), False),  # by its words alone
        (rule(UrlKind.DUPLICATE, urls=99, pages=2), True),
        (rule(UrlKind.SEARCH, urls=99, pages=9), False),
        (rule(UrlKind.THREAD, urls=99, pages=9), False),
    ],
)
def test_only_what_is_sure_is_refused(one: UrlRule, is_refused: bool) -> None:
    refused = refused_templates(UrlRules([one]), {})
    assert bool(refused) is is_refused
    assert all(str(one.kind) in why for why in refused.values())


@pytest.mark.parametrize(
    ("twins", "better"),
    [
        ([("/p/{n}", "/s?id={1}"), ("/s?id={n}", "/t/{1}.html")], "/t/7.html"),
        ([("/p/{n}", "/s?id={1}"), ("/s?id={n}", "")], "/s?id=7"),
        ([("/p/{n}", "/s?id={1}"), ("/s?id={n}", "/p/{1}")], None),  # damaged: a circle
    ],
)
def test_the_better_form_is_that_of_all_rules(
    twins: list[tuple[str, str]], better: str | None
) -> None:
    rules = UrlRules(
        UrlRule(kind=UrlKind.DUPLICATE, template=one, twin=twin, pages=2) for one, twin in twins
    )
    found = rules.better_form("http://a.example/p/7")
    assert found == (better and f"http://a.example{better}")


def test_operators_come_first() -> None:
    form = rule(UrlKind.FORM, "/x?id={n}", urls=9)
    thread = rule(UrlKind.THREAD, "/t/{n}", urls=9)
    pins = {"/x?id={n}": "article", "/t/{n}": FORBID}
    rules = with_pins(UrlRules([form, thread]), pins)
    assert url_kind("http://a.example/x?id=7", rules) is UrlKind.ARTICLE
    assert refused_templates(rules, pins) == {"/t/{n}": "forbidden by an operator"}
    assert [each.urls for each in rules] == [9, 9], "what was learned is still known"


def test_what_is_followed_inside_a_refused_class() -> None:
    rules = UrlRules([rule(UrlKind.FORM, "/{w}/{n}", urls=9), rule(UrlKind.THREAD, "/t/{n}")])
    refused = refused_templates(rules, {})
    assert set(refused) == {"/{w}/{n}"}
    assert followed_inside(rules, refused) == ["/t/{n}"]


def test_boards_come_before_threads_and_variants_of_lists_behind() -> None:
    board = rank_of(rule(UrlKind.INDEX, named=1.0))
    later = rank_of(rule(UrlKind.INDEX, numbered=1.0))
    thread = rank_of(rule(UrlKind.THREAD))
    user = rank_of(rule(UrlKind.USER))
    variant = rank_of(rule(UrlKind.INDEX))
    assert board == later
    places = [place for place in (board, thread, 40, variant, user) if place is not None]
    assert len(places) == 5
    assert places == sorted(set(places))
    assert rank_of(rule(UrlKind.OTHER)) is None
