"""Bodies of pages on changed copies: a part of ``robust.py``.

Each page is cleaned alone. Empty bodies are counted beside the score: a page with much text of its
own has a body.
"""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from benchmarks.kit.results import require_data
from benchmarks.kit.scoring import score
from benchmarks.kit.sources import NO_URL, rows_of
from benchmarks.robust.copies import COPIES, copy_page, copy_url
from benchmarks.robust.figures import PLAIN, robust_figures
from benchmarks.robust.letters import number_for
from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.source import decode
from crawlclean.cleaning.features.lines import count_units

_NOT_HERE = frozenset(("empty links",))  # a page alone is no list of other pages
_MUCH_UNITS = 500.0  # text of its own with which a page has a body
EVERY = 8  # of the hosts, in a quick run


def measure(quick: bool = False) -> dict[str, Any]:
    """Returns the F1 of bodies by set, on the pages and on each copy."""
    scores: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    empty: Counter[str] = Counter()
    for page in _pages(quick):
        host = page["host"]
        for copy in (PLAIN, *(name for name in COPIES if name not in _NOT_HERE)):
            html, url = page["html"], page["url"]
            if copy != PLAIN:
                html, url = copy_page(copy, host, html), copy_url(copy, host, url)
            tree = parse(html)
            text = extract_body(tree, url).text
            if not text.strip() and sum(count_units(tree)[0]) > _MUCH_UNITS:
                empty[copy] += 1
            f1 = score(text, page["gold"])[2]
            for name in ("all", page["set"]):
                scores[name][copy][host].append(f1)
    return {
        "bodies": {
            "sets": {name: robust_figures(by_copy) for name, by_copy in sorted(scores.items())},
            f"empty with over {_MUCH_UNITS:.0f} units of text": dict(empty),
        }
    }


def _pages(quick: bool) -> Iterator[dict[str, Any]]:
    for file in sorted(require_data("body").glob("*.jsonl.gz")):
        name = file.name.partition(".")[0]
        for row in rows_of(file):
            url = row["url"] or NO_URL
            host = row.get("site") or urlsplit(url).netloc
            if quick and number_for(name, host, EVERY):
                continue
            kind = row["kind"] if name == "wcxb" else row["lang"]
            html = decode(base64.b64decode(row["html_base64"])).html
            yield {
                "set": f"{name} {kind}",
                "host": host,
                "url": url,
                "html": html,
                "gold": row["gold"],
            }
