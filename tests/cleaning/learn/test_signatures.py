from __future__ import annotations

import pytest

from crawlclean import RawPage, clean, learn_site

WORDS = ("river", "stone", "bridge", "paper", "window", "garden", "winter", "engine", "letter")
USERS = ("Ada", "Boris", "Clara", "Dmitri")


def thread(number: int, below: str, behind: str = "") -> RawPage:
    """A thread whose posts have a line of no telling name.

    Args:
        number: Of the thread.
        below: The line; ``{user}``, ``{thread}`` and ``{n}`` are filled.
        behind: Text of the post that follows it.
    """
    posts = ""
    for i in range(3 + number % 4):
        user = USERS[(number + i) % len(USERS)]
        words = " ".join(WORDS[(number * 5 + i * 3 + k) % len(WORDS)] for k in range(6 + i))
        last = below.format(user=user, thread=number, n=f"{number}-{i}")
        last += f"</p></div><p>{behind} {words[::-1]}" if behind else "</p></div>"
        posts += (
            f'<div class="post"><div class="by"><a href="/user/{user}">{user}</a></div>'
            f'<div class="on">2026-03-{number + 1:02d} 10:{i:02d}</div>'
            f'<div class="text"><p>Thread {number} says {words}.</p>'
            f'<div class="kqz"><p>{last}</div></div>'
        )
    title = f"On {WORDS[number % len(WORDS)]} and {WORDS[number * 7 % len(WORDS)]}"
    html = f"<title>{title}</title><h1>{title}</h1><div class=all>{posts}</div>"
    return RawPage.from_bytes(f"http://forum.test/thread/{number}", html.encode())


@pytest.mark.parametrize(
    ("below", "behind", "is_kept"),
    [
        ("The motto of {user} is a long one, and it never changes.", "", False),
        ("This is what {user} adds to it at {n}, and nowhere else.", "", True),
        ("Code that {user} quotes in thread {thread}, post after post.", "", True),
        ("The code of {user} is a long one here.", "After it comes", True),
    ],
)
def test_what_an_author_repeats_is_a_signature(below: str, behind: str, is_kept: bool) -> None:
    pages = [thread(i, below, behind) for i in range(16)]
    model = learn_site(pages[:12])
    for page, number in zip(pages[12:], range(12, 16), strict=True):
        posts = clean(page, model).posts
        assert len(posts) == 3 + number % 4
        assert all(f"Thread {number} says" in post.body for post in posts)
        assert all((below.split()[0] in post.body.split()) is is_kept for post in posts)
