"""Settings: flags beat the environment, the environment beats defaults, mistakes are errors."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.config import CrawlConfig
from crawlclean.storage.config import OWN_QUEUES, StorageConfig
from crawlclean.storage.crawl_types import KeepRaw, Scope
from crawlclean.workers.config import (
    SECTIONS,
    Settings,
    WorkerConfig,
    load_settings,
    rows,
    to_environ,
    variable,
)


def load(**environ: str) -> Settings:
    return load_settings({f"CRAWLCLEAN_{k.upper()}": v for k, v in environ.items()})


def test_without_anything_it_is_the_defaults() -> None:
    settings = load_settings({"PATH": "/bin", "CRAWLCLEANX": "1"})
    assert settings == Settings()
    assert settings.storage.is_embedded
    assert not settings.crawl.allow_private
    assert settings.workers.count >= 1


def test_every_kind_of_value() -> None:
    settings = load(
        data="/x y/数据",
        scope="domain",
        max_pages="7",
        max_time_s="1.5",
        keep_raw="sample",
        allow_private="Yes",
        delay_s="0",
        contact="ops@example.com",
        workers="3",
        log_level="debug",
    )
    assert settings.storage.data == Path("/x y/数据")
    assert settings.crawl.scope is Scope.DOMAIN
    assert settings.crawl.max_pages == 7
    assert settings.crawl.max_time_s == 1.5
    assert settings.crawl.keep_raw is KeepRaw.SAMPLE
    assert settings.crawl.allow_private
    assert settings.crawl.delay_s == 0
    assert settings.crawl.contact == "ops@example.com"
    assert settings.workers.count == 3


def test_flags_win_and_flags_not_given_do_not() -> None:
    environ = {"CRAWLCLEAN_SLOTS": "2", "CRAWLCLEAN_MAX_DEPTH": "5"}
    flags = {"slots": 9, "max_depth": None, "command": "run", "urls": ["x"]}
    settings = load_settings(environ, flags)
    assert (settings.crawl.slots, settings.crawl.max_depth) == (9, 5)
    assert load_settings(environ, {"max_depth": 0}).crawl.max_depth == 0


def test_unknown_names_are_errors_and_foreign_ones_are_not() -> None:
    with pytest.raises(ConfigError, match="CRAWLCLEAN_MAX_PAGE is not a setting"):
        load(max_page="5")
    load(test_mongodb_url="mongodb://x", bench_pages="5")


@pytest.mark.parametrize("more", ["redis://b:6379/0", " rediss://b/0", "unix:///tmp/q.sock"])
def test_a_queue_is_one_server(more: str) -> None:
    one = "redis://user:a,b@q1:6379/0"
    assert load(redis_url=one).storage.queue_place == "redis://q1:6379/0", "a comma of a password"
    with pytest.raises(ConfigError) as refused:
        load(redis_url=f"{one},{more}")
    assert str(refused.value) == f"CRAWLCLEAN_REDIS_URL names several servers: {OWN_QUEUES}"
    with pytest.raises(ConfigError) as refused:
        load(queue_server="0")
    assert str(refused.value) == f"CRAWLCLEAN_QUEUE_SERVER is gone: {OWN_QUEUES}"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("slots", "many", "expected a whole number"),
        ("slots", "", "expected a whole number"),
        ("slots", "1.5", "expected a whole number"),
        ("slots", "0", "at least 1"),
        ("concurrency", "-1", "at least 1"),
        ("max_attempts", "0", "at least 1"),
        ("max_page_bytes", "0", "at least 1"),
        ("max_pages", "0", "at least 1"),
        ("max_depth", "-1", "from 0 on"),
        ("delay_s", "soon", "expected a number"),
        ("delay_s", "-0.1", "from 0 on"),
        ("delay_s", "nan", "from 0 on"),
        ("delay_s", "inf", "from 0 on"),
        ("max_time_s", "nan", "from 0 on"),
        ("timeout_s", "0", "above 0"),
        ("timeout_s", "nan", "above 0"),
        ("timeout_s", "inf", "above 0"),
        ("allow_private", "maybe", "expected true or false"),
        ("scope", "everywhere", 'expected "host", "domain" or "any"'),
        ("keep_raw", "", 'expected "all", "sample" or "none"'),
        ("contact", "a\r\nX-Header: b", "control character"),
        ("workers", "-1", "from 0 on"),
        ("workers", "1000000", "at most"),
        ("log_level", "loud", '"debug", "info", "warning" or "error"'),
        ("mongodb_url", "mongodb://x", "no Redis URL"),
        ("max_pages_in_flight", "0", "at least 1"),
        ("max_bytes_in_flight", "5", "at least 1048576"),
        ("queue_memory_bytes", "-1", "from 0 on"),
        ("queue_memory_bytes", "5", "at least 16777216"),
    ],
)
def test_values_that_do_not_fit(name: str, value: str, text: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(text)):
        load(**{name: value})


def test_an_empty_optional_value_is_none() -> None:
    settings = load(max_pages="", max_depth="", delay_s="", allow_private="")
    assert settings == Settings()


TEXT = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"]))
SETTINGS = st.builds(
    Settings,
    storage=st.builds(
        StorageConfig,
        data=TEXT.filter(bool).map(Path),
        redis_url=st.just(""),
        mongodb_url=st.just(""),
        max_pages_in_flight=st.integers(1, 10**9),
        max_bytes_in_flight=st.integers(1 << 20, 10**12),
        queue_memory_bytes=st.just(0) | st.integers(16 << 20, 10**12),
    ),
    crawl=st.builds(
        CrawlConfig,
        scope=st.sampled_from([Scope.HOST, Scope.DOMAIN, Scope.ANY]),
        max_pages=st.none() | st.integers(1, 10**9),
        max_time_s=st.none() | st.floats(0, 1e9),
        max_depth=st.none() | st.integers(0, 99),
        keep_raw=st.sampled_from(KeepRaw),
        allow_private=st.booleans(),
        delay_s=st.none() | st.floats(0, 1e6),
        slots=st.integers(1, 99),
        concurrency=st.integers(1, 99),
        timeout_s=st.floats(0.001, 1e6),
        max_page_bytes=st.integers(1, 10**12),
        max_attempts=st.integers(1, 99),
        contact=TEXT,
    ),
    workers=st.builds(
        WorkerConfig,
        workers=st.integers(0, 64),
        log_level=st.sampled_from(["debug", "info", "warning", "error"]),
    ),
)


@given(SETTINGS)
def test_another_process_loads_the_same_settings(settings: Settings) -> None:
    assert load_settings(to_environ(settings)) == settings


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://user:secret@a.example:6379/0", "redis://***@a.example:6379/0"),
        ("redis://:sec/r@et@a.example", "redis://***@a.example"),
        ("rediss://secret@a.example/1", "rediss://***@a.example/1"),
        ("redis://a.example/1", "redis://a.example/1"),
        ("unix:///run/x.sock", "unix:///run/x.sock"),
        ("secret", "***"),
    ],
)
def test_listed_values_hold_no_credentials(url: str, shown: str) -> None:
    settings = load(redis_url=url, mongodb_url=url.replace("redis", "mongodb"))
    values = {name: value for _, name, value, _ in rows(settings)}
    assert values["redis_url"] == shown
    assert values["mongodb_url"] == shown.replace("redis", "mongodb")
    assert to_environ(settings)["CRAWLCLEAN_REDIS_URL"] == url, "processes need them"


def test_the_secret_of_webhooks_is_not_listed(tmp_path: Path) -> None:
    key = "whsec_MDEyMw=="
    (tmp_path / "key").write_text(f"{key}\n", "utf-8")
    settings = load(webhook_secret_file=str(tmp_path / "key"))
    assert settings.workers.webhook_secret == key
    listed = {name: value for _, name, value, _ in rows(settings)}
    assert listed["webhook_secret"] == "*" * 3


def test_urls_may_be_in_files(tmp_path: Path) -> None:
    redis, mongo = tmp_path / "redis", tmp_path / "mongo"
    redis.write_text("redis://:pw@a.example\n", "utf-8")
    mongo.write_text(" mongodb://u:pw@b.example/crawl", "utf-8")
    settings = load(redis_url_file=str(redis), mongodb_url_file=str(mongo))
    assert settings.storage.redis_url == "redis://:pw@a.example"
    assert settings.storage.mongodb_url == "mongodb://u:pw@b.example/crawl"
    assert load_settings(to_environ(settings)) == settings


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"", "is empty"), (b"\xff\xfe", "is not UTF-8 text"), (None, "cannot read")],
)
def test_a_file_that_holds_no_url(tmp_path: Path, content: bytes | None, text: str) -> None:
    file = tmp_path / "url"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match=text):
        load(redis_url_file=str(file))


def test_a_setting_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="are both set"):
        load(redis_url="redis://a.example", redis_url_file=str(tmp_path))
    with pytest.raises(ConfigError, match="is not a setting"):
        load(contact_file=str(tmp_path))


def test_every_setting_has_help_and_a_unique_variable() -> None:
    listed = rows(Settings())
    assert len(listed) == sum(len(fields(cls)) for cls in SECTIONS.values())
    names: list[Any] = [variable(name) for _, name, _, _ in listed]
    assert len(set(names)) == len(names)
    assert all(help_ and not help_.endswith(".") for _, _, _, help_ in listed)
