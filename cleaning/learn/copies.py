"""Which pages of a sample say what another page says: sessions in addresses, walls, error pages.

What such pages have in common is one text at many addresses and no template. Two pages are copies
when nearly all of one's body is in the other's, line by line. Cost: linear in the lines of bodies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from cleaning.learn.views import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """When a page is a copy.

    Attributes:
        share: Share of a body that is in that of another page.
        max_holders: Most pages a line is looked for on; one on more is of the template.
    """

    share: float = 0.8
    max_holders: int = 20


def find_copies(views: list[View], params: Params | None = None) -> list[bool]:
    """For each page whether one before it has its body.

    Args:
        views: The sample.
        params: The default thresholds when None.
    """
    params = params or Params()
    holders: dict[str, list[int]] = {}
    found = []
    for number, one in enumerate(views):
        lines = {
            text: own + linked
            for text, own, linked, is_kept in zip(
                one.texts, one.own, one.linked, one.kept, strict=True
            )
            if is_kept
        }
        common: Counter[int] = Counter()
        for text, size in lines.items():
            for page in holders.get(text, ()):
                common[page] += size
        most = max(common.values(), default=0)
        is_copy = most > 0 and most >= params.share * sum(lines.values())
        found.append(is_copy)
        if not is_copy:
            for text in lines:
                pages = holders.setdefault(text, [])
                if len(pages) < params.max_holders:
                    pages.append(number)
    return found
