from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.metadata.dates import MAX_CHARS, find_date, read_timestamp, zone_of
from tests.kit.some import some

CHINA = timezone(timedelta(hours=8))
NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
FORMS = (
    "{0.year}年{0.month}月{0.day}日", "{0:%Y-%m-%d}", "{0:%Y/%m/%d}", "{0:%Y.%m.%d}",
    "{0:%d.%m.%Y}", "{0:%B} {0.day}, {0.year}",
    "{0.day} {0:%b} {0.year}", "{0:%a, %d %b %Y}", "{0:%m/%d/%Y}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2014年3月8日 15:20", "2014-03-08T15:20:00+08:00"),
        ("发布时间：2014-03-08 15:20:11", "2014-03-08T15:20:11+08:00"),
        ("2014年03月08日(周六)15:20", "2014-03-08T15:20:00+08:00"),
        ("2014-03-08 下午 03:20", "2014-03-08T15:20:00+08:00"),
        ("二〇一四年三月八日", "2014-03-08T00:00:00+08:00"),
        ("二〇二三年十一月二十三日", "2023-11-23T00:00:00+08:00"),
        ("03/08/2014", "2014-03-08T00:00:00+08:00"),
        ("25/12/2019", "2019-12-25T00:00:00+08:00"),
        ("March 8, 2014 3:20 pm EST", "2014-03-08T15:20:00-05:00"),
        ("8. März 2014", "2014-03-08T00:00:00+08:00"),
        ("8 mars 2014 à 15h20", "2014-03-08T15:20:00+08:00"),
        ("民國103年3月8日", "2014-03-08T00:00:00+08:00"),
        ("中華民國一百零三年三月八日 下午 03:20", "2014-03-08T15:20:00+08:00"),
        ("中華民國九十八年十二月卅一日", "2009-12-31T00:00:00+08:00"),
        ("發布日期：103年3月8日", "2014-03-08T00:00:00+08:00"),
        ("08 | 03 | 2014", "2014-03-08T00:00:00+08:00"),
        ("8. 3. 2014", "2014-03-08T00:00:00+08:00"),
        ("2014-03-08T07:20:00Z", "2014-03-08T07:20:00+00:00"),
        ("Sat, 08 Mar 2014 07:20:00 GMT", "2014-03-08T07:20:00+00:00"),
        ("3小时前", "2026-11-20T14:00:00+08:00"),
        ("昨天 12:30", "2026-11-19T12:30:00+08:00"),
        ("2 hours ago", "2026-11-20T15:00:00+08:00"),
        ("03-08 15:20", "2026-03-08T15:20:00+08:00"),
        ("12-08 15:20", "2025-12-08T15:20:00+08:00"),  # not in the future of the fetch
    ],
)
def test_forms(text: str, when: str) -> None:
    assert some(find_date(text, CHINA, NOW)).when.isoformat() == when


@pytest.mark.parametrize(
    "text",
    [
        "",
        "blog.undefined.today",
        "today.example.com",
        "not-today",
        "2014-13-08",
        "192.168.2014.3",
        "一百二十年",
        "1234567890",
        "2014",
        "2014-02-30",
        "May",
        "today's road",
        "公元103年3月8日",
        "08.03.14",  # no language that writes the day first
        "8 listopad 20",
    ],
)
def test_no_dates(text: str) -> None:
    assert find_date(text, CHINA, NOW) is None


@pytest.mark.parametrize(
    ("language", "text", "month"),
    [
        ("de", "08.03.14, 10:20 Uhr", 3), ("de", "8.März 2014", 3), ("fr", "8 févr. 2014", 2),
        ("pl", "8 października 2014", 10), ("pl", "8 listopada 2014", 11),
        ("hr", "8. listopada 2014.", 10), ("cs", "8. července 2014", 7),
        ("ru", "8 августа 2014", 8), ("uk", "8 лютого 2014 р.", 2), ("el", "8 Μαρτίου 2014", 3),
        ("tr", "8 Ağustos 2014", 8),
        ("fi", "8. marraskuuta 2014", 11), ("hu", "2014. augusztus 8.", 8),
        ("lt", "2014 m. kovo 8 d.", 3), ("ca", "8 d'abril de 2014", 4), ("ar", "8 أكتوبر 2014", 10),
        ("hi", "8 जनवरी 2014", 1), ("id", "8 Agustus 2014", 8), ("fi", "Mar 8, 2014", 3),
        (None, "8 сентября 2014", 9),
    ],
)  # fmt: skip
def test_months_of_languages(language: str | None, text: str, month: int) -> None:
    assert some(find_date(text, UTC, None, language)).when.date() == date(2014, month, 8)


def test_relative_dates_need_to_know_now() -> None:
    assert find_date("3小时前", CHINA) is None
    assert find_date("03-08 15:20", CHINA) is None


def test_the_order_of_day_and_month_is_the_languages() -> None:
    english, german = (find_date("03/08/2014", UTC, None, code) for code in ("en", "de"))
    assert english is not None
    assert german is not None
    assert (english.when.month, german.when.month) == (3, 8)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("20140308", "2014-03-08T00:00:00+08:00"),
        ("20140308152011", "2014-03-08T15:20:11+08:00"),
        ("20140308T15:20:11Z", "2014-03-08T15:20:11+00:00"),
        ("1394263200", "2014-03-08T07:20:00+00:00"),
        ("1394263200000", "2014-03-08T07:20:00+00:00"),
        ("2014-03-08T15:20:00.123+09:00", "2014-03-08T15:20:00+09:00"),
    ],
)
def test_timestamps(text: str, when: str) -> None:
    assert some(read_timestamp(text, CHINA)).when.isoformat() == when


def test_zones() -> None:
    assert zone_of("zh").utcoffset(None) == timedelta(hours=8)
    assert zone_of("ja").utcoffset(None) == timedelta(hours=9)
    assert zone_of("en") is zone_of(None) is UTC


@given(
    st.dates(date(1991, 1, 1), date(2099, 12, 31)),
    st.sampled_from(FORMS),
    st.text("发布时间：来源记者 ", max_size=12),
)
def test_every_form_of_every_day(day: date, form: str, before: str) -> None:
    assert some(find_date(f"{before} {form.format(day)} {before}", CHINA)).when.date() == day


@given(st.text(max_size=500))
def test_any_text(text: str) -> None:
    for found in (find_date(text, UTC, NOW), read_timestamp(text, UTC)):
        assert found is None or found.when.tzinfo is not None


@pytest.mark.parametrize(
    "piece", ["1", "12-", "2014", "2014-1-", "Mar ", "年", "一二三四", " ", "1:1 "]
)
def test_long_lines_cost_no_more_than_short_ones(piece: str) -> None:
    text = piece * MAX_CHARS
    assert find_date(text * 50, CHINA, NOW) == find_date(text[:MAX_CHARS], CHINA, NOW)


@pytest.mark.parametrize("number", ["9999", "9" * 9, "9" * 400])
@pytest.mark.parametrize("unit", ["年前", "天前", "秒前", " days ago", " years ago"])
def test_a_relative_date_out_of_range_is_none(number: str, unit: str) -> None:
    found = find_date(f"{number}{unit}", CHINA, NOW)
    assert found is None or found.when.year >= 1990
    assert find_date("9999年前", CHINA, NOW) is None
