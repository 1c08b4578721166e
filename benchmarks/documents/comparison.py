"""Tables of ``docs/comparison.md``: this project beside other crawlers and extractors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.documents.cells import Rows, share
from benchmarks.kit.results import kept

ARTICLES = {"zh articles": "zh articles", "zh with forums": "zh with forums", "aeb": "en news"}
BY_KIND = "wcxb "  # the sets of one kind of page: ``wcxb product``
TOOLS = {"ours": "crawlclean", "scrapy-redis": "scrapy-redis + trafilatura",
         "scrapy": "Scrapy + trafilatura", "crawlee": "Crawlee + trafilatura"}  # fmt: skip


def _body_sets() -> dict[str, dict[str, Any]]:
    sets = kept("page")["body"]
    kinds = {name: name.removeprefix(BY_KIND) for name in sets if name.startswith(BY_KIND)}
    if not kinds:
        raise KeyError(BY_KIND)
    return {title: sets[name] for name, title in {**ARTICLES, **kinds}.items()}


def bodies() -> Rows:
    """F1 of bodies by set and tool, the best of each set in bold."""
    sets = _body_sets()
    tools = {tool for by_tool in sets.values() for tool in by_tool if not tool.startswith("paper")}
    best = {title: max(row["f1"] for row in by_tool.values()) for title, by_tool in sets.items()}
    yield ["tool", *(f"{title} ({_pages(by_tool)})" for title, by_tool in sets.items())]
    mean = {tool: sum(by_tool[tool]["f1"] for by_tool in sets.values()) for tool in tools}
    for tool in sorted(tools, key=lambda name: -mean[name]):
        found = {title: by_tool[tool]["f1"] for title, by_tool in sets.items()}
        cells = [
            f"**{share(f1)}**" if f1 == best[title] else share(f1) for title, f1 in found.items()
        ]
        yield [TOOLS["ours"] if tool.startswith("ours") else tool, *cells]


def _pages(by_tool: dict[str, Any]) -> int:
    return int(next(iter(by_tool.values()))["pages"])


def crawl_cpu() -> Rows:
    """CPU of whole crawls of the labelled sites."""
    found = kept("crawl")["all_sites"]
    ours = found["ours_cpu_ms_per_record"]
    yield ["crawler", "requests", "texts", "CPU a text, ms", "times ours"]
    yield [TOOLS["ours"], found["requests"], found["records"], ours, 1]
    for name, key in (("scrapy-redis", "scrapy_redis"), ("crawlee", "crawlee")):
        per_text = found[f"{key}_cpu_ms_per_text"]
        row = found[key]
        yield [TOOLS[name], row["responses"], row["texts"], per_text, f"{per_text / ours:.1f}"]
    plain = found["plain_scrapy"]
    alone = round(1000 * plain["cpu_s"] / found["records"], 2)
    yield ["Scrapy, fetching alone", plain["responses"], "-", alone, f"{alone / ours:.1f}"]


def hosts_cpu() -> Rows:
    """CPU of whole crawls of many small hosts, and of one large."""
    yield [
        "web", "crawler", "texts", "CPU a text, ms", "times ours", "seconds", "memory, MB", "load",
    ]  # fmt: skip
    for web, found in kept("breadth")["webs"].items():
        ours = found["ours"]["cpu_ms_a_text"]
        for name in ("ours", "scrapy"):
            row = found[name]
            per_text = row["cpu_ms_a_text"]
            yield [
                web, TOOLS[name], row["texts"], f"{per_text:.1f}", f"{per_text / ours:.2f}",
                row["seconds"], row["peak_mb"], row["load"],
            ]  # fmt: skip


def kills() -> Rows:
    """What is missing after kills."""
    result = kept("losses")
    yield [
        "crawler", "processes", "kills", "seconds", f"lost of {result['pages']}", "kept twice",
        "asked again",
    ]  # fmt: skip
    for name, row in result["kills"].items():
        yield [
            TOOLS[name], row["processes"], row["kills"], row["seconds"], row["lost"],
            row["kept_twice"], row["asked_again"],
        ]  # fmt: skip


def clocks() -> Rows:
    """Gaps between requests to hosts that ask for a second."""
    rows = kept("losses")["clocks"]
    yield ["crawler", "processes", "gaps", "too short", "shortest, s", "seconds"]
    for name, row in rows.items():
        yield [
            TOOLS[name], row["processes"], row["gaps"], row["too_short"], row["shortest_s"],
            row["seconds"],
        ]  # fmt: skip


def hosts_clocks() -> Rows:
    """Our gaps by ``make bench-politeness``: three spiders, one killed, one stopped."""
    yield ["delay", "requests", "gaps", "too short", "least over, ms", "median over, ms"]
    for name, row in kept("politeness")["gaps"]["groups"].items():
        yield [
            name, row["requests"], row["gaps"], row["too_short"], row["over_least_ms"],
            row["over_median_ms"],
        ]  # fmt: skip


COMPARISON_TABLES: dict[str, Callable[[], Rows]] = {
    "bodies": bodies,
    "hosts-cpu": hosts_cpu,
    "crawl-cpu": crawl_cpu,
    "kills": kills,
    "clocks": clocks,
    "hosts-clocks": hosts_clocks,
}
