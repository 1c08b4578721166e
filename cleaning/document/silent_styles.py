"""Style sheets without anything that a browser would fetch.

What may fetch is not searched for; what cannot is known: a declaration or a selector stays when it
holds no function but harmless ones (``rgb``, ``calc``, ``:nth-child``), no address, and belongs to
no rule that names a file. Escapes are decoded and comments removed first, so that the text that is
looked at is the text that a browser reads.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|([^0-9a-fA-F])|$)")
_ENDS = re.compile(r"([;{}])")
_FUNCTION = re.compile(r"(?<![\w-])([\w-]*+)\(")
_HARMLESS = frozenset(
    {
        "", "and", "or", "not", "is", "where", "has", "lang", "dir", "nth-child", "nth-of-type",
        "nth-last-child", "nth-last-of-type", "rgb", "rgba", "hsl", "hsla", "calc", "min", "max",
        "clamp", "var", "translate", "translatex", "translatey", "translate3d", "rotate", "scale",
        "scalex", "scaley", "skew", "matrix", "cubic-bezier", "steps", "linear-gradient",
        "repeating-linear-gradient", "radial-gradient", "minmax", "repeat", "fit-content",
        "attr", "counter", "counters", "blur", "brightness", "contrast", "drop-shadow",
        "grayscale", "opacity", "saturate", "rect", "inset", "circle", "polygon",
    }
)  # fmt: skip
_RULES = re.compile(r"@\s*(?!(?:media|supports|keyframes|page|layer|container)\b)", re.I)


def silent_style(css: str) -> str:
    """Returns a style sheet, or the declarations of an attribute, without what is fetched.

    ``a{color:red;background:url(/x.png)}`` gives ``a{color:red;}``. Escapes are decoded, ``<`` and
    controls are removed. Cost: linear.
    """
    text = _without_comments(css)
    if "\\" in text:
        text = _ESCAPE.sub(_decoded, text)
        text = text.replace("\\", " ")
    text = text.replace("<", " ").replace("\0", " ")
    text = _without_comments(text)  # escapes may have written new ones
    return "".join(each if len(each) < 2 or _is_silent(each) else " " for each in _ENDS.split(text))


def _is_silent(piece: str) -> bool:
    """Whether a piece between ``;``, ``{`` and ``}`` fetches nothing and has no address."""
    if "//" in piece or ("@" in piece and _RULES.search(piece)):
        return False
    if "(" not in piece:
        return True
    return all(name.lower() in _HARMLESS for name in _FUNCTION.findall(piece))


def _without_comments(css: str) -> str:
    if "/*" not in css:
        return css
    kept: list[str] = []
    place = 0
    while (start := css.find("/*", place)) >= 0:
        kept += (css[place:start], " ")
        end = css.find("*/", start + 2)
        if end < 0:
            return "".join(kept)
        place = end + 2
    kept.append(css[place:])
    return "".join(kept)


def _decoded(match: re.Match[str]) -> str:
    digits, character = match.groups()
    if digits:
        number = int(digits, 16)
        return chr(number) if 0 < number < 0xD800 or 0xDFFF < number < 0x110000 else " "
    return "" if character in ("\n", "\f", "\r", None) else str(character)
