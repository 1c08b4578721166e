"""URL classes learned without a given topic page: eight forums, and a million URLs.

The sample of a forum has its labelled pages (some of each type) and, as in a crawl, every URL with
its anchor texts. A duplicate URL with a known better form is scored as that form.
"""

from __future__ import annotations

import random
import resource
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from statistics import median_low
from typing import Any
from unittest.mock import patch

from benchmarks.forum.labelled import Rows, forums, score_urls
from crawlclean import RawPage, clean
from crawlclean.cleaning.document.document import read_document
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.url_classes import kinds as class_evidence, kinds as class_kinds
from crawlclean.cleaning.url_classes.classes import PageFacts, UrlSample, facts_of
from crawlclean.cleaning.url_classes.learning import rules_of
from crawlclean.cleaning.url_classes.rules import UrlRules, url_kind
from crawlclean.cleaning.urls.normal_form import normalize

FEW = 5  # pages of each type, as at the start of a crawl
_LOOPBACK = "http://127.0.0.1:"  # host of some forums when they were labelled
_UNITS = (3.5, 4.5, 5.5, 6.5)
_PROSE = (20.0, 40.0, 60.0, 80.0)


@dataclass(frozen=True, slots=True)
class _Forum:
    rows: Rows
    facts: dict[str, PageFacts]


def measure() -> dict[str, Any]:
    """Returns F of topic pages by forum, kinds by labelled type, and leave-one-out thresholds."""
    read = {name: _Forum(rows, _facts(rows)) for name, rows in forums()}
    table: dict[str, dict[str, Any]] = {}
    confusion: dict[str, Counter[str]] = defaultdict(Counter)
    for name, forum in read.items():
        rules = rules_of(_sample(forum))
        few = rules_of(_sample(forum, FEW))
        table[name] = {
            "rules": len(rules),
            "fetched": _score(rules, forum, only_fetched=True),
            "discovered": _score(rules, forum),
            f"discovered, {FEW} pages of a type": _score(few, forum),
        }
        for row in forum.rows:
            confusion[row["type"]][url_kind(normalize(row["url"]), rules).value] += 1
    means = {
        asked: round(sum(row[asked]["f"] for row in table.values()) / len(table), 4)
        for asked in next(iter(table.values()))
        if asked != "rules"
    }
    return {
        "classes": {
            "forums": table,
            "mean f": means,
            "thresholds chosen on the others": _leave_one_out(read),
            "kinds": {kind: dict(counts.most_common()) for kind, counts in confusion.items()},
        }
    }


def _leave_one_out(read: dict[str, _Forum]) -> dict[str, Any]:
    """Returns F of each forum with the thresholds that are best on the seven others."""
    samples = {name: _sample(forum) for name, forum in read.items()}
    scores = {
        (units, prose): {
            name: _score(_rules_with(samples[name], units, prose), forum)["f"]
            for name, forum in read.items()
        }
        for units in _UNITS
        for prose in _PROSE
    }
    found: dict[str, Any] = {}
    for left in read:
        by_others = {
            chosen: sum(f for name, f in each.items() if name != left)
            for chosen, each in scores.items()
        }
        best = max(by_others.values())
        tied = [chosen for chosen, total in by_others.items() if total >= best - 1e-9]
        middle = (
            median_low([units for units, _ in tied]),
            median_low([prose for _, prose in tied]),
        )
        found[left] = {"title_units": middle[0], "prose": middle[1], "f": scores[middle][left]}
    found["mean f"] = round(sum(one["f"] for one in found.values()) / len(found), 4)
    return found


def _rules_with(sample: UrlSample, title_units: float, prose: float) -> UrlRules:
    with (
        patch.object(class_evidence, "TITLE_UNITS", title_units),
        patch.object(class_kinds, "PROSE", prose),
    ):
        return rules_of(sample)


def _score(rules: UrlRules, forum: _Forum, *, only_fetched: bool = False) -> dict[str, float]:
    rows = [row for row in forum.rows if row["fetched"] or not only_fetched]
    return score_urls([row["url"] for row in rows if _is_thread(row["url"], rules)], rows)


def _is_thread(url: str, rules: UrlRules) -> bool:
    found = normalize(url)
    return url_kind(rules.better_form(found) or found, rules) is UrlKind.THREAD


