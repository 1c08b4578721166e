"""Relevance of pages: AUC, AP and F1 per topic, before and after a user's marks; CPU a page.

    make bench-relevance [ARGS="--bodies gold --topics db,sec --quick"]

Reads the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names (its format is in ``web.py``), and the
archives of sites in it or beside it. Every page is judged with the body that our own ``clean``
finds in it, without a site model; with ``--bodies gold`` with the body of the data. The three
examples are left out, and borderline pages count as not relevant.

After 200 marks: a user marks the pages that ``topic NAME --to-mark`` lists, 50 at a time, four
times; after each time the topic is built anew. ``_random``: any pages instead. Pages are split in
two by their name; the marks come from one half, F1 is that of the other half, of which no page was
marked, and both ways are averaged. ``all`` is F1 over all pages when the marks may be anywhere and
count: what the user of a finished crawl sees.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from benchmarks.kit.results import keep, show
from benchmarks.topic.web import BenchTopic, folder, read_web
from crawlclean import RawPage, clean
from crawlclean.cleaning.errors import PageError
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.topics.relevance import build_topic, judge, text_of
from crawlclean.cleaning.topics.topic import ExampleText, Topic, TopicSpec
from crawlclean.storage.topic_types import JudgedPage, TopicJudgement
from crawlclean.workers.operations.topics.topics import CANDIDATES, spread

MARKS = 200
SITTING = 50
TIMED_PAGES = 300


class Page(NamedTuple):
    """Title and text of a page."""

    title: str
    text: str
    is_list: bool = False


Pages = Mapping[str, Page]


def main() -> None:
    """Judges the pages of each topic; prints and keeps the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", choices=("own", "gold"), default="own")
    parser.add_argument("--topics", default="", help="ids, db,sec (default all)")
    parser.add_argument("--quick", action="store_true", help="without marks; keeps nothing")
    given = parser.parse_args()
    place = folder()
    web = read_web(place)
    wanted = set(filter(None, given.topics.split(",")))
    topics = [topic for topic in web.topics if not wanted or topic.name in wanted]
    pages = {name: Page(text.title, text.body) for name, text in web.texts.items()}
    result: dict[str, Any] = {"set": place.name, "bodies": given.bodies, "pages": len(pages)}
    if given.bodies == "own":
        sources = dict(page_sources(place, pages))
        result |= {"without_source": len(pages) - len(sources), **cost(sources, topics[0])}
        pages = {name: cleaned(name, source) for name, source in sources.items()}
    rows = [scores(topic, pages, with_marks=not given.quick) for topic in topics]
    for row in rows:
        sys.stderr.write(json.dumps(row) + "\n")
    names = [name for name in rows[0] if name != "topic"]
    result["mean"] = {name: round(sum(row[name] for row in rows) / len(rows), 3) for name in names}
    result["least"] = {name: min(row[name] for row in rows) for name in names}
    result["topics"] = rows
    if given.quick or wanted:
        show(result)
    else:
        keep(f"relevance-{place.name}-{given.bodies}", result)


