"""The hosts file: what it may say, who it counts for, and one clear line for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from cleaning.errors import ConfigError
from crawler.addresses.guard import AddressGuard, is_local_name
from crawler.host_overrides import HostOverrides, load_hosts
from storage.politeness_policy import HostPoliteness
from tests.kit.crawls import crawlclean
from workers.cli import main

GOOD = """
["Example.com"]
delay_s = 2.5
slots = 2
headers = { X-Key = "k" }

["example.com:8080"]
user_agent = "Other/1"

["*.example.com"]
delay_s = 0
proxy = "http://me:p%40ss@10.0.0.1:3128"

["*.测试"]
slots = 3
"""


def load(tmp_path: Path, text: str) -> HostOverrides:
    file = tmp_path / "hosts.toml"
    file.write_text(text, "utf-8")
    return load_hosts(file)


def test_the_most_specific_table_that_has_a_key_counts(tmp_path: Path) -> None:
    rules = load(tmp_path, GOOD)
    plain, port, below = map(rules.of, ("example.com", "example.com:8080", "www.example.com"))
    assert (plain.delay_s, plain.slots, plain.user_agent) == (2.5, 2, None)
    assert (port.delay_s, port.slots, port.user_agent) == (2.5, 2, "Other/1")
    assert (below.delay_s, below.slots) == (0, None)
    assert plain.request_headers() == {
        "X-Key": "k",
        "Proxy-Authorization": "Basic bWU6cEBzcw==",
    }
    assert below.request_meta() == {"proxy": "http://10.0.0.1:3128"}
    assert rules.of("example.org").request_headers() == {}
    assert rules.of("a.xn--0zwm56d").slots == 3
    assert rules.proxy_hostnames() == {"10.0.0.1"}
    assert HostPoliteness(pattern="example.com", delay_ms=2500, slots=2) in rules.politeness()
    assert len(rules.politeness()) == 3
    assert "p%40ss" not in repr(below)
    assert HostOverrides().of("a.example") == load_hosts(None).of("b.example")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[example.com]\ndelay_s = 1", "in quotes"),
        ('["a.example"]\ndelay = 1', "no key delay: delay_s"),
        ('["a.example"]\ndelay_s = "1"', "delay_s: a number"),
        ('["a.example"]\ndelay_s = -1', "delay_s: -1"),
        ('["a.example"]\ndelay_s = nan', "delay_s: nan"),
        ('["a.example"]\nslots = 0', "slots: a whole number"),
        ('["a.example"]\nslots = true', "slots: a whole number"),
        ('["a.example"]\nheaders = { "a b" = "s3cret" }', "headers: a name is no header name"),
        ('["a.example"]\nheaders = { A = "s3cret\\nB: c" }', "headers: a line of printable ASCII"),
        ('["a.example"]\nheaders = { Cookie = "s3cret" }', "headers: Cookie cannot be set here"),
        ('["a.example"]\nheaders = "s3cret"', "headers: a table is needed"),
        ('["a.example"]\ncookies = { a = "s3cret; b" }', "cookies: the value of a"),
        ('["a.example"]\nproxy = "socks5://s3cret@p"', "proxy: http://host:port"),
        ('["a.example"]\nproxy = "http://u:s3cret@p:99999"', "proxy: http://host:port"),
        ('["a/b"]\nslots = 1', '"a/b" is no host'),
        ('["*.a.example:80"]\nslots = 1', "is no host"),
        ('["*"]\nslots = 1', "is no host"),
        ('"a.example" = 1', "is no table"),
        ('["a.example"]\n["A.example"]', "is there twice"),
        ("x = ", "hosts.toml"),
    ],
)
def test_a_mistake_is_one_line_without_secrets(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load(tmp_path, text)
    line = str(refused.value)
    assert said in line
    assert "hosts.toml" in line
    assert "\n" not in line
    assert "s3cret" not in line


def test_a_run_says_what_is_wrong_and_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none.toml"
    assert main(["run", "http://a.example/", "--hosts-file", str(missing)]) == 2
    assert "none.toml cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "is_local"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("10.0.0.1", True),
        ("2130706433", True),
        ("0x7f.1", True),
        ("::1", True),
        ("8.8.8.8", False),
        ("example.com", False),
        ("localhost.example", False),
    ],
)
def test_names_that_say_themselves_that_they_are_not_public(name: str, is_local: bool) -> None:
    assert is_local_name(name) is is_local


def test_a_trusted_proxy_is_no_page_for_everybody() -> None:
    guard = AddressGuard()
    guard.trust_proxy("proxy.lan")
    assert guard.passes("proxy.lan", "10.0.0.1"), "we may connect to it"
    assert not guard.passes("other.lan", "10.0.0.1")
    assert guard.admits("proxy.lan", allow_private=True)
    assert not guard.admits("proxy.lan", allow_private=False), (
        "its own pages are as private as ever"
    )


def test_a_run_that_leaves_this_machine_says_that_nobody_knows_whom_to_ask(
    tmp_path: Path,
) -> None:
    seed = ("run", "http://nobody.invalid/", "--data", str(tmp_path), "--max-time", "0")
    assert crawlclean(*seed, check=False).stderr.count("no --contact") == 1
