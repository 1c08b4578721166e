"""The HTML file of a topic's report: escaped, self-contained, whole for every topic."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from lxml import html

from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.answers.topics import (
    FoundStory,
    HarvestStep,
    StoryLine,
    ToldBy,
    TopicBudget,
    TopicDay,
    TopicHost,
    TopicLine,
    TopicReport,
)
from crawlclean.workers.control_characters import CONTROL
from crawlclean.workers.output.charts import scale_of
from crawlclean.workers.output.topic_page import topic_page

T0 = datetime(2026, 11, 23, 5, tzinfo=UTC)
URL = "https://news.example/a/1.html?a=1&b=2"
TITLE = "伊朗南部发生6.1级地震"
ALLOWED = {"noopener noreferrer nofollow"}


def report_of(title: str = TITLE, url: str = URL) -> TopicReport:
    """A report with one of everything, and these texts wherever the web's texts stand."""
    line = TopicLine(
        topic="quake", version=1, state=TopicState.RUNNING, note=title, crawl="quake",
        query=title, synonyms=(), excluded=(title,), examples=(), threshold=0.5, pages=400,
        relevant=90, marked=0, outdated=0, unread=0, created_at=T0,
    )  # fmt: skip
    first, last = (
        ToldBy(url=each, host=title, at=T0, body_chars=900) for each in (url, f"{url}&c")
    )
    story = StoryLine(
        story="4f1193a0c27be51", title=title, url_count=99, host_count=2, earliest=first,
        longest=last, pages=(first, last),
    )  # fmt: skip
    page = FoundStory(
        id="quake:4f11", topic="quake", page_id="4f11", url=url, host=title, title=title,
        author=title, relevance=0.9, published_at=None, fetched_at=T0, language="zh",
        excerpt=f"余震 {title}", body_chars=900, words=("余震",), like=(), story="4f1193a0c27be51",
        copies=3, also=(url,), picture=None, mark=True, is_read=False,
    )  # fmt: skip
    steps = tuple(HarvestStep(pages=100, stories=n, copies=n // 3) for n in (60, 20, 5))
    host = TopicHost(pages=400, stories=85, copies=5, host=title)
    day = TopicDay(day="2026-11-23", pages=400, stories=85, copies=5)
    return TopicReport(
        topic=line, made_at=T0, stories=85, copies=5, adopted=100, batches=3, waiting=7,
        budget=TopicBudget(max_pages=500, pages=300, pages_per_hour=90.0, last_hour=40),
        harvest=steps, days=(replace(day, day="2026-11-20"), day), newest=(page,),
        reprints=(story,), hosts=(host,),
    )  # fmt: skip


def parsed(report: TopicReport) -> Any:
    return html.document_fromstring(topic_page(report).decode())


def tags(root: Any) -> list[str]:
    return [each.tag for each in root.iter()]


@given(st.text(max_size=40))
@example("<script>alert(1)</script>")
@example("\"'><img src=x onerror=alert(1)>&amp;")
@example("\u202eevil\u2066\x1b[31m\x00\ud800\ufffe")
@example("</style><!-- ]]>")
def test_texts_of_the_web_stay_texts(text: str) -> None:
    plain, hostile = parsed(report_of()), parsed(report_of(text, f"https://a.example/{text}"))
    assert tags(hostile) == tags(plain)
    page = topic_page(report_of(text)).decode()
    assert not CONTROL.search(page.replace("\n", ""))


def test_titles_are_whole() -> None:
    page = parsed(report_of('地震 <b>& "余震"'))
    titles = {each.text_content() for each in page.iter("h3")}
    assert titles == {'地震 <b>& "余震"'}
    assert URL in {each.get("href") for each in page.iter("a")}


def test_a_browser_loads_nothing_and_runs_nothing() -> None:
    page = parsed(report_of())
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")
    names = {name for each in page.iter() for name in each.attrib}
    assert not {name for name in names if name.startswith("on")} | names & {"src", "srcset"}
    assert not {"script", "link", "img", "iframe"} & set(tags(page))
    text = topic_page(report_of()).decode()
    assert text.startswith("<!DOCTYPE html>\n<html")  # else a browser takes older rules
    assert "url(" not in text
    assert {each.get("rel") for each in page.iter("a")} <= ALLOWED


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//a.example/"])
def test_only_addresses_of_the_web_are_links(url: str) -> None:
    page = parsed(report_of(url=url))
    assert {each.get("href") for each in page.iter("a")} <= {None}


def test_a_new_topic_has_a_page() -> None:
    empty = replace(
        report_of(), stories=0, copies=0, adopted=0, batches=0, waiting=None, harvest=(), days=(),
        newest=(), reprints=(), hosts=(),
        budget=TopicBudget(max_pages=None, pages=0, pages_per_hour=None, last_hour=0),
    )  # fmt: skip
    assert "quake" in parsed(empty).text_content()


def test_a_long_topic_has_a_bounded_page() -> None:
    report = report_of()
    host, day = report.hosts[0], report.days[0]
    hosts = tuple(replace(host, host=f"h{n}.example") for n in range(5_000))
    days = tuple(replace(day, day=f"{T0.date() - timedelta(days=900 - n)}") for n in range(900))
    page = topic_page(replace(report, hosts=hosts, days=days))
    assert len(page) < 100_000
    assert b"more hosts are left out" in page
    assert b"earlier days are left out" in page


@given(st.integers(0, 10**9) | st.floats(0, 10**9))
def test_a_scale_covers_its_values_in_round_steps(most: float) -> None:
    scale = scale_of(most)
    assert scale[0] == 0
    assert scale[-1] >= most
    assert 2 <= len(scale) <= 7
    assert f"{scale[1]:.9e}"[0] in "125"
