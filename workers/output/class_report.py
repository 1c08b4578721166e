"""URL classes as a table, for `classes HOST` and `hosts HOST`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.printing import table

HEAD = ("KIND", "FETCHED", "WITH NEWS", "LEARNED FROM", "CLASS")


def classes_text(host: str, classes: Sequence[UrlClass], most: int | None = None) -> str:
    """Returns a table of classes for each crawl.

    Args:
        host: Lower-case authority, as ``example.com``; ``""`` for classes of several hosts.
        classes: Sorted by crawl.
        most: Classes to print of each crawl; None: all.
    """
    if not classes:
        return f"no URL classes of {readable_line(host) or 'any host'} yet\n"
    text = []
    for (crawl, name), group in groupby(classes, lambda each: (each.crawl, each.host)):
        found = list(group)
        of = "" if host else f" of {name}"
        text.append(f"URL classes in {crawl}{of}\n" + _table(found[:most]))
        if most is not None and len(found) > most:
            text.append(f"{len(found) - most} more: see `classes {name}`\n")
    return "".join(text)


def _fetched(each: UrlClass) -> tuple[str, str]:
    """Pages fetched so far, and those with news; ``-`` for a class whose pages are not counted."""
    if not each.pattern_pages and each.pages_seen:
        return "-", "-"
    return str(each.pattern_pages), str(each.pattern_pages_with_news)


def _table(classes: Sequence[UrlClass]) -> str:
    """A line for each class, with the decision and the reason for a stop below."""
    rows = [HEAD] + [
        (
            str(each.kind or "-"),
            *_fetched(each),
            f"{each.pages_seen} of {each.urls}" if each.urls else "-",  # when it was learned
            each.template,
        )
        for each in classes
    ]
    head, *lines = table(rows).splitlines()
    text = [f"{head}\n"]
    for line, each in zip(lines, classes, strict=True):
        text.append(f"{line}\n")
        if each.operator:
            text.append(f"    set by an operator: {readable_line(each.operator)}\n")
        text += [
            f"    not fetched: {readable_line(why)}\n"
            for why in (each.refused, each.stopped)
            if why
        ]
    return "".join(text)
