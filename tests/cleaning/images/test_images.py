"""Which pictures of a page belong to its text, and what the others are."""

# ruff: noqa: E501 - pieces of pages

from __future__ import annotations

import pytest

from crawlclean import ImageKind, ImageReason, RawPage, clean
from crawlclean.cleaning.images.images import is_about_code, is_icon_by_name, size_by_name

URL = "http://www.example.com/news/2026/a.html"
TEXT = "<p>公园的改造工程今天完工，市民可以入园参观，新的步道很平整，灯光也换了新的。</p>"


def images(html: str) -> list[ImageKind]:
    page = RawPage.from_bytes(URL, f"<title>城市公园改造今日完工</title><body>{html}".encode())
    return [image.kind for image in clean(page).images]


def in_text(picture: str) -> ImageKind:
    """What a picture between two paragraphs is."""
    return images(f"<div class=text>{TEXT}{TEXT}{picture}{TEXT}{TEXT}</div>")[0]


@pytest.mark.parametrize(
    ("name", "is_icon"),
    [
        ("/img/icon_time.gif", True),
        ("/static/avatar/12/34.jpg", True),
        ("http://a.example.com/upload/erweima2.jpg", True),
        ("/share/weibo.png", True),
        ("/img/facebook.png", True),
        ("/upload/facebook-earnings.jpg", False),
        ("/upload/pixel-4-camera.jpg", False),
        ("/upload/silicon-valley.jpg", False),
        ("http://icons.example.com/2026/a.jpg", False),
        ("/upload/2026/11/20.jpg", False),
        ("", False),
    ],
)
def test_names_of_icons(name: str, is_icon: bool) -> None:
    assert is_icon_by_name(name) is is_icon


def test_sizes_in_names() -> None:
    assert size_by_name("/a/photo-740x429.jpg") == (740, 429)
    assert size_by_name("/a/logo_w16_h16.png") == (16, 16)
    assert size_by_name("/w640h360/2026/a.jpg") == (640, 360)
    assert size_by_name("/a/20261120.jpg") is None


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=a.jpg>",
        "<img src=/16x9/a.jpg>",
        "<a href=a_big.jpg><img src=a.jpg></a>",
        "<div class=lightbox><a href=a_big.jpg><img src=a.jpg></a></div>",
        "<img src=lazy.png data-original=a.jpg>",
        "<img src=a.jpg data-src=/img/lazy.png>",
        "<p>图片来自微信公众号</p><img src=a.jpg>",
        "<a href=//other.example.net/big.jpg><img src=a.jpg width=600 height=150></a>",
    ],
)
def test_pictures_of_a_text(picture: str) -> None:
    assert in_text(picture) is ImageKind.CONTENT


@pytest.mark.parametrize(
    "picture",
    [
        "<img src=a_24x24.png>",
        "<img src=a.png alt=关注公众号>",
        "<img src=a.png alt='[微笑]'>",
        "<p>扫描下方二维码，关注我们</p><img src=a.jpg>",
        "<img src=a.jpg style='display:none'>",
        "<img src=a.jpg style='visibility: hidden'>",
        "<img src=a.jpg style='position:absolute;left:-9999px'>",
        "<div class='video-box'><img src=still.jpg></div>",
        "<div class=author-card><img src=a.jpg></div>",
        "<a href=/><img src=a.png></a>",
        "<a href=#top><img src=up.gif></a>",
        "<img src=line.png><img src=line.png><img src=line.png>",
    ],
)
def test_what_stands_among_a_text_and_is_none_of_it(picture: str) -> None:
    assert in_text(picture) is ImageKind.CHROME


def test_squares_behind_a_text_are_codes_and_portraits() -> None:
    def behind(size: str) -> list[ImageKind]:
        return images(f"<div class=text>{TEXT * 4}<p><img src=a.jpg {size}></p></div>")

    assert behind("width=258 height=258") == [ImageKind.CHROME]
    assert behind("width=640 height=640") == [ImageKind.CONTENT]
    assert behind("width=300 height=200") == [ImageKind.CONTENT]


