"""CPU time of every tool, in bare lxml parses, and its memory: a part of ``page.py``.

All tools read all pages of the body data in one process, in turn within each page; memory is
measured in a separate process for each tool. ``shapes`` is our cost alone on pages of one kind,
and how it grows on pages of one element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2
from typing import Any

from benchmarks.page import peers as page_peers
from benchmarks.page.body import BY_KIND, labelled_pages
from benchmarks.page.peer_answers import BARE, TOOLS, Extract, bare_parse, ours_record, timed

SHAPE_PAGES, SHAPE_ROUNDS = 30, 7  # of each kind; the quickest round of a page counts
_WORDS = ["河流", "石头", "market", "城市", "几个", "winter", "人们", "回答", "机器", "学校"]


def measure(only_ours: bool = False) -> dict[str, Any]:
    """Returns CPU time and peak memory of each tool.

    Args:
        only_ours: Measure nothing; ratios need all tools in one run.
    """
    if only_ours:
        return {}
    pages = list(labelled_pages())
    with page_peers.written(pages) as folder:
        spent_s = page_peers.run("cost", str(folder), pages=len(pages))
        memory = {name: round(page_peers.run("memory", str(folder), name), 1) for name in TOOLS}
    source_bytes = sum(len(page["html"].encode("utf-8", "replace")) for page in pages)
    return {
        "cost": {
            "pages": len(pages),
            "mean_source_kb": round(source_bytes / 1024 / len(pages)),
            "bare_parse_ms": round(1000 * spent_s[BARE] / len(pages), 2),
            "cpu_in_bare_parses": {
                name: round(spent / spent_s[BARE], 2) for name, spent in spent_s.items()
            },
            "peak_memory_mb_above_import": memory,
        }
    }


def measure_shapes(_only_ours: bool = False) -> dict[str, Any]:
    """Returns the bare parses that a record costs, by kind of page, and the exponents of growth.

    An exponent is of the last of three doublings.
    """
    tools = {"bare": bare_parse(), "record": ours_record()}
    found = {}
    for shape, pages in _labelled_shapes().items():
        found[shape] = _in_parses(tools, pages)
    for shape, (make, size) in GENERATED.items():
        sizes = [_page(shape, make(size << doubled)) for doubled in range(4)]
        found[shape] = _in_parses(tools, sizes[:1])
        spent = [_quickest(tools, page)["record"] for page in sizes[2:]]
        found[shape]["exponent"] = round(log2(spent[1] / spent[0]), 2)
    return {"shapes": found}


def _in_parses(tools: dict[str, Extract], pages: list[dict[str, Any]]) -> dict[str, float]:
    rows = [_quickest(tools, page) for page in pages]
    spent = {name: sum(row[name] for row in rows) for name in tools}
    bare = spent.pop("bare")
    return {"pages": len(pages), "bare_ms": round(1000 * bare / len(pages), 2)} | {
        name: round(each / bare, 2) for name, each in spent.items()
    }


def _quickest(tools: dict[str, Extract], page: dict[str, Any]) -> dict[str, float]:
    """The CPU seconds of each tool in its quickest round, all tools in turn."""
    rounds = [
        {name: timed(tool, page)[1] for name, tool in tools.items()} for _ in range(SHAPE_ROUNDS)
    ]
    return {name: min(each[name] for each in rounds) for name in tools}


def _labelled_shapes() -> dict[str, list[dict[str, Any]]]:
    shapes: dict[str, list[dict[str, Any]]] = {}
    for page in labelled_pages(("gne", "cwced", "aeb", "magic-forum", BY_KIND)):
        if page["set"] == BY_KIND:
            kind = page["kind"]
        elif page["set"] == "magic-forum":
            kind = "threads"
        else:
            kind = f"news {'zh' if page['lang'] == 'zh' else 'other'}"
        shapes.setdefault(kind, []).append(page)
    return {
        kind: pages[:: max(1, len(pages) // SHAPE_PAGES)][:SHAPE_PAGES]
        for kind, pages in shapes.items()
    }


def _page(shape: str, body: Iterator[str]) -> dict[str, str]:
    html = f"<html><head><title>{shape}</title></head><body>{''.join(body)}</body></html>"
    path = "thread-1-1-1.html" if shape == "50 posts" else "1.html"
    return {"html": html, "url": f"http://page.example/{path}", "lang": "zh"}


def _words(i: int, count: int) -> str:
    return "".join(f"{_WORDS[(i + k * k) % len(_WORDS)]}{i * k % 97}" for k in range(1, count + 1))


def _text(count: int) -> Iterator[str]:
    yield "<h1>A text of many paragraphs</h1><article>"
    for i in range(count):
        yield f"<p>{_words(i, 30)}，{_words(i + 1, 30)}。</p>"


def _links(count: int) -> Iterator[str]:
    for i in range(count):
        yield f'{"" if i % 50 else "<ul>"}<li><a href="/a/{i}.html">{_words(i, 5)}</a></li>'


def _table(count: int) -> Iterator[str]:
    yield "<h1>A table of many rows</h1><table>"
    for i in range(count):
        yield f"<tr><td>{i}</td><td>{_words(i, 3)}</td><td>{_words(i + 1, 2)}</td></tr>"


def _posts(count: int) -> Iterator[str]:
    yield '<h1 class="ts"><span id="thread_subject">A thread of many posts</span></h1>'
    yield '<div id="postlist" class="pl bm">'
    for i in range(count):
        yield (
            f'<div id="post_{i}"><table class="plhin"><tr><td class="pls" rowspan="2">'
            f'<div class="pi"><div class="authi"><a href="/u-{i}.html" class="xw1">user{i}</a>'
            f'</div></div><div class="avatar"><a href="/u-{i}.html"><img src="/a/{i}.jpg"></a>'
            f'</div><p><em>Member {i % 7}</em></p></td><td class="plc"><div class="pi"><strong>'
            f'<a href="#pid{i}"><em>{i + 1}</em><sup>#</sup></a></strong><div class="authi">'
            f"<em>Posted 2026-5-{i % 28 + 1} 12:{i % 60:02}</em><span>|</span>"
            f'<a href="/o-{i}.html">only this author</a></div></div><div class="pct">'
            f'<div class="t_fsz"><table><tr><td class="t_f" id="postmessage_{i}">'
            f"{_words(i, 20)}，{_words(i + 1, 12)}。</td></tr></table></div></div></td></tr>"
            f'<tr><td class="plc"><div class="po"><a href="/r-{i}.html" class="fastre">Reply</a>'
            f'<a href="/p-{i}.html">Report</a></div></td></tr></table></div>'
        )


GENERATED: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "100 KB of text": (_text, 210),
    "1,000 links": (_links, 1000),
    "50 posts": (_posts, 50),
    "table of 1,250 rows": (_table, 1250),
}
"""A page by its number of paragraphs, links, posts or rows, and the smallest such number."""
