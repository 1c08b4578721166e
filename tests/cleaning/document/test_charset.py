from __future__ import annotations

import codecs

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.document.source import Decoded, decode
from crawlclean.cleaning.page_warnings import WarningKind

HANS = (
    "市气象台今天早上发布消息说，受冷空气的影响，未来三天我们这里会有一次明显的降温过程，"
    "请大家出门的时候注意保暖。记者在车站看到，不少人已经穿上了厚衣服，学校也开始供暖。"
)
HANT = (
    "氣象臺今天早上發布消息說，受冷空氣的影響，未來三天我們這裡會有一次明顯的降溫過程，"
    "請大家出門的時候注意保暖。記者在車站看到，不少人已經穿上了厚衣服，學校也開始供暖。"
)
JA = (
    "今日の朝、気象台はこれから三日の間に気温が大きく下がると発表しました。"
    "外に出るときは暖かい服を着てください。駅では多くの人がコートを着ていました。"
)
KO = (
    "기상청은 오늘 아침 앞으로 사흘 동안 기온이 크게 내려갈 것이라고 발표했다. "
    "시민들은 외출할 때 따뜻한 옷을 입고 건강에 주의해야 한다고 말했다."
)
RU = (
    "Сегодня утром метеорологи сообщили, что в ближайшие три дня станет заметно холоднее, "
    "поэтому всем советуют одеваться теплее и беречь здоровье."
)
FR = (
    "Ce matin, la météo a annoncé une baisse très nette des températures à partir de demain ; "
    "les élèves sont invités à se couvrir, où qu'ils aillent cet été."
)
DE = "Für die nächsten Tage wird kälteres Wetter erwartet, drückend schwül wird es später überall."

# text, bytes' charset, its name on the wire, the codec that reads it
LANGUAGES = [
    pytest.param(HANS, "gb18030", "gb2312", "gb18030", id="gb2312"),
    pytest.param(HANS, "gb18030", "GBK", "gb18030", id="gbk"),
    pytest.param(HANT, "gb18030", "gb18030", "gb18030", id="traditional-in-gb18030"),
    pytest.param(HANT, "big5hkscs", "big5", "big5hkscs", id="big5"),
    pytest.param(JA, "cp932", "Shift_JIS", "cp932", id="shift-jis"),
    pytest.param(JA, "euc_jp", "euc-jp", "euc_jp", id="euc-jp"),
    pytest.param(KO, "cp949", "euc-kr", "cp949", id="euc-kr"),
    pytest.param(RU, "cp1251", "windows-1251", "cp1251", id="windows-1251"),
    pytest.param(RU, "koi8-r", "koi8-r", "koi8-r", id="koi8-r"),
    pytest.param(FR, "cp1252", "iso-8859-1", "cp1252", id="latin-1"),
    pytest.param(DE, "cp1252", "windows-1252", "cp1252", id="windows-1252"),
    pytest.param(HANS, "utf-8", "utf-8", "utf-8", id="utf-8"),
]


def page(text: str, declared: str | None) -> str:
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}">'
    return f"<html><head>{meta if declared else ''}<title>{text[:9]}</title><body><p>{text}</p>"


def has(result: Decoded, kind: WarningKind) -> bool:
    return any(warning.kind is kind for warning in result.warnings)


@pytest.mark.parametrize(("text", "charset", "name", "codec"), LANGUAGES)
def test_declared_in_meta(text: str, charset: str, name: str, codec: str) -> None:
    source = page(text, name)
    assert decode(source.encode(charset)) == Decoded(html=source, encoding=codec)


@pytest.mark.parametrize(("text", "charset", "name", "codec"), LANGUAGES)
def test_declared_in_header(text: str, charset: str, name: str, codec: str) -> None:
    source = page(text, None)
    result = decode(source.encode(charset), f'text/html; charset="{name}"')
    assert result == Decoded(html=source, encoding=codec)


@pytest.mark.parametrize(("text", "charset", "name", "codec"), LANGUAGES)
def test_declared_nowhere(text: str, charset: str, name: str, codec: str) -> None:
    del name
    source = page(text, None)
    assert decode(source.encode(charset)) == Decoded(html=source, encoding=codec)


@pytest.mark.parametrize("declared", ["utf-8", "iso-8859-1", "gb2312", "big5"])
@pytest.mark.parametrize(("text", "charset", "name", "codec"), [*LANGUAGES[:7], LANGUAGES[-1]])
def test_wrongly_declared(text: str, charset: str, name: str, codec: str, declared: str) -> None:
    del name
    source = page(text, declared)
    result = decode(source.encode(charset))
    assert result.html == source
    assert result.encoding == codec
    supersets = {"gb2312": "gb18030", "big5": "big5hkscs"}
    assert has(result, WarningKind.WRONG_CHARSET) == (supersets.get(declared, declared) != codec)


