"""Charset detection: the bytes of a page to text, decoded once.

Evidence in order:

1. a byte-order mark;
2. strict UTF-8, which hardly any other text satisfies by chance;
3. the declared charsets (header, then ``<meta>`` or XML declaration), when their superset decodes
   without an error and the text is plausible;
4. a contest of the charsets that pages are written in, judged by replacement characters and by the
   share of frequent characters (``data/frequent_characters.txt``): GB18030, Big5 and EUC-KR accept
   most of each other's bytes, but give rare characters then.

Names are those of https://encoding.spec.whatwg.org/, each decoded by its superset as browsers do
(gb2312 by GB18030, iso-8859-1 by windows-1252). Cost: valid UTF-8 and a right declaration are
decoded once; a contest decodes the page nine times.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import lru_cache

from crawlclean.cleaning.lexicon import word_table
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind

# Content sniffing: the type of bytes that are no HTML page, whatever their Content-Type.

MAGIC = (
    (b"%PDF-", "PDF"),
    (b"\x89PNG", "PNG"),
    (b"GIF8", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"Rar!", "RAR"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\xd0\xcf\x11\xe0", "Office document"),
    (b"\x00\x00\x01\x00", "icon"),
    (b"ID3", "MP3"),
    (b"OggS", "Ogg"),
    (b"wOFF", "font"),
    (b"\x7fELF", "program"),
)
# Each part begins as no other one does, so a mismatch costs linear time.
_COMMENTS = rb"(?:<!--(?:[^-]++|-(?!->))*-->\s*+)*"
_PROLOGUE = rb"\s*+(?:<\?xml[^>]*+>\s*+)*" + _COMMENTS
FEED = re.compile(_PROLOGUE + rb"<(rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]")
IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
# An ISO media file names its brand after the length of its first box.
BRANDS = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"mif1": "image/heif",
}
SVG = re.compile(
    _PROLOGUE + rb"(?:<!DOCTYPE\s+svg\b[^>\[]*+(?:\[[^\]]*+\]\s*+)?>\s*+" + _COMMENTS + rb")?"
    rb"<svg[\s>]"
)
SVG_BYTES = 64 << 10  # comments of drawing programs come first
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
SAMPLE_BYTES = 4096  # the beginning shows the type: browsers look at 1,445 bytes
# Bytes that are no text in any charset of pages: https://mimesniff.spec.whatwg.org/#binary-data-byte
_NO_TEXT = bytes(code for code in range(32) if code not in b"\t\n\f\r\x1b")
_TAG_OF_PAGE = re.compile(rb"<(?:!doctype|html|head|body|title|meta)\b", re.I)
# The most of 4,500 labelled pages is 0.004; compressed, encrypted and random bytes have 0.1.
BINARY_SHARE = 0.03
LEAST_BINARY = 3  # one or two control characters are slips of an editor


def foreign_type(body: bytes) -> str | None:
    """Returns the type of bytes that are certainly no HTML page, such as ``PDF``; else None."""
    head = body[:SAMPLE_BYTES]
    for magic, name in MAGIC:
        if head.startswith(magic):
            return name
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return head[8:12].decode().strip()
    feed = FEED.match(head.removeprefix(b"\xef\xbb\xbf"))
    if feed:
        return f"XML ({feed[1].decode()})"
    control = len(head) - len(head.translate(None, _NO_TEXT))
    if control < max(LEAST_BINARY, BINARY_SHARE * len(head)) or _TAG_OF_PAGE.search(head):
        return None
    is_wide = head.startswith(WIDE_MARKS) or utf16_without_mark(head) is not None
    return None if is_wide else "binary data"


def image_type(body: bytes) -> str | None:
    """Returns the media type of an image (``image/png``) by its first bytes; else None."""
    for magic, name in IMAGES:
        if body.startswith(magic):
            return name
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    if body[:2] == b"BM" and body[6:10] == bytes(4):
        return "image/bmp"
    if body[4:8] == b"ftyp":
        return BRANDS.get(body[8:12])
    head = body[:SVG_BYTES].removeprefix(b"\xef\xbb\xbf")
    return "image/svg+xml" if SVG.match(head) else None


_REPLACEMENT = "\ufffd"
_SAMPLE_CHARS = 5_000  # non-ASCII characters that are counted
_FEW_CHARS = 20  # fewer non-ASCII characters have no meaningful frequency
# Least share of frequent characters: running text has .3, tables .14, wrong charsets .06.
_PLAUSIBLE = 0.1
_CERTAIN = 0.15  # share that overrules a declared single-byte charset, which fits all bytes
_ISOLATED = 0.5  # share of lone high bytes that marks a Western single-byte text

# Possessive where white space meets white space, and no tag begins inside a tag: linear time.
_META = re.compile(rb"<meta\b[^<>]*?\bcharset\s*+=\s*+(?:[\"']\s*+)?([A-Za-z0-9_:.\-]++)", re.I)
_XML = re.compile(rb"\s*+<\?xml\b[^>]*?\bencoding\s*+=\s*+[\"']([A-Za-z0-9_:.\-]++)", re.I)
_HEADER = re.compile(r"charset\s*+=\s*+(?:[\"']\s*+)?([A-Za-z0-9_:.\-]++)", re.I)
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_THREE_BYTES = re.compile("[\u0800-\U0010ffff]")  # in UTF-8, or four

_ASCII = bytes(range(0x80))
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Declared name -> Python codec; the names left out are found by _SINGLE_BYTE.
_CODECS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode", "unicode-1-1-utf-8", "x-unicode20utf8"), "utf-8"),
    **dict.fromkeys(
        ("gb18030", "gbk", "gb2312", "gb", "gb_2312", "gb_2312-80", "gb2312-80", "x-gbk", "cp936",
         "ms936", "windows-936", "euc-cn", "gb-2312", "chinese", "csgb2312", "iso-ir-58"),
        "gb18030",
    ),
    **dict.fromkeys(("big5", "big-5", "big5-hkscs", "big5hkscs", "x-x-big5", "cn-big5", "cp950",
                     "csbig5", "windows-950"), "big5hkscs"),
    **dict.fromkeys(("euc-kr", "euckr", "ks_c_5601-1987", "ks_c_5601-1989", "ksc5601", "ksc_5601",
                     "korean", "cp949", "windows-949", "uhc", "cseuckr", "iso-ir-149"), "cp949"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "cp932",
                     "windows-31j", "csshiftjis"), "cp932"),
    **dict.fromkeys(("euc-jp", "eucjp", "x-euc-jp", "cseucpkdfmtjapanese"), "euc_jp"),
    **dict.fromkeys(("iso-2022-jp", "csiso2022jp"), "iso2022_jp"),
    **dict.fromkeys(("hz", "hz-gb-2312"), "hz"),
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "ascii",
                     "us-ascii", "cp819", "windows-1252", "cp1252", "x-cp1252"), "cp1252"),
    **dict.fromkeys(("iso-8859-9", "iso8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("iso-8859-11", "tis-620", "windows-874", "cp874"), "cp874"),
    **dict.fromkeys(("iso-8859-8-i", "logical"), "iso8859-8"),
    **dict.fromkeys(("koi8-r", "koi8", "koi"), "koi8-r"),
    "koi8-u": "koi8-u",
    "latin2": "iso8859-2",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "ibm866": "cp866",
    "cp866": "cp866",
}  # fmt: skip
_SINGLE_BYTE = re.compile(
    r"(?:(?:x-cp|cp|windows-)(125[0-8])|iso[-_]?8859[-_]([2-8]|1[03-6])(?:-e)?)"
)
_MULTI_BYTE = frozenset({"gb18030", "big5hkscs", "cp949", "cp932", "euc_jp", "iso2022_jp", "hz"})
_STATEFUL = frozenset({"iso2022_jp", "hz"})  # their text is ASCII bytes
# The charsets of a contest with the lists of frequent characters they are judged by; ties go to the
# first.
_CONTEST = (
    ("gb18030", ("hans", "hant")),
    ("big5hkscs", ("hant",)),
    ("cp949", ("ko",)),
    ("cp932", ("ja",)),
    ("euc_jp", ("ja",)),
    ("cp1252", ("latin",)),
    ("cp1251", ("ru",)),
    ("koi8-r", ("ru",)),
)
_LISTS = dict(_CONTEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The text of a page.

    Attributes:
        html: The whole source, without a byte-order mark.
        encoding: Python's name of the charset, such as ``gb18030``.
        warnings: A declared charset that was overruled; bytes that were replaced.
    """

    html: str
    encoding: str
    warnings: tuple[PageWarning, ...] = ()


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decodes the bytes of a page; never raises.

    Args:
        body: The response body after content decoding.
        content_type: The Content-Type header, such as ``text/html; charset=gbk``, or None.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return _decoded(body, body[len(bom) :].decode(encoding, "replace"), encoding, [])
    declared = _declared(body, content_type)
    wide = utf16_without_mark(body)
    if wide:
        return _decoded(body, body.decode(wide, "replace"), wide, [])
    if body.isascii():
        encoding = declared[0] if declared else "utf-8"
        text = _strict(body, encoding) if encoding in _STATEFUL else None
        if text is None and encoding in _STATEFUL:
            encoding = "utf-8"
        return Decoded(html=text or body.decode("ascii"), encoding=encoding)
    text = _strict(body, "utf-8")
    if text is not None:
        other = _chance_utf8(body, text, declared)
        return _decoded(body, *(other or (text, "utf-8")), declared)
    for encoding in declared:
        text = None if encoding == "utf-8" else _strict(body, encoding)
        if text is not None and _is_believable(body, text, encoding):
            return _decoded(body, text, encoding, declared)
    return _decoded(body, *_contest(body, declared), declared)


