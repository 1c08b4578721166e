"""A small web for topic crawls: a portal and four sites on loopback addresses of their own.

The portal links to lists of three sites: earthquakes, sports, recipes. Articles of the first site
link to a fourth one, which no list names: only who follows links of relevant pages finds it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.kit.web import Page, Web

PORTAL, QUAKES, SPORTS, RECIPES, RELIEF = (f"127.0.7.{n}" for n in range(1, 6))
QUERY = "地震|余震 救援"
EXAMPLE = (
    "某地发生六级地震\n地震发生后,救援队连夜赶到震中,搜救被困群众。余震不断,地震局提醒居民注意安全,"
    "救援物资陆续运抵灾区,伤员得到救治,倒塌房屋正在清理。\n"
)
_QUAKE = (
    "{n}月{n}日,当地发生{m}级地震,震源深度十公里。地震发生后救援队赶赴震中,搜救被困群众。",
    "截至发稿时已记录到余震{n}次,地震局提醒居民远离危房,救援物资正在运往灾区第{n}安置点。",
    "医院收治伤员{n}人,倒塌房屋{m}间,救援工作仍在继续,通信与供电逐步恢复。",
)
_SPORT = (
    "昨晚的联赛第{n}轮比赛中,主队以{m}比{n}战胜客队,前锋在下半场连入两球。",
    "赛后主教练表示球队的防守有了进步,下一场将在第{n}周周末进行,球票已经售出{m}千张。",
    "联赛积分榜上主队升至第{m}位,裁判在比赛中出示黄牌{n}张。",
)
_RECIPE = (
    "这道家常菜需要豆腐{n}块、青菜{m}两,先把锅烧热,放油,小火煎至两面金黄。",
    "加入酱油和少许白糖,盖上锅盖焖{n}分钟,收汁后撒上葱花即可出锅装盘。",
    "第{n}步也可以换成香菇和木耳,口味清淡,适合{m}口之家的晚餐。",
)


@contextmanager
def topic_web(
    folder: Path, articles: int = 12, *, recipes: int = 30, port: int = 0
) -> Iterator[Mapping[str, Web]]:
    """Serves the web; the servers by address.

    Args:
        folder: For pages and logs.
        articles: Articles of the sites on earthquakes; there are thrice as many on sports.
        recipes: Recipes for each of these articles.
        port: Of all addresses; 0: any that is free.
    """
    port = port or free_port()
    with ExitStack() as stack:
        yield {
            address: stack.enter_context(Web(folder / address, pages, address, port))
            for address, pages in _pages(port, articles, recipes).items()
        }


def free_port() -> int:
    """A port that is free on the address of the portal."""
    with socket.socket() as probe:
        probe.bind((PORTAL, 0))
        return int(probe.getsockname()[1])


def _pages(port: int, articles: int, recipes: int) -> dict[str, dict[str, Page]]:
    def url(address: str, path: str) -> str:
        return f"http://{address}:{port}{path}"

    quake = {n: f"地震救援快讯第{n}期" for n in range(1, articles + 1)}
    relief = {n: f"灾区地震救援日记{n}" for n in range(1, articles + 1)}
    sport = {n: f"联赛战报第{n}轮" for n in range(1, 3 * articles + 1)}
    recipe = {n: f"家常豆腐做法{n}" for n in range(1, recipes * articles + 1)}
    portal = {url(RECIPES, "/list.html"): "美食栏目", url(SPORTS, "/list.html"): "体育栏目"}
    portal[url(QUAKES, "/list.html")] = "社会栏目"
    away = {n: {url(RELIEF, f"/a/{n}.html"): title} for n, title in relief.items()}
    next_relief = {
        n: {url(RELIEF, f"/a/{n + 1}.html"): relief[n + 1]} for n in relief if n + 1 in relief
    }
    return {
        PORTAL: {"/": _list("综合门户", portal)},
        QUAKES: _site("社会新闻", quake, _QUAKE, away),
        SPORTS: _site("体育新闻", sport, _SPORT, {}),
        RECIPES: _site("美食天地", recipe, _RECIPE, {}),
        RELIEF: _site("救援日记", relief, _QUAKE, next_relief),
    }


def _site(
    name: str,
    articles: Mapping[int, str],
    texts: tuple[str, ...],
    links: Mapping[int, Mapping[str, str]],
) -> dict[str, Page]:
    """A list of all articles, and the articles."""
    pages: dict[str, Page] = {
        "/list.html": _list(name, {f"/a/{n}.html": title for n, title in articles.items()})
    }
    for n, title in articles.items():
        pages[f"/a/{n}.html"] = _article(name, title, n, texts, links.get(n, {}))
    return pages


def _list(name: str, links: Mapping[str, str]) -> str:
    items = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in links.items())
    return _page(name, f'<div class="list"><h1>{name}</h1><ul>{items}</ul></div>')


def _article(
    site: str, title: str, n: int, texts: tuple[str, ...], links: Mapping[str, str]
) -> str:
    paragraphs = "".join(f"<p>{text.format(n=n, m=n % 7 + 2)}</p>" for text in texts * 2)
    more = "".join(f'<p>另据报道:<a href="{href}">{text}</a>。</p>' for href, text in links.items())
    body = f'<div class="article"><h1>{title}</h1>{paragraphs}{more}</div>'
    return _page(f"{title} - {site}", f'<p><a href="/list.html">{site}</a></p>{body}')


def _page(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body>{body}</body></html>"
    )
