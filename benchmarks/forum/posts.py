"""Posts of threads against gold: each page alone, and with a rule learned from other pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from benchmarks.forum.labelled import Rows, forums, thread_pages
from benchmarks.kit.scoring import means, score
from crawlclean import clean, learn_site
from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.metadata.dates import time_reader
from crawlclean.cleaning.model.rules import PostRule
from crawlclean.cleaning.posts.posts import QUOTE, read_posts
from crawlclean.cleaning.records import Post
from tests.kit.thread_pages import learn_post_rule

LEARNED_FROM = 10  # pages; they are not scored
FETCHED_AT = datetime(2024, 6, 1, tzinfo=UTC)


def measure() -> dict[str, Any]:
    """Returns F1 of first posts and replies by forum; a missing post counts 0."""
    table: dict[str, dict[str, Any]] = {"alone": {}, "with a rule": {}, "with a model": {}}
    for forum, rows in forums():
        pages = [row for row in thread_pages(rows) if row["type"] == "thread"]
        sample = random.Random(3).sample(pages, LEARNED_FROM)  # noqa: S311 - an experiment
        others = [row for row in pages if row not in sample]
        rule = learn_post_rule(map(raw_page, sample))
        table["alone"][forum] = _score(others, lambda row: clean(raw_page(row)).posts)
        table["with a rule"][forum] = _score(others, lambda row: posts_of(row, rule))  # noqa: B023 - called at once
        table["with a model"][forum] = _with_model(rows)
    for by_forum in table.values():
        by_forum["mean"] = means(list(by_forum.values()))
    return {"posts": table}


def raw_page(row: dict[str, Any]) -> RawPage:
    """Returns a labelled page as a fetched page."""
    return RawPage.from_bytes(row["url"], row["html"].encode(), "text/html; charset=utf-8")


def posts_of(row: dict[str, Any], rule: PostRule | None) -> tuple[Post, ...]:
    """Returns the posts found on a page with a learned rule."""
    tree = parse(row["html"])
    body = extract_body(tree, row["url"], posts=rule.shape if rule else None)
    if body.thread is None:
        return ()
    return read_posts(
        tree, body.thread, time_reader("zh", FETCHED_AT), rule.slots if rule else None
    )


def _with_model(rows: Rows) -> dict[str, Any]:
    """Scores the posts of one half of the pages, with a model learned from the other half."""
    pages = [row for row in rows if row.get("html")]
    chance = random.Random(4)  # noqa: S311 - an experiment
    sample = chance.sample(pages, len(pages) // 2)
    model = learn_site(map(raw_page, sample), urls=[row["url"] for row in rows])
    others = [row for row in thread_pages(rows) if row["type"] == "thread" and row not in sample]
    return _score(others, lambda row: clean(raw_page(row), model).posts)


def _score(rows: Rows, find_posts: Callable[[dict[str, Any]], tuple[Post, ...]]) -> dict[str, Any]:
    firsts: list[float] = []
    replies: list[float] = []
    named: list[float] = []
    counts: list[float] = []
    for row in rows:
        gold = row["gold"]
        texts = [gold["first"], *gold["replies"]]
        found = find_posts(row)
        counts.append(len(found) == len(gold["on_page"]))
        named += [post.author is not None for post in found]
        for place, number in enumerate(gold["on_page"]):
            wanted = texts[number] if number < len(texts) else ""
            if not wanted.strip():
                continue
            answer = own_text(found[place].body) if place < len(found) else ""
            (replies if number else firsts).append(score(answer, wanted)[2])
    return {
        "first": mean(firsts),
        "replies": mean(replies),
        "right number of posts": mean(counts),
        "with an author": mean(named),
    }


def own_text(body: str) -> str:
    """Removes the quoted lines of a post."""
    return "\n".join(line for line in body.split("\n") if not line.startswith(QUOTE))


def mean(values: Iterable[float]) -> float:
    """Returns the mean; 0 without values."""
    held = list(values)
    return round(sum(held) / len(held), 4) if held else 0.0
