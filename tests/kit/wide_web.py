"""A generated web of some hundred named hosts for topic crawls: ``python -m tests.kit.wide_web``.

Every page is computed from its host and path on request; the texts are random sequences of Chinese
words, so no two are reprints. The hosts, by the number of a spec:

- ``news3.test``: half of its articles are on earthquakes; each of these links to articles on
  earthquakes of other hosts, which is the only way to them;
- ``slow3.test``: the same, and every answer takes a second;
- ``plain3.test``: no article on earthquakes; links to other such hosts;
- ``h3.farm.test``: a link farm of any number of hosts under one domain: every link text names
  earthquakes, no page is on them, and every page links to further hosts of the farm;
- ``dead3.test``: a name without an address, to which articles on earthquakes link.

``/`` lists the articles of a host, ``/t/2.html`` is on earthquakes, ``/p/2.html`` is not. The seeds
are the lists of the first plain hosts, each of which links to one news host.

All names have the address 127.0.0.1 for programs that are started with ``names_path``.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.kit.server_process import ServerProcess
from tests.kit.web import encoded

QUERY = "地震|余震 救援"
ROBOTS = "/robots.txt"
_QUAKE = (
    "地震 余震 救援 震中 灾区 震级 救援队 伤员 废墟 搜救 安置点 地震局 倒塌 危房 物资 "
    "抢险 医疗队 帐篷 断裂带 烈度 群众 转移 抗震 重建"
)
_OTHER = (
    "菜谱 豆腐 联赛 主队 比分 股票 基金 利率 旅游 景点 酒店 手机 屏幕 电池 电影 导演 "
    "演员 房价 装修 家具 考试 学校 课程 汽车 发动机 养生 茶叶 足球 篮球 球迷"
)
_COMMON = (
    "我们 他们 今天 昨天 当地 记者 表示 认为 可以 没有 已经 进行 通过 关于 以及 因此 "
    "但是 如果 工作 时间 情况 方面 人员 部门 目前 继续 开始 需要 许多 一些"
)
NAMES = """
# Run by every interpreter first, as its module sitecustomize.
import socket
ASK = socket.getaddrinfo
def getaddrinfo(host, *arguments, **more):
    name = host.decode() if isinstance(host, bytes) else host
    if isinstance(name, str) and name.endswith(".test"):
        if name.startswith("dead"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        host = "127.0.0.1"
    return ASK(host, *arguments, **more)
socket.getaddrinfo = getaddrinfo
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WideSpec:
    """Size of the web.

    Attributes:
        news: Hosts with articles on earthquakes.
        slow: Those that take a second for each answer.
        plain: Hosts without.
        farm: Hosts of the link farm that pages outside it link to; it has more.
        dead: Names without an address.
        articles: Articles of a host; of a news host half are on earthquakes.
        seeds: Plain hosts that the crawl begins with.
    """

    news: int = 90
    slow: int = 10
    plain: int = 140
    farm: int = 40
    dead: int = 20
    articles: int = 12
    seeds: int = 5

    @property
    def hosts(self) -> int:
        """All hosts, without those of the farm that only the farm links to."""
        return self.news + self.slow + self.plain + self.farm + self.dead

    @property
    def relevant(self) -> int:
        """Articles on earthquakes."""
        return (self.news + self.slow) * (self.articles // 2)

    def topical(self, number: int) -> str:
        """Returns the name of a host with articles on earthquakes; any number has one."""
        number %= self.news + self.slow
        return f"news{number}.test" if number < self.news else f"slow{number - self.news}.test"


class WideSite:
    """Computes the page of each host and path."""

    def __init__(self, spec: WideSpec, port: int) -> None:
        self._spec = spec
        self._port = port

    def page(self, host: str, path: str) -> dict[str, object]:
        """Returns a page as ``encoded`` takes it; 404 for what there is not."""
        label = host.removesuffix(".test").removesuffix(".farm")
        kind, number = label.rstrip("0123456789"), int(label.lstrip("abcdefghijklmnopqrstuvwxyz"))
        latency = {"latency_ms": 1000} if kind == "slow" else {}
        if path == ROBOTS:
            return {"body": "", "headers": {"Content-Type": "text/plain"}, **latency}
        chance = random.Random(f"{host}{path}")
        if path == "/":
            return {"body": self._home(kind, number, chance), **latency}
        found = path.removesuffix(".html").split("/")
        is_known = len(found) == 3 and found[1] in "tp" and found[2].isdigit()
        if not is_known or int(found[2]) >= self._spec.articles:
            return {"status": 404, "body": "<h1>404</h1>"}
        is_topical = found[1] == "t" and kind in ("news", "slow")
        links = [*self._links(kind, chance, is_topical=is_topical)]
        return {"body": _article(chance, links, is_topical=is_topical), **latency}

    def _home(self, kind: str, number: int, chance: random.Random) -> str:
        spec = self._spec
        half = spec.articles // 2 if kind in ("news", "slow") else 0
        links = [(f"/t/{n}.html", _title(chance, _QUAKE)) for n in range(half)]
        links += [(f"/p/{n}.html", _title(chance, _OTHER)) for n in range(half, spec.articles)]
        if kind == "h":
            links = [(f"/p/{n}.html", _title(chance, _QUAKE)) for n in range(spec.articles)]
        elif kind == "plain" and number < spec.seeds:
            links.append((self._url(f"news{number}.test", "/"), "社会新闻"))
        chance.shuffle(links)
        return _html(f"{kind}{number} 首页", f"<div><h1>首页</h1>{_items(links)}</div>")

    def _links(
        self, kind: str, chance: random.Random, *, is_topical: bool
    ) -> Iterator[tuple[str, str]]:
        """Links of an article to other hosts: (URL, text)."""
        spec, half = self._spec, self._spec.articles // 2
        if kind == "h":
            for _ in range(3):
                other = f"h{chance.randrange(100 * spec.farm)}.farm.test"
                yield self._url(other, "/"), _title(chance, _QUAKE)
        elif is_topical:
            for _ in range(3):
                other = spec.topical(chance.randrange(spec.news + spec.slow))
                path = f"/t/{chance.randrange(half)}.html"
                yield self._url(other, path), _title(chance, _QUAKE)
            if spec.farm and chance.random() < 0.3:
                trap = f"h{chance.randrange(spec.farm)}.farm.test"
                yield self._url(trap, "/"), _title(chance, _QUAKE)
            if spec.dead and chance.random() < 0.2:
                gone = f"dead{chance.randrange(spec.dead)}.test"
                yield self._url(gone, "/t/0.html"), _title(chance, _QUAKE)
        else:
            for _ in range(2):
                other = f"plain{chance.randrange(spec.plain)}.test"
                path = f"/p/{chance.randrange(spec.articles)}.html"
                yield self._url(other, path), _title(chance, _OTHER)

    def _url(self, host: str, path: str) -> str:
        return f"http://{host}:{self._port}{path}"


def _title(chance: random.Random, words: str) -> str:
    first = "".join(chance.sample(words.split(), 3))
    return f"{first}{chance.choice(_COMMON.split())}{chance.randrange(100)}"


def _sentence(chance: random.Random, words: str) -> str:
    own, common = words.split(), _COMMON.split()
    parts = (chance.choice(own if chance.random() < 0.4 else common) for _ in range(12))
    return "".join(parts) + f"{chance.randrange(1000)}。"


def _article(chance: random.Random, links: list[tuple[str, str]], *, is_topical: bool) -> str:
    words = _QUAKE if is_topical else _OTHER
    title = ("地震救援" if is_topical else "") + _title(chance, words)
    paragraphs = [
        "".join(_sentence(chance, words) for _ in range(3)) for _ in range(chance.randrange(4, 8))
    ]
    more = "".join(f'<p>另据报道:<a href="{url}">{text}</a>。</p>' for url, text in links)
    body = "".join(f"<p>{each}</p>" for each in paragraphs)
    return _html(title, f'<p><a href="/">首页</a></p><div><h1>{title}</h1>{body}{more}</div>')


def _items(links: list[tuple[str, str]]) -> str:
    return "<ul>" + "".join(f'<li><a href="{url}">{text}</a></li>' for url, text in links) + "</ul>"


def _html(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body>{body}</body></html>"
    )


EXAMPLE = _article(random.Random(7), [], is_topical=True)


@dataclass(frozen=True, slots=True)
class WideVisit:
    """A request: host without its port, path, arrival and end in monotonic seconds."""

    host: str
    path: str
    arrival_s: float
    end_s: float

    @property
    def is_relevant(self) -> bool:
        """Whether the page is on earthquakes."""
        return self.path.startswith("/t/") and self.host.startswith(("news", "slow"))

    @property
    def is_farm(self) -> bool:
        """Whether the host is one of the link farm."""
        return self.host.endswith(".farm.test")


class WideWeb(ServerProcess):
    """The server of all hosts, for a ``with`` block."""

    def __init__(self, folder: Path, spec: WideSpec) -> None:
        """Prepares the server, and the module that gives programs the names."""
        self.spec = spec
        self._log = folder / "visits.log"
        early = folder / "names"
        early.mkdir(parents=True, exist_ok=True)
        (early / "sitecustomize.py").write_text(NAMES, "utf-8")
        self.names_path = str(early)
        self._log.touch()
        given = json.dumps(asdict(spec))
        super().__init__([sys.executable, "-m", "tests.kit.wide_web", given, str(self._log)])

    @property
    def seeds(self) -> list[str]:
        """The URLs that a crawl begins with."""
        return [f"http://plain{number}.test:{self.port}/" for number in range(self.spec.seeds)]

    def visits(self) -> list[WideVisit]:
        """Returns the requests so far, robots.txt among them."""
        rows = []
        for line in self._log.read_text("utf-8").splitlines():
            host, arrival, end, path = line.split(" ", 3)
            rows.append(WideVisit(host, path, float(arrival), float(end)))
        return rows


async def _serve(spec: WideSpec, log_path: str) -> None:
    site: list[WideSite] = []
    log = Path(log_path).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                arrival = time.monotonic()
                lines = head.split("\r\n")
                named = next(each for each in lines if each.lower().startswith("host:"))
                host = str(urlsplit("//" + named[5:].strip()).hostname)
                path = lines[0].split(" ")[1]
                page = site[0].page(host, path)
                await asyncio.sleep(float(str(page.get("latency_ms", 0))) / 1000)
                log.write(f"{host} {arrival:.6f} {time.monotonic():.6f} {path}\n")
                writer.write(encoded(page))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 16)
    port = server.sockets[0].getsockname()[1]
    site.append(WideSite(spec, port))
    print(port, flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(WideSpec(**json.loads(sys.argv[1])), sys.argv[2]))