def page_sources(place: Path, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yields name and bytes of each page that the archives of sites hold."""
    for file in sorted([*place.glob("**/*.tar.xz"), *place.parent.glob("sites*/*.tar.xz")]):
        with tarfile.open(file, "r|xz") as archive:
            for member in archive:
                name = member.name.partition("www/")[2]
                source = archive.extractfile(member) if name in names else None
                if source is not None:
                    yield name, source.read()


def cleaned(name: str, source: bytes) -> Page:
    """Returns the title and text that our own cleaning finds."""
    host, _, path = name.partition("/")
    try:
        record = clean(RawPage.from_bytes(f"http://{host}/{quote(path)}", source, "text/html"))
    except PageError:
        return Page("", "")
    return Page(record.title, text_of(record), record.kind is PageKind.INDEX)


def topic_of(
    given: BenchTopic,
    pages: Pages,
    marks: Mapping[str, bool] | None = None,
    *,
    with_examples: bool = True,
) -> Topic:
    """Builds a topic from its query, its examples and the user's marks."""
    marked = [
        ExampleText(
            title=pages[name].title,
            text=pages[name].text,
            url=name,
            weight=1.0 if is_relevant else -0.25,
            marked=True,
            is_list=pages[name].is_list,
        )
        for name, is_relevant in (marks or {}).items()
    ]
    examples = [
        ExampleText(title=pages[name].title, text=pages[name].text, url=name)
        for name in given.examples
        if with_examples and name in pages
    ]
    return build_topic(TopicSpec(name=given.name, query=given.query), [*examples, *marked])


def cost(sources: Mapping[str, bytes], given: BenchTopic) -> dict[str, float]:
    """Measures the CPU of cleaning and of judging the same pages, milliseconds a page."""
    names = sorted(sources, key=lambda name: zlib.crc32(name.encode()))[:TIMED_PAGES]
    start = time.process_time()
    pages = {name: cleaned(name, sources[name]) for name in names}
    clean_ms = (time.process_time() - start) * 1e3 / len(names)
    examples = {name: cleaned(name, sources[name]) for name in given.examples if name in sources}
    topic = topic_of(given, examples)
    start = time.process_time()
    for page in pages.values():
        judge(topic, page.title, page.text)
    judge_ms = (time.process_time() - start) * 1e3 / len(names)
    return {
        "clean_ms": round(clean_ms, 3),
        "judge_ms": round(judge_ms, 3),
        "judge_share": round(judge_ms / clean_ms, 4),
    }


def scores(given: BenchTopic, pages: Pages, *, with_marks: bool) -> dict[str, Any]:
    """Returns the scores of a topic, each 0..1."""
    gold = given.relevant
    names = sorted(pages.keys() - set(given.examples))
    found = judged(topic_of(given, pages), pages, names)
    alone = judged(topic_of(given, pages, with_examples=False), pages, names)
    result: dict[str, Any] = {
        "topic": given.name,
        "auc": auc(found, gold),
        "auc_query": auc(alone, gold),
        "ap": average_precision(found, gold),
        "f1": f1(found, gold),
    }
    if with_marks:
        halves = [
            [name for name in names if zlib.crc32(name.encode()) % 2 == half] for half in (0, 1)
        ]
        for choose, suffix in ((to_mark, ""), (at_random, "_random")):
            after = []
            for pool, others in (halves, halves[::-1]):
                topic, _ = marked(given, pages, pool, found, choose)
                unseen = judged(topic, pages, others)
                after.append((auc(unseen, gold), f1(unseen, gold)))
            result["auc_after_marks" + suffix] = round(sum(each[0] for each in after) / 2, 3)
            result["f1_after_marks" + suffix] = round(sum(each[1] for each in after) / 2, 3)
        topic, marks = marked(given, pages, names, found, to_mark)
        everything = judged(topic, pages, names) | {name: float(marks[name]) for name in marks}
        result["f1_all"] = f1(everything, gold)
    return result


Choice = Callable[[Pages, Sequence[str], Mapping[str, float]], Sequence[str]]
"""Returns the pages that the user marks in one sitting, of pages with their relevance."""


def to_mark(pages: Pages, free: Sequence[str], found: Mapping[str, float]) -> Sequence[str]:
    """Returns the pages that ``topic NAME --to-mark`` lists."""
    nearest = sorted(free, key=lambda name: (abs(found[name] - 0.5), name))
    rows = [_row(name, pages[name]) for name in nearest[: CANDIDATES * SITTING]]
    return [row.url for row in spread(rows, SITTING, lambda _: None)]


def at_random(_pages: Pages, free: Sequence[str], _found: Mapping[str, float]) -> Sequence[str]:
    """Returns any pages."""
    return sorted(free, key=lambda name: zlib.crc32(name[::-1].encode()))[:SITTING]


def _row(name: str, page: Page) -> JudgedPage:
    return JudgedPage(
        page_id="",
        crawl_id="",
        url=name,
        host=name.partition("/")[0],
        title=page.title,
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
        at=datetime(2026, 1, 1, tzinfo=UTC),
        judgement=TopicJudgement(
            topic="",
            version=1,
            relevance=0.0,
            label=0.0,
            is_relevant=False,
            parts='{"is_list":true}' if page.is_list else "",
        ),
    )


def marked(
    given: BenchTopic,
    pages: Pages,
    pool: Sequence[str],
    found: Mapping[str, float],
    choose: Choice,
) -> tuple[Topic, dict[str, bool]]:
    """Lets the user mark pages of the pool; returns the topic with 200 marks, and the marks."""
    gold = given.relevant
    marks: dict[str, bool] = {}
    while True:
        free = [name for name in pool if name not in marks]
        for name in choose(pages, free, found):
            marks[name] = name in gold
        topic = topic_of(given, pages, marks)
        if len(marks) >= MARKS or len(marks) == len(pool):
            return topic, marks
        found = judged(topic, pages, pool)


def judged(topic: Topic, pages: Pages, names: Sequence[str]) -> dict[str, float]:
    """Returns the relevance of pages by name."""
    return {name: relevance(topic, pages[name]) for name in names}


def relevance(topic: Topic, page: Page) -> float:
    """Returns the relevance of a page as ``judge_record`` finds it."""
    return judge(topic, page.title, page.text, is_list=page.is_list).relevance


def auc(found: Mapping[str, float], gold: Collection[str]) -> float:
    """Returns the share of pairs of a relevant and another page that are in the right order."""
    ranks: dict[float, list[str]] = {}
    for name, value in found.items():
        ranks.setdefault(value, []).append(name)
    below = right = 0.0
    for value in sorted(ranks):
        hits = sum(name in gold for name in ranks[value])
        others = len(ranks[value]) - hits
        right += hits * (below + others / 2)
        below += others
    hits = sum(name in gold for name in found)
    return round(right / ((hits or 1) * (below or 1)), 3)


def average_precision(found: Mapping[str, float], gold: Collection[str]) -> float:
    """Returns the mean precision at the ranks of the relevant pages."""
    hits = 0
    total = 0.0
    for rank, name in enumerate(sorted(found, key=lambda name: (-found[name], name)), 1):
        if name in gold:
            hits += 1
            total += hits / rank
    return round(total / (hits or 1), 3)


def f1(found: Mapping[str, float], gold: Collection[str], threshold: float = 0.5) -> float:
    """Returns F1 of the pages whose relevance reaches a threshold."""
    chosen = {name for name, value in found.items() if value >= threshold}
    return round(
        2 * len(chosen & set(gold)) / (len(chosen) + len(found.keys() & set(gold)) or 1), 3
    )


if __name__ == "__main__":
    main()
