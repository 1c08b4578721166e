from __future__ import annotations

import pytest

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.features.lines import weigh_lines
from crawlclean.cleaning.posts.groups import PostFinder
from crawlclean.cleaning.posts.runs import Name

TEXT = "<p>Rivers have bridges, and bridges have stones, which is known to everybody here.</p>"


def content_of(html: str, post: str) -> list[Name]:
    """What `find_content` finds where the parts whose class begins with ``post`` are the posts."""
    tree = parse(html)
    finder = PostFinder(tree, weigh_lines(tree), [False] * len(tree.block_names))
    posts = [i for i, names in enumerate(tree.block_names) if names.startswith(post)]
    return finder.find_content(posts)


@pytest.mark.parametrize(
    ("first", "second", "are_twins"),
    [
        ("text", "text has-image", True),
        ("body of-post p1", "body of-post x-widget", True),
        ("text big", "frame big", False),  # one word of two
        ("intro", "outro", False),
    ],
)
def test_names_that_take_turns_in_posts_are_one(
    first: str, second: str, *, are_twins: bool
) -> None:
    posts = (
        f"<div class=post><div class='{each}'>{TEXT}</div></div>"
        for each in (first, second, first, second, first)
    )
    found = content_of(f"<body><div>{''.join(posts)}</div></body>", "post")
    assert (len({name for _, name in found}) == 2) is are_twins


def test_a_frame_and_its_foot_are_no_contents_that_take_turns() -> None:
    frame = "<body><div class='wp'>{0}</div><div class='wp cl ft'>{0}</div></body>"
    assert content_of(frame.format(TEXT), "wp") == []


def posts_of(html: str) -> list[str]:
    """The texts of the parts that hold the posts of a page alone."""
    tree = parse(html)
    finder = PostFinder(tree, weigh_lines(tree), [False] * len(tree.block_names))
    _, contents = finder.find_posts("")
    texts, _ = finder.read_lines(contents, "") if contents else ([], [])
    return [tree.line_text(i) for i in texts]


TEXTS = [
    f"The bridge number {word} has been closed since Monday." for word in ("one", "two", "ten")
]
NAMES = ("Ada", "Boris", "Clara")


def test_the_author_beside_the_text_is_no_post_of_its_own() -> None:
    posts = (
        f"<div class=row{i % 2}><div class=info><div class=u><a href=/u/{i}>{NAMES[i]}</a></div>"
        f"<div>Rank: member</div><div>Posts: {i}5</div><div>Joined 2004-8-{i + 1}</div></div>"
        f"<div class=info1><div class=text>{text}</div><div class=bar>2021-03-0{i + 1} 10:12</div>"
        "</div></div>"
        for i, text in enumerate(TEXTS)
    )
    assert posts_of(f"<body>{''.join(posts)}</body>") == TEXTS


def test_rows_of_two_kinds_that_take_turns_are_told_by_their_cells() -> None:
    posts = (
        f"<tr class=p><td>2021-03-0{i + 1} 10:12</td></tr><tr class=p><td class=a><a "
        f"href=/u/{i}>{NAMES[i]}</a><br>Joined 2004-8-{i + 1}<br>Offline</td><td "
        f"class=b>{text}</td></tr>"
        for i, text in enumerate(TEXTS)
    )
    assert posts_of(f"<body><table>{''.join(posts)}</table></body>") == TEXTS


def test_numbers_tell_where_most_posts_have_several() -> None:
    posts = (
        f"<table class=m><tr><td class=r1>2021-03-0{i + 1} 10:12</td></tr><tr><td class=r2><a "
        f"href=/u/{i}>{NAMES[i]}</a><br>Posts: {i}5</td></tr><tr><td class=r3>{text}</td></tr>"
        "</table>"
        for i, text in enumerate(TEXTS)
    )
    assert posts_of(f"<body>{''.join(posts)}</body>") == TEXTS


def test_names_alone_show_posts() -> None:
    posts = (
        f"<article><div class=who>{name}</div><div class=what><p>{text}</p></div></article>"
        for name, text in zip(NAMES, TEXTS, strict=True)
    )
    assert posts_of(f"<body>{''.join(posts)}</body>") == TEXTS


def test_a_post_and_the_form_below_are_no_two_posts() -> None:
    post = f"<div class=c><a href=/u/1>Ada</a><div class=t>{TEXTS[0]}</div></div>"
    form = "<div class=c><div class=f><a href=/join>Join us</a></div><div>Say something</div></div>"
    assert posts_of(f"<body>{post}{form}</body>") == []
