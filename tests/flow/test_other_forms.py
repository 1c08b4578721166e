"""Sites whose links name one page in several forms, crawled by the real command: none is lost."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.crawls import crawlclean, run_crawl
from tests.kit.web import Web, html

LONG = (21, 50, 79)  # threads of three pages
WORDS = "山水江湖风云日月春夏秋冬东西南北花鸟鱼虫天地玄黄宇宙洪荒"


@cache
def said(seed: str, length: int = 60) -> str:
    r = random.Random(seed)
    return "".join(r.choice(WORDS) for _ in range(length)) + "。"


def article(name: str) -> str:
    return html(said(name, 9), *(said(f"{name} {n}") for n in range(3)), links={"/": "首页"})


@pytest.mark.parametrize("form", ["/a/{}.html?view=print", "/a/{}/amp/"])
def test_what_waits_as_a_duplicate_is_fetched_in_its_better_form(tmp_path: Path, form: str) -> None:
    """Half of the articles are linked by the other form alone."""
    lists = {f"/list{k}.html": f"列表{k}" for k in range(12)}
    site = {"/": html("首页", links=lists)}
    for k, name in enumerate(lists):
        both = {f"/a/{n}.html": said(f"{n}", 9) for n in range(10 * k, 10 * k + 10) if n < 60}
        other = {form.format(n): "打印" for n in range(10 * k, 10 * k + 10)}
        site[name] = html(f"列表{k}", links=both | other)
    for n in range(120):
        site |= dict.fromkeys((f"/a/{n}.html", form.format(n)), article(f"{n}"))
    with Web(tmp_path / "web", site) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--slots", "2")
        store = SqliteStore(data / "records.sqlite")
        titles = {record.title for record in store.records.scan(None)}
        left = list(store.urls.failures())
        store.close()
        assert titles >= {said(f"{n}", 9) for n in range(120)}
        assert left
        assert {each.reason for each in left} == {FailureReason.DUPLICATE}
        told = crawlclean("why", left[0].url, "--data", str(data)).stdout
        assert "duplicate: /a/{n}" in told


def test_a_better_form_that_has_a_better_one_is_found(tmp_path: Path) -> None:
    """Of 160 threads 100 are linked by their third form alone."""

    def forms(n: int) -> list[str]:
        slug = "-".join("".join(random.Random(n + k).sample("abcdefgh", 5)) for k in (0, 1000))
        return [f"/t/{n}", f"/t/{n}/{slug}", f"/t/{n}/{slug}?post={n * 7 + 3}"]

    groups = [
        {url: said(f"{n}", 9) for n in range(k, k + 10) for url in forms(n)[2 * (n >= 60) :]}
        for k in range(0, 160, 10)
    ]
    site = lists_of(groups)
    for n in range(160):
        site |= dict.fromkeys(forms(n), article(f"{n}"))
    with Web(tmp_path / "web", site) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--slots", "2")
        titles = {title for title, _ in stored_titles(data)}
    assert titles >= {said(f"{n}", 9) for n in range(160)}


def stored_titles(data: Path) -> set[tuple[str, str]]:
    store = SqliteStore(data / "records.sqlite")
    found = {(record.title, record.body) for record in store.records.scan(None)}
    store.close()
    return found


def lists_of(links: list[dict[str, str]]) -> dict[str, str]:
    """A home page, and a list for each group of links."""
    names = [f"/list{k}.html" for k in range(len(links))]
    pages = {name: html(f"列表{k}", links=links[k]) for k, name in enumerate(names)}
    home = html("首页", links={name: f"列表{k}" for k, name in enumerate(names)})
    return {"/": home, **pages}


@pytest.mark.parametrize("first", ["&page=1", "&extra=page%3D1", "&page=1&extra=page%3D2"])
def test_a_first_page_in_two_forms_says_nothing_of_later_pages(tmp_path: Path, first: str) -> None:
    """Three of 80 threads go on; what their later pages say is nowhere else."""

    def thread(n: int, page: int) -> str:
        pager = {f"/t.php?tid={n}&page={k}": str(k) for k in range(1, 4)} if n in LONG else {}
        posts = [said(f"{n} {page} {k}") for k in range(3)]
        return html(said(f"{n}", 9), *posts, links={"/": "首页", **pager})

    groups = [
        {f"/t.php?tid={n}{form}": said(f"{n}", 9) for form in ("", first) for n in range(k, k + 10)}
        for k in range(0, 80, 10)
    ]
    site = lists_of(groups)
    for n in range(80):
        site |= dict.fromkeys((f"/t.php?tid={n}", f"/t.php?tid={n}{first}"), thread(n, 1))
        site |= {f"/t.php?tid={n}&page={k}": thread(n, k) for k in (1, 2, 3) if n in LONG}
    with Web(tmp_path / "web", site) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--slots", "2")
        bodies = " ".join(body for _, body in stored_titles(data))
        lost = [
            (n, page)
            for n in range(80)
            for page in ((1, 2, 3) if n in LONG else (1,))
            if said(f"{n} {page} 0") not in bodies
        ]
        assert not lost


@pytest.mark.parametrize("every", [3, 24])
def test_a_parameter_that_matters_on_some_pages_loses_none(tmp_path: Path, every: int) -> None:
    """Most products say the same in each of three values."""
    values = [f"color={word}" for word in ("red", "blue", "green")]
    assert not lost_products(tmp_path, values, every, lambda _: [""])


@pytest.mark.parametrize(
    "values", [["color=red", "color=blue", "color=green"], ["v=1", "v=2", "v=3"]]
)
def test_a_parameter_that_matters_beside_others_loses_none(
    tmp_path: Path, values: list[str]
) -> None:
    """Two more parameters never matter: so many classes have few pages that prove anything."""

    def more(k: int) -> list[str]:
        tags = ["", f"ref=list{k % 4}", f"ref=list{k % 4}"]
        return [f"{tag}&size={size}".strip("&") for tag in tags for size in "SML"] + tags

    assert not lost_products(tmp_path, values, 3, more)


def lost_products(
    tmp_path: Path, values: list[str], every: int, more: Callable[[int], list[str]]
) -> list[str]:
    """Texts that a shop's lists link to and no record has; one of them links to many products.

    Args:
        tmp_path: Folder of the crawl.
        values: Parameters that matter on every n-th product.
        every: This n.
        more: Parameters that never matter, by the number of the list.
    """

    def product(n: int, value: str) -> str:
        return f"{n} {value}" if n % every == 0 else f"{n}"

    r = random.Random(1)
    site: dict[str, str] = {}
    wanted: set[str] = set()
    groups: list[dict[str, str]] = []
    for k in range(12):
        groups.append({})
        for n in r.sample(range(72), 40):
            value = r.choice(["", *values])
            query = "&".join(part for part in (value, r.choice(more(k))) if part)
            url, text = f"/p/{n}" + (f"?{query}" if query else ""), product(n, value)
            groups[k][url] = said(f"{n}", 9)
            wanted.add(text)
        for n in range(72):
            for value in ("", *values):
                for other in {"", *more(k)}:
                    query = "&".join(part for part in (value, other) if part)
                    said_there = (said(f"{product(n, value)} {i}") for i in range(3))
                    site["/p/" + str(n) + (f"?{query}" if query else "")] = html(
                        said(f"{n}", 9), *said_there, links={"/": "首页"}
                    )
    with Web(tmp_path / "web", site | lists_of(groups)) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--slots", "2")
        bodies = " ".join(body for _, body in stored_titles(data))
    return [text for text in sorted(wanted) if said(f"{text} 0") not in bodies]
