"""A crawl with TLS: who gets secrets, which certificates are noticed and which are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from tests.flow.test_images import LONG, article, png
from tests.kit.certificates import Authority
from tests.kit.commands import DataFolder
from tests.kit.crawls import crawlclean, run_crawl
from tests.kit.raw_web import RawWeb, answer
from tests.kit.web import html

SECRETS = {"authorization": "Bearer s3cret", "cookie": "session=s3cret"}
HOSTS = """
["https://{home}"]
headers = {{ Authorization = "Bearer s3cret" }}
cookies = {{ session = "s3cret" }}

["{fake}"]
cookies = {{ session = "s3cret" }}
"""


@dataclass
class Site:
    """The servers of a crawl, all on loopback addresses, and what the crawl left."""

    authority: Authority
    stack: ExitStack
    webs: dict[str, RawWeb] = field(default_factory=dict)

    def serve(self, name: str, address: str, scheme: str = "https", **tls: object) -> RawWeb:
        """Starts a server of one page; ``tls``: about its certificate."""
        names = tls.pop("names", (address,))
        context = None
        if scheme == "https":
            context = self.authority.server_context(*names, **tls)  # type: ignore[arg-type,misc] # any
        web = RawWeb({"/": answer(html(name, LONG).encode())}, address, tls=context)
        self.webs[name] = self.stack.enter_context(web)
        return web


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        made = Site(Authority(tmp_path_factory.mktemp("tls")), stack)
        made.serve("home", "127.0.0.21")
        made.serve("plain", "127.0.0.21", "http")
        made.serve("other_port", "127.0.0.21")
        made.serve("other", "127.0.0.22")
        made.serve("fake", "127.0.0.23", is_self_signed=True)
        made.serve("expired", "127.0.0.24", ends_in=timedelta(days=-2))
        made.serve("misnamed", "127.0.0.25", names=("elsewhere.test", "10.1.2.3"))
        made.serve("self_signed", "127.0.0.26", is_self_signed=True)
        yield made


@pytest.fixture(scope="module")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """After one crawl of everything with the default settings, but with the authority."""
    folder = tmp_path_factory.mktemp("crawl")
    webs = site.webs
    urls = {name: web.url("", "http" if name == "plain" else "https") for name, web in webs.items()}
    pages = [f"{urls[name]}/page.html" for name in ("home", "plain", "other_port", "other")]
    pictures = [f"{urls[name]}/own.png" for name in ("home", "plain", "other")]
    links = {url: url for url in [*pages, f"{urls['home']}/moved"]}
    maps = "".join(f"Sitemap: {urls[name]}/map.xml\n" for name in ("home", "plain", "other"))
    for name, web in webs.items():
        web.answers |= {
            "/": answer(html(name, LONG, links=links if name == "home" else None).encode()),
            "/page.html": answer(html(f"{name} 文", LONG * 2).encode()),
            "/landed.html": answer(html(f"{name} 到", LONG * 3).encode()),
            "/own.png": answer(png(1)).replace(b"text/html", b"image/png"),
            "/map.xml": answer(b"<urlset></urlset>"),
        }
    webs["home"].answers["/page.html"] = answer(article("甲文", *pictures).encode())
    webs["home"].answers["/moved"] = answer(
        b"", f"Location: {urls['plain']}/landed.html", status="302 Found"
    )
    webs["home"].answers["/robots.txt"] = answer(f"User-agent: *\n{maps}".encode())
    webs["other_port"].answers["/robots.txt"] = answer(
        b"", f"Location: {urls['plain']}/robots.txt", status="302 Found"
    )
    hosts_file = folder / "hosts.toml"
    hosts_file.write_text(HOSTS.format(home=webs["home"].host, fake=webs["fake"].host))
    options = ("--ca-file", str(site.authority.ca_file), "--hosts-file", str(hosts_file))
    seeds = [f"{url}/" for url in urls.values()]
    run_crawl(folder / "data", *seeds, *options, "--scope", "any", "--images")
    return DataFolder(folder / "data")


def secrets_of(web: RawWeb, path: str) -> dict[str, str]:
    head = web.head_of(path)
    return {name: head[name] for name in SECRETS if name in head}


@pytest.mark.parametrize(
    "path", ["/", "/page.html", "/moved", "/robots.txt", "/map.xml", "/own.png"]
)
def test_the_origin_that_is_named_gets_the_secrets(
    site: Site, crawled: DataFolder, path: str
) -> None:
    assert secrets_of(site.webs["home"], path) == SECRETS, crawled


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("plain", ["/", "/page.html", "/landed.html", "/robots.txt", "/map.xml", "/own.png"]),
        ("other_port", ["/", "/page.html", "/robots.txt"]),
        ("other", ["/", "/page.html", "/robots.txt", "/map.xml", "/own.png"]),
        ("expired", ["/"]),
    ],
)
def test_no_other_scheme_port_or_host_gets_them(
    site: Site, crawled: DataFolder, name: str, paths: list[str]
) -> None:
    web = site.webs[name]
    assert set(paths) <= set(web.paths()), f"asked for {web.paths()}"
    for head in web.heads:
        assert "s3cret" not in head, crawled


def test_an_unverified_host_gets_neither_secrets_nor_a_request(
    site: Site, crawled: DataFolder
) -> None:
    web = site.webs["fake"]
    assert web.heads == []
    said = crawled.output("why", f"https://{web.host}/")
    assert f"certificate: the certificate of {web.host} is refused: it is self-signed" in said
    assert "attempt 2" not in said


@pytest.mark.parametrize(
    ("name", "fault"),
    [("expired", "expired"), ("misnamed", "wrong_name"), ("self_signed", "self_signed")],
)
def test_a_wrong_certificate_is_noticed(
    site: Site, crawled: DataFolder, name: str, fault: str
) -> None:
    web = site.webs[name]
    said = crawled.output("why", f"https://{web.host}/")
    assert f"wrong certificate: {fault}" in said
    assert "stored" in said or "record" in said
    assert f"TLS       wrong certificate: {fault} 1" in crawled.output("hosts", web.host)
    [stats] = crawled.rows("hosts", web.host, "--json")
    assert stats["certificate_faults"] == {fault: 1}


def test_a_right_certificate_is_no_news(site: Site, crawled: DataFolder) -> None:
    host = site.webs["home"].host
    assert "certificate" not in crawled.output("hosts", host)
    assert "certificate" not in crawled.output("why", f"https://{host}/")


def test_verify_tls_refuses_each_fault_by_name(site: Site, tmp_path: Path) -> None:
    names = ("expired", "misnamed", "self_signed", "home")
    before = {name: len(site.webs[name].heads) for name in names}
    seeds = [site.webs[name].url("/", "https") for name in names]
    options = ("--verify-tls", "--ca-file", str(site.authority.ca_file), "--depth", "0")
    summary = run_crawl(tmp_path / "data", *seeds, *options)
    assert (summary["records"], summary["failed"]) == (1, 3)
    for name in names[:3]:
        assert len(site.webs[name].heads) == before[name], "nothing was asked for"
    failed = {
        row["url"]: (row["reason"], row["detail"].partition("refused: ")[2])
        for row in DataFolder(tmp_path / "data").rows("failures", "--json")
    }
    expired, misnamed, self_signed = (failed[seed] for seed in seeds[:3])
    assert expired[0] == misnamed[0] == self_signed[0] == "certificate"
    assert expired[1].startswith("it expired on 20")
    assert misnamed[1] == "it is for elsewhere.test 10.1.2.3"
    assert self_signed[1] == "it is self-signed"


def test_a_private_authority_is_unknown_without_its_file(site: Site, tmp_path: Path) -> None:
    seed = site.webs["home"].url("/", "https")
    options = ("--data", str(tmp_path), "--allow-private", "--verify-tls", "--json")
    done = crawlclean("run", seed, *options, check=False)
    assert json.loads(done.stdout)["records"] == 0
    assert "no known authority signed it" in done.stderr


def test_a_host_may_be_verified_or_excused_alone(site: Site, tmp_path: Path) -> None:
    expired, self_signed = site.webs["expired"], site.webs["self_signed"]
    hosts_file = tmp_path / "hosts.toml"
    hosts_file.write_text(
        f'["{expired.host}"]\nverify_tls = false\n["{self_signed.host}"]\nverify_tls = true\n'
    )
    seeds = [web.url("/", "https") for web in (expired, self_signed)]
    options = ("--hosts-file", str(hosts_file), "--depth", "0")
    for name, extra, records in (("lax", (), 1), ("strict", ("--verify-tls",), 1)):
        data = tmp_path / name
        assert run_crawl(data, *seeds, *options, *extra)["records"] == records
        [failure] = DataFolder(data).rows("failures", "--json")
        assert (failure["url"], failure["reason"]) == (seeds[1], "certificate")


def test_a_file_without_authorities_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    for name, said in (("none.pem", "holds no PEM certificates"), ("absent", "cannot be read")):
        options = ("--ca-file", str(tmp_path / name), "--data", str(tmp_path / "data"))
        done = crawlclean("run", "https://a.example/", *options, check=False)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
