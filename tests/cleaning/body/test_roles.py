"""ARIA roles as evidence: landmarks, menus and dialogs count as the tags they stand for."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.reader import parse

TEXT = (
    "<p>The ferry to the island leaves at nine, and comes back at noon, if the sea is calm.</p>" * 2
)
NOTICE = (
    "<p>We and our partners keep files on your device, and read what is in them, to know you.</p>"
)


@pytest.mark.parametrize(
    "role",
    [
        "role=dialog",
        "role=alertdialog",
        "aria-modal=true",
        "role='navigation landmark'",
        "role=contentinfo",
        "role=complementary",
    ],
)
def test_a_role_counts_as_its_tag(role: str) -> None:
    page = f"<body><h1>The ferry</h1><div class=a>{TEXT}<div class=b %s>{NOTICE}</div></div>"
    assert "partners" in extract_body(parse(page % "role=presentation")).text
    assert "partners" not in extract_body(parse(page % role)).text
    assert "ferry" in extract_body(parse(page % role)).text


def test_a_long_notice_in_a_dialog_hides_no_list() -> None:
    names = "".join(
        f'<div class=item><a href="/r/{n}">Recipe {n} with beans and rice</a></div>'
        for n in range(12)
    )
    page = (
        f"<body><h1>Recipes</h1><div class=related-list>{names}</div>"
        f"<div class=x><div role=dialog>{NOTICE * 12}</div></div>"
    )
    text = extract_body(parse(page)).text
    assert "Recipe 7" in text
    assert "partners" not in text


def test_a_page_in_a_dialog_is_no_notice() -> None:
    assert "ferry" in extract_body(parse(f"<body><div role=dialog>{TEXT}</div>")).text
