"""Charsets as they are met: stray bytes, contradictions, marks, escapes, double encodings."""

from __future__ import annotations

import codecs

import pytest

from crawlclean.cleaning.document.source import decode
from crawlclean.cleaning.page_warnings import WarningKind
from tests.cleaning.document.test_charset import FR, HANS, HANT, JA, KO, RU, has, page

RARE = "𠀀𠮷㐀䶵龥"  # beyond GBK: four bytes in GB18030
HONG_KONG = "嘅喺咗啲嚟冇係佢哋嗰"
UA = "Сьогодні вранці метеорологи повідомили, що в найближчі три дні стане помітно холодніше."
GR = "Σήμερα το πρωί οι μετεωρολόγοι ανακοίνωσαν ότι τις επόμενες ημέρες θα κάνει κρύο."
HE = "הבוקר הודיעו החזאים כי בשלושת הימים הקרובים יהיה קר יותר"
TH = "เช้าวันนี้กรมอุตุนิยมวิทยาประกาศว่าอากาศจะเย็นลงในสามวันข้างหน้า"
TR = "Bu sabah meteoroloji önümüzdeki üç gün havanın soğuyacağını açıkladı, şemsiye alın."
PL = "Dziś rano meteorolodzy ogłosili, że w ciągu najbliższych dni będzie zimniej."
QUOTES = "“It’s 20 € – or so”, he said… ‘Really?’ • ™"

