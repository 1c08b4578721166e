"""What a crawl does with the URLs of a class: how soon it fetches them, and which never.

A class is refused when its kind brings nothing to read and its links or pages leave no doubt: two
pages were seen, or many URLs are found by the same few words (回复), as no articles are. Other
forms of pages are refused once they are proven. What an operator said comes first.
"""

from __future__ import annotations

from collections.abc import Mapping

from cleaning.records import UrlKind
from cleaning.url_classes.rules import UrlRule, UrlRules
from cleaning.urls.shapes import read_template

FORBID = "forbid"
LEAST_PAGES = 2
LEAST_URLS = 5  # found by shared words
MOST_NAMED = 0.2

_NEVER = frozenset((UrlKind.LOGIN, UrlKind.FORM, UrlKind.CALENDAR))

# Places in the queue, 0..99: what leads to topics before the topics, then the rest.
VARIANT_RANK = 62
_RANKS = {
    UrlKind.INDEX: 30,
    UrlKind.THREAD: 33,
    UrlKind.ARTICLE: 33,
    UrlKind.USER: 66,
    UrlKind.FEED: 70,
    UrlKind.SEARCH: 74,
    UrlKind.DUPLICATE: 78,
    UrlKind.CALENDAR: 82,
    UrlKind.FORM: 84,
    UrlKind.LOGIN: 84,
}


def rank_of(rule: UrlRule) -> int | None:
    """The place in the queue of a rule's URLs, 0..99, lower is sooner; None where none is known."""
    is_variant = rule.kind is UrlKind.INDEX and max(rule.named, rule.numbered) < MOST_NAMED
    # The same list in another order: its links say how (查看, 回复), not what it lists.
    return VARIANT_RANK if is_variant else _RANKS.get(rule.kind)


def with_pins(rules: UrlRules, pins: Mapping[str, str]) -> UrlRules:
    """The rules with what operators said of classes: a kind, or ``forbid``, by template."""
    if not pins:
        return rules
    pinned = [
        UrlRule(kind=UrlKind.OTHER if word == FORBID else UrlKind(word), template=template)
        for template, word in sorted(pins.items())
    ]
    return UrlRules([*pinned, *(rule for rule in rules if rule.template not in pins)])


def refused_templates(rules: UrlRules, pins: Mapping[str, str]) -> dict[str, str]:
    """Templates that are not fetched, and why."""
    refused = {}
    for rule in rules:
        word = pins.get(rule.template)
        if word == FORBID:
            refused[rule.template] = "forbidden by an operator"
        elif word is None and _is_refused(rule):
            seen = f"{rule.pages} pages" if rule.pages else f"{rule.urls} URLs"
            refused[rule.template] = f"leads to {rule.kind} pages, as {seen} show"
    return refused


def followed_inside(rules: UrlRules, refused: Mapping[str, str]) -> list[str]:
    """Templates that are followed though a refused one of fewer words may fit their URLs."""
    keys = {read_template(template)[0] for template in refused}
    return [
        rule.template
        for rule in rules
        if rule.template not in refused and read_template(rule.template)[0] in keys
    ]


def _is_refused(rule: UrlRule) -> bool:
    if rule.kind is UrlKind.DUPLICATE:
        return rule.pages >= LEAST_PAGES
    if rule.kind not in _NEVER:
        return False
    return rule.pages >= LEAST_PAGES or (rule.named < MOST_NAMED and rule.urls >= LEAST_URLS)
