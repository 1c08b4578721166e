"""Which parts of a page are cards, each with one title of another page."""

from __future__ import annotations

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.features.parts import Cards

NOTES = "".join(f"<p><a href=/n/{i}>注{i}</a></p>" for i in range(6))
MENU = "".join(f"<p><a href=/m/{i}>栏{i}</a></p>" for i in range(60))


def are_cards(*parts: str) -> list[bool]:
    """Whether each part, with one title of eight characters, is on a card."""
    body = "".join(f"<div>{part}<p><a href=/t>城市里的一条新路</a></p></div>" for part in parts)
    tree = parse(f"<html><body><div>{body}</div></body></html>")
    lines = [tree.line_of[anchor.start] for anchor in tree.anchors]
    titles = [tree.line_of[each.start] for each in tree.anchors if each.href == "/t"]
    count = range(len(tree.line_starts) + 1)
    cards = Cards(
        tree,
        tree.line_ends(),
        [sum(line < i for line in titles) for i in count],
        [sum(line < i for line in lines) for i in count],
    )
    return [cards.around(each.block) > 0 for each in tree.anchors if each.href == "/t"]


def test_parts_with_a_title_each_are_cards_with_any_number_of_notes() -> None:
    assert are_cards("", "", "") == [True] * 3
    assert are_cards(NOTES, NOTES, NOTES) == [True] * 3


def test_two_parts_are_no_list_of_cards() -> None:
    assert are_cards(NOTES, NOTES) == [False] * 2


def test_columns_of_a_page_are_no_cards() -> None:
    assert are_cards("", MENU, NOTES) == [False] * 3
