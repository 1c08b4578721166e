from __future__ import annotations

import pytest

from crawlclean import CleanRecord, ImageKind, RawPage, clean
from tests.kit.timing import timed

LONG = "凌晨四点，城墙根下的早市第一次在新搭的棚子里开张，摊主们说棚子不漏雨，地也好扫。"
MORE = "管理处的人说，摊位费三年不涨，水电另算；原来露天的摊主，也都抽签分到了位置。"


def read(inside: str) -> CleanRecord:
    page = f"<title>早市搬进新棚</title><div class=art><p>{LONG}</p>{inside}<p>{MORE}</p></div>"
    return clean(RawPage.from_bytes("http://a.example/1", page.encode()))


def captions_of(inside: str) -> list[str]:
    record = read(inside)
    assert [image.kind for image in record.images] == [ImageKind.CONTENT] * len(record.images)
    return [image.caption for image in record.images]


@pytest.mark.parametrize(
    ("inside", "caption"),
    [
        ("<figure><img src=a.jpg><figcaption>新棚的北门</figcaption></figure>", "新棚的北门"),
        ("<div class=wp-caption><img src=a.jpg><p class=wp-caption-text>北门</div>", "北门"),
        ("<div><img src=a.jpg><div class='pic-desc'>新棚的北门</div></div>", "新棚的北门"),
        ("<p><img src=a.jpg></p><p>图为新棚的北门。</p>", "图为新棚的北门。"),
        ("<p><img src=a.jpg></p><p>▲新棚的北门</p>", "▲新棚的北门"),
        ("<p><img src=a.jpg></p><p>新棚北门。记者王山 摄</p>", "新棚北门。记者王山 摄"),
        ("<p><img src=a.jpg></p><p align=center>新棚的北门</p>", "新棚的北门"),
        ("<p><img src=a.jpg></p><center>新棚的北门</center>", "新棚的北门"),
        ("<p><img src=a.jpg><br>新棚的北门</p>", "新棚的北门"),
        ("<p><img src=a.jpg alt='新棚的北门和灯'></p>", "新棚的北门和灯"),
        ("<p><img src=a.jpg title='新棚的北门和灯'></p>", "新棚的北门和灯"),
        # No captions: the title, a file, a word for any picture, a paragraph, a heading, verse.
        ("<p><img src=a.jpg alt='早市搬进新棚'></p>", ""),
        ("<p><img src=a.jpg alt='DSC_1234.JPG'></p>", ""),
        ("<p><img src=a.jpg alt='点击查看大图'></p>", ""),
        ("<p><img src=a.jpg></p>", ""),
        ("<p><img src=a.jpg></p><p>价钱没有涨。</p>", ""),
        ("<p><img src=a.jpg></p><h3 align=center>价钱没有涨</h3>", ""),
        ("<p><img src=a.jpg></p><p align=center>早市</p><p align=center>灯下一棚新菜</p>", ""),
    ],
)  # fmt: skip
def test_the_caption_of_a_picture(inside: str, caption: str) -> None:
    assert captions_of(inside) == [caption]


def test_each_picture_has_its_own() -> None:
    inside = "".join(f"<p><img src={n}.jpg></p><p>图为棚子的第{n}道门</p>" for n in "123")
    assert captions_of(inside) == ["图为棚子的第1道门", "图为棚子的第2道门", "图为棚子的第3道门"]
    row = "".join(f"<div><img src={n}.jpg><p class=caption>门{n}口</p></div>" for n in "12")
    assert captions_of(f"<div>{row}</div>") == ["门1口", "门2口"]
    assert captions_of("<p><img src=a.jpg><img src=b.jpg></p><p>图为北门</p>") == ["", "图为北门"]


def test_an_alt_text_of_many_pictures_says_nothing() -> None:
    assert captions_of("".join(f"<p><img src={n}.jpg alt='早市的照片一组'></p>" for n in "12")) == [
        "",
        "",
    ]


def test_markdown_shows_the_caption_once() -> None:
    inside = "<figure><img src=a.jpg alt=x><figcaption>新棚的北门</figcaption></figure>"
    markdown = read(inside).markdown
    assert "![新棚的北门](http://a.example/a.jpg)" in markdown
    assert markdown.count("新棚的北门") == 1


def test_many_pictures_take_linear_time() -> None:
    seconds = []
    for n in (1500, 3000):
        with timed() as took:
            read("".join(f"<div><div><div><img src={i}.jpg></div>文</div></div>" for i in range(n)))
        seconds.append(took.seconds)
    assert seconds[1] < 2.6 * seconds[0] + 0.1
