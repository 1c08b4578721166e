"""When failures are our own network's, and when it is asked again."""

from __future__ import annotations

import pytest

from crawlclean.crawler.leasing import LONGEST_PROBE_S, OutageDetector


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def fail(network: OutageDetector, *hosts: str, is_known: bool = True) -> bool:
    return [network.failed(host, is_known=is_known) for host in hosts][-1]


def test_three_known_hosts_without_an_answer_between(clock: Clock) -> None:
    network = OutageDetector(clock=clock)
    assert not fail(network, "a", "b", "a", "b")
    network.answered()
    assert not fail(network, "c", "d")
    assert not fail(network, "e", is_known=False), "it may never have been there"
    assert fail(network, "f")
    assert fail(network, "g", is_known=False), "now nobody is to blame"
    network.answered()
    assert not network.is_away
    assert not fail(network, "a", "b")


def test_one_request_at_a_time_probes_ever_more_rarely(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    network = OutageDetector(clock=clock)
    assert network.room(2, 10) == 8
    assert network.wait_s() == float("inf")
    fail(network, "a", "b", "c")
    waits = []
    for _ in range(8):
        assert network.room(0, 10) == 0
        waits.append(network.wait_s())
        clock.now += network.wait_s()
        assert network.room(1, 10) == 0, "what is under way comes first"
        assert network.room(0, 10) == 1
        fail(network, "a")
    assert waits == [1, 2, 4, 8, 16, LONGEST_PROBE_S, LONGEST_PROBE_S, LONGEST_PROBE_S]
    network.answered()
    assert network.room(3, 10) == 7
    assert [r.message for r in caplog.records] == ["network away, waiting", "network back"]


def test_after_an_hour_it_is_the_hosts(clock: Clock) -> None:
    network = OutageDetector(patience_s=3600, clock=clock)
    fail(network, "a", "b", "c")
    clock.now += 3599
    assert fail(network, "a")
    clock.now += 2
    assert not fail(network, "a")
    assert network.room(0, 10) == 10
    network.answered()
    assert not fail(network, "a", "b")
    assert fail(network, "c")
