"""The picture of README: a page before cleaning, coloured by its record, and the record.

``make bench-picture`` cleans a page that was written for the project, with the model learned from
ten pages of its site, and draws ``docs/plots/before-after.svg`` and the same in Chinese.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from html import escape
from itertools import groupby

from lxml import html as lxml_html

from benchmarks.documents.picture_pages import PAGES, SITE, Texts, page_html
from benchmarks.kit.results import ROOT
from crawlclean import CleanRecord, RawPage, clean, learn_site

FOLDER = ROOT / "docs" / "plots"
NAMES = {"en": "before-after.svg", "zh": "before-after.zh.svg"}
COLUMN, GAP, MARGIN = 440, 40, 16
LINE, PADDING, SIZE = 17, 5, 12
FIRST_WIDE = 0x2E80  # the first character of CJK
NO_LINE_BEGINS = "，。、；：？！）”"
BLOCKS = "//h1|//p|//div[@class='by']|//div[@class='foot']|//a|//img"


@dataclass(frozen=True)
class Part:
    """A part of the page: its text and what the record made of it (a CSS class)."""

    text: str
    verdict: str
    is_link: bool = False


def main() -> int:
    """Draws both pictures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    FOLDER.mkdir(exist_ok=True)
    for language, name in NAMES.items():
        (FOLDER / name).write_text(picture(language), "utf-8")
        sys.stdout.write(f"docs/plots/{name}\n")
    return 0


def picture(language: str) -> str:
    """Returns the picture in a language, ``en`` or ``zh``, as SVG text."""
    texts = PAGES[language]
    pages = [RawPage.from_bytes(url, page.encode()) for url, page in page_html(texts).items()]
    record = clean(pages[0], learn_site(pages))
    parts = parts_of(pages[0].html, record)
    left, left_height = _column(MARGIN, _rows(parts))
    right, right_height = _column(MARGIN + COLUMN + GAP, _fields(record, texts))
    height = max(left_height, right_height) + MARGIN
    return _svg(height, [*_heads(texts), *left, *right])


def parts_of(page: str, record: CleanRecord) -> list[Part]:
    """Returns the visible parts of a page in their order, each with its verdict."""
    links = {link.href: str(link.kind) for link in record.links}
    images = {image.src: str(image.kind) for image in record.images}
    parts = []
    for element in lxml_html.fromstring(page).xpath(BLOCKS):
        text = " ".join(element.text_content().split())
        if element.tag == "a":
            kind = links[element.get("href")]
            parts.append(Part(text, "related" if kind == "related" else "cut", is_link=True))
        elif element.tag == "img":
            kind = images[element.get("src")]
            parts.append(Part(f"▣ {element.get('alt')}", "kept" if kind == "content" else "cut"))
        elif text == record.title or (record.author or "\0") in text:
            parts.append(Part(text, "field"))
        elif text:
            parts.append(Part(text, "kept" if text in record.body else "cut"))
    return parts


def _rows(parts: list[Part]) -> list[Part]:
    """Neighbouring links that are cut share a row."""
    rows: list[Part] = []
    for shared, group in groupby(parts, key=lambda part: part.is_link and part.verdict == "cut"):
        run = list(group)
        rows += [Part(" · ".join(part.text for part in run), "cut")] if shared else run
    return rows


def _fields(record: CleanRecord, texts: Texts) -> list[Part]:
    published = record.published_at.isoformat()[:16] if record.published_at else ""
    kinds = Counter(str(link.kind) for link in record.links)
    pictures = Counter(str(image.kind) for image in record.images)
    first, *rest = record.body.split("\n")
    return [
        Part(f"kind: {record.kind} · language: {record.language}", "field"),
        Part(f"title: {record.title}", "field"),
        Part(f"author: {record.author} · published_at: {published}", "field"),
        Part(f"body: {first}", "kept"),
        *(Part(line, "kept") for line in rest),
        Part(f"links: {_counts(kinds)}", "related"),
        Part(f"images: {_counts(pictures)}", "field"),
        Part(f"{texts.learned} ({SITE}, version {record.model_version})", "page"),
    ]


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{kind} {n}" for kind, n in counts.most_common())


