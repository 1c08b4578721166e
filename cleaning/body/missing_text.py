"""Signs of why a page has hardly any body: scripts make its text, or no part of it is a body.

A page with hardly any text gets a warning where scripts make its text in the browser, with the
evidence: an empty root element that frameworks fill, a text for browsers without scripts, the data
of the page in a variable, or nothing but scripts. Bytes of another format (an image, an archive)
that are sent as a page have no text, whatever letters their charset has.
"""

from __future__ import annotations

import re

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import count_units
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind

# Control characters that no text has, and the most of them in a page: random bytes have
# eight times this share, whatever the charset.
_CONTROLS = "\x01\x02\x03\x04\x05\x06\x0e\x0f"
_CONTROL_SHARE = 0.004
MUCH_UNITS = 500.0  # text outside links with which a page has a body
# A page may need scripts only with less body and visible text; scripts alone are evidence only with
# next to no visible text, and so many characters or files of them.
_MAX_BODY_CHARS = 100
_MAX_VISIBLE_CHARS = 600
_NO_VISIBLE_CHARS = 30
_SCRIPT_CHARS = 2000
_SCRIPT_FILES = 3
# Ids and classes of the elements that frameworks fill.
_ROOTS = frozenset(
    ("app", "root", "__next", "__nuxt", "__layout", "react-root", "app-root",
     "gatsby-focus-wrapper", "mount", "main-app", "approot", "appmount", "svelte", "q-app")
)  # fmt: skip
_ASKS = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|allow)\b.{0,40}\bjavascript"
    r"|javascript\b.{0,40}\b(?:enabled?|disabled|required|turned off|not supported)"
    r"|(?:启用|开启|打开|允许|需要|支持|禁用|啟用|開啟|允許|停用|关闭).{0,12}(?:javascript|js\b|脚本|腳本)"
    r"|(?:javascript|脚本|腳本).{0,12}(?:启用|开启|打开|允许|禁用|关闭|支持|啟用|開啟|停用)",
    re.I,
)


def binary_warning(html: str) -> tuple[PageWarning, ...]:
    """Returns a warning when a page's source is the bytes of another format, else nothing."""
    count = sum(map(html.count, _CONTROLS))
    if count <= _CONTROL_SHARE * len(html):
        return ()
    detail = f"{count} control characters: the bytes of another format"
    return (PageWarning(kind=WarningKind.REPLACED_CHARACTERS, detail=detail),)


def script_warnings(tree: Tree, body: Body) -> tuple[PageWarning, ...]:
    """Returns a warning with its evidence when scripts make the page's text, else nothing."""
    scripts = tree.scripts
    if len(body.text) >= _MAX_BODY_CHARS or not (scripts.chars or scripts.files):
        return ()
    visible = 0
    for text in tree.texts:
        visible += len(text)
        if visible > _MAX_VISIBLE_CHARS:
            return ()
    evidence = []
    root = _empty_root(tree)
    if root:
        evidence.append(f"the element {root} is empty")
    if _ASKS.search(scripts.noscript) or _ASKS.search(" ".join(tree.texts)):
        evidence.append("it asks for JavaScript")
    if scripts.state:
        evidence.append(f"its data are in {scripts.state}")
    if visible <= _NO_VISIBLE_CHARS and (
        scripts.chars >= _SCRIPT_CHARS or scripts.files >= _SCRIPT_FILES
    ):
        evidence.append(
            f"{visible} characters of text, {scripts.files} files and {scripts.chars} characters"
            " of scripts"
        )
    if not evidence:
        return ()
    return (PageWarning(kind=WarningKind.NEEDS_JAVASCRIPT, detail="; ".join(evidence)),)


def empty_warning(tree: Tree, body: Body) -> tuple[PageWarning, ...]:
    """Returns a warning when a page with much text of its own has no body, else nothing."""
    if body.text or sum(map(len, tree.texts)) <= MUCH_UNITS:
        return ()
    units = sum(count_units(tree)[0])
    if units <= MUCH_UNITS:
        return ()
    detail = f"{units:.0f} words outside links, and no part of them is a body"
    return (PageWarning(kind=WarningKind.EMPTY_BODY, detail=detail),)


def _empty_root(tree: Tree) -> str:
    """The first empty element that frameworks fill: ``#app``; ``""`` without."""
    for block, names in enumerate(tree.block_names):
        if names and tree.block_tags[block] in ("div", "main", "body", "section"):
            for name in names.split():
                if name.lower() in _ROOTS and tree.line_end(block) == tree.block_lines[block]:
                    return f"#{name}"
    return ""
