"""Forums on changed copies: a part of ``robust.py``.

A forum is learned as a crawl sees it: from 80 of its pages, whatever they are, and the links found
on these. Then the URLs that are known by now are classified (F of topic pages), and the posts of
thread pages that were not among the 80 are read.

Beside the labelled forums stand generated ones (``engines.py``) of programs without labelled pages.
"""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from benchmarks.forum.labelled import Rows, forums, score_urls
from benchmarks.forum.posts import own_text
from benchmarks.kit.scoring import score
from benchmarks.robust.copies import COPIES, copy_page, copy_url
from benchmarks.robust.engines import ENGINES, generated_forum
from benchmarks.robust.figures import PLAIN, robust_figures
from crawlclean import RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.urls.normal_form import normalize

_LOOPBACK = "http://127.0.0.1:"  # host of some forums when they were labelled
_LISTS = frozenset(("index", "board"))
LEARNED_FROM = 80
_LEAST_SCORED = 10  # thread pages left to be scored


def measure(quick: bool = False) -> dict[str, Any]:
    """Returns F of topic pages, and F1 of first posts and replies, by forum and copy."""
    sets: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    generated = ((name, generated_forum(name)) for name in ENGINES)
    for number, (name, rows) in enumerate(chain(forums(), generated)):
        if quick and number % 4:
            continue
        for copy in (PLAIN, *COPIES):
            for figure, value in _measure(copy, name, rows).items():
                kind = "generated" if name in ENGINES else "forums"
                sets[kind][figure][copy][name] = [value] if value is not None else []
    return {
        kind: {
            figure: robust_figures(by_copy)
            | {"by host": {host: round(v[0], 4) for host, v in by_copy[PLAIN].items() if v}}
            for figure, by_copy in scores.items()
        }
        for kind, scores in sets.items()
    }


def _measure(copy: str, name: str, rows: Rows) -> dict[str, float | None]:
    pages = {row["url"]: _page(copy, name, row) for row in rows if row.get("html")}
    chance = random.Random(f"5 {name}")  # noqa: S311 - an experiment
    count = min(LEARNED_FROM, len(pages) - _LEAST_SCORED)
    sample = set(chance.sample(sorted(pages), count))
    model = learn_site([page for url, page in pages.items() if url in sample])
    known = {normalize(page.url) for url, page in pages.items() if url in sample}
    links = (link.url for url in sample for link in clean(pages[url]).outlinks)
    known.update(normalize(url) for url in links)
    asked = [
        {**row, "url": url}
        for row in rows
        if (url := _url(copy, name, row["url"])) and normalize(url) in known
    ]
    threads = [
        row
        for row in rows
        if row["url"] in pages and row["url"] not in sample and row["type"] == "thread"
    ]
    firsts, replies = _posts(threads, pages, model)
    return {
        "threads": score_urls([r["url"] for r in asked if _is_thread(model, r["url"])], asked)["f"],
        "first posts": _mean(firsts),
        "replies": _mean(replies),
    }


def _is_thread(model: SiteModel, url: str) -> bool:
    found = normalize(url)
    rules = model.url_rules
    return model.url_kind(rules.better_form(found) or found) is UrlKind.THREAD


def _url(copy: str, name: str, url: str) -> str:
    return copy_url(copy, name, url) if copy != PLAIN else url


def _page(copy: str, name: str, row: dict[str, Any]) -> RawPage:
    url, html = row["url"], row["html"]
    if _LOOPBACK in html:
        port = html.partition(_LOOPBACK)[2][:4]
        parts = urlsplit(url)
        html = html.replace(f"{_LOOPBACK}{port}", f"{parts.scheme}://{parts.netloc}")
    if copy != PLAIN:
        html = copy_page(copy, name, html, is_list=row["type"] in _LISTS)
    return RawPage.from_bytes(
        _url(copy, name, url), html.encode("utf-8", "replace"), "text/html; charset=utf-8"
    )


def _posts(
    rows: Rows, pages: dict[str, RawPage], model: SiteModel
) -> tuple[list[float], list[float]]:
    """F1 of each first post and of each reply; a missing post counts 0."""
    firsts: list[float] = []
    replies: list[float] = []
    for row in rows:
        gold = row["gold"]
        if not gold:
            continue
        texts = [gold["first"], *gold["replies"]]
        found = clean(pages[row["url"]], model).posts
        for place, number in enumerate(gold["on_page"]):
            wanted = texts[number] if number < len(texts) else ""
            if wanted.strip():
                answer = own_text(found[place].body) if place < len(found) else ""
                (replies if number else firsts).append(score(answer, wanted)[2])
    return firsts, replies


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
