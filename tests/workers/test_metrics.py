"""The counters in Prometheus' text format."""

from __future__ import annotations

import re

from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import Gauge
from crawlclean.workers.metrics import exposition, metric_name


def test_every_counter_is_explained() -> None:
    meanings = [counter.meaning for counter in Counter]
    assert all(text and "\n" not in text and "\\" not in text for text in meanings)
    assert len(set(meanings)) == len(meanings)


def test_names_are_valid_and_unique() -> None:
    names = [metric_name(counter) for counter in Counter]
    assert all(re.fullmatch(r"crawlclean_[a-z][a-z0-9_]*_total", name) for name in names)
    assert len(set(names)) == len(names)


def test_every_gauge_is_explained() -> None:
    assert all(each.meaning for each in Gauge)
    names = [metric_name(gauge) for gauge in Gauge]
    assert all(re.fullmatch(r"crawlclean_[a-z][a-z0-9_]*", name) for name in names)
    assert not {*names} & {metric_name(counter) for counter in Counter}
    assert metric_name(Gauge.OLDEST_JOB_S) == "crawlclean_oldest_job_seconds"


def test_the_whole_text() -> None:
    text = exposition({"records": 5, "unknown_thing": 3}, {Gauge.FREE_BYTES: 2.5e12})
    assert text.endswith("\n")
    samples = {}
    lines = text.splitlines()
    for comment, kind, sample in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        name, value = sample.split(" ")
        assert comment.startswith(f"# HELP {name} ")
        assert kind == f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
        samples[name] = int(value)
    assert len(samples) == len(Counter) + 1
    assert samples.pop("crawlclean_free_bytes") == 2_500_000_000_000
    assert samples["crawlclean_records_total"] == 5
    assert sum(samples.values()) == 5