def _heads(texts: Texts) -> list[str]:
    legend, x = [], MARGIN
    for verdict, label in zip(("kept", "field", "related", "cut"), texts.legend, strict=True):
        legend.append(
            f'<rect x="{x}" y="38" width="12" height="12" class="{verdict}"/>'
            f'<text x="{x + 17}" y="48">{escape(label)}</text>'
        )
        x += 32 + int(_width(label))
    right = MARGIN + COLUMN + GAP
    return [
        f'<text x="{MARGIN}" y="24" class="head">{escape(texts.before)}</text>',
        f'<text x="{right}" y="24" class="head">{escape(texts.after)}</text>',
        f'<text x="{right - GAP / 2 - 9}" y="110" class="head">→</text>',
        *legend,
    ]


def _column(x: int, parts: list[Part]) -> tuple[list[str], int]:
    """Returns the shapes of a column, and the y at which it ends."""
    shapes, y = [], 60
    for part in parts:
        lines = wrapped(part.text, COLUMN - 2 * PADDING)
        height = len(lines) * LINE + 2 * PADDING
        shapes.append(
            f'<rect x="{x}" y="{y}" width="{COLUMN}" height="{height}" rx="3" '
            f'class="{part.verdict}"/>'
        )
        for n, line in enumerate(lines):
            struck = ' class="struck"' if part.verdict == "cut" else ""
            base = y + PADDING + n * LINE + 13
            shapes.append(f'<text x="{x + PADDING}" y="{base}"{struck}>{escape(line)}</text>')
        y += height + 4
    return shapes, y


def wrapped(text: str, width: float) -> list[str]:
    """Returns a text in lines of at most ``width`` pixels; Chinese may break anywhere."""
    lines, line = [], ""
    units = [text] if not text else _units(text)
    for unit in units:
        if line and _width(line + unit.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += unit
    return [*lines, line.rstrip()]


def _units(text: str) -> list[str]:
    """Splits a text where a line may break: words with their space, Chinese characters."""
    units: list[str] = []
    for character in text:
        in_word = bool(units) and not _is_wide(character) and not _is_wide(units[-1][-1])
        if (in_word and not units[-1].endswith(" ")) or (units and character in NO_LINE_BEGINS):
            units[-1] += character
        else:
            units.append(character)
    return units


def _is_wide(character: str) -> bool:
    return ord(character) > FIRST_WIDE


def _width(text: str) -> float:
    """Returns the width of a text, estimated for a wide sans-serif font, pixels."""
    return sum(SIZE * (1.0 if _is_wide(c) else 0.56) for c in text)


def _svg(height: int, shapes: list[str]) -> str:
    width = 2 * (MARGIN + COLUMN) + GAP
    body = "\n".join(shapes)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"
 viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="{SIZE}">
<style>
.page {{ fill: #ffffff }} text {{ fill: #1f2328 }} .head {{ font-size: 15px; font-weight: bold }}
.kept {{ fill: #c9ecd0 }} .field {{ fill: #fdeec2 }} .related {{ fill: #cfe3fb }}
.cut {{ fill: #ececec }} .struck {{ fill: #767c83; text-decoration: line-through }}
@media (prefers-color-scheme: dark) {{
 .page {{ fill: #0d1117 }} text {{ fill: #e6edf3 }}
 .kept {{ fill: #1d4a2b }} .field {{ fill: #534312 }} .related {{ fill: #1c3f66 }}
 .cut {{ fill: #22272e }} .struck {{ fill: #8d96a0 }}
}}
</style>
<rect width="100%" height="100%" class="page"/>
{body}
</svg>
"""


if __name__ == "__main__":
    sys.exit(main())
