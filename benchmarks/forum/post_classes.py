"""The class attribute of posts, learned from five pages: KSF (paper 5), text density, ours."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from lxml import html as lxml_html

from benchmarks.forum.labelled import Rows, forums, thread_pages
from benchmarks.forum.posts import raw_page
from benchmarks.kit.scoring import means
from crawlclean.cleaning.papers.ksf import Params, learn_class, vote
from crawlclean.cleaning.posts.runs import name_of
from crawlclean.cleaning.words import default_segmenter
from tests.kit.thread_pages import learn_post_rule

DRAWS = 10
PAGES = 5
_LEAST_CHARS = 12  # of a post whose element is looked up by its text

Learner = Callable[[list[dict[str, Any]]], str | None]


def measure() -> dict[str, Any]:
    """Returns the share of draws that find the first post's class, or any post's, by method."""
    table: dict[str, dict[str, Any]] = {}
    for forum, rows in forums():
        pages = [row for row in thread_pages(rows) if row["type"] == "thread"]
        first, every = post_classes(pages)
        chance = random.Random(2)  # noqa: S311 - draws of an experiment
        draws = [chance.sample(pages, PAGES) for _ in range(DRAWS)]
        for name, learn in METHODS.items():
            found = [learn(draw) for draw in draws]
            table.setdefault(name, {})[forum] = {
                "first": sum(one in first for one in found) / DRAWS,
                "any": sum(one in every for one in found) / DRAWS,
            }
    for by_forum in table.values():
        by_forum["mean"] = means(list(by_forum.values()))
    return {"class of the posts": table}


def post_classes(pages: Rows) -> tuple[set[str], set[str]]:
    """Returns the classes of first posts and of all posts, by the place of their gold texts."""
    first: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for row in pages:
        gold = row["gold"]
        root = lxml_html.fromstring(row["html"])
        texts = ["".join(text.split()) for text in (gold["first"], *gold["replies"])]
        for number in gold["on_page"]:
            text = texts[number] if number < len(texts) else ""
            if len(text) < _LEAST_CHARS or texts.count(text) > 1:
                continue
            place = _smallest(root, text)
            if place:
                (others if number else first)[place] += 1
    every = {name for name, count in others.items() if count * 5 >= sum(others.values())}
    main = {name for name, _ in first.most_common(1)}
    return main, main | every


def _smallest(root: Any, text: str) -> str:
    """Returns the class of the innermost element with a text; white space is ignored."""
    found = None
    for element in root.iter("div", "td", "p", "li", "article", "section", "span", "dd"):
        if text in "".join(element.text_content().split()):
            found = element
    return _class_around(found)


def _ksf(params: Params) -> Learner:
    words = default_segmenter().words
    return lambda draw: learn_class([row["html"] for row in draw], words, params)


def _density(draw: list[dict[str, Any]]) -> str | None:
    """Returns the class of the element with the greatest text density sum (Sun 2011, SCEED)."""
    return vote(name for name in map(_densest, draw) if name)


def _densest(row: dict[str, Any]) -> str:
    root = lxml_html.fromstring(row["html"])
    for element in root.xpath("//script|//style|//noscript|//comment()"):
        element.drop_tree()
    density: dict[Any, float] = {}
    sums: dict[Any, float] = {}
    for element in root.iter():
        if isinstance(element.tag, str):
            tags = sum(1 for _ in element.iter()) - 1
            density[element] = len("".join(element.text_content().split())) / max(tags, 1)
    for element in density:
        sums[element] = sum(density.get(child, 0.0) for child in element)
        sums[element] += len((element.text or "").strip())
    best = max(sums, key=sums.__getitem__)
    return _class_around(best)


def _class_around(element: Any) -> str:
    while element is not None and not (element.get("class") or "").strip():
        element = element.getparent()
    return " ".join(element.get("class").split()) if element is not None else ""


def _ours(draw: list[dict[str, Any]]) -> str | None:
    """Returns the class of the first part that our learned rule takes as a first post."""
    rule = learn_post_rule(map(raw_page, draw))
    if rule is None:
        return None
    name = rule.shape.first or rule.shape.contents[0]
    for row in draw:
        for element in lxml_html.fromstring(row["html"]).iter(name[0]):
            names = f"{element.get('class') or ''} {element.get('id') or ''}"
            if name_of(name[0], names) == name:
                return _class_around(element)
    return None


METHODS: dict[str, Learner] = {
    "KSF, 40 keywords": _ksf(Params()),
    "KSF, every word": _ksf(Params(keywords=None)),
    "KSF, template across pages": _ksf(Params(within_page=False)),
    "text density": _density,
    "ours": _ours,
}
