"""The kind of a text that was cut: by its own links where it is links, else by the rule."""

from __future__ import annotations

from collections.abc import Sequence

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.headings import heading_kind
from crawlclean.cleaning.records import Link, LinkKind
from crawlclean.cleaning.verdict import VerdictKind, VerdictReason

_OF_LINK = {
    LinkKind.BODY: VerdictKind.LINKS,
    LinkKind.RELATED: VerdictKind.RELATED,
    LinkKind.NAVIGATION: VerdictKind.NAVIGATION,
    LinkKind.FUNCTION: VerdictKind.NAVIGATION,
    LinkKind.AD: VerdictKind.ADVERTISING,
    LinkKind.HOT: VerdictKind.HOT,
    LinkKind.TAG: VerdictKind.TAGS,
    LinkKind.LEGAL: VerdictKind.LEGAL,
    LinkKind.OTHER: VerdictKind.LINKS,
}
_OF_REASON = {
    VerdictReason.HIDDEN_PART: VerdictKind.HIDDEN,
    VerdictReason.TEASER: VerdictKind.LINKS,
    VerdictReason.COMMENT_PART: VerdictKind.COMMENTS,
    VerdictReason.BEHIND_COMMENTS: VerdictKind.COMMENTS,
    VerdictReason.DISCLAIMER: VerdictKind.LEGAL,
    VerdictReason.REPEATED: VerdictKind.REPEAT,
    VerdictReason.LINK_LIST: VerdictKind.LINKS,
    VerdictReason.LINK_LINE: VerdictKind.LINKS,
    VerdictReason.PROMOTION: VerdictKind.ADVERTISING,
    VerdictReason.BEHIND_PROMOTION: VerdictKind.ADVERTISING,
    VerdictReason.NO_LINKS_BELOW: VerdictKind.RELATED,
    VerdictReason.ABOUT_TEXT: VerdictKind.ABOUT,
    VerdictReason.ABOUT_POST: VerdictKind.ABOUT,
    VerdictReason.POST_TEMPLATE: VerdictKind.TEMPLATE,
    VerdictReason.POST_SUBJECT: VerdictKind.REPEAT,
    VerdictReason.POST_LINK: VerdictKind.LINKS,
    VerdictReason.HOST_REPEATS: VerdictKind.TEMPLATE,
    VerdictReason.HOST_LINKS: VerdictKind.LINKS,
    VerdictReason.HOST_COMMENTS: VerdictKind.COMMENTS,
    VerdictReason.HOST_ABOUT: VerdictKind.ABOUT,
    VerdictReason.HOST_LINE: VerdictKind.TEMPLATE,
}
_OF_TAG = {"nav": VerdictKind.NAVIGATION, "footer": VerdictKind.LEGAL}
_OF_MARKER = {
    "related": VerdictKind.RELATED,
    "maybe": VerdictKind.RELATED,
    "comment": VerdictKind.COMMENTS,
    "author": VerdictKind.ABOUT,
}
# Rules that decide by what the text is; its links cannot change that.
_SURE = frozenset((VerdictReason.HIDDEN_PART, VerdictReason.COMMENT_PART, VerdictReason.REPEATED))


def kind_of_cut(reason: VerdictReason, linked: LinkKind | None, by: str) -> VerdictKind:
    """Returns the kind of a text that a rule cut.

    Args:
        reason: The rule.
        linked: The kind of most of its linked text; None for a text that is not mostly links.
        by: Step of the part (``nav.menu``), or text of the marker, that decided; ``""`` without.
    """
    if linked is not None and reason not in _SURE:
        return _OF_LINK[linked]
    if reason is VerdictReason.PART_TAG:
        return _OF_TAG.get(by.partition(".")[0], VerdictKind.OTHER)
    if reason is VerdictReason.MARKER:
        return _OF_MARKER.get(heading_kind(by), VerdictKind.OTHER)
    return _OF_REASON.get(reason, VerdictKind.OTHER)


def kind_of_links(tree: Tree, links: Sequence[Link], line: int) -> LinkKind | None:
    """Returns the kind of most of the linked text of a line; None without links."""
    chars: dict[LinkKind, int] = {}
    for run in range(*tree.line_runs(line)):
        anchor = tree.anchor_of[run]
        if 0 <= anchor < len(links):
            kind = links[anchor].kind
            chars[kind] = chars.get(kind, 0) + len(tree.texts[run])
    return max(chars, key=chars.__getitem__, default=None)
