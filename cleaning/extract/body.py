"""The body of a page: which runs of its tree are the text it was written for.

For now the rule of ``papers.hyperlink_body`` over the runs of the tree: the same gaps, the same
threshold, but hidden text left out by the parser and no second reading of the source.
"""

from __future__ import annotations

from dataclasses import dataclass

from cleaning.papers.hyperlink_body import Params, find_long_gaps
from cleaning.records import BodySource
from cleaning.source.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What was found.

    Attributes:
        text: One line a paragraph; ``""`` when the page has no body.
        source: Which method gave it.
        is_kept: For each run of the tree whether it is part of the body.
        is_long: For each gap around the anchors whether its text is long; gap ``i`` lies before
            anchor ``i``, one more than there are anchors.
    """

    text: str
    source: BodySource
    is_kept: list[bool]
    is_long: list[bool]


def extract_body(tree: Tree, params: Params | None = None) -> Body:
    """The body of a parsed page by its hyperlinks."""
    texts = tree.texts
    gaps: list[str] = []
    spans: list[tuple[int, int]] = []
    end = 0
    for anchor in tree.anchors:
        spans.append((end, anchor.start))
        gaps.append("".join(texts[end : anchor.start]))
        end = max(end, anchor.end)
    spans.append((end, len(texts)))
    gaps.append("".join(texts[end:]))

    is_long = find_long_gaps(gaps, params)
    is_kept = [False] * len(texts)
    for long_gap, (first, last) in zip(is_long, spans, strict=True):
        if long_gap:
            is_kept[first:last] = [True] * (last - first)
    for i, anchor in enumerate(tree.anchors):
        if is_long[i] and is_long[i + 1]:
            is_kept[anchor.start : anchor.end] = [True] * (anchor.end - anchor.start)

    text = _lines(tree, is_kept)
    return Body(
        text=text,
        source=BodySource.HYPERLINKS if text else BodySource.NONE,
        is_kept=is_kept,
        is_long=is_long,
    )


def _lines(tree: Tree, is_kept: list[bool]) -> str:
    """The kept runs, one line a block; what a dropped run lay between is not one line."""
    lines: list[str] = []
    current: list[str] = []
    last_line = last_run = -1
    for i, (text, line) in enumerate(zip(tree.texts, tree.line_of, strict=True)):
        if not is_kept[i]:
            continue
        if line != last_line or i != last_run + 1:
            lines.append("".join(current))
            current = []
        current.append(text)
        last_line, last_run = line, i
    lines.append("".join(current))
    collapsed = (" ".join(line.split()) for line in lines)
    return "\n".join(line for line in collapsed if line)
