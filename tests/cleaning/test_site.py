from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from crawlclean import (
    ConfigError,
    ImageKind,
    LinkKind,
    LinkReason,
    RawPage,
    SiteModel,
    UrlKind,
    clean,
    learn_site,
)
from crawlclean.cleaning.learn.template import find_repeats
from crawlclean.cleaning.model.rules import (
    BodyPlace,
    BodyRule,
    Dropped,
    DropReason,
    ImagePlace,
    LinkPlace,
    Noise,
    PageSet,
    RelatedRule,
    Template,
    TemplateText,
)
from crawlclean.cleaning.model.site_model import MAX_MODEL_BYTES, bounded
from crawlclean.cleaning.records import ImageReason
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules

LONG = "这一段文字超过了十五个汉字所以它算是正文"


def page(i: int, html: str, day: int = 1) -> RawPage:
    return RawPage.from_bytes(
        f"http://www.example.com/{i}.html",
        html.encode(),
        fetched_at=datetime(2026, 1, day, tzinfo=UTC),
    )


def site() -> list[RawPage]:
    return [
        page(
            i,
            f"<a href=/board>某个版块</a><a href=/{i}/own>自己的链接</a><img src=/a/1.png>"
            f"<p>{LONG}</p><img src=/{i}.jpg>",
            day=i + 1,
        )
        for i in range(6)
    ]


def test_equation_3_without_the_page_itself() -> None:
    pages = [frozenset("ab"), frozenset("a"), frozenset("a"), frozenset("c")]
    assert find_repeats(pages) == {"a": 0.6667}
    assert find_repeats([frozenset("a")]) == {}
    assert find_repeats([]) == {}


def test_the_threshold_is_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [frozenset("a"), frozenset("a"), *[frozenset[str]()] * 4]
    assert find_repeats(pages) == {}
    monkeypatch.setattr("crawlclean.cleaning.learn.template.MIN_REPEAT_SHARE", 0.19)
    assert find_repeats(pages) == {"a": 0.2}


def test_a_model_knows_what_repeats() -> None:
    model = learn_site(site())
    assert model.host == "www.example.com"
    assert (model.version, model.page_count) == (1, 6)
    assert model.learned_at == datetime(2026, 1, 6, tzinfo=UTC)
    assert model.noise.links == {"http://www.example.com/board": 1.0}
    assert model.noise.images == {"http://www.example.com/a/1.png": 1.0}


def test_the_order_of_arrival_does_not_count() -> None:
    pages = site()
    expected = learn_site(pages).to_json()
    for seed in range(5):
        shuffled = [*pages, pages[2]]
        random.Random(seed).shuffle(shuffled)
        assert learn_site(shuffled).to_json() == expected


def test_clean_uses_the_model() -> None:
    pages = site()
    model = learn_site(pages, version=3)
    record = clean(pages[0], model)
    assert record.model_version == 3
    assert (record.links[0].kind, record.links[0].reason) == (
        LinkKind.NAVIGATION,
        LinkReason.HOST_REPEATS,
    )
    assert record.links[1].reason is LinkReason.LINK_LIST
    assert record.images[0].reason is ImageReason.HOST_REPEATS
    assert clean(pages[0]).links[0].reason is LinkReason.LINK_LIST


@pytest.mark.parametrize("urls", [[], ["http://a.example/", "http://b.example/"]])
def test_a_site_has_one_host(urls: list[str]) -> None:
    with pytest.raises(ConfigError, match="one host"):
        learn_site([RawPage.from_bytes(url, b"") for url in urls])


def test_json_round_trip() -> None:
    model = SiteModel(
        host="www.example.com:8080",
        version=7,
        learned_at=datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
        page_count=9,
        url_rules=UrlRules([UrlRule(kind=UrlKind.THREAD, template="/t/{n}", twin="/{0}")]),
        sample=("http://www.example.com:8080/1",),
        body_rule=BodyRule(
            places=(
                BodyPlace(
                    path="html/body/div.main",
                    on=PageSet(2**99 + 1),
                    seen_on=3,
                    classes=(("/*.html", 2),),
                    dropped=(
                        Dropped(path="p", reason=DropReason.LINKS, most_chars=9, on=PageSet(1)),
                    ),
                ),
            )
        ),
        template=Template(
            lines=(TemplateText(text="版权所有", on=PageSet(3)),),
            title_suffixes=(TemplateText(text="_某站", on=PageSet(3)),),
        ),
        noise=Noise(
            links={"http://a/": 0.25},
            images={"http://b/": 1.0},
            link_places=(
                LinkPlace(path="html/ul", kind=LinkKind.HOT, share=1.0, repeats=0.5, on=PageSet(7)),
            ),
            image_places=(
                ImagePlace(
                    path="html/ul", kind=ImageKind.AD, share=1.0, repeats=0.5, on=PageSet(7)
                ),
            ),
        ),
        related_rule=RelatedRule(
            places=(
                LinkPlace(
                    path="html/ol", kind=LinkKind.RELATED, share=1.0, repeats=0.0, on=PageSet(1)
                ),
            )
        ),
    )
    again = SiteModel.from_json(model.to_json())
    assert again == model
    assert again.to_json() == model.to_json()


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 10}', "null", "[" * 9**6, '{"x":' * 9**6, "\ud800"]
)
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^not a site model") as refused:
        SiteModel.from_json(text)
    assert "\n" not in str(refused.value)


