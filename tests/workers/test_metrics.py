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
        samples[name] = int(float(value))
    assert len(samples) == len(Counter) + 1
    assert samples.pop("crawlclean_free_bytes") == 2_500_000_000_000
    assert samples["crawlclean_records_total"] == 5
    assert sum(samples.values()) == 5


def test_crawls_and_hosts_have_labels_and_histograms() -> None:
    flows = {
        "answers_2xx": 3.0, "answers_none": 1.0, "answered_in_0.1": 2.0, "answered_in_inf": 1.0,
        "response_ms": 31_500.0, "new_records": 3.0,
    }  # fmt: skip
    name = 'a"b\\c'
    lines = exposition({}, {}, {"": flows, f":{name}": flows}, {f":{name}": 7}).splitlines()
    assert 'crawlclean_responses_total{class="2xx"} 3' in lines
    label = 'crawl="a\\"b\\\\c"'
    assert f'crawlclean_crawl_responses_total{{{label},class="none"}} 1' in lines
    assert f"crawlclean_crawl_pending_urls{{{label}}} 7" in lines
    assert f"crawlclean_crawl_records_total{{{label}}} 3" in lines
    start = f"crawlclean_crawl_response_seconds_bucket{{{label},le="
    buckets = {line.split('le="')[1]: line for line in lines if line.startswith(start)}
    assert len(buckets) == 12
    counts = [int(each.rpartition(" ")[2]) for each in buckets.values()]
    assert counts == [0, 0, 0, *[2] * 8, 3]
    assert any('le="+Inf"} 3' in each for each in buckets.values())
    assert f"crawlclean_crawl_response_seconds_sum{{{label}}} 31.5" in lines
    assert f"crawlclean_crawl_response_seconds_count{{{label}}} 3" in lines
    assert not any(line.startswith("crawlclean_host") for line in lines)


def test_times_are_seconds() -> None:
    text = exposition({Counter.CLEANING_MS: 1500}, {})
    assert "\ncrawlclean_cleaning_seconds_total 1.5\n" in text
    assert "_ms" not in text
