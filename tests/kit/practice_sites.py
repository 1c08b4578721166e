"""The practice sites of the documents: ten small sites, and `example.com`.

Their pages are made from word lists, so every page has a text of its own, and every site its menu
and footer. ``pages()`` has them by URL, as ``tests.kit.named_web`` serves them.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.kit.web import Page

WORDS = {
    "zh": (
        ("今天上午，", "昨天晚上，", "上个星期，", "去年秋天，", "下雨的那几天，", "放假以前，"),
        ("老馆长", "年轻的老师", "几位渔民", "住在河边的人", "村里的医生"),
        ("在码头的仓库里", "在学校的图书室", "沿着新修的小路", "在山脚的茶园", "在旧车站门口"),
        ("整理了三百多件旧物", "讲起了当年修桥的经过", "数了一遍今年新种的树", "等来了第一班渡船"),
        ("，大家听了都很高兴。", "，一直忙到天黑才回家。", "，留下了许多照片和笔记。"),
    ),
    "en": (
        ("This morning ", "Late in autumn ", "Before the harvest ", "In the second week ", "Once "),
        ("the old keeper ", "two young teachers ", "a group of neighbours ", "the ferryman "),
        ("walked along the river wall ", "opened the store behind the mill ", "climbed the hill "),
        ("and counted every new tree, ", "and wrote down the names of the boats, ", "with a map, "),
        ("which took until dark.", "and nobody was in a hurry.", "as they do every year."),
    ),
}
MENUS = {
    "zh": ("首页", "新闻", "关于我们", "登录"),
    "en": ("Home", "News", "About us", "Log in"),
}
FOOTERS = {
    "zh": "{name} 版权所有，未经允许不得转载本站的任何内容。",
    "en": "All rights reserved by the people of {name}. Please ask before you copy a page.",
}
TITLES = {
    "zh": ("渡船", "茶园", "旧车站", "图书室", "石桥", "灯塔", "码头", "果树", "水井", "集市"),
    "en": ("ferry", "mill", "orchard", "lighthouse", "bridge", "harbour", "market", "well"),
}
TITLE_FORMS = {"zh": "{word}旁边的第{n}个早晨", "en": "The {word} on morning {n}"}
AUTHORS = {"zh": "作者：渡口", "en": "By Harbour Desk"}
# A GIF of one pixel.
PIXEL = base64.b64decode("R0lGODlhAQABAAAAACw=")
PARAGRAPHS = 5
POSTS = 4


@dataclass(frozen=True)
class Site:
    """A small site.

    Attributes:
        host: Its name, ``news.example``.
        language: ``zh`` or ``en``.
        pages: Its articles, or threads of a forum.
        is_forum: Whether the pages are threads.
    """

    host: str
    language: str
    pages: int
    is_forum: bool = False

    @property
    def root(self) -> str:
        """Its home page."""
        return f"https://{self.host}/"


SITES = (
    Site("news.example", "zh", 14),
    Site("blog.example", "en", 12),
    Site("forum.example", "zh", 12, is_forum=True),
    Site("school.example", "zh", 10),
    Site("museum.example", "en", 10),
    Site("garden.example", "en", 9),
    Site("library.example", "zh", 9),
    Site("radio.example", "zh", 8),
)
SCRIPTS_ONLY = "shop.example"
AWAY = "old.example"
EXAMPLE = Site("example.com", "en", 24)
LOG_IN = "members.example"
COOKIE = "session=3f9a"


def pages() -> dict[str, Page]:
    """Every page by its URL; of `old.example` nothing is left but dead addresses."""
    served: dict[str, Page] = {}
    for number, site in enumerate((*SITES, EXAMPLE)):
        served |= _site(site, number)
    served |= _special_pages(EXAMPLE)
    served[f"https://{SCRIPTS_ONLY}/"] = (
        "<!DOCTYPE html><html lang=en><head><title>Shop</title>"
        '<script src="/app.js"></script></head><body><div id="root"></div>'
        "<noscript>You need to enable JavaScript to run this app.</noscript></body></html>"
    )
    served[f"https://{AWAY}/"] = {"status": 404, "body": "<h1>404</h1>"}
    served |= _members()
    return served


def _special_pages(site: Site) -> dict[str, Page]:
    """What `example.com` has besides: rules for crawlers, a dead link, a redirect."""
    return {
        f"{site.root}robots.txt": {
            "body": "User-agent: *\nDisallow: /private/\n",
            "headers": {"Content-Type": "text/plain"},
        },
        f"{site.root}old.html": {"status": 301, "headers": {"Location": "/news/3.html"}},
        f"{site.root}hidden.html": _page(
            site, "Hidden", f"<p>{next(_sentences(site.language, 99))}</p>"
        ),
        **{
            f"{site.root}photo/{n}.jpg": {
                "body_base64": base64.b64encode(PIXEL + bytes([n])).decode(),
                "headers": {"Content-Type": "image/gif"},
            }
            for n in range(1, site.pages + 1)
        },
    }


def _members() -> dict[str, Page]:
    """A site that shows its pages only to who sends the cookie."""
    site = Site(LOG_IN, "en", 8)
    denied = "<title>Log in</title><h1>Log in</h1><form><input name=user></form>"
    return {
        url: {"body": page, "cookie": COOKIE, "denied": denied}
        for url, page in _site(site, len(SITES) + 1).items()
    }


def _site(site: Site, seed: int) -> dict[str, Page]:
    text = _sentences(site.language, seed)
    folder = "thread" if site.is_forum else "news"
    served: dict[str, Page] = {}
    titles = [_title(site, n) for n in range(1, site.pages + 1)]
    links = [f'<li><a href="/{folder}/{n}.html">{t}</a></li>' for n, t in enumerate(titles, 1)]
    served[site.root] = _page(site, site.host, f"<ul class=list>{''.join(links)}</ul>")
    served[f"{site.root}news/"] = _page(
        site, MENUS[site.language][1], f"<ul>{''.join(links[:6])}</ul>"
    )
    about = [next(text) for _ in range(3)]
    served[f"{site.root}about.html"] = _page(
        site, MENUS[site.language][2], "".join(f"<p>{line}</p>" for line in about)
    )
    log_in = MENUS[site.language][3]
    served[f"{site.root}login"] = _page(site, log_in, "<form><input name=user></form>")
    for n, title in enumerate(titles, 1):
        body = _thread(n, text) if site.is_forum else _article(site, n, text)
        related = "".join(links[n % site.pages : n % site.pages + 3])
        served[f"{site.root}{folder}/{n}.html"] = _page(
            site, title, f"{body}<div class=more><h3>{_more(site)}</h3><ul>{related}</ul></div>"
        )
    return served


def _title(site: Site, n: int) -> str:
    words = TITLES[site.language]
    return TITLE_FORMS[site.language].format(word=words[n % len(words)], n=n)


def _more(site: Site) -> str:
    return "相关链接" if site.language == "zh" else "Related"


def _article(site: Site, n: int, text: Iterator[str]) -> str:
    head = f"<div class=info>2026-03-{n:02d} 10:30 {AUTHORS[site.language]}</div>"
    lines = [next(text) + next(text) for _ in range(PARAGRAPHS)]
    picture = f'<p><img src="/photo/{n}.jpg" width=640 height=480 alt=""></p>' if n % 3 else ""
    return f"{head}<div class=article>{''.join(f'<p>{x}</p>' for x in lines)}{picture}</div>"


def _thread(n: int, text: Iterator[str]) -> str:
    posts = [
        f"<div class=post id=p{floor}><span class=user>"
        f"网友{n + floor}</span> <span class=time>发表于 2026-03-{n:02d} 1{floor}:05</span>"
        f" <em>{floor}楼</em><div class=text>{next(text)}{next(text)}</div></div>"
        for floor in range(1, POSTS + 1)
    ]
    return "".join(posts)


def _page(site: Site, title: str, content: str) -> str:
    home, news, about, log_in = MENUS[site.language]
    extra = (
        '<a href="/private/list.html">Archive</a> <a href="/gone.html">Map</a>'
        if site == EXAMPLE
        else ""
    )
    return (
        f'<!DOCTYPE html><html lang="{site.language}"><head><meta charset="utf-8">'
        f"<title>{escape(title)} - {site.host}</title></head><body>"
        f'<div class=menu><a href="/">{home}</a> <a href="/news/">{news}</a> '
        f'<a href="/about.html">{about}</a> <a href="/login">{log_in}</a> {extra}</div>'
        f"<h1>{escape(title)}</h1>{content}"
        f"<div class=foot>{FOOTERS[site.language].format(name=site.host)}</div></body></html>"
    )


def _sentences(language: str, seed: int) -> Iterator[str]:
    """Sentences without end; the order depends on the seed, so sites share few of them."""
    parts: Sequence[Sequence[str]] = WORDS[language]
    number = 97 * seed
    while True:
        rest, chosen = number, []
        for choice in parts:
            chosen.append(choice[rest % len(choice)])
            rest //= len(choice)
        yield "".join(chosen)
        number += 7


def other_crawlers_files(folder: Path) -> None:
    """Writes pages that "another crawler" fetched: ``pages.warc.gz``, ``rows.jsonl.gz``.

    Also ``shop.html``: the page of scripts alone, as a browser saves it.
    """
    text = _sentences("en", 98)
    shop = "".join(f"<p>{next(text)}</p>" for _ in range(4))
    shown = _page(Site(SCRIPTS_ONLY, "en", 1), "Ropes and lamps", shop)
    (folder / "shop.html").write_text(shown, "utf-8")
    site = Site("a.example", "en", 12)
    made = [(url, page) for url, page in _site(site, len(SITES) + 2).items() if "/news/" in url]
    with gzip.open(folder / "rows.jsonl.gz", "wt", encoding="utf-8") as rows:
        for url, page in made[:6]:
            rows.write(json.dumps({"url": url, "html": page}) + "\n")
    with (folder / "pages.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, page in made[6:]:
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            body = BytesIO(str(page).encode())
            record = writer.create_warc_record(
                url, "response", payload=body, length=len(str(page).encode()), http_headers=head
            )
            writer.write_record(record)