def test_a_model_of_another_format_is_to_be_learned_anew() -> None:
    for number in (1, 9, 11):
        with pytest.raises(ConfigError, match=f"format {number}, this .* reads 10: learn it anew"):
            SiteModel.from_json(f'{{"format":{number},"host":7}}')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"on":"f"', '"on":"g"'),
        ('"on":"f"', '"on":15'),
        ('"learned_at":"2026-01-04T00:00:00Z"', '"learned_at":"2026-01-04T00:00:00"'),
        ('"page_count":4', '"page_count":"4"'),
        ('"page_count":4', '"page_count":null'),
        ('"url_rules":[', '"url_rules":[["friend","/x"]],"x":['),
        ('"url_rules":[', '"url_rules":[7],"x":['),
    ],
)
def test_a_damaged_model_is_refused(old: str, new: str) -> None:
    text = learn_site(site()[:4]).to_json()
    assert old in text
    with pytest.raises(ConfigError, match=r"^not a site model .* - at `\$"):
        SiteModel.from_json(text.replace(old, new))


def test_the_size_is_bounded() -> None:
    links = {f"http://www.example.com/{'路' * 20}/{i}": i / 10_000 for i in range(10_000)}
    model = SiteModel(
        host="www.example.com",
        learned_at=datetime(2026, 1, 1, tzinfo=UTC),
        page_count=9,
        noise=Noise(links=links),
    )
    small = bounded(model)
    assert MAX_MODEL_BYTES * 0.9 < len(small.to_json().encode()) <= MAX_MODEL_BYTES
    assert min(small.noise.links.values()) > 0.5
    assert bounded(small) == small


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("", UrlKind.INDEX),
        ("index.php", UrlKind.INDEX),
        ("a/b.JPG?x=1", UrlKind.ASSET),
        ("feed/", UrlKind.FEED),
        ("rss.xml", UrlKind.FEED),
        ("member.php?mod=logging&action=login", UrlKind.LOGIN),
        ("member.php?mod=register", UrlKind.LOGIN),
        ("wp-login.php", UrlKind.LOGIN),
        ("user/login?next=/", UrlKind.LOGIN),
        ("2012/blog-inspirations.html", UrlKind.OTHER),
        ("library/logging.html", UrlKind.OTHER),
        ("logging/r01.html", UrlKind.OTHER),
        ("2026/how-to-register-a-patent.html", UrlKind.OTHER),
        ("archives/100.html?replytocom=5", UrlKind.DUPLICATE),
        ("archives/100.html?action=print", UrlKind.DUPLICATE),
        ("archives/100.html?mode=print", UrlKind.DUPLICATE),
        ("search.php?q=x", UrlKind.SEARCH),
        ("?s=x", UrlKind.SEARCH),
        ("forum.php?mod=post&action=reply&tid=7", UrlKind.FORM),
        ("newreply.php?tid=7", UrlKind.FORM),
        ("calendar.php?month=5", UrlKind.CALENDAR),
        ("home.php?mod=space&uid=7", UrlKind.USER),
        ("user/anna", UrlKind.USER),
        ("thread-7-1-1.html", UrlKind.OTHER),
        ("research/edition.html", UrlKind.OTHER),
    ],
)
def test_kinds_of_urls(path: str, kind: UrlKind) -> None:
    model = learn_site(site())
    assert model.url_kind(f"http://www.example.com/{path}") is kind


def test_the_rules_of_a_host_come_first() -> None:
    rule = UrlRule(kind=UrlKind.THREAD, template="/user/{n}")
    model = SiteModel(
        host="a.example",
        learned_at=datetime(2026, 1, 1, tzinfo=UTC),
        page_count=1,
        url_rules=UrlRules([rule]),
    )
    assert model.url_kind("http://a.example/user/7") is UrlKind.THREAD
    assert model.url_kind("http://a.example/user/anna") is UrlKind.USER