def _decoded(body: bytes, text: str, encoding: str, declared: list[str]) -> Decoded:
    """The text without byte-order mark, with warnings of overruled charsets and replaced bytes."""
    warnings = []
    if declared and encoding != declared[0]:
        detail = Message("wrong_charset", declared[0], encoding)
        warnings.append(PageWarning(kind=WarningKind.WRONG_CHARSET, detail=detail))
    text = text.lstrip("\ufeff")  # some editors write the mark twice
    replaced = text.count(_REPLACEMENT)
    if replaced and encoding == "utf-8":
        replaced -= body.count(_REPLACEMENT.encode())  # some pages hold the character itself
    if replaced:
        warnings.append(PageWarning(kind=WarningKind.REPLACED_CHARACTERS, count=replaced))
    return Decoded(html=text, encoding=encoding, warnings=tuple(warnings))


def _declared(body: bytes, content_type: str | None) -> list[str]:
    """Python's names of the declared charsets, header first, once each, without unknown names."""
    names: list[str] = _HEADER.findall(content_type) if content_type else []
    head = body[:4096]
    xml = _XML.match(head)
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    # A page may begin with scripts longer than the 1,024 bytes that browsers look at.
    meta = _META.search(head) or _META.search(body, 0, 65536)
    names += [found[1].decode("ascii") for found in (xml, meta) if found]
    return list(dict.fromkeys(filter(None, map(_codec, names))))


