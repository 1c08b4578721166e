"""What transmission, broken generators and hostile hands do to a page's source."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

MAX_CHARS = 300_000
_TAG = re.compile(r"<[^<>]{0,300}>")
_ATTRIBUTE = re.compile(r'="[^"]{0,300}"')
_HOSTILE = (
    "<!--", "-->", "<![CDATA[", "]]>", "<script>", "</script>", "<style>", "<noscript>",
    "<textarea>", "<select>", "<svg>", "<math>", "<template>", "<plaintext>", "<frameset>",
    "<iframe src=//a.example>", "<table>", "<tr>", "<td>", "</td>", "</table>", "<li>", "</ul>",
    "<a>", "</a>", "<a href=''>", "<a href='//[::1'>", "<p", "<", ">", "&", "&#x110000;", "\0",
    "\x85", "\u2028", "\ud800", "\ufeff", "</body></html>", "<body>", "<html lang=xx>",
    "<base href=x:>", "<h1>", "<h1></h1>", "<pre>", "<blockquote>", "<ol start=99999999999>",
    "<td colspan=99999999>",
    "<img srcset=', ,x 9e99w' width=1e9>", "<time datetime='9999-99-99'>", "0000年00月00日",
    "相关阅读", "展开全文", "作者：", "发表于 -1 秒前", "<div hidden style=display:none>",
    '<script type="application/ld+json">{"@type":[[[[', "<meta http-equiv=refresh content='0;//'>",
    "|", "```", "\\", "    ", "[](", "*" * 9, "#" * 9, "> " * 9, "1. ", "一" * 50,
)  # fmt: skip
_RUN = " \t.-_,;:/\\([|'%&#=+*!~1aA中年月。，：·…@"
Mutation = Callable[[random.Random, str, str], str]


def _cut(rng: random.Random, source: str, span: int) -> tuple[int, int]:
    start = rng.randrange(len(source) + 1)
    return start, min(len(source), start + rng.randint(0, span))


def drop_tag(rng: random.Random, source: str, _other: str) -> str:
    """One tag is missing."""
    tags = list(_TAG.finditer(source))
    if not tags:
        return source
    tag = rng.choice(tags)
    return source[: tag.start()] + source[tag.end() :]


def drop_slice(rng: random.Random, source: str, _other: str) -> str:
    """A stretch is missing."""
    start, end = _cut(rng, source, 2000)
    return source[:start] + source[end:]


def truncate(rng: random.Random, source: str, _other: str) -> str:
    """The connection broke."""
    return source[: rng.randrange(len(source) + 1)]


def repeat_slice(rng: random.Random, source: str, _other: str) -> str:
    """A stretch comes many times, unclosed tags and all."""
    start, end = _cut(rng, source, 300)
    times = rng.choice((2, 5, 30, 300, 2000))
    piece = source[start:end]
    return source[:end] + piece * min(times, MAX_CHARS // (len(piece) or 1)) + source[end:]


def splice(rng: random.Random, source: str, other: str) -> str:
    """A stretch of another page stands in this one."""
    start, end = _cut(rng, other, 3000)
    at = rng.randrange(len(source) + 1)
    return source[:at] + other[start:end] + source[at:]


def insert_hostile(rng: random.Random, source: str, _other: str) -> str:
    """Something stands where nobody expects it."""
    at = rng.randrange(len(source) + 1)
    return source[:at] + rng.choice(_HOSTILE) * rng.choice((1, 1, 3, 200)) + source[at:]


def insert_run(rng: random.Random, source: str, _other: str) -> str:
    """A long run of the same few characters stands in a line or an attribute."""
    at = rng.randrange(len(source) + 1)
    piece = "".join(rng.choice(_RUN) for _ in range(rng.randint(1, 3)))
    return source[:at] + piece * rng.choice((1_000, 10_000)) + source[at:]


def swap_attribute(rng: random.Random, source: str, _other: str) -> str:
    """An attribute has the value of another, a hostile one or none."""
    values = list(_ATTRIBUTE.finditer(source))
    if not values:
        return source
    value = rng.choice(values)
    new = rng.choice(
        (rng.choice(values)[0], f'="{rng.choice(_HOSTILE)}', '=""', "", '="' + "x" * 5000)
    )
    return source[: value.start()] + new + source[value.end() :]


def flip_character(rng: random.Random, source: str, _other: str) -> str:
    """One character is another."""
    if not source:
        return source
    at = rng.randrange(len(source))
    return (
        source[:at]
        + chr(rng.choice((0, 9, 34, 38, 60, 62, 160, 0x3000, 0xD800)))
        + source[at + 1 :]
    )


MUTATIONS: tuple[Mutation, ...] = (
    drop_tag,
    drop_slice,
    truncate,
    repeat_slice,
    splice,
    insert_hostile,
    insert_run,
    swap_attribute,
    flip_character,
)  # fmt: skip


def mutated(rng: random.Random, source: str, other: str) -> str:
    """The source after one to twelve mutations, at most 300,000 characters."""
    for _ in range(rng.choice((1, 2, 4, 12))):
        source = rng.choice(MUTATIONS)(rng, source, other)[:MAX_CHARS]
    return source
