"""The drill's web: hosts on loopback addresses, whose Chinese pages are made by their numbers.

A host has lists and articles, and what a drill switches on: a login wall, another template of its
articles, an endless calendar. Workers die on one page (``POISON``).
"""

from __future__ import annotations

import base64
import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from benchmarks.kit.generated_site import sentences

HOSTS: Final = 12
PER_LIST: Final = 10
LISTS: Final = 400
FEW_LISTS: Final = 15
POISON: Final = "/news/poison.html"
BULK_HOST: Final = HOSTS
"""Number of the host with large pages, which an older crawl has archived."""

BULK_PAGES: Final = 40
BULK_BYTES: Final = 1_500_000
DAYS: Final = 28


def address(number: int) -> str:
    """The loopback address of a host: ``127.88.0.1`` of host 0."""
    return f"127.88.0.{number + 1}"


@dataclass(slots=True)
class Switches:
    """What goes wrong, by number of the host.

    Attributes:
        walls: Articles answer 200 with a login page.
        redesigned: Articles have another template.
        calendars: Every page leads to an endless calendar.
        asked: Requests by host and first part of the path.
    """

    walls: set[int] = field(default_factory=set)
    redesigned: set[int] = field(default_factory=set)
    calendars: set[int] = field(default_factory=set)
    asked: Counter[tuple[int, str]] = field(default_factory=Counter)


