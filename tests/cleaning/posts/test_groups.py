from __future__ import annotations

import pytest

from cleaning.document.reader import parse
from cleaning.features.lines import weigh_lines
from cleaning.posts.groups import PostFinder
from cleaning.posts.names import Name

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
