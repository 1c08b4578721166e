"""What a generated forum is made of: addresses and templates of one forum program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A forum program.

    Attributes:
        host: Host of the generated forum.
        thread: Address of a thread, ``/viewtopic.php?t={tid}``.
        board: Address of a board.
        user: Address of a user.
        page: Of every page; ``{main}`` is what follows.
        posts: Around the posts of a thread.
        post: One post.
        rows: Around the rows of a board.
        row: One row.
        date: How ``strftime`` writes dates.
        first: The first post, where it has a shape of its own.
        signature: Around the signature of a user, in ``{sign}``; ``""`` for a program without.
        language: ``en`` or ``zh``, of texts and names.
    """

    host: str
    thread: str
    board: str
    user: str
    page: str
    posts: str
    post: str
    rows: str
    row: str
    date: str
    first: str = ""
    signature: str = ""
    language: str = "en"
