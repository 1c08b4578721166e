"""Sites for pictures of the console, written for the project: an English town and a Chinese one."""

from __future__ import annotations

from typing import Any

from benchmarks.documents.picture_pages import PAGES, SITE, page_html

ENGLISH, CHINESE = "news.harbour.example", "news.gangkou.example"
OTHERS = {
    "www.cityforum.example": 240,
    "blog.gardener.example": 120,
    "docs.signals.example": 160,
    "weather.coast.example": 90,
    "shop.oldbooks.example": 160,
    "radio.north.example": 140,
}
"""Other hosts, and how many pages each has."""

SECTIONS = ("news", "archive", "letters")
SENTENCES = (
    "The council met on Monday and spoke about the {n}th repair of the bridge.",
    "Residents asked who pays for the noise walls along line {n}.",
    "Engineers tested {n} signals at night, and found two that were too dark.",
    "The market hall opens {n} minutes earlier in summer.",
    "A school class counted {n} swallows under the roof of the station.",
)


def site() -> dict[str, Any]:
    """Every page by its URL: some are missing, some hosts are busy or slow."""
    pages: dict[str, Any] = {}
    for host, language in ((ENGLISH, "en"), (CHINESE, "zh")):
        made = page_html(PAGES[language])
        pages |= {url.replace(SITE, host): page for url, page in made.items()}
        links = [url.replace(f"https://{SITE}", "") for url in made]
        pages[f"https://{host}/"] = _index(PAGES[language].site, links)
    for host, count in OTHERS.items():
        pages |= _host(host, count)
    pages["https://docs.signals.example/robots.txt"] = {
        "headers": {"Content-Type": "text/plain"},
        "body": "User-agent: *\nCrawl-delay: 5\n",
    }
    for n in range(12, 30):
        pages[f"https://weather.coast.example/news/{n}.html"] = {
            "status": 503,
            "headers": {"Retry-After": "120"},
            "body": "busy",
        }
    return pages


def _host(host: str, count: int) -> dict[str, str]:
    base = f"https://{host}"
    each = count // len(SECTIONS)
    pages = {f"{base}/": _index(host, [f"/{section}/" for section in SECTIONS])}
    for place, section in enumerate(SECTIONS):
        links = [f"/{section}/{n}.html" for n in range(each)]
        missing = 30 if host.startswith("shop") else 4
        links += [f"/{section}/old-{n}.html" for n in range(missing)]
        pages[f"{base}/{section}/"] = _index(f"{host}: {section}", links)
        for n in range(each):
            pages[f"{base}/{section}/{n}.html"] = _article(host, section, 100 * place + n)
    return pages


def _article(host: str, section: str, n: int) -> str:
    lines = [line.format(n=n + k) for k in range(3) for line in SENTENCES]
    body = "".join(f"<p>{' '.join(lines[at : at + 5])}</p>" for at in range(0, len(lines), 5))
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{section} {n} - {host}'
        f"</title></head><body><div class=menu><a href=/>home</a> <a href=/{section}/>{section}</a>"
        f"</div><h1>{section} {n}</h1>{body}<div class=foot>© {host}</div></body></html>"
    )


def _index(title: str, links: list[str]) -> str:
    items = "".join(f'<li><a href="{link}">{link.strip("/")}</a></li>' for link in links)
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1><ul>{items}</ul></body></html>"
    )
