"""Which addresses repeat on a host's pages: the share m2 of paper 3.

Source: Li, Jia, He, Shi 2006, eq. 3: the share of the host's pages that hold the address. The
printed form counts the page itself; here it is left out, (df - 1) / (N - 1), which says nothing
for one page alone. The host is that of the page, not of the address: most images live elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from cleaning.papers.noise import score_redundancy


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The paper's threshold; missing in the copy we have, .2 gave P .995 on labelled pages."""

    min_share: float = 0.2


def find_repeats(
    addresses_of_pages: Iterable[frozenset[str]], params: Params | None = None
) -> dict[str, float]:
    """Addresses whose share is above the threshold, with it (4 decimals), sorted by address.

    Args:
        addresses_of_pages: The addresses of each page; pages are told apart by position.
        params: The default threshold when None.
    """
    least = (params or Params()).min_share
    shares = shares_of(addresses_of_pages)
    return {url: round(share, 4) for url, share in sorted(shares.items()) if share > least}


def shares_of(addresses_of_pages: Iterable[frozenset[str]]) -> dict[str, float]:
    """The share of the other pages that have each address of several; none for one page alone."""
    counts: Counter[str] = Counter()
    pages = 0
    for addresses in addresses_of_pages:
        counts.update(addresses)
        pages += 1
    shares = {
        url: score_redundancy(count, pages, counts_itself=False)
        for url, count in counts.items()
        if count > 1
    }
    return {url: share for url, share in shares.items() if share is not None}
