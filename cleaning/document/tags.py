"""What each tag of HTML is to the reader of a page; tags that are not here are inline ones."""

from __future__ import annotations

# Headings, regions, lists with numbers, cells and code are blocks with something more to do: they
# come first, so that one comparison tells blocks from all others and the truth of a role a plain
# block from these.
BLOCK, HEADING, REGION, NUMBERED, CELL, CODE = range(6)
LINK, INLINE, PICTURE, SETTING, INVISIBLE, BREAK, ROOT, MARK = range(6, 14)

REGIONS = frozenset(("nav", "header", "footer", "aside"))
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "button", "caption", "center",
        "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
        "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "legend", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary",
        "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_INVISIBLE = (
    "script", "style", "noscript", "template", "title", "select", "textarea", "iframe", "noframes",
    "svg", "object", "canvas", "audio", "video",
)  # fmt: skip
# What inline elements say of their text, as bits.
STRONG, EMPHASIS, MONOSPACE = 1, 2, 4
MARKS: dict[str, int] = {
    **dict.fromkeys(("b", "strong"), STRONG),
    **dict.fromkeys(("i", "em"), EMPHASIS),
    **dict.fromkeys(("code", "tt", "samp", "kbd"), MONOSPACE),
}
ROLES: dict[str, int] = {
    **dict.fromkeys(_BLOCKS, BLOCK),
    "ol": NUMBERED,
    **dict.fromkeys(("td", "th"), CELL),
    "pre": CODE,
    **dict.fromkeys(MARKS, MARK),
    **dict.fromkeys(HEADINGS, HEADING),
    **dict.fromkeys(REGIONS, REGION),
    **dict.fromkeys(("a", "area"), LINK),
    "img": PICTURE,
    **dict.fromkeys(("br", "hr"), BREAK),
    **dict.fromkeys(("meta", "link", "base", "frame"), SETTING),
    **dict.fromkeys(_INVISIBLE, INVISIBLE),
    "html": ROOT,
}
