"""A real spider with a hosts file and names of its own: who is told what, and when who is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise

import pytest

from crawlclean.storage.crawl_types import (
    CrawlSpec,
    FailureReason,
    Politeness,
    PolitenessPolicy,
    QueuedPage,
)
from tests.kit.certificates import Authority
from tests.kit.proxy import Proxy
from tests.kit.raw_web import RawWeb, answer
from tests.kit.some import some
from tests.kit.spiders import SpiderProcess
from tests.kit.web import Page, Web, html

DELAY_MS = 120
NAMES = ["one.test", "two.test", "three.test", "alone.test"]
SECRETS = ["Bearer-s3cret", "cookie-s3cret", "proxy-s3cret"]
FILE = """
["http://partner.test:{partner}"]
user_agent = "Partner/1.0"
headers = {{ Authorization = "Bearer-s3cret" }}
cookies = {{ session = "cookie-s3cret", b = "2" }}

["*.far.test"]
proxy = "http://user:proxy-s3cret@{proxy}"

["10.0.0.1"]
proxy = "http://user:proxy-s3cret@{proxy}"
"""


@dataclass(frozen=True)
class Crawled:
    """Everything after one spider fetched it."""

    spider: SpiderProcess
    shared: Web
    partner: RawWeb
    other: RawWeb
    far: RawWeb
    far_tls: RawWeb
    proxy: Proxy

    def page(self, crawl: str, url: str) -> QueuedPage:
        return self.spider.pages[crawl, url]


def spec(crawl_id: str, *seeds: str, private: bool = True, **more: object) -> CrawlSpec:
    values = {"max_depth": 0, "delay_ms": 0, **more}
    return CrawlSpec(crawl_id=crawl_id, seeds=seeds, allow_private=private, **values)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("hosts")
    pages: dict[str, Page] = {f"/{i}": {"body": html("页"), "latency_ms": 5} for i in range(8)}
    with ExitStack() as stack:
        shared = stack.enter_context(Web(folder / "web", pages))
        other = stack.enter_context(
            RawWeb({"/rules.txt": answer(b""), "/": answer()}, address="127.0.0.3")
        )
        moved = answer(b"", f"Location: http://other.test:{other.port}/rules.txt", status="302 x")
        partner = stack.enter_context(
            RawWeb({"/": answer(), "/robots.txt": moved}, address="127.0.0.4")
        )
        far = stack.enter_context(RawWeb({"/": answer(b"far away")}, address="127.0.0.5"))
        tls = Authority(folder).server_context("tls.far.test", is_self_signed=True)
        far_tls = stack.enter_context(RawWeb({"/": answer(b"far and safe")}, "127.0.0.5", tls=tls))
        reached = {"www.far.test": far.host, "tls.far.test": far_tls.host}
        proxy = stack.enter_context(Proxy(reached, "user", "proxy-s3cret"))
        hosts_file = folder / "hosts.toml"
        hosts_file.write_text(FILE.format(proxy=proxy.host, partner=partner.port), "utf-8")
        names = dict.fromkeys(NAMES[:3], "127.0.0.1") | {
            "alone.test": "127.0.0.9",
            "unsure.test": "",
            "other.test": "127.0.0.3",
            "partner.test": "127.0.0.4",
        }
        spider = stack.enter_context(
            SpiderProcess(
                folder / "data",
                "tests.kit.host_names",
                test_names=json.dumps(names),
                hosts_file=str(hosts_file),
                max_attempts="1",
            )
        )
        spider.frontier.open_crawl(
            spec(
                "partner",
                f"http://partner.test:{partner.port}/",
                f"http://other.test:{other.port}/",
            )
        )
        spider.frontier.open_crawl(spec("far", "http://www.far.test/", "https://tls.far.test/"))
        spider.frontier.open_crawl(spec("refused", "http://10.0.0.1/", private=False))
        seeds = [f"http://{name}:{shared.port}/{i}" for name in NAMES for i in range(3)]
        spider.frontier.open_crawl(
            spec(
                "shared",
                *seeds,
                "http://nowhere.test/",
                "http://unsure.test/",
                delay_ms=DELAY_MS,
                policy=PolitenessPolicy(politeness=Politeness.IP),
            )
        )
        spider.collect_all()
        yield Crawled(spider, shared, partner, other, far, far_tls, proxy)
        assert spider.terminate() == 0, spider.log
        assert "Traceback" not in spider.log, spider.log


def test_hosts_at_one_address_are_asked_one_after_another(crawled: Crawled) -> None:
    log = sorted(crawled.shared.log())
    assert len(log) == 3 * (1 + 3), "robots.txt and pages of three names"
    gaps = [later[0] - before[1] for before, later in pairwise(log)]
    assert min(gaps) >= DELAY_MS / 1000
    for name in NAMES[:3]:
        page = crawled.page("shared", f"http://{name}:{crawled.shared.port}/0")
        assert (page.result.status, page.attempt) == (200, 1), "waiting costs no attempt"


def test_a_name_without_an_address_fails_as_ever(crawled: Crawled) -> None:
    for name, detail in (("nowhere", "has no address"), ("unsure", "could not be looked up")):
        failure = some(crawled.page("shared", f"http://{name}.test/").result.failure)
        assert failure.reason is FailureReason.DNS
        assert detail in failure.detail
    alone = some(
        crawled.page("shared", f"http://alone.test:{crawled.shared.port}/0").result.failure
    )
    assert alone.reason is FailureReason.CONNECT


def test_what_is_for_one_host_goes_to_no_other(crawled: Crawled) -> None:
    for path in ("/", "/robots.txt"):
        head = crawled.partner.head_of(path)
        assert head["authorization"] == "Bearer-s3cret"
        assert head["cookie"] == "session=cookie-s3cret; b=2"
        assert head["user-agent"] == "Partner/1.0"
    for path in ("/", "/rules.txt"):
        head = crawled.other.head_of(path)
        assert not {"authorization", "cookie", "proxy-authorization"} & set(head)
        assert head["user-agent"].startswith("crawlclean/")


def test_a_proxy_is_asked_for_names_that_only_it_knows(crawled: Crawled) -> None:
    assert crawled.page("far", "http://www.far.test/").result.body == b"far away"
    assert crawled.page("far", "https://tls.far.test/").result.body == b"far and safe"
    assert set(crawled.proxy.asked) == {
        "GET http://www.far.test/robots.txt",
        "GET http://www.far.test/",
        "CONNECT tls.far.test:443",
    }
    for web in (crawled.far, crawled.far_tls):
        assert "proxy-authorization" not in web.head_of("/")


def test_a_private_address_is_refused_through_a_proxy_as_well(crawled: Crawled) -> None:
    failure = some(crawled.page("refused", "http://10.0.0.1/").result.failure)
    assert failure.reason is FailureReason.ADDRESS_REFUSED


def test_secrets_are_in_memory_only(crawled: Crawled) -> None:
    written = [path for path in crawled.spider.data.rglob("*") if path.is_file()]
    assert any("appendonly" in path.name for path in written)
    for path in written:
        text = path.read_bytes()
        assert not [secret for secret in SECRETS if secret.encode() in text], path
