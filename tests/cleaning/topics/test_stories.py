"""Copies are found although they were edited, cut and framed; equal templates make no story."""

from __future__ import annotations

import random
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.topics.stories import (
    KEYS,
    LEAST_CHARS,
    SIGNATURE_BYTES,
    agreeing,
    is_same_story,
    story_keys,
    story_signature,
)

CHINESE = [chr(code) for code in range(0x4E00, 0x4E00 + 2_500)]
WORDS = ["".join(random.Random(n).choices("etaoinshrdlu", k=2 + n % 7)) for n in range(900)]


def chinese(seed: int, chars: int) -> str:
    chance = random.Random(seed)
    lines = ["".join(chance.choices(CHINESE, k=40)) for _ in range(-(-chars // 40))]
    return "，\n".join(lines)[:chars]


def english(seed: int, words: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def edited(text: str, share: float) -> str:
    """The text with a share of its characters replaced, removed, or followed by another."""
    chance = random.Random(len(text))
    changed = []
    for char in text:
        other = chance.choice(text)
        ways = (other, "", char + other)
        changed.append(chance.choice(ways) if chance.random() < share else char)
    return "".join(changed)


def same(first: str, second: str) -> bool:
    return is_same_story(story_signature(first), len(first), story_signature(second), len(second))


@pytest.mark.parametrize("text", [chinese(1, 900), english(1, 300)], ids=["zh", "en"])
def test_a_copy_is_found_however_it_was_changed(text: str) -> None:
    third = len(text) // 3
    frame = chinese(2, 120)
    whole = f"{frame}\n{edited(text[:-third], 0.03)}\n{frame[::-1]}"
    for copy in (edited(text, 0.02), edited(text, 0.05), text[third:], text[:-third], whole):
        assert same(text, copy)
        keys = [set(story_keys(story_signature(each))) for each in (text, copy)]
        assert keys[0] & keys[1]


def test_a_text_without_its_first_third_is_a_copy_also_when_it_is_long() -> None:
    text = chinese(3, 12_000)
    assert same(text, text[len(text) // 3 :])


def test_pages_of_a_template_with_200_shared_characters_are_no_copies() -> None:
    template = chinese(4, 200)
    pages = [template + chinese(10 + n, 700) for n in range(8)]
    assert not any(same(pages[0], page) for page in pages[1:])
    short = [template + chinese(30 + n, 250) for n in range(6)]  # a third of the page
    signatures = [story_signature(page) for page in short]
    assert not any(
        is_same_story(signatures[0], 450, each, 450, same_host=True) for each in signatures[1:]
    )


def test_verse_and_code_are_told_apart() -> None:
    verses = ["\n".join(chinese(50 + n, 400)[i : i + 7] for i in range(0, 280, 7)) for n in (0, 1)]
    code = [
        "\n".join(f"    {name}_{n} = read({name!r}, {n})" for n in range(20))
        for name in ("lighthouse", "ferryman")
    ]
    for first, second in (verses, code):
        assert not same(first, second)
        assert same(first, "\n" + first.replace("\n", "\n\n"))


def test_short_notes_have_no_signature() -> None:
    note = "好" * (LEAST_CHARS - 1) + "，。！ \n"
    assert story_signature(note) == b"" == story_signature("")
    assert len(story_signature(note + "好")) == SIGNATURE_BYTES
    assert story_keys(b"") == ()
    assert not is_same_story(b"", 99, b"", 99)


def test_a_page_of_several_stories_is_no_copy_of_one() -> None:
    story = chinese(5, 400)
    assert not same(story, story + chinese(6, 900))


def test_other_forms_of_the_same_letters_change_nothing() -> None:
    text = english(7, 60) + " déjà vu à Besançon " + chinese(7, 100) + "２０２６ ＡＢＣ"
    plain = unicodedata.normalize("NFKC", text).upper()
    assert story_signature(plain) == story_signature(text)
    assert story_signature(unicodedata.normalize("NFD", text)) == story_signature(text)


@given(st.text(max_size=400))
def test_any_text_has_a_signature_that_depends_on_nothing_else(text: str) -> None:
    signature = story_signature(text)
    assert len(signature) in (0, SIGNATURE_BYTES)
    assert signature == story_signature(text)
    assert agreeing(signature, signature) in (0, 64)
    keys = story_keys(signature)
    assert len(keys) in (0, KEYS)
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 1 << 29 for key in keys)


def test_lone_surrogates_and_letters_beyond_the_first_plane_are_read() -> None:
    text = "\ud800" + "".join(chr(0x20000 + n) for n in range(200))
    assert story_signature(text) == story_signature(text + "\udfff")


NOTICE = (
    "关于举办{year}年{level}级等级考试的通知。各考点请于{day}日前完成报名,考试定于上午{hour}点开始,考生须携带身份证与"
    "准考证,提前到达考场。成绩将在考试结束后公布,请考生留意网站公告,逾期不予受理。请互相转告,谢谢合作,祝各位考生取得好成绩,"
    "并请考点老师做好准备。"
)
FACTS = {"year": "2026", "level": "A1", "day": "5", "hour": "9"}


@pytest.mark.parametrize(
    "other",
    [{"level": "C2"}, {"day": "16"}, {"year": "2025"}, {"day": "9", "hour": "5"}, {"level": "三"}],
)
@pytest.mark.parametrize("same_host", [True, False])
def test_short_notices_with_other_numbers_are_no_copies(
    other: dict[str, str], same_host: bool
) -> None:
    first, second = NOTICE.format(**FACTS), NOTICE.format(**FACTS | other)
    signatures = story_signature(first), story_signature(second)
    assert not is_same_story(
        signatures[0], len(first), signatures[1], len(second), same_host=same_host
    )
    assert not set(story_keys(signatures[0])) & set(story_keys(signatures[1]))
    reprint = f"转载:{second}责任编辑小王"
    again = story_signature(reprint)
    assert is_same_story(signatures[1], len(second), again, len(reprint), same_host=same_host)


@pytest.mark.parametrize(
    ("form", "facts"),
    [
        (
            "{0}合唱团招新:每{0}晚在文化馆三楼活动,欢迎喜爱唱歌的邻居参加,不限年龄,会不会识谱都"
            "可以。指导老师从音乐学院请来,教大家发声与合唱,年底在剧院演出。请到文化馆服务台报名"
            ",或在公众号里留言,名额有限,报满为止,请带上水杯和铅笔准时来到排练厅,谢谢合作。",
            ("周二", "周四", "星期六"),
        ),
        (
            "{0}汉语口语班开班。{0}班面向在本市工作的外国朋友,由有经验的老师小班授课,教材在前台"
            "领取,旁听免费,学费可以分期。课程包括发音、会话与书写,结业时颁发证书。请带护照复印"
            "件到前台登记,也可以请朋友代办,教室在图书馆旁边的小楼,附近有地铁站和停车场,欢迎前来"
            "。",
            ("初级", "中级", "高级"),
        ),
        (
            "{0}号自行车租赁说明:押金{0}元,在桥头小屋办理,请出示证件。车辆使用前请检查刹车和铃"
            "铛,还车时锁好并把钥匙交给管理员。雨雪天停止出租,损坏照价赔偿,请勿带人,勿在人行道上"
            "骑行,也不要骑出景区大门。祝大家玩得愉快,平安归来,欢迎下次再来这里看湖赏花。",
            ("三十", "五十", "一百二十"),
        ),
        (
            "The ferry of line {0} does not run this week because its engine is repaired. "
            "Please take the bus at the harbour, tickets of line {0} are valid there. We are "
            "sorry for the delay, and thank all who wait at the pier in the rain for their "
            "patience with the crew.",
            ("A", "B", "IV"),
        ),
        (
            "The pool is closed on {0} for cleaning. Courses of {0} take place in the school "
            "hall next to the bakery; bring shoes for the gym instead of fins. Season tickets "
            "are longer valid by that time, and the café by the lawn stays open for guests "
            "with children.",
            ("Monday", "thursday", "September"),
        ),
        (
            "A basket of apples from the orchard behind the mill costs {0} crowns until the "
            "snow comes. They are picked by hand, and sorted in the barn; whoever helps gets a "
            "glass of cider. Ask at the gate, ring the bell loudly, and mind the geese on the "
            "path.",
            ("five", "Nine", "12"),
        ),
    ],
)  # fmt: skip
def test_short_notices_of_other_days_levels_and_prices_are_no_copies(
    form: str, facts: tuple[str, ...]
) -> None:
    texts = [form.format(each) for each in facts]
    signatures = [story_signature(each) for each in texts]
    for one, other in combinations(range(len(texts)), 2):
        assert not is_same_story(
            signatures[one], len(texts[one]), signatures[other], len(texts[other]), same_host=True
        )
    framed = f"{texts[0]} —— 转发"
    again = story_signature(framed)
    assert is_same_story(signatures[0], len(texts[0]), again, len(framed))
