"""The line of a page that is its title: no noise is around it, and the body comes behind it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from cleaning.document.tree import Tree
from cleaning.features.lines import Lines
from cleaning.features.params import Params

_MARKS = re.compile(r"[\W_]+")
_LEAST_CHARS = 4
_LEAST_SCORE = 0.25
_KEPT_CHARS = 100  # longest text whose plain form is remembered


def find_title_line(tree: Tree, lines: Lines, params: Params) -> int:
    """The line that says what ``<title>`` says, else the first h1; -1 without either.

    The title without punctuation must hold the line or the reverse; the more of it the better,
    headings before others, links last; of equal lines the first.
    """
    title = plain_title(tree.title)
    best, best_score = -1, _LEAST_SCORE
    if title:
        own, linked, tags, source = lines.own, lines.linked, tree.block_tags, tree.title
        # Most lines are neither headings nor like the title: only the others are compared.
        near = {
            i for i, text in enumerate(lines.texts)
            if text and text[:2] in source and len(text) >= _LEAST_CHARS
        }  # fmt: skip
        near.update(tree.line_of[start] for _, start, end in tree.headings if start < end)
        for i in sorted(near):
            if own[i] + linked[i] > params.title_units:
                continue
            block, text = tree.line_blocks[i], lines.texts[i]
            line = plain_title(text or tree.line_text(i))
            if len(line) < _LEAST_CHARS or not (line in title or title in line):
                continue
            score = len(line) / max(len(title), len(line))
            if tags[block] in ("h1", "h2"):
                score += 0.3
            if linked[i] > own[i]:
                score -= 0.5
            if score > best_score + 0.05 * (best >= 0):
                best, best_score = i, score
    if best >= 0:
        return best
    for level, start, end in tree.headings:
        if level == 1 and end > start:
            return tree.line_of[start]
    return -1


def plain_title(text: str) -> str:
    """The letters and digits of a title, in one form."""
    return _plain(text) if len(text) <= _KEPT_CHARS else _plain.__wrapped__(text)


@lru_cache(maxsize=512)  # several steps ask of a page's title, and all pages of its site's name
def _plain(text: str) -> str:
    return _MARKS.sub("", unicodedata.normalize("NFKC", text).lower())
