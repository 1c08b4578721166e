"""Pages shaped like those of real sites, before anything is done to them."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "pages"
_HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子"
)
_WORDS = ("the", "of", "page", "crawl", "news", "market", "2026", "city", "report", "user", "play")


def sentence(rng: random.Random, is_han: bool, units: int) -> str:
    """Running text of so many characters or words, with its punctuation."""
    if is_han:
        return "".join(rng.choice(_HAN) for _ in range(units)) + rng.choice("。！？；")
    return " ".join(rng.choice(_WORDS) for _ in range(units)).capitalize() + ". "


def _title(rng: random.Random, is_han: bool) -> str:
    return sentence(rng, is_han, rng.randint(4, 14)).rstrip("。！？；. ")


def _list(rng: random.Random, is_han: bool, heading: str, name: str) -> str:
    items = "".join(
        f'<li><a href="/{rng.choice("abc")}/{rng.randint(1, 999)}.html">{_title(rng, is_han)}</a>'
        f"<span>{rng.randint(2000, 2030)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}</span></li>"
        for _ in range(rng.randint(1, 12))
    )
    return f'<div class="{name}"><h3>{heading}</h3><ul>{items}</ul></div>'


def _paragraphs(rng: random.Random, is_han: bool) -> str:
    parts = []
    for n in range(rng.randint(1, 8)):
        text = "".join(sentence(rng, is_han, rng.randint(5, 30)) for _ in range(rng.randint(1, 5)))
        if rng.random() < 0.2:
            text += f'<a href="http://other.example/{n}?id={n}">{_title(rng, is_han)}</a>' + text
        if rng.random() < 0.2:
            text = f"<strong>{text}</strong>"
        parts.append(rng.choice([f"<p>{text}</p>", f"{text}<br><br>", f"<div>{text}</div>"]))
        if rng.random() < 0.2:
            parts.append(
                f'<figure><img src="/i/{n}.jpg" width="600" alt="{_title(rng, is_han)}">'
                f"<figcaption>{_title(rng, is_han)}</figcaption></figure>"
            )
        if rng.random() < 0.1:
            parts.append(f"<pre><code>if x:\n    y = {n} &lt; 3\n</code></pre>")
        if rng.random() < 0.1:
            cells = "".join(f"<td>{i}</td>" for i in range(3))
            parts.append(f"<table>{f'<tr>{cells}</tr>' * 4}</table>")
    return "".join(parts)


def _frame(rng: random.Random, is_han: bool, title: str, main: str) -> str:
    names = ("首页", "新闻", "体育", "登录", "注册") if is_han else ("Home", "News", "Log in")
    nav = "".join(f'<a href="/{i}/">{name}</a> ' for i, name in enumerate(names))
    head = (
        f'<meta charset="utf-8"><title>{title}_{_title(rng, is_han)}</title>'
        f'<meta property="article:published_time" content="2026-03-0{rng.randint(1, 9)}T08:00:00Z">'
        '<script type="application/ld+json">{"@type":"Article","author":{"name":"x"}}</script>'
        "<script>var a='<div>';if(a<b){}</script><style>a{b:c}</style>"
    )
    side = _list(rng, is_han, "热门文章" if is_han else "Popular", "sidebar hot")
    foot = "版权所有 京ICP备00000000号" if is_han else "Copyright 2026. All rights reserved."
    return (
        f'<!doctype html><html lang="{"zh-CN" if is_han else "en"}"><head>{head}</head><body>'
        f'<div id="header" class="nav">{nav}</div><div class="wrap"><div class="main">{main}</div>'
        f'{side}</div><div class="footer">{foot} <a href="/about">x</a></div></body></html>'
    )


def article(rng: random.Random, is_han: bool) -> str:
    """A news page: heading, meta line, paragraphs, related links, comments."""
    title = _title(rng, is_han)
    by = "作者：张三 2026年3月8日 15:20 来源：某报" if is_han else "By A. Writer, March 8, 2026"
    related = _list(rng, is_han, "相关阅读" if is_han else "Related", "related")
    said = "".join(f"<li>user{i}: {_title(rng, is_han)}</li>" for i in range(rng.randint(0, 5)))
    main = (
        f'<h1>{title}</h1><div class="info">{by}</div><div class="content">'
        f'{_paragraphs(rng, is_han)}</div>{related}<ul class="comments">{said}</ul>'
    )
    return _frame(rng, is_han, title, main)


def thread(rng: random.Random, is_han: bool) -> str:
    """A page of a forum: posts with user, time and floor."""
    posts = "".join(
        f'<table class="post" id="p{n}"><tr><td class="user"><a href="/u/{n}">user{n}</a></td>'
        f'<td><div class="time">2026-3-{n + 1} 10:0{n % 10} <a href="#p{n}">{n + 1}#</a></div>'
        f'<div class="message">{_paragraphs(rng, is_han)}</div></td></tr></table>'
        for n in range(rng.randint(1, 8))
    )
    title = _title(rng, is_han)
    return _frame(rng, is_han, title + (" - 论坛" if is_han else " - Forum"), posts)


def index(rng: random.Random, is_han: bool) -> str:
    """A list of lists of headlines."""
    lists = "".join(_list(rng, is_han, _title(rng, is_han), "list") for _ in range(4))
    return _frame(rng, is_han, _title(rng, is_han), lists)


SHAPES: tuple[Callable[[random.Random, bool], str], ...] = (article, thread, index)


@lru_cache(maxsize=1)
def golden_pages() -> tuple[str, ...]:
    """The sources of the golden folders."""
    sources = sorted(GOLDEN.glob("*/page.html"))
    return tuple(source.read_bytes().decode("utf-8", "replace") for source in sources)


def shaped_page(rng: random.Random) -> str:
    """A page of one of the shapes, or one of the golden folders."""
    if rng.random() < 0.3:
        return rng.choice(golden_pages())
    return rng.choice(SHAPES)(rng, rng.random() < 0.7)