# id: bytes, Content-Type's charset, the codec, text that has to be there
CASES: dict[str, tuple[bytes, str | None, str, str]] = {
    "gb18030 four bytes": (page(HANS + RARE, "gb18030").encode("gb18030"), None, "gb18030", RARE),
    "gbk says gb2312": (page(HANS + "镕堃喆", "gb2312").encode("gbk"), None, "gb18030", "镕堃喆"),
    "gbk with euro": (page(HANS + "€", "gbk").encode("gb18030"), None, "gb18030", HANS),
    "gbk, a stray byte": (page(HANS, "gbk").encode("gbk") + b"\xff<p>", None, "gb18030", HANS),
    "gbk, a stray lead byte": (
        page(HANS, "gbk").encode("gbk").replace(b"</p>", b"") + b"\x81</p>", None, "gb18030", HANS,
    ),
    "big5-hkscs": (
        page(HANT + HONG_KONG, "big5-hkscs").encode("big5hkscs"), None, "big5hkscs", HONG_KONG,
    ),
    "big5 says big5, hkscs inside": (
        page(HANT + HONG_KONG, "big5").encode("big5hkscs"), None, "big5hkscs", HONG_KONG,
    ),
    "utf-16 le, no mark": (page(HANS, None).encode("utf-16-le"), None, "utf-16-le", HANS),
    "utf-16 be, no mark": (page(HANS, None).encode("utf-16-be"), None, "utf-16-be", HANS),
    "utf-16 says the meta, utf-8 it is": (page(HANS, "utf-16").encode(), None, "utf-8", HANS),
    "odd length of utf-16": (codecs.BOM_UTF16_LE + page(HANS, None).encode("utf-16-le") + b"x",
                             None, "utf-16-le", HANS),
    "hz": (page(HANS, None).encode("hz"), "hz-gb-2312", "hz", HANS),
    "iso-2022-jp": (page(JA, None).encode("iso2022_jp"), "iso-2022-jp", "iso2022_jp", JA),
    "iso-2022-jp in the meta": (page(JA, "iso-2022-jp").encode("iso2022_jp"), None, "iso2022_jp",
                                JA),
    "header and meta at odds, meta right": (page(HANS, "gbk").encode("gbk"), "big5", "gb18030",
                                            HANS),
    "header and meta at odds, header right": (page(HANS, "big5").encode("gbk"), "gbk", "gb18030",
                                              HANS),
    "mark twice": (codecs.BOM_UTF8 * 2 + page(HANS, None).encode(), None, "utf-8", HANS),
    "mark inside": (page("\ufeff" + HANS, None).encode(), None, "utf-8", HANS),
    "cut in a gbk character": (page(HANS, "gbk").encode("gbk")[: -len("</p>") - 1], None,
                               "gb18030", HANS[:20]),
    "cut in a four-byte character": (
        page(HANS + "𠀀", "gb18030").encode("gb18030")[: -len("</p>") - 2], None, "gb18030", HANS,
    ),
    "smart quotes as windows-1252": (page(QUOTES, "iso-8859-1").encode("cp1252"), None, "cp1252",
                                     QUOTES),
    "smart quotes, nothing said": (page(FR + QUOTES, None).encode("cp1252"), None, "cp1252",
                                   QUOTES),
    "euc-kr": (page(KO, "ks_c_5601-1987").encode("cp949"), None, "cp949", KO),
    "uhc beyond euc-kr": (page(KO + "똠방", "euc-kr").encode("cp949"), None, "cp949", "똠방"),
    "shift_jis with nec letters": (page(JA + "①㈱髙", "shift_jis").encode("cp932"), None, "cp932",
                                   "①㈱髙"),
    "half-width kana": (page(JA + "ｱｲｳ", "shift_jis").encode("cp932"), None, "cp932", "ｱｲｳ"),
    "euc-jp": (page(JA, "x-euc-jp").encode("euc_jp"), None, "euc_jp", JA),
    "koi8-u": (page(UA, "koi8-u").encode("koi8-u"), None, "koi8-u", UA),
    "windows-1251": (page(RU, "win-1251").encode("cp1251"), None, "cp1251", RU),
    "ibm866": (page(RU, "ibm866").encode("cp866"), None, "cp866", RU),
    "iso-8859-5": (page(RU, "iso-8859-5").encode("iso8859-5"), None, "iso8859-5", RU),
    "iso-8859-7": (page(GR, "iso-8859-7").encode("iso8859-7"), None, "iso8859-7", GR),
    "windows-1255": (page(HE, "windows-1255").encode("cp1255"), None, "cp1255", HE),
    "tis-620": (page(TH, "tis-620").encode("cp874"), None, "cp874", TH),
    "iso-8859-9": (page(TR, "iso-8859-9").encode("cp1254"), None, "cp1254", TR),
    "iso-8859-2": (page(PL, "iso-8859-2").encode("iso8859-2"), None, "iso8859-2", PL),
    "refresh before the charset": (
        b"<meta http-equiv=refresh content='5;url=x?charset=big5'>"
        + page(HANS, "gbk").encode("gbk"), None, "gb18030", HANS,
    ),
    "xml declaration of one word": (
        b"<?xml version='1.0' encoding='EUC-JP' ?>" + page(JA, None).encode("euc_jp"), None,
        "euc_jp", JA,
    ),
    "two charsets in a header": (page(HANS, None).encode("gbk"), "gbk; charset=utf-8", "gb18030",
                                 HANS),
    "a charset nobody knows": (page(HANS, "x-unknown").encode("gbk"), "none", "gb18030", HANS),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CASES))
def test_read_as_it_was_meant(case: str) -> None:
    body, charset, encoding, text = CASES[case]
    result = decode(body, f"text/html; charset={charset}" if charset else None)
    assert result.encoding == encoding
    assert text in result.html


def test_utf8_encoded_twice_is_utf8_all_the_same() -> None:
    """What the page's server mangled is not guessed back: it is what browsers show, too."""
    body = page(FR, "utf-8").encode().decode("cp1252", "replace").encode()
    result = decode(body)
    assert result.encoding == "utf-8"
    assert "mÃ©tÃ©o" in "".join(result.html) or "Ã©" in result.html


@pytest.mark.parametrize("case", ["gbk, a stray byte", "cut in a gbk character"])
def test_what_was_replaced_is_said(case: str) -> None:
    assert has(decode(CASES[case][0]), WarningKind.REPLACED_CHARACTERS)
