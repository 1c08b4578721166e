"""Kinds of links and related links on changed copies, and by other hosts' word: part of ``robust``.

Beside the copies of ``copies.py`` there is one in which the headings of lists have no text: what
only a heading says is lost there, so its share is reported apart and is no least copy. Addresses
stay, because the labels name links by them.

``leave one host out`` is a run of its own (``conditions.py``): it rewrites the rules while they are
imported. It takes minutes; a quick run leaves it out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from lxml import html

from benchmarks.robust.copies import copy_page, list_headings
from benchmarks.robust.figures import PLAIN, robust_figures
from benchmarks.robust.letters import number_for
from benchmarks.robust.link_pages import kinds_of, read_page, related_f1, rows, share_right
from crawlclean import RawPage

_COPIES = ("names", "ids", "profile", "widget", "digits", "tabs", "synonyms")
_SILENT = "headings without text"
_EVERY = 8  # of the hosts, in a quick run
_ROOT = Path(__file__).resolve().parents[2]


def measure(quick: bool = False) -> dict[str, Any]:
    """Returns the figures by copy, and those that other hosts vouch for."""
    scores: dict[str, Any] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows():
        host, source = row["host"], row["page"].html
        if quick and number_for("links", host, _EVERY):
            continue
        for copy in (PLAIN, *_COPIES, _SILENT):
            page = read_page(row, _copied(row, copy, source))
            found = kinds_of(page)
            scores["kinds"][copy][host].append(share_right(page, found))
            f1 = related_f1(page, found)
            if f1 is not None:
                scores[f"related {page.lang}"][copy][host].append(f1)
    result: dict[str, Any] = {}
    for name, by_copy in sorted(scores.items()):
        silent = by_copy.pop(_SILENT)
        plain = {host: by_copy[PLAIN][host] for host in silent}
        result[name] = robust_figures(by_copy)
        result[name][_SILENT] = robust_figures({PLAIN: plain, _SILENT: silent})["copies"][_SILENT]
    if not quick:
        result["rules"] = _rules()
    return {"links": result}


def _copied(row: dict[str, Any], copy: str, source: str) -> RawPage:
    if copy == PLAIN:
        page: RawPage = row["page"]
        return page
    is_silent = copy == _SILENT
    changed = _without_headings(source) if is_silent else copy_page(copy, row["host"], source)
    return RawPage.from_bytes(
        row["url"], changed.encode("utf-8", "replace"), "text/html;charset=utf-8"
    )


def _without_headings(source: str) -> str:
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    root = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    for heading in list(list_headings(root)):
        for element in heading.iter():
            element.text = None
            if element is not heading:
                element.tail = None
    return str(html.tostring(root, encoding="unicode", doctype="<!DOCTYPE html>"))


def _rules() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.robust.conditions"],
        cwd=_ROOT,
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    for rule in found["deciding on fewer than three hosts"]:
        sys.stderr.write(f"fewer than three hosts: {rule}\n")
    return found