def _codec(name: str) -> str | None:
    """Python's name of the superset of a declared charset: ``gb18030`` of ``gb2312``; else None."""
    name = name.strip().lower()
    known = _CODECS.get(name)
    if known:
        return known
    match = _SINGLE_BYTE.fullmatch(name)
    if match is None:
        return None
    return f"cp{match[1]}" if match[1] else f"iso8859-{match[2]}"


def utf16_without_mark(body: bytes) -> str | None:
    """Returns the byte order of UTF-16 without a mark, by its markup: ``utf-16-le``; else None."""
    if b"\0" not in body[:4]:  # every other byte of markup is NUL
        return None
    sample = body[:32]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > len(sample) / 4 and even * 8 < odd:
        return "utf-16-le"
    if even > len(sample) / 4 and odd * 8 < even:
        return "utf-16-be"
    return None


def _strict(body: bytes, encoding: str) -> str | None:
    """The text if all bytes are valid, but for a character cut off at the very end; else None."""
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        is_cut = "incomplete" in error.reason or "unexpected end" in error.reason
        if is_cut and error.start > 0 and len(body) - error.start <= 4:
            return body[: error.start].decode(encoding) + _REPLACEMENT
        return None


def _chance_utf8(body: bytes, text: str, declared: list[str]) -> tuple[str, str] | None:
    """The declared charset's text of a few characters that are valid UTF-8 by chance; else None.

    One Chinese character in six has two bytes that are also a UTF-8 character. Symbols and accented
    letters (U+00A0-U+00FF) are the likelier text when UTF-8 gives nothing else.
    """
    encoding = declared[0] if declared else "utf-8"
    if encoding not in _MULTI_BYTE or _THREE_BYTES.search(text):
        return None
    wide = [char for char in text if char > "\x7f"]
    if len(wide) > _FEW_CHARS or all(char <= "\xff" for char in wide):
        return None
    other = _strict(body, encoding)
    return None if other is None else (other, encoding)