def _sample(forum: _Forum, most: int | None = None) -> UrlSample:
    sample = UrlSample()
    taken: Counter[str] = Counter()
    for row in sorted(forum.rows, key=lambda row: _hash(row["url"])):
        url = normalize(row["url"])
        for text in row.get("anchors") or [""]:
            sample.add_link(url, text)
        facts = forum.facts.get(url)
        if facts is not None and (most is None or taken[row["type"]] < most):
            taken[row["type"]] += 1
            sample.add_page(facts)
    return sample


def _facts(rows: Rows) -> dict[str, PageFacts]:
    facts = {}
    for row in rows:
        url = normalize(row["url"])
        if row.get("html"):
            html = row["html"]
            if _LOOPBACK in html:
                port = html.partition(_LOOPBACK)[2][:4]
                html = html.replace(f"{_LOOPBACK}{port}", url[: url.find("/", 8)])
            page = RawPage.from_bytes(url, html.encode(), "text/html; charset=utf-8")
            record = clean(page)
            document = read_document(page)
            facts[url] = facts_of(document, record.links, record.kind, record.title)
        elif row.get("final_url") and normalize(row["final_url"]) != url:
            facts[url] = PageFacts(url=url, moved_to=normalize(row["final_url"]))
    return facts


def _hash(url: str) -> bytes:
    return blake2b(url.encode(), digest_size=8).digest()


def measure_million(count: int = 1_000_000) -> dict[str, Any]:
    """Returns CPU time and memory of learning from a million URLs, and the time per URL."""
    found = {}
    for name, draw in (("forum", _forum_link), ("shop", _shop_link)):
        source = random.Random(1)  # noqa: S311 - a made-up site
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        drawing = time.process_time()
        for _ in range(count):
            draw(source)
        drawing = time.process_time() - drawing
        source.seed(1)
        start = time.process_time()
        sample = UrlSample()
        for _ in range(count):
            sample.add_link(*draw(source))
        added = time.process_time() - drawing
        rules = rules_of(sample)
        end = time.process_time() - drawing
        urls = [normalize(draw(source)[0]) for _ in range(count // 20)]
        asked = time.process_time()
        for url in urls:
            url_kind(normalize(url), rules)
        asked = time.process_time() - asked
        found[name] = {
            "links": count,
            "sample_s": round(added - start, 1),
            "rules_s": round(end - added, 1),
            "rules": len(rules),
            "us_per_url": round(asked / len(urls) * 1e6, 1),
            "peak_memory_mb_above_start": round(
                (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            ),
        }
    return {"million_classes": found}


_WORDS = ("red", "blue", "cotton", "shirt", "phone", "case", "book", "lamp", "desk", "chair")


def _forum_link(r: random.Random) -> tuple[str, str]:
    host = "http://bbs.example"
    thread, kind = r.randrange(150_000), r.random()
    if kind < 0.25:
        page = 1 + int(r.expovariate(1))
        return f"{host}/thread-{thread}-{page}-1.html", f"第{thread}号帖子说的事情"
    if kind < 0.55:
        post = r.randrange(10_000_000)
        return f"{host}/forum.php?mod=redirect&goto=findpost&ptid={thread}&pid={post}", "5#"
    if kind < 0.7:
        user = r.randrange(80_000)
        return f"{host}/space-uid-{user}.html", f"网友{user}"
    if kind < 0.9:
        return f"{host}/forum.php?mod=post&action=reply&fid={thread % 60}&tid={thread}", "回复"
    return f"{host}/forum-{r.randrange(60)}-{r.randrange(1000)}.html", str(thread % 100)


def _shop_link(r: random.Random) -> tuple[str, str]:
    host = "http://shop.example"
    number, kind = r.randrange(1_000_000), r.random()
    slug = "-".join(r.choice(_WORDS) for _ in range(r.randrange(1, 7)))
    if kind < 0.4:
        return f"{host}/product/{slug}-{number}", f"Fine {slug} number {number}"
    if kind < 0.7:
        color, size = r.choice(_WORDS), r.randrange(50)
        return (
            f"{host}/c/{r.choice(_WORDS)}/{r.choice(_WORDS)}?color={color}&size={size}&sort=price",
            "next",
        )
    if kind < 0.8:
        return f"{host}/p/{slug}", slug
    if kind < 0.9:
        return (
            f"{host}/item/{number:08x}?ref={r.randrange(1 << 24):06x}&pos={r.randrange(40)}",
            slug,
        )
    return f"{host}/search?q={slug}&s={number}", slug
