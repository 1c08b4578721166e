"""Crawl files: what they set, and what is wrong with them, line by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.model.overrides import Override
from crawlclean.cleaning.records import PageKind
from crawlclean.storage.crawl_types import KeepRaw, Scope
from crawlclean.workers.cli import parser_of
from crawlclean.workers.crawl_file.crawl_file import all_keys, example, load_crawl_file
from tests.kit.commands import call_main

NO_KEYS = {  # options of one call, and what the file is named by
    *("help", "json", "fresh", "urls", "list", "hosts_file"),
    *("data", "run", "command"),
}


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "crawl.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def test_every_option_of_run_and_sites_is_a_key() -> None:
    """What a new option sets can be written into the file, or is named above."""
    for name in ("run", "sites"):
        options = {action.dest for action in parser_of(name)._actions}
        assert options - NO_KEYS <= set(all_keys()), name


def test_values_have_their_types_and_paths_begin_at_the_file(
    written: Callable[[str], Path],
) -> None:
    path = written(
        'seeds = ["http://a.example/"]\nscope = "domain"\nmax_depth = 2\ndelay_s = 3\n'
        'images = true\ninclude = ["/新闻/"]\nkeep_raw = "none"\ndata = "out"\nat_once = 2\n'
        '[hosts."a.example"]\nslots = 2\n'
    )
    file = load_crawl_file(path)
    assert file.settings == {
        "scope": Scope.DOMAIN,
        "max_depth": 2,
        "delay_s": 3.0,
        "images": True,
        "include": ("/新闻/",),
        "keep_raw": KeepRaw.NONE,
        "data": path.parent / "out",
        "hosts_file": path,
    }
    assert file.values["seeds"] == ("http://a.example/",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("depth = 2", "1: depth is not a key of a crawl file; did you mean max_depth?"),
        ("\nexlude = []", "2: exlude is not a key of a crawl file; did you mean exclude?"),
        ("max-pages = 2", "1: max-pages is not a key of a crawl file; did you mean max_pages?"),
        ("queue_server = 0", "1: queue_server is gone: a Redis server is a queue of its own"),
        ("max_pages = '2'", "1: max_pages is '2': expected a whole number"),
        ("max_pages = true", "1: max_pages is true: expected a whole number"),
        ("max_pages = 0", "1: max_pages is 0: at least 1 is needed"),
        ("images = 1", "1: images is 1: expected true or false"),
        ("scope = 'site'", '1: scope is \'site\': expected "host", "domain" or "any"'),
        ("seeds = 'http://a.example/'", "expected an array of strings"),
        ("seeds = [\n'http://a.example/',\n3]", "3: seeds has 3: expected a text in quotes"),
        ("delay_s = nan", "1: delay_s is nan: a number from 0 on is needed"),
        ("exclude = [\n'a',\n'b(']", "3: exclude is 'b(': missing )"),
        (
            "[crawl]\nmax_pages = 1",
            "1: [crawl] is not a table of a crawl file: its keys stand alone",
        ),
        ("['a.example']\nslots = 1", "1: [a.example] is not a table of a crawl file: hosts are in"),
        ("[hosts.'a.example']\nslots = 0", '2: "a.example" slots: a whole number from 1'),
        ("hosts_file = 'h'\n[hosts.'a.example']", "1: hosts_file and [hosts] are both there"),
        ("hosts = 3", "1: hosts is 3, no table"),
        ("at_once = 0", "1: at_once is 0: at least 1 is needed"),
        ("a = \n", "Invalid value (at line 1, column 5)"),
    ],
)
def test_a_problem_is_shown_with_its_line(
    written: Callable[[str], Path], text: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as found:
        load_crawl_file(written(text))
    assert problem in str(found.value)


def test_every_problem_is_shown_at_once(written: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigError) as found:
        load_crawl_file(written("".join(f"key{n} = 1\n" for n in range(30))))
    *lines, last = str(found.value).splitlines()
    assert len(lines) == 20
    assert last == "and 10 more"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("# 新闻\nseeds = []".encode("gb18030"), "crawl.toml:1: not UTF-8 text"),
        (b"contact = 'a'\n\x00\x01", "crawl.toml:2: not a text file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "crawl.toml:1: not UTF-8 text"),
        (b"#" * 50_000_000, "crawl.toml is over 1 MB"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
    ],
    ids=["gbk", "zeros", "binary", "50 MB", "deep"],
)
def test_a_file_that_is_no_crawl_file_is_one_line(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "crawl.toml"
    path.write_bytes(content)
    for command in (("run", str(path)), ("sites", str(path)), ("doctor", str(path))):
        status, out, err = call_main(*command)
        assert status == 2
        assert problem in out + err
        assert (out + err).count("\n") <= 2


def test_a_list_of_sites_is_no_crawl_file(tmp_path: Path) -> None:
    (tmp_path / "sites.txt").write_text("http://a.example/\n", "utf-8")
    status, _, err = call_main("run", str(tmp_path / "sites.txt"))
    assert status == 2
    assert "sites.txt is a file: `sites " in err


@pytest.mark.parametrize("url", ["http://a.example/", "https://a.example", "https://a.example/b/c"])
def test_a_url_is_no_list_of_sites(url: str) -> None:
    status, _, err = call_main("sites", url)
    assert status == 2
    assert f"{url.rstrip('/')} is a URL: `run {url.rstrip('/')}` crawls one site" in err


def test_a_folder_and_a_missing_file_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    for name, problem in (("folder.toml", "Is a directory"), ("missing.toml", "No such file")):
        for command in ("run", "sites", "doctor"):
            status, out, err = call_main(command, str(tmp_path / name))
            assert (status, problem in out + err) == (2, True), out + err


def test_a_file_as_editors_on_windows_write_it(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    text = 'seeds = ["http://a.example/"]\r\n[hosts."a.example"]\r\nslots = 2\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_crawl_file(path).hosts == {"a.example": {"slots": 2}}
    assert call_main("doctor", str(path))[0] == 0


def test_the_example_is_valid_and_has_every_key(written: Callable[[str], Path]) -> None:
    load_crawl_file(written(example()))
    above = example().partition("# --- hosts ---")[0]
    bare = "\n".join(
        line.removeprefix("# ")
        for line in above.splitlines()
        if line.removeprefix("# ").partition(" = ")[0] in all_keys()
    )
    values = load_crawl_file(written(bare)).values
    assert set(values) == set(all_keys())


def test_overrides_are_of_a_host_and_its_classes(written: Callable[[str], Path]) -> None:
    file = load_crawl_file(
        written(
            '[overrides."WWW.Example.com"]\ndrop = ["div.share", "//p[@id]"]\n'
            '[overrides."www.example.com/news/*.html"]\nbody = "#text"\nkind = "article"\n'
            '[overrides."www.example.com/"]\ntitle = ["h1"]\n'
            '[overrides."127.0.0.1:8000"]\n'
        )
    )
    assert file.overrides == {
        "www.example.com": (
            Override(drop=("div.share", "//p[@id]")),
            Override(pattern="/news/*.html", body=("#text",), kind=PageKind.ARTICLE),
            Override(pattern="/", title=("h1",)),
        ),
        "127.0.0.1:8000": (),
    }


def test_wrong_overrides_are_named_with_their_lines(written: Callable[[str], Path]) -> None:
    path = written(
        '[overrides]\nx = 3\n[overrides."a b"]\nbody = ["p"]\n'
        '[overrides."a.example"]\nbdy = ["p"]\nkind = "novel"\n'
        'drop = [\n  "p",\n  "//p[",\n  7,\n]\n'
    )
    status, out, _ = call_main("doctor", str(path))
    assert status == 2
    for line, text in (
        (2, "x is 3, no table"),
        (3, "a b is no host"),
        (6, "bdy is not a key of an override: these are body"),
        (7, "kind is "),
        (10, "//p[ is no XPath"),
        (11, "drop has 7"),
    ):
        assert f"{path}:{line}: {text}" in out


def test_receivers_of_a_file_are_checked_line_by_line(written: Callable[[str], Path]) -> None:
    right = '[receivers.oncall]\nkind = "feishu"\ntarget = "https://c.example/hook"\n'
    file = load_crawl_file(written(right + 'stories = ["quake"]\nquiet = "22:00-07:00"\n'))
    (order,) = file.receivers.values()
    assert (order.kind, order.stories, order.quiet) == ("feishu", ("quake",), "22:00-07:00")
    assert not order.private
    wrong = {
        'kind = "icq"\ntarget = "https://c.example/"': "2: kind: Invalid enum value 'icq'",
        'kind = "slack"\ntarget = "c.example"': "1: a receiver's URL begins with http:// or",
        'kind = "mail"\ntarget = "ops"': "1: ops is not a mail address",
        'kind = "slack"\ntarget = "http://c/"\nquiet = "10pm"': "4: quiet is 10pm: expected a time",
        'kind = "slack"\ntarget = "http://c/"\nsings = "bad"': "1: Object contains unknown field",
    }
    for table, told in wrong.items():
        with pytest.raises(ConfigError) as raised:
            load_crawl_file(written(f"[receivers.oncall]\n{table}\n"))
        assert f"crawl.toml:{told}" in str(raised.value)