@pytest.mark.parametrize(("text", "charset", "name", "codec"), LANGUAGES)
@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_cut_character_at_the_end_changes_nothing(
    text: str, charset: str, name: str, codec: str, cut: int
) -> None:
    whole = page(text, name).removesuffix("</p>").encode(charset)
    result = decode(whole[:-cut])
    assert result.encoding == codec
    assert result.html[:-3] == whole.decode(charset)[: len(result.html) - 3]


@pytest.mark.parametrize(
    ("text", "charset", "name", "codec"), LANGUAGES[:4] + LANGUAGES[5:7] + LANGUAGES[-1:]
)
def test_a_few_bad_bytes_are_replaced(text: str, charset: str, name: str, codec: str) -> None:
    body = page(text * 4, name).encode(charset) + b"<p>\xff</p><p>\xff</p>"
    result = decode(body)
    assert result.encoding == codec
    assert result.html.startswith(page(text * 4, name))
    assert has(result, WarningKind.REPLACED_CHARACTERS)


@pytest.mark.parametrize("declared", ["utf-8", "gb2312", None])
def test_a_page_mostly_in_utf8_stays_utf8(declared: str | None) -> None:
    body = page(HANS * 5, declared).encode() + "<div>版权所有</div>".encode("gb18030")
    result = decode(body)
    assert result.encoding == "utf-8"
    assert HANS * 5 in result.html
    assert has(result, WarningKind.REPLACED_CHARACTERS)


@pytest.mark.parametrize(
    ("bom", "charset"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_a_byte_order_mark_wins(bom: bytes, charset: str) -> None:
    source = page(HANS, "gbk")
    result = decode(bom + source.encode(charset), "text/html; charset=big5")
    assert result == Decoded(html=source, encoding=charset)


@pytest.mark.parametrize(
    ("text", "declared", "html"),
    [
        ("<p>©</p>".encode(), "gbk", "<p>©</p>"),
        ("<p>é à</p>".encode(), "gb2312", "<p>é à</p>"),
        ("<p>学习</p>".encode("gb18030"), "gb2312", "<p>学习</p>"),
        ("<p>联</p>".encode("gb18030"), "gbk", "<p>联</p>"),
        ("<p>模</p>".encode("gb18030"), "gbk", "<p>模</p>"),
    ],
)
def test_a_few_characters_that_are_utf8_by_chance(text: bytes, declared: str, html: str) -> None:
    assert decode(text, f"text/html; charset={declared}").html == html


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b'<?xml version="1.0" encoding="gb2312"?><html>', "gb18030"),
        (b"<meta charset=gb2312>", "gb18030"),
        (b"<META CHARSET='GBK' />", "gb18030"),
        (b"<!-- <meta charset=big5> --><meta charset=gbk>", "gb18030"),
        (b"<script>" + b"x=1;" * 1500 + b"</script><meta charset=gbk>", "gb18030"),
    ],
)
def test_where_a_charset_is_declared(head: bytes, codec: str) -> None:
    # Two characters alone: only the declaration can tell.
    result = decode(head + "<p>猫狗</p>".encode("gb18030"))
    assert (result.encoding, result.html[-9:]) == (codec, "<p>猫狗</p>")


def test_a_replacement_character_in_the_source_is_no_replaced_byte() -> None:
    assert decode("<p>汉字\ufffd</p>".encode()).warnings == ()


def test_ascii_takes_the_declared_name() -> None:
    assert decode(b"<p>a</p>", "text/html; charset=gb2312").encoding == "gb18030"
    assert decode(b"<p>a</p>").encoding == "utf-8"
    assert decode(b"").html == ""


@pytest.mark.parametrize("name", ["rot13", "idna", "unicode_escape", "zlib", "x" * 5000, "utf-7"])
def test_names_of_codecs_that_are_no_charset_are_not_obeyed(name: str) -> None:
    assert decode(b"<p>+ADw-\\u4e2d</p>", f"text/html; charset={name}").html == (
        "<p>+ADw-\\u4e2d</p>"
    )


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=30)))
def test_decode_never_raises(body: bytes, content_type: str | None) -> None:
    result = decode(body, content_type)
    "".encode(result.encoding)


@given(st.text(max_size=200))
def test_utf8_text_comes_back(text: str) -> None:
    source = "<p>汉字的网页</p>" + text.replace("\ud800", "")
    assert decode(source.encode("utf-8", "replace")).html == source.encode(
        "utf-8", "replace"
    ).decode("utf-8")
