"""What the spider does not fetch because its class was stopped."""

from __future__ import annotations

from crawlclean.crawler.transfer.requests import CACHED_HOSTS, FIRST_PROBE, StoppedClasses

HOST = "a.example"


def test_only_stopped_classes_end_and_say_why() -> None:
    stopped = StoppedClasses()
    assert stopped.known("c", HOST, 0)
    assert not stopped.known("c", HOST, 1)
    stopped.learn("c", HOST, 1, {"/cal/*": "why", "/deep/**": "because"})
    assert stopped.refusal("c", HOST, 1, f"http://{HOST}/cal/7") == "/cal/*: why"
    assert stopped.refusal("c", HOST, 1, f"http://{HOST}/deep/a/b/c") == "/deep/**: because"
    assert stopped.refusal("c", HOST, 1, f"http://{HOST}/articles/7") == ""
    assert stopped.refusal("c", HOST, 1, f"http://{HOST}/") == ""
    assert stopped.refusal("c", HOST, 0, f"http://{HOST}/cal/7") == "", "nothing is stopped now"
    assert stopped.refusal("d", HOST, 1, f"http://{HOST}/cal/7") == "", "another crawl"


def test_a_stopped_class_is_tried_again_ever_more_rarely() -> None:
    stopped = StoppedClasses()
    stopped.learn("c", HOST, 1, {"/cal/*": "why"})
    fetched = [
        n for n in range(1, 10_001) if not stopped.refusal("c", HOST, 1, f"http://{HOST}/cal/{n}")
    ]
    assert fetched == [FIRST_PROBE * 2**k for k in range(9)]


def test_hosts_are_forgotten_when_they_are_many() -> None:
    stopped = StoppedClasses()
    for n in range(CACHED_HOSTS + 1):
        stopped.learn("c", f"h{n}.example", 1, {"/x/*": "why"})
        stopped.refusal("c", f"h{n}.example", 1, f"http://h{n}.example/x/1")
    assert not stopped.known("c", "h0.example", 1)
    assert len(stopped._refused) == CACHED_HOSTS


def test_refused_templates_end_without_a_probe_and_spare_what_is_inside() -> None:
    stopped = StoppedClasses()
    told = {"=/{w}.php?id={n}": "leads to form pages", "+/show.php?id={n}": "", "/cal/*": "why"}
    stopped.learn("c", HOST, 1, told)
    said = [stopped.refusal("c", HOST, 1, f"http://{HOST}/reply.php?id={n}") for n in range(1000)]
    assert set(said) == {"/{w}.php?id={n}: leads to form pages"}
    assert stopped.refusal("c", HOST, 1, f"http://{HOST}/show.php?id=7") == ""
    assert stopped.refusal("c", HOST, 1, f"http://{HOST}/cal/7") == "/cal/*: why"
