"""The body of a page, and a warning where scripts make its text in the browser.

The body comes from the page's own evidence (``page_body``) and from what its host taught
(``with_model``). The warning is given only where hardly any text was found, with its evidence: an
empty root element that frameworks fill, a text for readers without scripts, the data of the page in
a variable, or scripts and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cleaning.body.page_body import Body, extract_body
from cleaning.body.with_model import body_of_site, find_body
from cleaning.document.document import Document
from cleaning.document.tree import Tree
from cleaning.model.places import SitePlaces
from cleaning.page_warnings import PageWarning, WarningKind

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


def read_body(
    document: Document, places: SitePlaces | None = None, alone: Body | None = None
) -> Body:
    """The body of a page; ``places.body`` is set where a place of the model holds it.

    Args:
        document: The parsed page.
        places: Where the places of its host's model are on it, None without a model.
        alone: The body by the page's own evidence, when it was searched before.
    """
    tree, url = document.tree, document.page.url
    if places is None:
        body = alone or extract_body(tree, url)
    elif alone is None:
        body = find_body(document, places)
    else:
        body = body_of_site(document, alone, places)
    warnings = _script_warnings(tree, body)
    return replace(body, warnings=warnings) if warnings else body


def _script_warnings(tree: Tree, body: Body) -> tuple[PageWarning, ...]:
    """A warning with its evidence when a page's text is made by scripts, else nothing.

    Args:
        tree: The parsed page.
        body: Its body.
    """
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


def _empty_root(tree: Tree) -> str:
    """The first element frameworks fill that holds no line, ``""`` without one."""
    for block, names in enumerate(tree.block_names):
        if names and tree.block_tags[block] in ("div", "main", "body", "section"):
            for name in names.split():
                if name.lower() in _ROOTS and tree.line_end(block) == tree.block_lines[block]:
                    return f"#{name}"
    return ""
