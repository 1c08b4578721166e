"""HTML elements of a report: every text is escaped and tamed where it enters the tree.

A page is built as a tree and written by lxml, so no text can become markup; control characters and
bidirectional marks, which could reorder what stands around a title, become spaces.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from crawlclean.workers.control_characters import printable

Element = Any
"""An element of lxml, which has no types."""

Child = Any
"""An element, a text, None (nothing), or a list of these."""

NO_XML = re.compile("[\ufffe\uffff]")
"""Characters that are no control characters, and that XML trees refuse."""


def element(tag: str, *children: Child, **attributes: object) -> Element:
    """Returns an element.

    Args:
        tag: ``div``.
        children: Elements, texts, None, lists of these.
        attributes: Of the element. ``_`` stands for ``-``, except at the end of ``class_``; None
            and False: left out, True: without a value.
    """
    made = etree.Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            key = name if name == "viewBox" else name.rstrip("_").replace("_", "-")
            made.set(key, "" if value is True else tamed(str(value)))
    _append(made, children)
    return made


def _append(made: Element, children: Any) -> None:
    for child in children:
        if isinstance(child, list | tuple):
            _append(made, child)
        elif isinstance(child, str):
            if len(made):
                made[-1].tail = (made[-1].tail or "") + tamed(child)
            else:
                made.text = (made.text or "") + tamed(child)
        elif child is not None:
            made.append(child)


def tamed(text: str) -> str:
    """Returns a text without characters that a page must not have."""
    return NO_XML.sub(" ", printable(text))


def html_bytes(root: Element) -> bytes:
    """Returns a page in UTF-8."""
    text: str = etree.tostring(root, method="html", encoding="unicode", doctype="<!DOCTYPE html>")
    return f"{text}\n".encode()