def test_a_picture_under_a_body_of_one_paragraph() -> None:
    long = TEXT[3:-4] * 4
    assert images(f"<div><p>{long}</p><p><img src=a.jpg></p></div>") == [ImageKind.CONTENT]


def test_a_gallery_without_text_belongs_to_the_text_below() -> None:
    captions = "".join(f"<p><img src={i}.jpg width=600><p>图{i}" for i in range(8))
    more = "<p>改造由市里出资，历时两年，新栽的树木有三百棵，儿童乐园也重新铺了地面。</p>"
    page = f"<div class=text>{captions}<div>{TEXT * 4}</div>{more}</div>"
    assert set(images(page)) == {ImageKind.CONTENT}


def test_a_masthead_above_a_text_is_none_of_it() -> None:
    page = (
        f"<div class=page><div class=page-header><img src=a.png></div><div>{TEXT * 4}</div></div>"
    )
    assert images(page) == [ImageKind.CHROME]


def test_pictures_in_links_are_what_their_link_is() -> None:
    titles = [
        "老城区道路拓宽工程下月开工",
        "地铁三号线延长段开始试运行",
        "图书馆新馆开放首日人流如织",
    ]
    cards = "".join(
        f"<li><a href=/n/{i}.html><img src='{src}'></a><a href=/n/{i}.html>{title}</a></li>"
        for i, (title, src) in enumerate(zip(titles, ["a.jpg", "", "b.jpg"], strict=True))
    )
    page = f"<div class=text>{TEXT * 4}</div><aside><h3>热门文章</h3><ul>{cards}</ul></aside>"
    assert images(page) == [ImageKind.THUMB] * 3


def test_what_says_nothing_is_chrome_beside_a_text_alone() -> None:
    page = RawPage.from_bytes(
        URL, f"<div>{TEXT * 4}</div><div><img src=x></div>{'<p>.' * 9}".encode()
    )
    (image,) = clean(page).images
    assert (image.kind, image.score) == (ImageKind.CHROME, 0.3)
    assert image.reason is ImageReason.NO_EVIDENCE


def test_lines_about_codes() -> None:
    assert is_about_code("长按识别二维码")
    assert is_about_code("Scan the QR code")
    assert not is_about_code("扫描电镜照片")
    assert not is_about_code("二维码" + "的历史" * 40)


@pytest.mark.parametrize("box", ["pic", "image", "img-box", "article-img", "photo", "x7"])
@pytest.mark.parametrize(
    "page",
    [
        "<div class=article><h1>城市公园改造今日完工</h1><div class={0}>{1}</div><div class=text>{2}</div></div>",
        "<article><header><h1>城市公园改造今日完工</h1></header><div class={0}>{1}</div>"
        "<div class=wrap><div class=text>{2}</div></div></article>",
        "<div class=article><h1>城市公园改造今日完工</h1><div class=text>{2}</div><div class={0}>{1}</div></div>",
    ],
)
@pytest.mark.parametrize("tag", ["img", "amp-img"])
def test_a_picture_in_a_box_of_its_own_beside_the_text_is_of_the_article(
    page: str, box: str, tag: str
) -> None:
    picture = f"<{tag} src=a.jpg></{tag}>" if tag != "img" else "<img src=a.jpg>"
    side = "<div class=side><h3>热门排行</h3><ul><li><a href=/1>老城区将新修三条公交线路</a></ul></div>"
    assert images(page.format(box, picture, TEXT * 4) + side) == [ImageKind.CONTENT]


@pytest.mark.parametrize(
    "beside",
    [
        "<div class=box><img src=a.jpg><p>作者：李河生</p></div>",
        "<div class=box><a href=/2><img src=a.jpg></a></div>",
        "<div class=box><img src=a.jpg width=120 height=120></div>",
    ],
)
def test_a_portrait_or_a_way_to_another_page_behind_the_text_is_none_of_it(beside: str) -> None:
    page = f"<div class=article><h1>城市公园改造今日完工</h1><div class=text>{TEXT * 4}</div>{beside}</div>"
    assert ImageKind.CONTENT not in images(page + "<div>版权所有</div>")
