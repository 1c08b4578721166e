"""What the names of a page's parts say of the links in them: keywords, comments, advertising."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from cleaning.features.parts import PartKind, kind_of_names
from cleaning.lexicon import word_table

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
_COMMENT_NAMES = re.compile(r"comment(?<![A-Za-z]comment)s?(?![a-z])")
_TAG_WORDS = ("tag", "Tag", "keyword", "label")
TAGGED, COMMENT, AD = 1, 2, 4


def part_flags(names: set[str]) -> dict[str, int]:
    """What the names of parts (class and id) say of the links in them; most say nothing."""
    page = "\n".join(names)  # what is not in it need not be looked for in each
    flags: dict[str, int] = {}

    def note(flag: int, told: Iterable[str]) -> None:
        for each in told:
            flags[each] = flags.get(each, 0) | flag

    for word, pattern in _AD_NAMES.items():
        if word in page:
            note(AD, [each for each in names if word in each and pattern.search(each)])
    for word in _TAG_WORDS:
        if word in page:
            note(TAGGED, [each for each in names if word in each and _TAG_NAMES.search(each)])
    page = page.lower()
    words = [word for word in _comment_words() if word in page]
    if words:
        letters_of = [(each, each.lower()) for each in names]
        said = {pair for word in words for pair in letters_of if word in pair[1]}
        note(COMMENT, [each for each, letters in said if _is_comment(each, letters)])
    return flags


def _is_comment(names: str, letters: str) -> bool:
    """Whether ``kind_of_names`` is COMMENT; threads have hundreds of names that say it plainly."""
    if "foot" not in letters and _COMMENT_NAMES.search(names):
        return True
    return kind_of_names(names) is PartKind.COMMENT


@lru_cache(maxsize=1)
def _comment_words() -> list[str]:
    return [word for word, kind in word_table("part_names").items() if kind == "comment"]
