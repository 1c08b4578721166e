"""What each tag of HTML is to the reader of a page; tags that are not here only hold text."""

from __future__ import annotations

# Headings and regions are blocks with something more to do: they come first, so that one comparison
# tells blocks from all others and the truth of a role a plain block from these.
BLOCK, HEADING, REGION, LINK, PICTURE, SETTING, INVISIBLE, BREAK, ROOT = range(9)

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
    "svg", "object",
)  # fmt: skip
ROLES: dict[str, int] = {
    **dict.fromkeys(_BLOCKS, BLOCK),
    **dict.fromkeys(HEADINGS, HEADING),
    **dict.fromkeys(REGIONS, REGION),
    **dict.fromkeys(("a", "area"), LINK),
    "img": PICTURE,
    **dict.fromkeys(("br", "hr"), BREAK),
    **dict.fromkeys(("meta", "link", "base", "frame"), SETTING),
    **dict.fromkeys(_INVISIBLE, INVISIBLE),
    "html": ROOT,
}
