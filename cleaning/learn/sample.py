"""The choice of the pages a host is learned from: at most 100, of every URL class.

A class gets places by the square root of its size, so that ten thousand pages of one class do not
push the others out; within a class the hash of the URL decides. The choice depends on the set of
URLs alone, not on their order. Pages that exceed the limit of characters together are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from crawlclean.cleaning.document.raw_page import RawPage
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.cleaning.urls.normal_form import normalize, page_id

MAX_SAMPLE = 100
MAX_SAMPLE_CHARS = 16 * 2**20  # of HTML; pure text of this length takes 5 s and 350 MB


def choose_sample(urls: Iterable[str], most: int = MAX_SAMPLE) -> list[str]:
    """Returns the URLs to learn from, in normal form, sorted by the hash of each.

    Args:
        urls: Absolute URLs of one host.
        most: Greatest number of URLs to choose.

    Raises:
        InvalidUrl: One of them is no absolute http(s) URL.
    """
    classes: dict[str, list[tuple[str, str]]] = {}
    for url in {normalize(url) for url in urls}:
        classes.setdefault(class_of(url), []).append((page_id(url), url))
    ranked = []
    for members in classes.values():
        root = math.sqrt(len(members))
        for rank, (key, url) in enumerate(sorted(members)):
            ranked.append(((rank + 0.5) / root, key, url))
    chosen = sorted(ranked)[:most]
    return [url for _, _, url in sorted(chosen, key=lambda row: row[1])]


def limit_sample(pages: Iterable[RawPage], most_chars: int = MAX_SAMPLE_CHARS) -> list[RawPage]:
    """Returns the pages that fit into 16 MB of HTML, large ones last; at least one page."""
    chosen: list[RawPage] = []
    chars = 0
    for page in sorted(pages, key=lambda page: len(page.html) > most_chars / 8):
        if not chosen or chars + len(page.html) <= most_chars:
            chosen.append(page)
            chars += len(page.html)
    return chosen
