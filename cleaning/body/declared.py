"""The lines that a page declares as the description of its product (JSON-LD), and their part.

Pages of products have more text about delivery, the shop and the opinions of buyers than about the
product. A shop that declares the description says which text the page is about: parts that hold
it are no noise, and it decides on the container.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

from crawlclean.cleaning.body.container import find_container, weigh_parts
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import Lines, plain_title

# The values are searched for, not parsed: shops write line breaks and quotes that are no JSON.
_PRODUCT = re.compile(r'"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"Product')
_DESCRIPTION = re.compile(r'"description"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,20000})"')
_TAG = re.compile(r"<[^<>]{0,200}>")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_LEAST_CHARS = 15  # letters and digits of the shortest line that is looked for
_LEAST_UNITS = 12  # on the page, below which nothing is declared
# A declared line is worth so many times its words: the features and tables beside the description
# are of the same product, so that it does not decide alone.
_TIMES = 3


def find_declared(tree: Tree, lines: Lines) -> list[int]:
    """Returns the lines of the description of a page's product, growing; [] without.

    Args:
        tree: The page.
        lines: Its lines; those that repeat earlier ones are worthless.
    """
    # Most pages declare no product, and a plain search tells so in a tenth of the time.
    sources = [each for each in tree.scripts.data if '"Product' in each and _PRODUCT.search(each)]
    if not sources:
        return []
    declared = "\n".join(
        _plain(text) for source in sources for text in _DESCRIPTION.findall(source)
    )
    found = []
    for i, text in enumerate(lines.texts):
        if lines.worth[i] > -1 and len(text) >= _LEAST_CHARS:
            plain = plain_title(text)
            if len(plain) >= _LEAST_CHARS and plain in declared:
                found.append(i)
    return found if sum(lines.own[i] for i in found) >= _LEAST_UNITS else []


def find_declaring(
    tree: Tree, lines: Lines, is_noise: list[bool], title_line: int
) -> tuple[list[float], int]:
    """Returns the worth of each part and the container, where declared lines are worth more."""
    worth = lines.worth.copy()
    for i in lines.declared:
        worth[i] = _TIMES * max(worth[i], lines.own[i])
    told = replace(lines, worth=worth)
    weights = weigh_parts(tree, told, is_noise)
    return weights, find_container(tree, told, weights, title_line)


def _plain(text: str) -> str:
    """The letters and digits of a JSON string with markup: ``softcotton`` of ``Soft\\ncotton``."""

    def unescaped(match: re.Match[str]) -> str:
        code, character = match.groups()
        return chr(int(code, 16)) if code else " " if character in "nrt" else character

    return plain_title(_TAG.sub(" ", unescape(unescape(_ESCAPE.sub(unescaped, text)))))
