"""What is secret is in no output, no log, no record and no process listing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.queue.clients import open_async_client, open_client
from tests.kit.crawls import crawlclean, run_crawl, stored_urls
from tests.kit.web import Page, Web, html

SECRET = "s3cr3tw0rd"  # noqa: S105 - of nobody
MONGO = f"mongodb://u:{SECRET}@127.0.0.1:1/x?serverSelectionTimeoutMS=50&connectTimeoutMS=50"
UNREADABLE = [
    f"redis://u:{SECRET}@127.0.0.1:port/0",
    f"redis://:{SECRET}#more@127.0.0.1:1/0",
    f"redis://:{SECRET}@[::1/0",
    f"http://:{SECRET}@127.0.0.1/",
    SECRET,
]


@pytest.mark.parametrize("url", UNREADABLE)
@pytest.mark.parametrize("opened", [open_client, open_async_client])
def test_a_url_that_cannot_be_read_is_not_quoted(opened: Callable[[str], Any], url: str) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        opened(url)
    assert SECRET[:4] not in str(caught.value)
    assert caught.value.__suppress_context__, "nor is it in a traceback"


@pytest.mark.parametrize(
    ("url", "status"), [(f"redis://:{SECRET}@127.0.0.1:1/0", 1), (UNREADABLE[1], 2)]
)
def test_no_process_tells_a_password(url: str, status: int) -> None:
    env = {
        "CRAWLCLEAN_REDIS_URL": url,
        "CRAWLCLEAN_MONGODB_URL": MONGO,
        "CRAWLCLEAN_LOG_LEVEL": "debug",
    }
    done = crawlclean("worker", check=False, env=env)
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    assert SECRET[:4] not in said
    assert "Traceback" not in said


def test_the_user_of_a_seed_goes_nowhere(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": html("首页", links={"a": "甲"}),
        "/a": html("甲"),
        "/moved": {"status": 302, "headers": {"Location": "b"}},
        "/b": html("乙"),
    }
    with Web(tmp_path / "web", pages) as web:
        seeds = [f"http://user:{SECRET}@{web.host}{path}" for path in ("/", "/moved")]
        run_crawl(tmp_path / "data", *seeds)
        assert sorted(stored_urls(tmp_path / "data")) == [
            web.url("/"),
            web.url("/a"),
            web.url("/b"),
        ]
    for path in (tmp_path / "data").rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
