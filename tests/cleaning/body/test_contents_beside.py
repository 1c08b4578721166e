"""A manual with its whole table of contents beside every page: chapters are lists of sections."""

from __future__ import annotations

from crawlclean import RawPage, clean, learn_site

CHAPTERS = 6
SECTIONS = ("moving objects", "fixing overlaps", "a real example", "reading further")
WORDS = ("stream", "buffer", "socket", "window", "handle", "cursor", "record", "signal")


def text(number: int) -> str:
    """Sentences that no other number gives."""
    words = " ".join(WORDS[number // 8**i % 8] for i in range(3))
    return f"It takes the {words} of caller {number} as it is. Nothing else is changed by that."


def links(chapter: int) -> str:
    name = WORDS[chapter].title()
    return "".join(
        f'<li><a href="/{chapter}-{i}.html">{name}: {section}</a></li>'
        for i, section in enumerate(SECTIONS)
    )


def page(path: str, title: str, main: str) -> RawPage:
    toc = "".join(
        f'<li><a href="/{n}.html">All about {WORDS[n]}</a><ul>{links(n)}</ul></li>'
        for n in range(CHAPTERS)
    )
    html = (
        f"<html><head><title>{title}</title></head><body><div class='main'><h2>{title}</h2>{main}"
        f"</div><div class='toc'><ul>{toc}</ul></div></body></html>"
    )
    return RawPage.from_bytes(f"http://a.test{path}", html.encode(), "text/html; charset=utf-8")


def section(chapter: int, number: int) -> RawPage:
    title = f"{WORDS[chapter].title()}: {SECTIONS[number]}"
    paragraphs = (f"<p>{text(100 * chapter + 10 * number + i)}</p>" for i in range(5))
    return page(f"/{chapter}-{number}.html", title, "".join(paragraphs))


def test_a_chapter_is_its_list_and_not_the_contents_beside_it() -> None:
    model = learn_site([section(n, i) for n in range(CHAPTERS) for i in range(3)])
    chapter = page("/3.html", "All about window", f"<ul class='menu'>{links(3)}</ul>")
    record = clean(chapter, model)
    assert record.title == "All about window"
    assert record.body.splitlines() == [f"Window: {each}" for each in SECTIONS]
