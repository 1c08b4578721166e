"""What links are where their host is known: what repeats is noise, unless a list explains it."""

from __future__ import annotations

from crawlclean import CleanRecord, LinkKind, LinkReason, RawPage, clean, learn_site

TEXT = "<p>第{n}{i}号渔船昨天夜里回到了港口，船上的人都说那边的风浪比往年大得多，一夜没有合眼。</p>"
POPULAR = "<a href=/news/9001.html>全市渔民技能大赛今天开幕</a>"


def article(n: int, behind: str = "", extra: str = "") -> RawPage:
    text = "".join(TEXT.format(n=n, i=i) for i in range(4))
    return RawPage.from_bytes(
        f"http://www.example.com/news/{n}.html",
        f"""<title>渔港见闻之{n}_海边小站</title><div class=top><a href=/>首页</a></div>
        <div class=article><h1>渔港见闻之{n}</h1>{text}{extra}</div>{behind}
        <div class=side><h3>热门文章</h3><p>{POPULAR}</p></div>""".encode(),
    )


def headlines(*numbers: int) -> str:
    rows = "".join(f"<li><a href=/news/{m}.html>码头装卸记录第{m}篇</a></li>" for m in numbers)
    return f"<div class=list><ul>{rows}</ul></div>"


def verdicts(record: CleanRecord, path: str) -> list[tuple[LinkKind, LinkReason]]:
    return [(link.kind, link.reason) for link in record.links if link.url.endswith(path)]


def test_a_related_link_that_a_popular_list_repeats_stays_related() -> None:
    model = learn_site([article(n) for n in range(1, 5)])
    related = f"<h3>相关阅读</h3><ul><li>{POPULAR}</li><li>{POPULAR}</li></ul>"
    record = clean(article(77, related), model)
    kinds = [kind for kind, _ in verdicts(record, "9001.html")]
    assert kinds == [LinkKind.RELATED, LinkKind.RELATED, LinkKind.HOT]


def test_links_of_a_body_stay_where_a_list_or_a_sentence_repeats_them() -> None:
    told = "翻译，海边小站荣誉推出，转载请注明文章的出处和作者的名字。"
    note = f"<p>本文由<a href=/group/7>译者小组</a>{told}</p>"
    model = learn_site([article(n, extra=note) for n in range(1, 9)])
    record = clean(article(77, extra=f"<p>{POPULAR}</p>{note}"), model)
    assert verdicts(record, "/group/7")[0][0] is LinkKind.BODY
    assert [kind for kind, _ in verdicts(record, "9001.html")] == [LinkKind.BODY, LinkKind.HOT]


def test_a_list_without_a_heading_keeps_its_kind_whether_it_repeats_or_not() -> None:
    other = headlines(501, 502, 503)
    same = clean(article(9, other), learn_site([article(n, other) for n in range(1, 5)]))
    assert {kind for kind, _ in verdicts(same, "501.html")} == {LinkKind.HOT}
    changing = learn_site([article(n, headlines(*range(9 * n, 9 * n + 3))) for n in range(1, 5)])
    alone = clean(article(9, other))
    known = clean(article(9, other), changing)
    assert verdicts(known, "501.html") == verdicts(alone, "501.html")
    assert verdicts(alone, "501.html") == [(LinkKind.HOT, LinkReason.NO_EVIDENCE)]


def test_what_stands_on_cards_keeps_its_kind_where_it_repeats() -> None:
    def cards(*numbers: int) -> str:
        rows = "".join(
            f"<li><a href=/news/{m}.html>码头装卸记录第{m}篇</a><p><a href=/c/boats>渔船动态</a>"
            for m in numbers
        )
        return f"<h3>热门文章</h3><ul>{rows}</ul>"

    model = learn_site([article(n, cards(*range(9 * n, 9 * n + 4))) for n in range(1, 6)])
    record = clean(article(77, cards(501, 502, 503, 504)), model)
    assert {kind for kind, _ in verdicts(record, "/c/boats")} == {LinkKind.OTHER}


def test_related_links_and_buttons_in_a_known_body_keep_their_kinds() -> None:
    def text(n: int) -> str:
        related = f"<h3>相关阅读</h3><ul><li>{headlines(n + 1, n + 2)}</li></ul>"
        return f"<p>请到<a href=#map>图示</a>一节看船的位置。</p><p><a href=#>展开</a></p>{related}"

    model = learn_site([article(n, extra=text(n)) for n in range(1, 8)])
    record = clean(article(77, extra=text(77)), model)
    assert {kind for kind, _ in verdicts(record, "78.html")} == {LinkKind.RELATED}
    kinds = {link.href: link.kind for link in record.links}
    assert kinds["#"] is LinkKind.FUNCTION
    assert kinds["#map"] is LinkKind.BODY


def test_a_place_repeats_by_what_stands_there() -> None:
    everywhere = f"<h3>热门文章</h3>{headlines(*range(2, 11))}"
    pages = [
        article(n, f"<p>相关阅读：</p><ol>{headlines(n + 1, n + 2)}</ol>{everywhere}")
        for n in range(1, 9)
    ]
    (place,) = learn_site(pages).related_rule.places
    assert place.path.endswith("/ol/div.list/ul/li")
    assert 0 < place.repeats < 0.2


def test_a_list_that_leads_where_a_banner_leads_is_of_the_advertising() -> None:
    shop = (
        "<div class=books><a href=http://books.other.net/b/1><img src=/b/1.jpg></a>"
        "<a href=http://books.other.net/b/2>渔业管理教材全套现货供应中</a></div>"
    )
    record = clean(article(9, shop), learn_site([article(n, shop) for n in range(1, 5)]))
    assert verdicts(record, "/b/2") == [(LinkKind.AD, LinkReason.SAME_ADDRESS)]
    assert verdicts(record, "9001.html")[0][0] is LinkKind.HOT


def test_repeats_leave_a_page_its_kind_of_noise() -> None:
    legal = "<p>" + "".join(
        f"<a href=/l/{i}>{text}</a> "
        for i, text in enumerate(("版权声明", "隐私政策", "法律声明", "广告服务", "海边章程"))
    )
    pages = [article(n, legal) for n in range(1, 5)]
    (alone,), (known,) = (
        verdicts(clean(article(9, legal), model), "/l/4") for model in (None, learn_site(pages))
    )
    assert alone[0] is known[0] is LinkKind.LEGAL
    assert known[1] is LinkReason.HOST_REPEATS
