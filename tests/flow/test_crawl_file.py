"""A crawl file and the same flags give the same crawl; the command line wins over the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.cli import parse
from crawlclean.workers.config import load_settings
from crawlclean.workers.operations.crawling.specs import crawl_spec
from tests.kit.commands import call_main
from tests.kit.crawls import crawlclean
from tests.kit.web import Web, html


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    links = {f"/{kind}/{n}.html": f"{kind}{n}" for kind in ("news", "tag") for n in range(5)}
    pages = {path: html(text, links={"/deep/1": "深"}) for path, text in links.items()}
    with Web(tmp_path / "web", {"/": html("首页", links=links), **pages}) as served:
        yield served


def test_a_crawl_file_is_the_flags(tmp_path: Path, web: Web) -> None:
    folder = tmp_path / "计划"
    folder.mkdir()
    (folder / "seeds.txt").write_text(f"# the site\n{web.url()}\n", "utf-8")
    (folder / "crawl.toml").write_text(
        'seeds_file = "seeds.txt"\ndata = "data"\nallow_private = true\nmax_depth = 1\n'
        'exclude = ["/news/"]\nscope = "domain"\ncrawl = "c"\ncontact = "me@example.com"\n'
        f'[hosts."{web.host}"]\nslots = 3\ndelay_s = 0\nuser_agent = "Partner/1.0"\n',
        "utf-8",
    )
    environ = {"CRAWLCLEAN_MAX_DEPTH": "0", "CRAWLCLEAN_TRAP_PAGES": "7"}
    status, out, _ = call_main("doctor", str(folder / "crawl.toml"), "--json")
    checked = json.loads(out)
    assert (status, checked["crawl"]["seeds"], checked["crawl"]["hosts"]) == (0, [web.url()], 1)
    # The command line wins over the file, the file over the environment.
    arguments = ("run", str(folder / "crawl.toml"), "--json", "--exclude", "/tag/")
    done = crawlclean(*arguments, cwd=tmp_path, env=environ)
    assert json.loads(done.stdout)["records"] == 6
    store = SqliteStore(folder / "data" / "records.sqlite")
    [spec] = [row.spec for row in store.crawls.all()]
    store.close()
    (tmp_path / "hosts.toml").write_text(
        f'["{web.host}"]\nslots = 3\ndelay_s = 0\nuser_agent = "Partner/1.0"\n', "utf-8"
    )
    flags = ("--allow-private", "--depth", "1", "--exclude", "/tag/", "--scope", "domain")
    given = parse(["run", web.url(), *flags, "--hosts-file", str(tmp_path / "hosts.toml")])
    named = {name: value for name, value in vars(given).items() if value is not None}
    assert spec == crawl_spec(load_settings(environ, named), given.urls, "c")
    assert spec.trap_pages == 7, "what the file leaves open is in the environment"


def test_the_seeds_of_a_crawl_file_are_sites(tmp_path: Path, web: Web) -> None:
    with Web(tmp_path / "other", {"/": html("另一个")}, "127.0.0.2") as other:
        (tmp_path / "sites.toml").write_text(
            f'seeds = ["{web.url()}", "{other.url()}"]\nallow_private = true\nmax_pages = 2\n'
            'at_once = 1\ndata = "data"\n',
            "utf-8",
        )
        done = crawlclean("sites", str(tmp_path / "sites.toml"), "--json")
        found = {row["url"]: row["records"] for row in map(json.loads, done.stdout.splitlines())}
        assert found == {web.url(): 2, other.url(): 1}
        assert "1 at a time" in done.stderr


def test_urls_beside_a_crawl_file_are_its_seeds(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text('data = "data"\n', "utf-8")
    status, _, err = call_main("run", str(path))
    assert (status, "limits.toml has no seeds" in err) == (2, True), err
    # A private address is refused before anything starts.
    for text in ('data = "data"\n', 'seeds = ["http://a.example/"]\n'):
        path.write_text(text, "utf-8")
        status, _, err = call_main("run", str(path), "http://127.0.0.1/")
        assert (status, "127.0.0.1 is a private" in err) == (2, True), err


def test_overrides_of_a_crawl_file_are_used_and_taken_back(tmp_path: Path) -> None:
    text = "这一段文字很长，它有逗号，也有句号，所以它是正文的一部分，第{}页没有人会怀疑这一点。"
    pages = {
        f"/news/{n}.html": html(f"第{n}页的标题", text.format(n)).replace(
            "</h1>", "</h1><div class='sidebar'>摘要在这里，它说的是第几页，很短。</div>"
        )
        for n in range(9)
    }
    with Web(
        tmp_path / "w", {"/": html("首页", links=dict.fromkeys(pages, "新闻")), **pages}
    ) as web:
        file, plain = tmp_path / "crawl.toml", f'seeds = ["{web.url()}"]\nallow_private = true\n'
        plain += f'data = "{tmp_path / "data"}"\ndelay_s = 0\n'

        def crawl(overrides: str) -> tuple[set[str], list[str]]:
            """The beginnings of the bodies, and what has to be said of other overrides."""
            file.write_text(plain + overrides, "utf-8")
            done = crawlclean("run", str(file))
            store = SqliteStore(tmp_path / "data" / "records.sqlite")
            records = [
                store.records.get(each.page_id, each.crawl_id)
                for each in store.hosts.versions(web.host)
            ]
            store.close()
            bodies = {each.body[:2] for each in records if each and "/news/" in each.url}
            return bodies, [x for x in done.stderr.splitlines() if "other overrides" in x]

        rule = f'[overrides."{web.host}/news/*.html"]\n'
        assert crawl("") == ({"这一"}, [])
        bodies, said = crawl(rule + 'keep = [".sidebar"]\n')
        assert (bodies, len(said)) == ({"摘要"}, 1)
        assert crawl(rule + 'keep = ".sidebar"\n') == ({"摘要"}, [])
        bodies, said = crawl(rule + 'body = [".sidebar"]\nkind = "other"\n')
        assert (bodies, len(said)) == ({"摘要"}, 1)
        bodies, said = crawl("")
        assert (bodies, len(said)) == ({"这一"}, 1)
