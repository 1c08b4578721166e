"""Sites whose links name one page in several forms, crawled by the real command: none is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from storage.crawl_types import FailureReason
from storage.sqlite.store import SqliteStore
from tests.kit.crawls import crawlclean, run_crawl
from tests.kit.web import Web, html

LONG = (21, 50, 79)  # threads of three pages
WORDS = "山水江湖风云日月春夏秋冬东西南北花鸟鱼虫天地玄黄宇宙洪荒"


def said(seed: str, length: int = 60) -> str:
    r = random.Random(seed)
    return "".join(r.choice(WORDS) for _ in range(length)) + "。"


def article(name: str) -> str:
    return html(said(name, 9), *(said(f"{name} {n}") for n in range(3)), links={"/": "首页"})


@pytest.mark.parametrize("form", ["/a/{}.html?view=print", "/a/{}.html?action=print", "/a/{}/amp/"])
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


@pytest.mark.parametrize("name", ["color", "lang"])
@pytest.mark.parametrize("every", [3, 24])
def test_a_parameter_that_matters_on_some_pages_loses_none(
    tmp_path: Path, name: str, every: int
) -> None:
    """Most products say the same in each of three values."""

    def product(n: int, value: str) -> str:
        text = f"{n} {value}" if n % every == 0 else f"{n}"
        return html(said(f"{n}", 9), *(said(f"{text} {k}") for k in range(3)), links={"/": "首页"})

    values = ("", "red", "blue", "green")
    forms = {v: f"?{name}={v}" if v else "" for v in values}
    r = random.Random(1)
    groups = [
        {f"/p/{n}{forms[r.choice(values)]}": said(f"{n}", 9) for n in r.sample(range(72), 40)}
        for _ in range(12)
    ]
    site = lists_of(groups)
    site |= {f"/p/{n}{form}": product(n, v) for n in range(72) for v, form in forms.items()}
    linked = {url for group in groups for url in group}
    with Web(tmp_path / "web", site) as web:
        data = tmp_path / "data"
        run_crawl(data, web.url(), "--slots", "2")
        bodies = " ".join(body for _, body in stored_titles(data))
        asked = {f"{n} {v}" if n % every == 0 else f"{n}" for n in range(72) for v in values
                 if f"/p/{n}{forms[v]}" in linked}  # fmt: skip
        assert not [text for text in asked if said(f"{text} 0") not in bodies]
