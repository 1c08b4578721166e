from __future__ import annotations

import pytest

from crawlclean import RawPage, clean, learn_site
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.posts.runs import name_of, numbered_names, telling_names

WORDS = ("river", "stone", "bridge", "paper", "window", "garden", "winter", "engine", "letter")


def post(thread: int, number: int, *, box: str, user: str, text: str, note: str) -> str:
    words = [WORDS[(thread * 5 + number * 3 + i) % len(WORDS)] for i in range(6 + number % 3)]
    more = f"<p>{words[0]} {words[-1]}, they say.</p>" if number % 2 else ""
    return (
        f'<div class="{box}"><div class="{user}"><a href="/user/{number % 4}">'
        f"{WORDS[number % 4].title()}</a></div>"
        f'<div class="{note}">2026-03-{thread + 1:02d} 10:{number:02d}</div>'
        f'<div class="{text}{" has-more" if more else ""}">'
        f"Thread {thread} says {' '.join(words)}.{more}</div></div>"
    )


def thread(number: int, **names: str) -> RawPage:
    posts = "".join(post(number, i, **names) for i in range(2 + number % 4))
    title = f"On {WORDS[number % len(WORDS)]} and {WORDS[number * 7 % len(WORDS)]}"
    html = (
        f"<title>{title}</title><body><div class='{names['box'][:-1]}9'><h1>{title}</h1>"
        f"<div class='{names['box'][:-1]}8'>{posts}</div></div></body>"
    )
    return RawPage.from_bytes(f"http://forum.test/thread/{number}", html.encode())


NAMED = {"box": "post1", "user": "user", "text": "text", "note": "note"}
NUMBERED = {"box": "W11", "user": "W12", "text": "W13", "note": "W14"}


def bodies(pages: list[RawPage]) -> list[list[str]]:
    model = learn_site(pages[:10])
    return [[post.body for post in clean(page, model).posts] for page in pages[10:]]


def test_numbers_alone_tell_parts_apart() -> None:
    named = bodies([thread(i, **NAMED) for i in range(16)])
    assert named == bodies([thread(i, **NUMBERED) for i in range(16)])
    assert [len(posts) for posts in named] == [2 + i % 4 for i in range(10, 16)]
    assert all("says" in text for posts in named for text in posts)


@pytest.mark.parametrize(
    ("html", "telling"),
    [
        ("<div class=W7>" + "<div class=W1>a<p class=W7>b</p></div>" * 3, {"W1", "W7"}),
        ("<div class=W7>" + "<div class=W21>a</div>" * 3, {"W21"}),
        # Posts of one thread in one another, each with its number.
        ("<ol><li class=post-1>a<ol><li class=post-2>b</ol></ol>", set()),
        # Every other one.
        ("<tr class=row1><td>a<tr class=row2><td>b" * 3, set()),
        # Beside a name the number says how deep a part stands.
        ("<li class='re depth-1'>a<ul><li class='re depth-2'>b</ul>" * 3, set()),
        ("<div class=a><div class=b>c</div></div>" * 3, set()),
    ],
)  # fmt: skip
def test_telling_names(html: str, telling: set[str]) -> None:
    assert telling_names(parse(html)) == telling


def test_a_name_keeps_numbers_that_tell() -> None:
    assert name_of("div", "post post-17") == ("div", "post post-")
    assert name_of("div", "W9 W21 w5", frozenset({"W21"})) == ("div", "W21 w")
    assert name_of("div", "W9", frozenset({"W21"})) == ("div", "W")
    assert numbered_names([("td", "W21 :2"), ("div", "text")]) == {"W21"}
