"""The pages of the generated web, each computed from its host and number.

All pages can be reached from the home pages of the first ``chains`` hosts. A page links to its
children in a tree and to random pages of its host; page ``pages / 2`` of host k links to the home
page of host k + ``chains``. So a crawl reaches the hosts one after another, ``chains`` at a time.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

COMMON = (
    "我们 他们 今天 昨天 中国 经济 发展 社会 问题 工作 时间 学生 教育 考试 技术 网络 系统 软件 "
    "新闻 报道 记者 表示 认为 可以 没有 已经 进行 通过 关于 以及 因此 但是 如果 公司 市场 产品"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSpec:
    """Size and behaviour of the generated web.

    Attributes:
        hosts: Number of hosts.
        pages: Pages of a host, with its home page.
        chains: Hosts whose home pages are the seeds.
        page_bytes: Mean size of a page; sizes are 0.5 to 1.5 times the mean.
        links: Links of a page.
        fanout: Children of a page in the tree, part of ``links``.
        crawl_delays_s: Crawl-delay in the robots.txt of host k: entry k % n, 0 for none.
        latency_ms: Longest time before a response begins; the shortest is 0.
        slow_every: Every n-th page sends its body in parts, 0 for none.
        slow_ms: Duration of such a body.
        refuse_every: Every n-th page answers its first request with 429, 0 for none.
        retry_after_s: Retry-After of these responses.
    """

    hosts: int = 1
    pages: int = 1000
    chains: int = 1
    page_bytes: int = 4000
    links: int = 20
    fanout: int = 20
    crawl_delays_s: tuple[float, ...] = (0.0,)
    latency_ms: int = 0
    slow_every: int = 0
    slow_ms: int = 400
    refuse_every: int = 0
    retry_after_s: int = 3

    @classmethod
    def of_pages(cls, pages: int, page_bytes: int) -> WebSpec:
        """Returns a large web of 200 pages a host, each with 100 links, reached by 8 chains."""
        hosts = max(1, pages // 200)
        return cls(hosts=hosts, pages=200, chains=min(8, hosts), page_bytes=page_bytes, links=100)

    def address(self, host: int) -> str:
        """Returns the loopback address of a host: ``127.77.0.1`` of host 0."""
        return f"127.77.{host // 250}.{host % 250 + 1}"

    def all_pages(self, port: int) -> list[str]:
        """Returns the URLs of all pages: ``http://127.77.0.1:8800/p/7.html``."""
        return [
            f"http://{self.address(host)}:{port}{_path(number)}"
            for host in range(self.hosts)
            for number in range(self.pages)
        ]

    def crawl_delay_s(self, host: int) -> float:
        """Returns the Crawl-delay in the robots.txt of a host."""
        return self.crawl_delays_s[host % len(self.crawl_delays_s)]


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; it begins after ``latency_s``, its body takes ``slow_s``."""

    status: int
    body: bytes
    media_type: str = "text/html; charset=utf-8"
    wait_s: int = 0
    latency_s: float = 0.0
    slow_s: float = 0.0
    location: str = ""

    def head(self) -> bytes:
        """Returns the status line and headers."""
        more = f"Retry-After: {self.wait_s}\r\n" if self.wait_s else ""
        more += f"Location: {self.location}\r\n" if self.location else ""
        return (
            f"HTTP/1.1 {self.status} Status\r\nContent-Type: {self.media_type}\r\n"
            f"Content-Length: {len(self.body)}\r\n{more}\r\n"
        ).encode()


@lru_cache(maxsize=1)
def sentences() -> list[str]:
    """Makes 2,000 Chinese sentences, the material of all pages."""
    chance, common = random.Random(1), COMMON.split()  # noqa: S311 - the same pages every time
    return [
        "".join(
            chance.choice(common) if chance.random() < 0.7 else _word(chance) for _ in range(14)
        )
        + "。"
        for _ in range(2000)
    ]


def _word(chance: random.Random) -> str:
    return chr(chance.randrange(0x4E00, 0x9FA5)) + chr(chance.randrange(0x4E00, 0x9FA5))


class Site:
    """Computes the response of every address and path."""

    def __init__(self, spec: WebSpec, port: int) -> None:
        self._spec = spec
        self._port = port
        self._numbers = {spec.address(host): host for host in range(spec.hosts)}
        self._refused: set[tuple[int, int]] = set()

    def answer(self, address: str, path: str) -> Answer:
        """Returns the response to one request."""
        spec, host = self._spec, self._numbers[address]
        if path == "/robots.txt":
            delay = spec.crawl_delay_s(host)
            rules = f"User-agent: *\nCrawl-delay: {delay}\n" if delay else ""
            return Answer(200, rules.encode(), "text/plain")
        number = 0 if path == "/" else int(path[3:-5]) if path.startswith("/p/") else -1
        if not 0 <= number < spec.pages:
            return Answer(404, b"<h1>404</h1>")
        chance = random.Random(host * 1_000_003 + number)  # noqa: S311 - as above
        latency_s = chance.random() * spec.latency_ms / 1000
        if _is_nth(number, spec.refuse_every) and (host, number) not in self._refused:
            self._refused.add((host, number))
            return Answer(429, b"<h1>429</h1>", wait_s=spec.retry_after_s, latency_s=latency_s)
        return Answer(
            200,
            self._page(host, number, chance).encode(),
            latency_s=latency_s,
            slow_s=spec.slow_ms / 1000 if _is_nth(number, spec.slow_every) else 0.0,
        )

    def _page(self, host: int, number: int, chance: random.Random) -> str:
        spec = self._spec
        first = number * spec.fanout + 1
        children = range(first, min(first + spec.fanout, spec.pages))
        others = [chance.randrange(spec.pages) for _ in range(spec.links - len(children))]
        items = "".join(
            f'<li class="item" id="t{host}_{n}"><a href="{_path(n)}" title="{_word(chance)}">'
            f"第{host}站第{n}页{_word(chance)}</a></li>"
            for n in (*children, *others)
        )
        if number == spec.pages // 2 and host + spec.chains < spec.hosts:
            home = f"http://{spec.address(host + spec.chains)}:{self._port}/"
            items += f'<li><a href="{home}">下一站</a></li>'
        title = f"{host}站{number}页{_word(chance)}{_word(chance)}"
        size = int(spec.page_bytes * (0.5 + chance.random())) - 3 * len(items)
        body: list[str] = []
        length = 0
        while length < size:
            text = _word(chance) + "".join(chance.choices(sentences(), k=3))
            body.append(f'<p id="p{host}_{number}_{len(body)}">{text}</p>')
            length += 3 * len(text) + 20
        return (
            '<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8">'
            f"<title>{title}</title></head><body><h1>{title}</h1>"
            f'<div class="main">{"".join(body)}</div><ul class="list">{items}</ul></body></html>'
        )


def _is_nth(number: int, every: int) -> bool:
    return every > 0 and number % every == every - 1


def _path(number: int) -> str:
    return f"/p/{number}.html" if number else "/"
