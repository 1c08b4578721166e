"""Class names and ids that say what the links of a part are: keywords, comments, advertising."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.parts import PartKind, kind_of_names
from crawlclean.cleaning.lexicon import word_table

# tag-linux among the names of an article is one of its keywords, not a list of them.
_TAG_NAMES = re.compile(
    r"(?:^|[\s_-])(?:tags?|taglist|keywords?|labels?)"
    r"(?:$|[\s_]|-(?:links?|list|box|cloud|wrap|wrapper|container|group|items?|area)\b)"
    r"|[a-z]Tags?(?:$|[\s_-])|[Tt]ags?(?:List|Box)"
)
# Each begins with the letters it is looked up by, which ``re`` finds quickly.
_AD_NAMES = {
    "ad": re.compile(r"ad(?<![^\s_-]ad)(?:s|v|vert\w*|sbygoogle)?(?:$|[\s_\d-])"),
    "Ad": re.compile(r"Ad(?<=[a-z]Ad)s?(?:$|[\s_\dA-Z-])"),
    "guanggao": re.compile(r"guanggao(?<![^\s_-]guanggao)(?:$|[\s_\d-])"),
    "sponsor": re.compile(r"sponsor(?<![^\s_-]sponsor)"),
    "taboola": re.compile("taboola"),
    "outbrain": re.compile("outbrain"),
}
_TAG_WORDS = ("tag", "Tag", "keyword", "label")
TAGGED, COMMENT, AD = 1, 2, 4
_MAX_AD_LINES = 80  # longer parts are columns with advertising in them


def flags_of_blocks(tree: Tree, line_ends: list[int], body_first: int) -> list[int]:
    """Returns the flags TAGGED, COMMENT and AD of each block by the names around it.

    Args:
        tree: The page.
        line_ends: The line behind the last of each block.
        body_first: The first line of the body, -1 without; a part that holds it is no advertising.
    """
    flag_of = part_flags(set(tree.block_names))
    filled = [0] * len(tree.block_names)
    if not flag_of:
        return filled
    lines, ends = tree.block_lines, tree.block_ends
    for block, names in enumerate(tree.block_names):
        if names not in flag_of:
            continue
        own = flag_of[names]
        if own >= AD and (
            line_ends[block] - lines[block] > _MAX_AD_LINES
            or lines[block] <= body_first < line_ends[block]
        ):
            own -= AD
        # Three flags: no block is filled more than three times, however deep they lie.
        if own & ~filled[block]:
            own |= filled[block]
            filled[block : ends[block]] = [own] * (ends[block] - block)
    return filled


def part_flags(names: set[str]) -> dict[str, int]:
    """Return the flags TAGGED, COMMENT and AD of class names and ids; most names have none.

    ``{"box ads-2", "read more"}`` gives ``{"box ads-2": AD}``.
    """
    page = "\n".join(names)  # one search for all: most words occur in no name
    flags: dict[str, int] = {}

    def note(flag: int, found: Iterable[str]) -> None:
        for each in found:
            flags[each] = flags.get(each, 0) | flag

    for word, pattern in _AD_NAMES.items():
        if word in page and pattern.search(page):
            note(AD, [each for each in names if word in each and pattern.search(each)])
    for word in _TAG_WORDS:
        if word in page:
            note(TAGGED, filter(_TAG_NAMES.search, [each for each in names if word in each]))
    page = page.lower()
    words = [word for word in _comment_words() if word in page]
    if words:
        letters_of = [(each, each.lower()) for each in names]
        named = {each for word in words for each, letters in letters_of if word in letters}
        note(COMMENT, [each for each in named if kind_of_names(each) is PartKind.COMMENT])
    return flags


@lru_cache(maxsize=1)
def _comment_words() -> list[str]:
    """The words of comments that hold no other one of them."""
    words = [word for word, kind in word_table("part_names").items() if kind == "comment"]
    return [word for word in words if not any(other in word for other in words if other != word)]