def _is_believable(body: bytes, text: str, encoding: str) -> bool:
    """Whether the text is plausible in a declared charset that decodes it without an error."""
    if encoding in _MULTI_BYTE:
        return _wide_chars(text) < _FEW_CHARS or _frequent_share(text, encoding) >= _PLAUSIBLE
    # Single-byte charsets fit all bytes: they are believed unless a two-byte charset fits well.
    if _isolated_share(body) >= _ISOLATED:
        return True
    return all(
        _score(body, other)[0] < _CERTAIN for other, _ in _CONTEST if other in _MULTI_BYTE
    ) and (_utf8_score(body)[0] < _CERTAIN)


def _contest(body: bytes, declared: list[str]) -> tuple[str, str]:
    """(text, charset) with the best score; the declared charsets start with a lead of 0.05."""
    best_score, best_text = _utf8_score(body)
    best_encoding = "utf-8"
    entrants = list(dict.fromkeys([*declared, *(name for name, _ in _CONTEST)]))
    for encoding in entrants:
        if encoding == "utf-8":
            continue
        score, text = _score(body, encoding)
        if encoding in declared:
            score += 0.05
        if score > best_score:
            best_score, best_text, best_encoding = score, text, encoding
    return best_text, best_encoding


def _utf8_score(body: bytes) -> tuple[float, str]:
    """(score, text): 1 for text without an error, below 0 when a third of it is errors."""
    text = body.decode("utf-8", "replace")
    bad = text.count(_REPLACEMENT) - body.count(_REPLACEMENT.encode())
    return 1 - 3 * bad / max(_wide_chars(text), 1), text


def _score(body: bytes, encoding: str) -> tuple[float, str]:
    """(score, text): share of frequent characters less twice the share of replaced bytes."""
    text = body.decode(encoding, "replace")
    wide = max(_wide_chars(text), 1)
    share = _frequent_share(text, encoding)
    if encoding not in _MULTI_BYTE:
        # An alphabet's text has hardly another letter; two-byte text reaches .4 by chance.
        share = max(0.0, 2.5 * share - 1.5)
        isolated = _isolated_share(body)
        share *= isolated if encoding == "cp1252" else 1 - isolated
    return share - 2 * text.count(_REPLACEMENT) / wide, text


def _wide_chars(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _isolated_share(body: bytes) -> float:
    """Share of high bytes that stand alone among ASCII, as accented letters do, 0..1."""
    runs = _HIGH_RUN.findall(body, 0, 100_000)
    return sum(len(run) == 1 for run in runs) / max(sum(map(len, runs)), 1)


def _frequent_share(text: str, encoding: str) -> float:
    """Share of frequent characters of the charset's languages among non-ASCII ones, 0..1."""
    names = _LISTS.get(encoding, ())
    only = text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8")[:_SAMPLE_CHARS]
    counts = (sum(map(_frequent(name).__contains__, only)) for name in names)
    return max(counts, default=0) / max(len(only), 1)


@lru_cache(maxsize=8)
def _frequent(name: str) -> frozenset[str]:
    return frozenset(word_table("frequent_characters")[name])