class DrillSite:
    """The hosts, served by threads of this process; for a ``with`` block."""

    def __init__(self, short_host: int | None = None) -> None:
        """Serves nothing yet; ``short_host`` has so few pages that a calendar soon prevails."""
        self.switches = Switches()
        self._lists = dict.fromkeys(range(HOSTS), LISTS)
        if short_host is not None:
            self._lists[short_host] = FEW_LISTS
        self._servers: list[ThreadingHTTPServer] = []
        self.port = 0

    def __enter__(self) -> DrillSite:
        """Listens at every address, at one port."""
        for number in range(HOSTS + 1):
            handler = type("Handler", (_Handler,), {"site": self, "number": number})
            server = ThreadingHTTPServer((address(number), self.port), handler)
            self.port = server.server_port
            self._servers.append(server)
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Listens no more."""
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def host(self, number: int) -> str:
        """The authority of a host: ``127.88.0.1:40123``."""
        return f"{address(number)}:{self.port}"

    def answer(self, number: int, path: str) -> tuple[int, str]:
        """The (status, source) of a page."""
        kind = path.split("/")[1]
        self.switches.asked[number, kind] += 1
        if path == "/robots.txt":
            return 200, ""
        if number == BULK_HOST:
            return _bulk(path)
        if kind == "cal":
            return self._calendar(number, path)
        if path == "/":
            return 200, self._list(number, 0)
        n = _number_of(path)
        if kind == "list" and n is not None and n < self._lists[number]:
            return 200, self._list(number, n)
        if path == POISON or (
            kind == "news" and n is not None and n < self._lists[number] * PER_LIST
        ):
            return 200, self._article(number, n or 0)
        return 404, "<h1>404</h1>"

    def _list(self, number: int, n: int) -> str:
        chance = random.Random(number * 7919 + n)  # noqa: S311 - the same pages every time
        first = n * PER_LIST
        items = "".join(
            f'<li><a href="/news/{k}.html">{_title(chance, k)}</a></li>'
            for k in range(first, first + PER_LIST)
        )
        nexts = "".join(
            f'<a href="/list/{k}.html">第{k}页</a> '
            for k in range(n + 1, n + 4)
            if k < self._lists[number]
        )
        body = f'<h1>列表第{n}页</h1><ul class="list">{items}</ul><div class="pager">{nexts}</div>'
        return self._page(number, f"列表{n}", body)

    def _article(self, number: int, n: int) -> str:
        if number in self.switches.walls:
            form = (
                '<form action="/login" method="post"><input name="user"><input name="password" '
                'type="password"><button>登录</button></form>'
            )
            return (
                f"<!DOCTYPE html><html><head><title>登录</title></head><body>{form}</body></html>"
            )
        chance = random.Random(number * 104_729 + n)  # noqa: S311 - as above
        title = _title(chance, n)
        lines = ["".join(chance.choices(sentences(), k=4)) for _ in range(chance.randint(4, 8))]
        paragraphs = "".join(f"<p>{line}</p>" for line in lines)
        if number in self.switches.redesigned:
            parts = "".join(f"<div><span>{line}</span></div>" for line in lines)
            body = (
                f'<header class="hd"><h2 class="tt">{title}</h2><i>2026-11-{n % 28 + 1:02}</i>'
                f'</header><section class="wrap"><article class="story">{parts}</article></section>'
            )
        else:
            body = f'<h1>{title}</h1><div class="info">2026-11-{n % 28 + 1:02}</div>'
            body += f'<div class="content">{paragraphs}</div>'
        return self._page(number, title, body)

    def _page(self, number: int, title: str, body: str) -> str:
        names = ("首页", "国内", "国际", "财经", "科技", "教育")
        links = "".join(f'<li><a href="/list/{k}.html">{name}</a></li>' for k, name in
                        enumerate(names))  # fmt: skip
        if number in self.switches.calendars:
            links += '<li><a href="/cal/2026/1/1.html">活动日历</a></li>'
        return (
            '<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8">'
            f'<title>{title}</title></head><body><ul class="nav">{links}</ul>'
            f'<div class="main">{body}</div><div class="foot">版权所有 第{number}站 联系我们</div>'
            "</body></html>"
        )

    def _calendar(self, number: int, path: str) -> tuple[int, str]:
        parts = path.removesuffix(".html").split("/")[2:]
        if number not in self.switches.calendars or not all(each.isdigit() for each in parts):
            return 404, "<h1>404</h1>"
        year, month, _ = (int(each) for each in parts)
        after = (year, month + 1) if month < 12 else (year + 1, 1)
        days = "".join(
            f'<td><a href="/cal/{y}/{m}/{day}.html">{day}</a></td>'
            for y, m in ((year, month), after, (year + 1, month))
            for day in range(1, DAYS + 1)
        )
        body = f'<h1>活动日历</h1><table class="cal"><tr>{days}</tr></table><p>当天没有活动。</p>'
        return 200, self._page(number, "活动日历", body)


def _bulk(path: str) -> tuple[int, str]:
    """A page of ``BULK_BYTES`` that no compression makes small."""
    n = _number_of(path) if path != "/" else 0
    if n is None or n >= BULK_PAGES:
        return 404, "<h1>404</h1>"
    chance = random.Random(n)  # noqa: S311 - as above
    noise = base64.b64encode(chance.randbytes(BULK_BYTES * 3 // 4)).decode()
    links = "".join(f'<li><a href="/bulk/{k}.html">{k}</a></li>' for k in range(BULK_PAGES))
    text = "".join(chance.choices(sentences(), k=20))
    return 200, f"<html><body><h1>{n}</h1><p>{text}</p><ul>{links}</ul><!--{noise}--></body></html>"


def _number_of(path: str) -> int | None:
    name = path.rpartition("/")[2].removesuffix(".html")
    return int(name) if name.isdigit() and len(name) < 8 else None


def _title(chance: random.Random, n: int) -> str:
    return f"第{n}号报道{''.join(chance.choices('山水云风花月江河湖海东西南北', k=6))}"


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests to one host."""

    protocol_version = "HTTP/1.1"
    site: DrillSite
    number: int

    def do_GET(self) -> None:
        status, source = self.site.answer(self.number, self.path)
        body = source.encode()
        self.send_response(status)
        kind = "text/plain" if self.path == "/robots.txt" else "text/html; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Prints nothing."""
