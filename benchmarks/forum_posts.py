"""Posts of threads against gold: each page alone, and with a rule learned from other pages."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from benchmarks.forum_data import Rows, forums, thread_pages
from benchmarks.scoring import score
from cleaning.extract.body import extract_body
from cleaning.extract.posts import QUOTE, extract_posts
from cleaning.learn.post_rules import PostRule, learn_post_rule
from cleaning.records import Post, RawPage
from cleaning.source.tree import parse

LEARNED_FROM = 10  # pages, which are not scored


def measure() -> dict[str, Any]:
    """F1 of first posts and of replies by forum; a post that is not found counts 0."""
    table: dict[str, dict[str, Any]] = {"alone": {}, "with a rule": {}}
    for forum, rows in forums():
        pages = thread_pages(rows)
        sample = random.Random(3).sample(pages, LEARNED_FROM)  # noqa: S311 - an experiment
        others = [row for row in pages if row not in sample]
        rule = learn_post_rule(map(raw_page, sample))
        table["alone"][forum] = _score(others, None)
        table["with a rule"][forum] = _score(others, rule)
    for by_forum in table.values():
        scores = list(by_forum.values())
        by_forum["mean"] = {
            key: round(sum(one[key] for one in scores) / len(scores), 4) for key in scores[0]
        }
    return {"posts": table}


def raw_page(row: dict[str, Any]) -> RawPage:
    """A labelled page as it would be fetched."""
    return RawPage.from_bytes(row["url"], row["html"].encode(), "text/html; charset=utf-8")


def posts_of(row: dict[str, Any], rule: PostRule | None) -> tuple[Post, ...]:
    """The posts found on a page."""
    tree = parse(row["html"])
    body = extract_body(tree, row["url"], posts=rule.shape if rule else None)
    if body.thread is None:
        return ()
    return extract_posts(tree, body.thread, slots=rule.slots if rule else None)


def _score(rows: Rows, rule: PostRule | None) -> dict[str, Any]:
    firsts: list[float] = []
    replies: list[float] = []
    named: list[float] = []
    counts: list[float] = []
    for row in rows:
        gold = row["gold"]
        texts = [gold["first"], *gold["replies"]]
        found = posts_of(row, rule)
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
    """A post without the lines it quotes."""
    return "\n".join(line for line in body.split("\n") if not line.startswith(QUOTE))


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    held = list(values)
    return round(sum(held) / len(held), 4) if held else 0.0
