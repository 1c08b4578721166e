"""Which new limits of a crawl lead further than its older ones, each limit alone."""

from __future__ import annotations

from typing import Any

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, Scope
from crawlclean.workers.operations.crawling.recovery import leads_further


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ({"max_depth": 0}, {"max_depth": 1}, True),
        ({"max_depth": 1}, {}, True),
        ({"max_depth": 1}, {"max_depth": 0}, False),
        ({"include": ("/a/",)}, {"include": ("/a/", "/b/")}, True),
        ({"include": ("/a/",)}, {}, True),
        ({"include": ("/a/", "/b/")}, {"include": ("/a/",)}, False),
        ({"exclude": ("/a/",)}, {}, True),
        ({"include": ("/a/",)}, {"exclude": ("/b/",)}, True),
        ({}, {"exclude": ("/a/",)}, False),
        ({}, {"scope": Scope.DOMAIN}, True),
        ({"scope": Scope.ANY}, {}, False),
    ],
)
def test_a_limit_leads_further(
    older: dict[str, Any], newer: dict[str, Any], *, expected: bool
) -> None:
    specs = [
        CrawlSpec(crawl_id="c", seeds=("http://a.example/",), **each) for each in (older, newer)
    ]
    assert leads_further(*specs) is expected
