"""Pages without end, made from their path: every known trap of crawlers, under ``/trap/``."""

from __future__ import annotations

import hashlib
from urllib.parse import parse_qs, quote, urlsplit

ARTICLE = "这是一篇真正的文章，说的是同一件事，只是每一次都换了一个地址。" * 3
ENTRANCES = {
    "/trap/calendar/2026/1": "日历",
    "/trap/session/0a1b2c3d4e5f/": "会话",
    "/trap/deep/": "深",
    "/trap/missing/x": "没有的",
    "/trap/login?next=%2Fa.html": "会员之家",
    "/trap/shop?color=red": "筛选",
    "/trap/relative/": "相对",
}


def trap_page(path: str) -> str | None:
    """The page of a path; None for a path that is no trap."""
    parts = urlsplit(path)
    _, *segments = parts.path.split("/")
    if segments[0] != "trap" or len(segments) < 2:
        return None
    kind, rest = segments[1], segments[2:]
    if kind == "calendar":
        return _calendar(*(int(number) for number in rest))
    if kind == "session":
        return _session(rest[0], "/".join(rest[1:]))
    if kind == "deep":
        return _page("深", "", {f"{parts.path.rstrip('/')}/{x}": x for x in ("abc", "def", "ghi")})
    if kind == "missing":
        return _page(
            "没有这一页", f"找不到 {parts.path}", {f"/trap/missing/{_drawn(path)}": "别的"}
        )
    if kind == "login":
        return _page("登录", "请先登录", {f"/trap/login?next={quote(path, safe='')}": "会员之家"})
    if kind == "shop":
        return _shop(parts.query)
    if kind == "relative":
        return _page("相对", ARTICLE, {"more/pages/": "下一页"})
    return None


def _calendar(year: int, month: int, day: int = 0) -> str:
    del day  # a day shows its month
    months = year * 12 + month - 1
    links = {f"/trap/calendar/{year}/{month}/{day}": str(day) for day in range(1, 29)}
    for there, name in ((months - 1, "上月"), (months + 1, "下月")):
        links[f"/trap/calendar/{there // 12}/{there % 12 + 1}"] = name
    return _page(f"{year}-{month}", "", links)


def _session(session: str, rest: str) -> str:
    fresh = _drawn(session + rest)
    return _page("会话", ARTICLE, {f"/trap/session/{fresh}/{n}.html": f"第{n}篇" for n in range(5)})


def _shop(query: str) -> str:
    chosen = parse_qs(query)
    links = {}
    for name in ("color", "size", "brand", "price", "sort"):
        for value in ("red", "blue", "green"):
            more = "&".join(f"{k}={v}" for k, v in {**_first(chosen), name: value}.items())
            links[f"/trap/shop?{more}"] = value
    return _page("筛选", "", links)


def _first(chosen: dict[str, list[str]]) -> dict[str, str]:
    return {name: values[0] for name, values in chosen.items()}


def _drawn(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _page(title: str, text: str, links: dict[str, str]) -> str:
    items = "".join(f'<li><a href="{href}">{name}</a></li>' for href, name in links.items())
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><p>{text}</p><ul>{items}</ul></body></html>"
    )
