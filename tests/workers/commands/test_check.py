"""`doctor FILE`: the kind of a file, its problems, and the crawl that it describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.commands import call_main


def checked(path: Path, text: str, *options: str) -> tuple[int, dict[str, Any]]:
    path.write_text(text, "utf-8")
    status, out, err = call_main("doctor", str(path), "--json", *options)
    assert err == ""
    return status, json.loads(out)


def test_a_crawl_file_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_text(
        'seeds = ["https://a.example/新闻/1", "https://a.example/b"]\nmax_depth = 1\n'
        'max_pages = 500\nmax_time_s = 7200\ninclude = ["/新闻/"]\nexclude = ["[?&]print="]\n'
        'delay_s = 2.5\nimages = true\ndata = "/srv/data"\ncontact = "me@example.com"\n',
        "utf-8",
    )
    status, out, err = call_main("doctor", str(path))
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        f"{path}: a crawl file, 0 errors, 0 warnings",
        "  from     https://a.example/新闻/1 https://a.example/b",
        f"  as       {out.split('  as       ')[1].split()[0]}",
        "  follows  links to the same host, at most 1 link deep, and content images",
        "  only     /新闻/",
        "  never    [?&]print=",
        "  stops    after 500 records or after 2h00m",
        "  asks     one request at a time to a host, then a pause of 2.5 s",
        "  stores   in /srv/data; raw pages: all",
    ]


def test_what_is_probably_not_meant_is_a_warning(tmp_path: Path) -> None:
    status, found = checked(
        tmp_path / "crawl.toml",
        'seeds = ["http://a.example/b"]\nscope = "any"\ninclude = [\n"/news/",\n"/%E4%B8%AD"]\n'
        'exclude = ["/b$"]\n[hosts."a.example"]\ncookies = { s = "secret" }\n'
        '[hosts."http://c.example"]\nheaders = { X-Key = "secret" }\n',
    )
    assert status == 0
    assert all(each["is_warning"] for each in found["problems"])
    texts = "\n".join(f"{each['line']} {each['text']}" for each in found["problems"])
    for expected in (
        "2 scope any without max_pages",
        "4 include '/news/' matches none of the seeds",
        "5 include '/%E4%B8%AD' has escapes, URLs have characters there: write '/中'",
        "6 exclude '/b$' matches the seed http://a.example/b, which is fetched anyway",
        "0 no contact",
        'headers and cookies of "http://c.example" are sent without encryption',
        "no headers and cookies for http://a.example/b",
        "other users of this machine can read its secrets: chmod 600",
    ):
        assert expected in texts
    assert "secret" not in texts.replace("its secrets", "")


def test_private_seeds_and_missing_files_are_errors_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    text = 'seeds = [\n"http://127.0.0.1/",\n"ftp://a.example/"]\n'
    status, found = checked(path, text)
    lines = [(each["line"], each["text"].partition(":")[0]) for each in found["problems"]]
    assert (status, found["crawl"]) == (2, None)
    assert lines == [
        (2, "127.0.0.1 is a private or loopback address"),
        (3, "'ftp"),
    ]
    status, found = checked(path, 'seeds = ["http://127.0.0.1/"]\n', "--allow-private")
    assert status == 0
    for key in ("seeds_file", "hosts_file"):
        status, found = checked(path, f'seeds = ["http://a.example/"]\n{key} = "no.file"\n')
        [problem] = [each for each in found["problems"] if not each["is_warning"]]
        assert (status, problem["line"]) == (2, 2)
        assert "no.file" in problem["text"]


@pytest.mark.parametrize(
    ("name", "text", "kind", "problem"),
    [
        ("hosts.toml", '["a.example"]\nslots = 2\n', "hosts", ""),
        (
            "hosts.conf",
            '# mine\n\n["a.example"]\nslot = 2\n',
            "hosts",
            '4 "a.example" has no key slot; did',
        ),
        ("list.txt", "# sites\nhttps://a.example/\n", "sites", ""),
        ("list.txt", "https://a.example/\nb.example\n", "sites", "2 'b.example' is not"),
        ("list.txt", "\n", "sites", "0 no URL"),
        ("x.toml", "seeds = [\n", "unreadable", "0 Invalid value"),
        ("x.toml", 'max_pages = 3\n["a.example"]\n', "crawl", "2 [a.example] is not a table"),
    ],
)
def test_the_kind_of_a_file_is_recognized(
    tmp_path: Path, name: str, text: str, kind: str, problem: str
) -> None:
    status, found = checked(tmp_path / name, text)
    errors = [f"{p['line']} {p['text']}" for p in found["problems"] if not p["is_warning"]]
    assert found["kind"] == kind
    assert status == (2 if problem else 0)
    assert bool(errors) == bool(problem)
    assert not problem or errors[0].startswith(problem)


def test_a_file_that_is_no_list_does_not_fill_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a URL\n" * 500, "utf-8")
    status, out, _ = call_main("doctor", str(path))
    assert status == 2
    assert out.count("\n") == 52
    assert "and 450 more" in out


def test_the_example_is_a_crawl_file() -> None:
    status, out, _ = call_main("doctor", "--example")
    assert status == 0
    assert "[hosts." in out
