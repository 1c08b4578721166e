"""Whether a picture is an icon, a portrait, a code or a placeholder by its names and its alt text.

Names are those of its file and folders (``data/picture_names.txt``), split into words. What
programs write into them counts too: ``16x16``, ``w16_h16``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from cleaning.lexicon import word_table

MAX_NAME_CHARS = 200
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+(?![a-z])")
_SIZES = re.compile(r"(?<![\d.])(\d{1,4})[xX*](\d{1,4})(?!\d)|w_?(\d{1,4})[_,-]?h_?(\d{1,4})(?!\d)")
_TIMES = re.compile(r"\d[xX*]\d")
_WIDTH = re.compile(r"w_?\d")
# Captions name accounts as sources; only a request to scan or follow speaks of a code.
_CALL = re.compile(
    r"二维码|二維碼|条形码|扫码|掃碼|扫一扫|掃一掃|扫描[上下左右图此]|掃描[上下左右圖此]|长按识别"
    r"|关注.{0,12}(?:公众号|微信)|關注.{0,12}(?:公眾號|微信)|qr.?code|scan (?:the|this|to)",
    re.I,
)
_SIGNS = frozenset("码碼扫掃描识关關Qq")
_ACCOUNT = re.compile("公众号|公眾號|微信号|客户端|客戶端")
_MAX_CODE_CHARS = 80  # longest line that is about a code to scan
_PLACEHOLDERS = frozenset(
    ("lazy", "lazyload", "loading", "loader", "blank", "spacer", "transparent", "placeholder")
)
_PLAYER = re.compile(r"video|shipin|[Pp]lay(?:er|[Aa]rea|[Bb]ox)")
_ALTS = frozenset(
    ("logo", "icon", "avatar", "头像", "頭像", "图标", "圖標", "表情", "loading", "加载中")
)
_EMOTICON = re.compile(r"[\[［:][^\[\]]{1,6}[\]］:]")


@lru_cache(maxsize=4096)
def is_icon_by_name(src: str) -> bool:
    """Whether the names of a picture's file and folders are of what surrounds a text."""
    path = src[-MAX_NAME_CHARS:] if src.startswith("data:") else src.partition("?")[0]
    folders, _, file = path[-MAX_NAME_CHARS:].rpartition("/")
    table = word_table("picture_names")
    kinds = [table.get(word.lower(), "") for word in _WORD.findall(file.rpartition(".")[0] or file)]
    return "chrome" in kinds or ("brand" in kinds and "" not in kinds) or _is_icon_folder(folders)


@lru_cache(maxsize=1024)
def _is_icon_folder(folders: str) -> bool:
    table = word_table("picture_names")
    return any(
        table.get(word.lower()) == "chrome"
        for folder in folders.split("/")[-3:]
        if "." not in folder  # a host
        for word in _WORD.findall(folder)
    )


@lru_cache(maxsize=4096)
def is_placeholder(src: str) -> bool:
    """Whether the file's name is that of what stands in until the picture is loaded."""
    file = src.partition("?")[0][-MAX_NAME_CHARS:].rpartition("/")[2]
    return any(word.lower() in _PLACEHOLDERS for word in _WORD.findall(file))


def is_player(names: str) -> bool:
    """Whether class and id of a part are those of a video's player."""
    return bool(names) and _PLAYER.search(names) is not None


def size_by_name(src: str) -> tuple[int, int] | None:
    """Width and height in pixels as written into an address, or None."""
    names = src[-MAX_NAME_CHARS:]
    if not (_TIMES.search(names) or _WIDTH.search(names)):
        return None  # as most have none
    found = _SIZES.findall(names)
    if not found:
        return None
    one, two, width, height = found[-1]
    return int(one or width), int(two or height)


def is_icon_by_alt(alt: str) -> bool:
    """Whether an alt text is that of a code to scan, a portrait, a logo or an emoticon."""
    if not alt or len(alt) > _MAX_CODE_CHARS:
        return False
    return (
        alt.lower() in _ALTS
        or _EMOTICON.fullmatch(alt) is not None
        or _ACCOUNT.search(alt) is not None
        or is_about_code(alt)
    )


def is_about_code(line: str) -> bool:
    """Whether a line asks to scan a code."""
    if len(line) > _MAX_CODE_CHARS or (not line.isascii() and _SIGNS.isdisjoint(line)):
        return False
    return _CALL.search(line) is not None
