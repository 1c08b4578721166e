"""A crawl file and the same flags give the same crawl; the command line wins over the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.sqlite.store import SqliteStore
from tests.kit.crawls import crawlclean, stored_urls
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
        'exclude = ["/tag/"]\nscope = "domain"\ncrawl = "c"\ncontact = "me@example.com"\n'
        f'[hosts."{web.host}"]\nslots = 3\ndelay_s = 0\nuser_agent = "Partner/1.0"\n',
        "utf-8",
    )
    environ = {"CRAWLCLEAN_MAX_DEPTH": "0", "CRAWLCLEAN_TRAP_PAGES": "7"}
    checked = json.loads(crawlclean("check", str(folder / "crawl.toml"), "--json").stdout)
    assert checked["crawl"]["seeds"] == [web.url()]
    assert checked["crawl"]["hosts"] == 1
    done = crawlclean("run", str(folder / "crawl.toml"), "--json", cwd=tmp_path, env=environ)
    assert json.loads(done.stdout)["records"] == 6
    (tmp_path / "hosts.toml").write_text(
        f'["{web.host}"]\nslots = 3\ndelay_s = 0\nuser_agent = "Partner/1.0"\n', "utf-8"
    )
    flags = ("--allow-private", "--depth", "1", "--exclude", "/tag/", "--scope", "domain")
    files = ("--hosts-file", str(tmp_path / "hosts.toml"), "--data", str(tmp_path / "flags"))
    crawlclean("run", web.url(), "--crawl", "c", *flags, *files, env=environ)
    assert sorted(stored_urls(folder / "data")) == sorted(stored_urls(tmp_path / "flags"))
    specs = []
    for data in (folder / "data", tmp_path / "flags"):
        store = SqliteStore(data / "records.sqlite")
        specs += [row.spec for row in store.crawls.all()]
        store.close()
    assert specs[0] == specs[1]
    assert specs[0].trap_pages == 7, "what the file leaves open is in the environment"
    # The command line wins over the file.
    wider = crawlclean("run", str(folder / "crawl.toml"), "--exclude", "/deep/", "--json")
    assert json.loads(wider.stdout)["records"] == 11


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


def test_a_crawl_file_without_seeds_takes_urls(tmp_path: Path, web: Web) -> None:
    path = tmp_path / "limits.toml"
    path.write_text('allow_private = true\nmax_depth = 0\ndata = "data"\n', "utf-8")
    refused = crawlclean("run", str(path), check=False)
    assert refused.returncode == 2
    assert "limits.toml has no seeds" in refused.stderr
    done = crawlclean("run", str(path), web.url(), "--json")
    assert json.loads(done.stdout)["records"] == 1
