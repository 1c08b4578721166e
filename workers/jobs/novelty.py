"""What the pages of a job brought: new text, or URLs of other classes; and what that stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from cleaning.url_classes.rules import class_with_groups
from cleaning.url_classes.stopping import (
    MAX_NEW_CLASSES,
    PageYield,
    asked_of,
    content_fingerprints,
    fingerprint_of,
    judge,
)
from storage.crawl_types import PageRole, UrlState
from storage.queue.url_classes import UrlClassLedger
from workers.jobs.outcomes import Ending

ELSEWHERE: tuple[str, ...] = ("/",)  # of an address on another host, or of a site's root
TOLD = frozenset({UrlState.RECORD, UrlState.REDIRECT})


def page_yields(endings: Sequence[Ending], new: Mapping[int, Sequence[str]]) -> list[PageYield]:
    """One for each page that tells something about its class.

    Failures tell nothing, for a server may be ill for a while; nor do sitemaps, and a seed does not
    count, for somebody wanted it.

    Args:
        endings: The pages, in the order they ended.
        new: The addresses that were new to the crawl, by the place of the page that brought them.
    """
    return [
        _yield_of(ending, new.get(place, ()))
        for place, ending in enumerate(endings)
        if ending.outcome.queued.role is PageRole.PAGE and ending.outcome.state in TOLD
    ]


def judge_yields(
    ledger: UrlClassLedger, crawl_id: str, host: str, limit: int, yields: Sequence[PageYield]
) -> dict[str, str]:
    """Accounts for what pages of a host brought; returns the classes that this stops, and why.

    Args:
        ledger: Where the accounts are.
        crawl_id: The crawl of the pages.
        host: Their host.
        limit: Barren pages in a row that stop a class, >= 1 (``--trap-pages``).
        yields: One for each page, in the order in which they ended.
    """
    decide = partial(judge, pages=yields, limit=limit)
    return ledger.judge(crawl_id, host, asked_of(yields), decide).stopped


def _yield_of(ending: Ending, new: Sequence[str]) -> PageYield:
    page, record = ending.outcome.queued, ending.outcome.record
    said = content_fingerprints(record) if record else None
    own = class_with_groups(page.url)
    found = _found(new, page.host)
    path, mark, _ = page.url.partition("?")
    return PageYield(
        patterns=own if page.depth else (),
        text=said.text if said else None,
        bare=said.bare if said else None,
        address=fingerprint_of(("address", page.url)),
        finder=fingerprint_of(("address", page.provenance.referrer or "")),
        variant=fingerprint_of((path, str(said.text) if said else page.url)),
        has_query=bool(mark),
        found=tuple(patterns for name, patterns in found.items() if own[:1] != (name,)),
        found_own=own[:1] != () and own[0] in found,
    )


def _found(urls: Sequence[str], host: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for url in urls:
        is_here = url.split("/", 3)[2] == host
        patterns = (class_with_groups(url) if is_here else ()) or ELSEWHERE
        found.setdefault(patterns[0], patterns)
        if len(found) > MAX_NEW_CLASSES:
            break
    return found
