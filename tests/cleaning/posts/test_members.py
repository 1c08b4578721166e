"""Members of manuals and posts of threads stand below one another: names of members are places."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crawlclean import RawPage, clean, learn_site
from crawlclean.cleaning.records import BodySource, PageKind, UrlKind

VERBS = ("open", "close", "read", "write", "flush", "seek", "map", "lock")
USERS = ("Anna", "Bert", "Cleo", "Dora", "Emil")
WORDS = (
    "stream", "buffer", "socket", "window", "handle", "cursor", "record", "signal", "thread",
    "folder",
)  # fmt: skip


def text(number: int) -> str:
    """Two sentences that no other number gives."""
    words = " ".join(WORDS[number // 10**i % 10] for i in range(3))
    return f"It takes the {words} of caller {number} as it is. Nothing else is changed by that."


def kind(number: int) -> str:
    """A link to one of three types: like users, they come again."""
    name = WORDS[number % 3].title()
    return f'<a href="{name}.html">{name}</a>'


def page(path: str, title: str, main: str) -> RawPage:
    html = (
        f"<html><head><title>{title}</title></head><body><div class='nav'><a href='/'>Home</a>"
        f"</div><div class='main'><h1>{title}</h1>{main}</div><div class='end'>Made by hand</div>"
        "</body></html>"
    )
    return RawPage.from_bytes(f"http://a.test{path}", html.encode(), "text/html; charset=utf-8")


def gtk_doc(number: int) -> str:
    """Functions in headings, named by anchors; the table above links to them by the file."""
    names = [f"g_{WORDS[number % 10]}_{verb}" for verb in VERBS[: 3 + number % 5]]
    places = [name.replace("_", "-") for name in names]
    rows = "".join(
        f'<tr><td><a class="link" href="p{number}.html#{place}">{name} ()</a></td></tr>'
        for name, place in zip(names, places, strict=True)
    )
    members = "".join(
        f'<div class="refsect2"><a name="{place}"></a><h3>{name} ()</h3>'
        f'<p class="returns">{kind(number + i)}</p>'
        f'<div class="text">{text(100 * number + i)}</div></div>'
        for i, (name, place) in enumerate(zip(names, places, strict=True))
    )
    return f'<table class="toc">{rows}</table><div class="refsect1">{members}</div>'


def sphinx(number: int) -> str:
    """Terms with ids, each with a link to itself."""
    name = WORDS[number % 10].title()
    return "".join(
        f'<dl class="py method"><dt class="sig sig-object py" id="lib.{name}.{verb}">'
        f"{name}.{verb}()"
        f'<a class="headerlink" href="#lib.{name}.{verb}" title="Link">¶</a></dt>'
        f'<dd class="text">{text(100 * number + i)}</dd></dl>'
        for i, verb in enumerate(VERBS[: 3 + number % 5])
    )


def sections(number: int) -> str:
    """Sections with numbers, named by the table of contents alone."""
    heads = ("Types", "Variables", "Procedures", "Templates", "Exports")[: 3 + number % 3]
    toc = "".join(f'<li><a href="#{i + 7}">{head}</a></li>' for i, head in enumerate(heads))
    members = "".join(
        f'<div class="section"><h2><a href="#{i + 7}">{head}</a></h2>'
        f'<p class="type">{kind(number + i)}</p>'
        f'<div class="item">{text(100 * number + i)}</div></div>'
        for i, head in enumerate(heads)
    )
    return f'<ul class="toc">{toc}</ul>{members}'


def classic(number: int) -> str:
    """Posts with numbered places, users with pages of their own, buttons that lead to places."""
    return "".join(
        f'<div class="post" id="p{10 * number + i}"><div class="who"><a href="/user/'
        f'{(number + i) % 5}">{USERS[(number + i) % 5]}</a></div><div class="text">'
        f'{text(100 * number + i)}</div><a href="#p{10 * number + i}">#{i + 1}</a> '
        '<a href="#reply">Reply</a></div>'
        for i in range(4)
    )


def headed(number: int) -> str:
    """Users in headings that are no links, answers that lead to the post they answer."""
    return "".join(
        f'<div class="entry" id="post-{10 * number + i}"><h4 class="name">'
        f'{USERS[(number + i) % 5]}</h4><a href="#post-{10 * number + max(i - 1, 0)}">in reply to '
        f'{USERS[(number + i - 1) % 5]}</a><div class="said">{text(100 * number + i)}</div></div>'
        for i in range(4)
    )


def table(number: int) -> str:
    """Rows of a user and a text; a list of all posts above them leads to each by its number."""
    toc = "".join(f'<li><a href="#m{i}">Post {i}</a></li>' for i in range(1, 5))
    rows = "".join(
        f'<tr class="row" id="m{i}"><td class="u"><a href="/u{(number + i) % 5}">'
        f'{USERS[(number + i) % 5]}</a></td><td class="t">{text(100 * number + i)}</td></tr>'
        for i in range(1, 5)
    )
    return f"<ul class='jump'>{toc}</ul><table>{rows}</table>"


Main = Callable[[int], str]


@pytest.mark.parametrize("main", [gtk_doc, sphinx, sections])
def test_members_make_no_threads(main: Main) -> None:
    sample = [page(f"/p{n}.html", f"Part {n} of the library", main(n)) for n in range(1, 13)]
    model = learn_site(sample)
    assert model.post_rule is None
    assert UrlKind.THREAD not in {model.url_kind(one.url) for one in sample}
    record = clean(sample[4], model)
    assert record.body_source is not BodySource.POSTS
    assert all(text(500 + i) in record.body for i in range(3))


@pytest.mark.parametrize("main", [classic, headed, table])
def test_posts_of_users_make_threads(main: Main) -> None:
    sample = [page(f"/p{n}.html", f"Question {n} of a user", main(n)) for n in range(1, 13)]
    model = learn_site(sample)
    assert {model.url_kind(one.url) for one in sample} == {UrlKind.THREAD}
    record = clean(sample[4], model)
    assert record.kind is PageKind.THREAD
    assert len(record.posts) == 4
    assert {post.author for post in record.posts} <= set(USERS)


@pytest.mark.parametrize("main", [gtk_doc, sphinx, sections])
def test_a_word_for_forums_makes_no_thread_of_a_manual(main: Main) -> None:
    record = clean(page("/topics/streams.html", "Streams", main(4)))
    assert record.body_source is not BodySource.POSTS


@pytest.mark.parametrize("main", [classic, headed, table])
def test_a_word_for_forums_makes_a_thread_of_posts(main: Main) -> None:
    record = clean(page("/topic/4", "Streams", main(4)))
    assert len(record.posts) == 4
    assert {post.author for post in record.posts} <= set(USERS)
