"""The hosts file: what it may say, who it counts for, and one clear line for every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.addresses.guard import AddressGuard, is_local_name
from crawlclean.crawler.hosts_file import HostOverrides, load_hosts
from crawlclean.storage.crawl_types import HostPoliteness
from crawlclean.workers.cli import main
from tests.kit.crawls import crawlclean

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
    names = ("example.com", "example.com:8080", "www.example.com")
    plain, port, below = (rules.of(f"https://{name}/a") for name in names)
    assert (plain.delay_s, plain.slots, plain.user_agent) == (2.5, 2, None)
    assert (port.delay_s, port.slots, port.user_agent) == (2.5, 2, "Other/1")
    assert (below.delay_s, below.slots) == (0, None)
    assert plain.request_headers() == {
        "X-Key": "k",
        "Proxy-Authorization": "Basic bWU6cEBzcw==",
    }
    assert below.request_meta() == {"proxy": "http://10.0.0.1:3128"}
    assert rules.of("https://example.org/").request_headers() == {}
    assert rules.of("http://a.xn--0zwm56d/").slots == 3
    assert rules.proxy_hostnames() == {"10.0.0.1"}
    assert HostPoliteness(pattern="example.com", delay_ms=2500, slots=2) in rules.politeness()
    assert len(rules.politeness()) == 3
    assert "p%40ss" not in repr(below)
    assert HostOverrides().of("http://a.example/") == load_hosts(None).of("http://b.example/")


ORIGINS = """
["forum.example"]
slots = 2
user_agent = "Us/1"
cookies = { c = "forum" }

["forum.example:8443"]
headers = { K = "port" }

["http://127.0.0.1:8081"]
headers = { K = "plain" }
verify_tls = true

["*.wide.example"]
headers = { K = "wide" }

["http://*.open.example"]
headers = { K = "open" }

["https://forum.example"]
headers = { K = "forum" }
"""


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://forum.example/a", ["forum", "c=forum"]),
        ("http://forum.example/a", []),
        ("https://forum.example:8443/", ["port"]),
        ("http://forum.example:8443/", []),
        ("https://forum.example:8444/", []),
        ("http://forum.example:443/", []),
        ("https://www.forum.example/", []),
        ("http://127.0.0.1:8081/", ["plain"]),
        ("https://127.0.0.1:8081/", []),
        ("http://127.0.0.1/", []),
        ("http://127.0.0.1:8082/", []),
        ("https://wide.example/", ["wide"]),
        ("https://a.b.wide.example/", ["wide"]),
        ("https://a.wide.example:8443/", []),
        ("http://a.wide.example/", []),
        ("http://a.open.example/", ["open"]),
        ("https://a.open.example/", []),
        ("http://a.open.example:8080/", []),
        ("https://notwide.example/", []),
    ],
)
def test_secrets_go_to_the_origin_that_they_are_for(
    tmp_path: Path, url: str, sent: list[str]
) -> None:
    rule = load(tmp_path, ORIGINS).of(url)
    headers = rule.request_headers()
    assert [headers[name] for name in ("K", "Cookie") if name in headers] == sent


def test_what_is_no_secret_is_for_every_port_and_scheme_of_a_name(tmp_path: Path) -> None:
    hosts = load(tmp_path, ORIGINS)
    for url in ("http://forum.example/", "https://forum.example/", "http://forum.example:81/"):
        assert hosts.of(url).user_agent == "Us/1"
    assert hosts.of("http://127.0.0.1:8081/").verify_tls
    assert hosts.of("https://127.0.0.1:8081/").verify_tls is None, "a scheme names one origin"


def test_a_table_whose_secrets_are_withheld_is_named(tmp_path: Path) -> None:
    hosts = load(tmp_path, ORIGINS)
    withheld = {url: hosts.withheld(url) for url in ("http://forum.example/", "http://x.example/")}
    table, other = withheld.values()
    assert table is not None
    assert (table.name, table.origin) == ("https://forum.example", "https://forum.example")
    assert other is None
    assert hosts.withheld("https://forum.example/") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[example.com]\ndelay_s = 1", "in quotes"),
        ('["a.example"]\ndelay = 1', "no key delay; did you mean delay_s?"),
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
        ('["ftp://a"]\nslots = 1', '"ftp://a" is no host'),
        ('["http://me:s3cret@a"]\nslots = 1', "is no host"),
        ('["http://a"]\nslots = 1', 'delay_s and slots are for a whole host, give them in ["a"]'),
        ('["a.example"]\nverify_tls = "no"', "verify_tls: true or false"),
        ('["a"]\nverify_tls = false\ncookies = { a = "s3cret" }', "go to verified hosts only"),
        ('["https://a"]\n["https://a:443"]', "is there twice"),
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


def test_a_run_names_the_secrets_that_a_seed_over_http_does_not_get(tmp_path: Path) -> None:
    hosts_file = tmp_path / "hosts.toml"
    hosts_file.write_text('["nobody.invalid"]\ncookies = { s = "s3cret" }')
    options = ("--data", str(tmp_path), "--max-time", "0", "--hosts-file", str(hosts_file))
    done = crawlclean("run", "http://nobody.invalid/", *options, check=False)
    [line] = [line for line in done.stderr.splitlines() if "no headers and cookies" in line]
    assert "are for https://nobody.invalid; to send them to http://nobody.invalid, give" in line
    assert "s3cret" not in done.stderr + done.stdout


def test_a_run_that_leaves_this_machine_says_that_nobody_knows_whom_to_ask(
    tmp_path: Path,
) -> None:
    seed = ("run", "http://nobody.invalid/", "--data", str(tmp_path), "--max-time", "0")
    assert crawlclean(*seed, check=False).stderr.count("no --contact") == 1
