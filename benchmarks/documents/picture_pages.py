"""The pages of the picture of README: a small site, written for the project, in two languages."""

from __future__ import annotations

from dataclasses import dataclass

SITE = "harbour.example"
OTHERS = 9


@dataclass(frozen=True)
class Texts:
    """The texts of a page and of the picture around it, in one language.

    Attributes:
        language: ``en`` or ``zh``.
        before, after: Heads of the two columns.
        legend: Labels of body, fields, related links, removed parts.
        learned: Label of the model in the record.
        menu: Names in the menu.
        advert: Text of the advertising image.
        title: Title of the article.
        site: End of all titles.
        by: Line of author and date.
        image: Description of the image in the article.
        paragraphs: The article.
        share: Links below the article.
        more: Head and titles of the related links.
        hot: Head and titles of the list that every page has.
        foot: The last line.
    """

    language: str
    before: str
    after: str
    legend: tuple[str, str, str, str]
    learned: str
    menu: tuple[str, ...]
    advert: str
    title: str
    site: str
    by: str
    image: str
    paragraphs: tuple[str, ...]
    share: tuple[str, ...]
    more: tuple[str, ...]
    hot: tuple[str, ...]
    foot: str


PAGES = {
    "en": Texts(
        language="en",
        before="A page as fetched",
        after="Its record",
        legend=("body", "title, author, date", "related links", "cut from the text"),
        learned="made with a model of 10 pages",
        menu=("Home", "News", "Boats", "Weather", "About us", "Log in"),
        advert="Advertisement: ropes and anchors, now 20 % off",
        title="The old lighthouse is lit again",
        site="Harbour News",
        by="By Mara Lind, 2026-03-14 09:20",
        image="the lighthouse at dusk",
        paragraphs=(
            "After eleven dark years, the lighthouse on the northern pier was lit again on Friday "
            "evening. More than two hundred people stood on the pier, although it rained.",
            "The lamp is the old one. Two retired engineers cleaned its lens over the winter and "
            "replaced the burner by an electric one, which needs less power than a kettle.",
            "Ships do not need the light any more. But the fishermen had asked for it: on foggy "
            "nights, they said, a light is still quicker to read than a screen.",
        ),
        share=("Print", "Send by mail", "Share"),
        more=("Related", "How the lens was cleaned", "The pier in 1931: ten photographs"),
        hot=("Most read", "Ferry timetable for the summer", "Fish market moves to the new hall"),
        foot="© Harbour News. All rights reserved. Terms and conditions apply.",
    ),
    "zh": Texts(
        language="zh",
        before="抓取到的网页",
        after="清洗后的记录",
        legend=("正文", "标题、作者、日期", "相关链接", "从正文中去除"),
        learned="使用由 10 个网页学到的模型",
        menu=("首页", "新闻", "渔船", "天气", "关于我们", "登录"),
        advert="广告：缆绳与船锚，全场八折",
        title="老灯塔重新亮起来了",
        site="海港新闻",
        by="作者：林小海　2026-03-14 09:20",
        image="黄昏中的灯塔",
        paragraphs=(
            "熄灭了十一年之后，北码头的灯塔在星期五晚上重新亮了起来。虽然下着雨，仍有两百多人站在码头上观看。",
            "塔里的灯还是原来那一盏。两位退休的工程师用了一个冬天擦净透镜，又把油灯换成电灯，它的耗电还不如一只水壶。",
            "如今的船只已经不再需要灯塔。可是渔民们还是提出了请求：在有雾的夜里，看灯总比看屏幕来得快。",
        ),
        share=("打印", "邮件转发", "分享"),
        more=("相关链接", "透镜是怎样擦净的", "一九三一年的码头：十张老照片"),
        hot=("热门文章", "夏季渡船时刻表", "鱼市搬进新大厅"),
        foot="© 海港新闻 版权所有，未经许可不得转载本站内容。",
    ),
}
OTHER_SENTENCES = {
    "en": (
        "The {n} boats of the cooperative left at four in the morning and came back before noon.",
        "In hall {n} the nets are mended by hand, as they were when the harbour was built.",
        "The council will vote in {n} weeks; until then the northern road stays closed at night.",
    ),
    "zh": (
        "合作社的{n}条渔船清晨四点出港，中午以前全部平安返回了码头。",
        "第{n}号大厅里的渔网至今仍用手工修补，和海港刚建成时一样。",
        "镇议会将在{n}周以后表决，在此之前，北边的道路夜间不开放。",
    ),
}


def page_html(texts: Texts) -> dict[str, str]:
    """Returns the pages of the site by URL; the one of the picture comes first."""
    pages = {_url(0): _page(texts, 0, texts.title, texts.by, texts.paragraphs, texts.more)}
    for n in range(1, OTHERS + 1):
        sentences = OTHER_SENTENCES[texts.language]
        lines = [line.format(n=7 * n + k) for k in range(2) for line in sentences]
        title = f"{texts.menu[2]} {n}"
        by = texts.by.replace("03-14", f"03-{n:02d}")
        more = (texts.more[0], f"{texts.menu[1]} {n + 20}", f"{texts.menu[1]} {n + 40}")
        pages[_url(n)] = _page(texts, n, title, by, tuple(lines), more)
    return pages


def _url(n: int) -> str:
    return f"https://{SITE}/news/{100 + n}.html"


def _page(
    texts: Texts, n: int, title: str, by: str, paragraphs: tuple[str, ...], more: tuple[str, ...]
) -> str:
    menu = " ".join(f'<a href="/m{k}/">{name}</a>' for k, name in enumerate(texts.menu))
    first, *rest = paragraphs
    body = "".join(f"<p>{line}</p>" for line in rest)
    share = " ".join(f'<a href="/do{k}?id={n}">{name}</a>' for k, name in enumerate(texts.share))
    return f"""<!DOCTYPE html><html lang="{texts.language}"><head><meta charset="utf-8">
<title>{title} - {texts.site}</title></head><body>
<div class="menu">{menu}</div>
<div class="banner"><img src="/ads/rope.gif" width="468" height="60" alt="{texts.advert}"></div>
<h1>{title}</h1><div class="by">{by}</div>
<div class="text"><p>{first}</p><img src="/photo/{n}.jpg" width="640" height="420"
 alt="{texts.image}">{body}</div>
<div class="share">{share}</div>
<div class="more"><h3>{more[0]}</h3>{_links(more, n)}</div>
<div class="hot"><h3>{texts.hot[0]}</h3>{_links(texts.hot, 900)}</div>
<div class="foot">{texts.foot}</div></body></html>"""


def _links(texts: tuple[str, ...], n: int) -> str:
    items = (
        f'<li><a href="/news/{300 + 10 * n + k}.html">{text}</a></li>'
        for k, text in enumerate(texts[1:])
    )
    return f"<ul>{''.join(items)}</ul>"
