"""What a URL leads to by its own words alone: readable rules that hold on most hosts.

They are the fallback of ``SiteModel.url_kind``; what a host's own URLs taught comes before them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cleaning.extract.outlinks import is_asset
from cleaning.records import UrlKind


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlRule:
    """URLs whose path and query match ``pattern`` somewhere are of ``kind``."""

    kind: UrlKind
    pattern: str


# In order; the first that matches decides. Patterns see path and query, lower case.
COMMON_RULES = (
    UrlRule(kind=UrlKind.FEED, pattern=r"/(?:feed|rss|atom)(?:\.xml|\.php)?/?(?:$|\?)"),
    UrlRule(kind=UrlKind.FEED, pattern=r"\.(?:rss|atom)$|[?&]feed=|mod=rss|/sitemap[\w-]*\.xml"),
    UrlRule(
        kind=UrlKind.LOGIN,
        pattern=r"(?:^|[/?&=_.-])(?:wp-)?(?:log-?in|log-?on|log-?out|sign-?in|sign-?up|sign-?out"
        r"|register|passport|logging|lostpw|lostpassword)(?:[/?&=_.-]|$)",
    ),
    UrlRule(kind=UrlKind.DUPLICATE, pattern=r"[?&](?:replytocom|print|share|printable)="),
    UrlRule(kind=UrlKind.DUPLICATE, pattern=r"[?&](?:view|action|mode)=print|/amp/?$"),
    UrlRule(kind=UrlKind.SEARCH, pattern=r"/search(?:[/?._-]|$)|[?&]mod=search|/\?s="),
    UrlRule(
        kind=UrlKind.FORM,
        pattern=r"(?:^|[/?&=_.-])(?:newreply|newthread|posting|new-?topic|reply|edit(?:post)?"
        r"|report)(?:\.\w+)?(?:[?&/]|$)",
    ),
    UrlRule(kind=UrlKind.FORM, pattern=r"[?&](?:mod|action|mode|act)=(?:post|reply|edit|report)"),
    UrlRule(kind=UrlKind.CALENDAR, pattern=r"(?:^|[/?&=])calendar(?:[/?&=.]|$)"),
    UrlRule(kind=UrlKind.USER, pattern=r"/(?:user|users|member|members|profile|author)/[^/]"),
    UrlRule(kind=UrlKind.USER, pattern=r"[?&]uid=|space-uid-|(?:profile|memberlist|member)\.php"),
    UrlRule(kind=UrlKind.INDEX, pattern=r"^/(?:(?:index|default|home)\.\w{2,5})?$"),
)


def url_kind(url: str, rules: tuple[UrlRule, ...] = ()) -> UrlKind:
    """The kind of a URL in normal form: by its extension, a host's rules, the common ones."""
    if is_asset(url):
        return UrlKind.ASSET
    start = url.find("/", url.find("//") + 2)
    target = (url[start:] if start >= 0 else "/").lower()
    for rule in (*rules, *COMMON_RULES):
        if _compiled(rule.pattern).search(target):
            return rule.kind
    return UrlKind.OTHER


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
