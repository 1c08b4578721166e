"""A URL class that is not learned yet is shown by a template, for which an operator can decide."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from crawlclean.cleaning.records import UrlKind
from crawlclean.storage.opening import open_store
from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.hosts.classes import with_templates
from tests.kit.console import settings_of
from tests.kit.outcomes import HOST, make_outcome


def url_class(template: str, kind: UrlKind | None = None, stopped: str = "") -> UrlClass:
    return UrlClass(
        crawl="c1", host=HOST, template=template, kind=kind, pattern_pages=40, stopped=stopped
    )


def test_a_young_class_has_the_template_of_its_urls(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    days = [make_outcome(f"/cal/2026/1/{day}.html") for day in range(1, 4)]
    with closing(open_store(settings.storage, create=True)) as stored:
        stored.save(days)
    learned = url_class("/news/{n}.html", UrlKind.ARTICLE)
    others = [learned, url_class("/a/*"), url_class("/cal/**"), url_class("/cal/*", stopped="x")]
    with Backends(settings) as backends:
        young, *same = with_templates(backends, [url_class("/cal/*/*/*.html"), *others])
    assert young.template == "/cal/{n}/{n}/{n}.html"
    assert young.example in {each.queued.url for each in days}
    assert same == others
