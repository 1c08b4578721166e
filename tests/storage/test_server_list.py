"""The list of queue servers: where it is split, and which server has a host."""

from __future__ import annotations

import pytest

from cleaning.errors import ConfigError
from storage.config import StorageConfig
from storage.server_list import owner_of, server_of, split_list


def config(*urls: str, index: int | None = None) -> StorageConfig:
    return StorageConfig(redis_url=",".join(urls), queue_server=index)


def test_a_list_is_split_at_commas_before_a_scheme() -> None:
    one = "redis://user:a,b@q1:6379/0"
    assert split_list(one) == (one,)
    assert split_list(f"{one}, unix:///tmp/q.sock") == (one, "unix:///tmp/q.sock")
    assert split_list("") == ()
    assert config(one).queue_place == "redis://q1:6379/0"
    assert config(one, "redis://q2:6379/0").queue_place == "redis://q1:6379/0, redis://q2:6379/0"
    assert config(one, "redis://q2:6379/0", index=1).queue_place == "redis://q2:6379/0"
    with pytest.raises(ConfigError, match="queue_server is 2: it counts the Redis servers from 0"):
        config(one, "redis://q2:6379/0", index=2)


def test_all_hosts_of_a_domain_are_on_one_server_for_ever() -> None:
    assert owner_of("news.example.com.cn:8080") == owner_of("example.com.cn") == "example.com.cn"
    assert owner_of("127.0.0.1:8080") == "127.0.0.1:8080"
    assert owner_of("[::1]:80") == "[::1]:80"
    for number in (1, 2, 3, 4):
        assert server_of("news.example.com", number) == server_of("cdn.example.com:81", number)
    places = [server_of(f"site{n}.example", 4) for n in range(8)]
    assert places == [server_of(f"site{n}.example", 4) for n in range(8)]
    # Servers keep their hosts from one version to the next: these are the values of the first one.
    assert [server_of(f"s{n}.test", 2) for n in range(8)] == [1, 1, 1, 1, 0, 0, 1, 0]
    counted = [sum(server_of(f"s{n}.example", 4) == i for n in range(4000)) for i in range(4)]
    assert min(counted) > 900, "about as many domains on each"
