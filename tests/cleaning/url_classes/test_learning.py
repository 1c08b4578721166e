"""What a host's URLs, link texts and pages teach about its classes."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean import RawPage, learn_site
from crawlclean.cleaning.document.document import read_document
from crawlclean.cleaning.records import PageKind, UrlKind
from crawlclean.cleaning.url_classes import classes as url_sample
from crawlclean.cleaning.url_classes.classes import PageFacts, UrlSample, facts_of, find_classes
from crawlclean.cleaning.url_classes.learning import MAX_RULES_CHARS, learn_url_rules, rules_of
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules, url_kind
from crawlclean.cleaning.urls.normal_form import normalize

H = "http://a.example"
SYLLABLES = "山水江湖风云日月春夏秋冬东西南北花鸟鱼虫"


def said(seed: int, length: int) -> str:
    r = random.Random(seed)
    return "".join(r.choice(SYLLABLES) for _ in range(length))


def lines(seed: int) -> tuple[tuple[int, float], ...]:
    return tuple((zlib.crc32(f"{seed} {i}".encode()), 30.0) for i in range(3))


def forum(thread: str, board: str, user: str, reply: str, post: str) -> Iterator[PageFacts]:
    """A forum of 40 threads in 4 boards: addresses are formats of a number."""
    titles = {n: said(n, 9) for n in range(40)}
    names = {n: "网友" + said(1000 + n, 2) for n in range(20)}
    boards = [(f"{H}{board.format(b)}", said(2000 + b, 4)) for b in range(1, 5)]
    for b in range(1, 5):
        links = [(f"{H}{thread.format(n)}", titles[n]) for n in titles if n % 4 == b - 1]
        links += boards
        yield PageFacts(
            url=f"{H}{board.format(b)}",
            kind=PageKind.INDEX,
            title=said(2000 + b, 4),
            links=tuple(sorted(links)),
        )
    for n, title in titles.items():
        links = [(f"{H}{user.format((n * k) % 20)}", names[(n * k) % 20]) for k in (1, 3, 7)]
        links += [(f"{H}{reply.format(n)}", "回复"), (f"{H}{post.format(n + 500)}", "2024-05-01")]
        links += boards
        yield PageFacts(
            url=f"{H}{thread.format(n)}",
            kind=PageKind.THREAD if n % 3 else PageKind.INDEX,
            title=title + "论坛",
            lines=lines(n),
            links=tuple(sorted(links)),
        )
    for n in range(0, 40, 5):  # what a link to a post shows: the thread again
        yield PageFacts(
            url=f"{H}{post.format(n + 500)}",
            kind=PageKind.THREAD,
            title=titles[n] + "论坛",
            lines=lines(n),
        )


STATIC = ("/thread-{}-1.html", "/forum-{}.html", "/u/{}", "/x?act=reply&id={}", "/post-{}.html")
DYNAMIC = (
    "/show.php?do=t&id={}",
    "/show.php?do=b&id={}",
    "/show.php?do=u&id={}",
    "/show.php?do=reply&id={}",
    "/show.php?do=p&id={}",
)


@pytest.mark.parametrize("scheme", [STATIC, DYNAMIC], ids=["static", "dynamic"])
def test_a_forum_is_known_without_a_given_page(scheme: tuple[str, ...]) -> None:
    rules = learn_url_rules(forum(*scheme))
    kinds = [url_kind(normalize(H + path.format(77)), rules) for path in scheme]
    assert kinds == [
        UrlKind.THREAD,
        UrlKind.INDEX,
        UrlKind.USER,
        UrlKind.FORM,
        UrlKind.DUPLICATE,
    ]


def test_the_rules_do_not_depend_on_the_order() -> None:
    pages = list(forum(*STATIC))
    rules = learn_url_rules(pages)
    random.Random(3).shuffle(pages)
    assert learn_url_rules(pages) == rules


def twins(other: Callable[[int], str], count: int = 5, *, is_same: bool = True) -> UrlRules:
    """Articles of which some were fetched under another address too."""
    facts = []
    for n in range(30):
        url, title = f"{H}/articles/{n}.html", said(n, 9)
        links = ((url, title), (f"{H}{other(n)}", "回复"))
        facts.append(PageFacts(url=f"{H}/page/{n}", links=links))
        article = PageFacts(url=url, kind=PageKind.ARTICLE, title=title, lines=lines(n))
        facts.append(article)
        if n < count:
            seed = n if is_same else 100 + n
            facts.append(
                PageFacts(
                    url=f"{H}{other(n)}",
                    kind=PageKind.ARTICLE,
                    title=title,
                    lines=lines(seed),
                )
            )
    return learn_url_rules(facts)


@pytest.mark.parametrize(
    ("other", "asked"),
    [
        (lambda n: f"/articles/{n}.html?answer={n + 900}", "/articles/7.html?answer=5"),
        (lambda n: f"/print.php?id={n}", "/print.php?id=7"),
        (lambda n: f"/m/{n}", "/m/7"),
    ],
)
def test_another_form_of_a_page_is_proven_and_rewritten(
    other: Callable[[int], str], asked: str
) -> None:
    rules = twins(other)
    assert url_kind(H + asked, rules) is UrlKind.DUPLICATE
    assert rules.better_form(H + asked) == f"{H}/articles/7.html"
    assert url_kind(f"{H}/articles/7.html", rules) is UrlKind.ARTICLE


@pytest.mark.parametrize(("count", "is_proven"), [(2, False), (4, False), (5, True)])
def test_few_values_of_a_parameter_say_nothing_of_others(count: int, is_proven: bool) -> None:
    rules = twins(lambda n: f"/articles/{n}.html?v={n + 1}", count)
    assert (rules.better_form(f"{H}/articles/7.html?v=9") is not None) == is_proven


def test_no_form_is_a_duplicate_without_proof() -> None:
    for rules in (
        twins(lambda n: f"/m/{n}", count=1),
        twins(lambda n: f"/m/{n}", is_same=False),
    ):
        assert rules.better_form(f"{H}/m/7") is None
        assert url_kind(f"{H}/m/7", rules) is not UrlKind.DUPLICATE


def shown_twice(more: str, links: Sequence[str] = (), other: int = 0) -> UrlRules:
    """30 articles under two addresses; of the last ``other`` the second says something else."""
    offered = tuple((f"{H}{url}", "查看") for url in links)
    facts = [PageFacts(url=f"{H}/list", links=offered)] if links else []
    for n in range(30):
        for url, seed in (
            (f"{H}/a?id={n}", n),
            (f"{H}/a?id={n}{more.format(n, n % 2 + 1, n % 3)}", n + 100 * (n + other > 29)),
        ):
            article = PageFacts(url=url, kind=PageKind.ARTICLE, title=said(n, 9), lines=lines(seed))
            facts.append(article)
            facts.append(PageFacts(url=f"{H}/l/{len(facts)}", links=((url, said(n, 9)),)))
    return learn_url_rules(facts)


@pytest.mark.parametrize(
    ("more", "asked", "better"),
    [
        ("&page=1", "/a?id=7&page=1", "/a?id=7"),
        ("&page=1", "/a?id=7&page=2", None),
        ("&page={1}", "/a?id=7&page=2", "/a?id=7"),
        ("&page={1}", "/a?id=7&page=3", None),
        ("&extra=p%3D{2}", "/a?id=7&extra=p%3D1", "/a?id=7"),
        ("&extra=p%3D{2}", "/a?id=7&extra=p%3D3", None),
        ("&post={0}", "/a?id=7&post=5", "/a?id=7"),
        ("&view=print", "/a?id=7&view=print", "/a?id=7"),
    ],
)
def test_a_value_that_was_not_seen_is_proven_only_where_all_differ(
    more: str, asked: str, better: str | None
) -> None:
    assert shown_twice(more).better_form(H + asked) == (better and H + better)


def test_a_word_that_may_mean_something_is_kept() -> None:
    asked = f"{H}/a?id=7&color=red"
    assert shown_twice("&color=red").better_form(asked)
    assert shown_twice("&color=red", other=1).better_form(asked) is None
    choice = [f"/a?id={n}&color={color}" for n, color in ((1, "red"), (2, "blue"))]
    assert shown_twice("&color=red", choice).better_form(asked) is None
    assert shown_twice("&color=red", choice[:1]).better_form(asked)


def test_a_canonical_address_alone_proves_nothing() -> None:
    """The later pages of a thread name the first as their canonical address on some sites."""
    facts = []
    for n in range(30):
        url, title = f"{H}/t/{n}", said(n, 9)
        later = f"{H}/t/{n}/2"
        facts.append(PageFacts(url=f"{H}/b/{n}", links=((url, title), (later, "2"))))
        for page, seed in ((url, n), (later, 100 + n)):
            facts.append(
                PageFacts(
                    url=page,
                    kind=PageKind.THREAD,
                    title=title,
                    lines=lines(seed),
                    canonical_url=url if page is later else "",
                )
            )
    rules = learn_url_rules(facts)
    assert url_kind(f"{H}/t/99", rules) is UrlKind.THREAD
    assert url_kind(f"{H}/t/99/2", rules) is UrlKind.THREAD


def test_redirects_prove_a_form() -> None:
    facts = [*forum(*STATIC)]
    facts += [PageFacts(url=f"{H}/goto/{n}", moved_to=f"{H}/thread-{n}-1.html") for n in range(5)]
    rules = learn_url_rules(facts)
    assert rules.better_form(f"{H}/goto/88") == f"{H}/thread-88-1.html"


def test_few_words_are_classes_and_many_a_wildcard() -> None:
    sample = UrlSample()
    for n in range(60):
        sample.add_link(f"{H}/tag/{said(n, 2)}"[:30])
        sample.add_link(f"{H}/{'ab'[n % 2]}/{'xyz'[n % 3] * (n + 1)}")
        sample.add_link(f"{H}/board/{n % 7}")
    found = {one.template: one.count for one in find_classes(sample)}
    assert found["/board/{n}"] == 7
    assert found["/a/{w}"] == found["/b/{w}"] == 30


def test_counts_of_a_large_host_are_estimates_in_bounded_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crawlclean.cleaning.url_classes.classes.MAX_URLS", 400)
    sample = UrlSample()
    for n in range(5000):
        sample.add_link(f"{H}/thread-{n}.html")
        sample.add_link(f"{H}/thread-{n}.html", "again")
        sample.add_link(f"{H}/forum-{n % 9}.html")
    found = {one.template: one for one in find_classes(sample)}
    assert found["/forum-{n}.html"].count == 9
    assert 4000 < found["/thread-{n}.html"].count < 6000
    assert found["/thread-{n}.html"].links == 10_000
    assert sum(len(one.found) for one in found.values()) <= 400


def test_a_link_found_often_counts_as_often() -> None:
    one, each = UrlSample(), UrlSample()
    one.add_link(f"{H}/t/1.html", "山水", times=3)
    for _ in range(3):
        each.add_link(f"{H}/t/1.html", "山水")
    assert list(one.strata()) == list(each.strata())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<input type=password>", True),
        ('<INPUT TYPE = "PassWord">', True),
        ("<input type    =    'password'>", True),
        ("<input type     =password>", False),
        ('<input id="password">', False),
        ("<input type=text><b>=password</b>", False),
    ],
)
def test_a_page_that_asks_for_a_password(source: str, expected: bool) -> None:
    page = RawPage.from_bytes(f"{H}/login", source.encode())
    facts = facts_of(read_document(page), (), PageKind.OTHER)
    assert facts.has_password is expected


URLS = st.lists(
    st.tuples(
        st.text("ab1/-?=", max_size=12).map(lambda text: normalize(f"{H}/{text}")),
        st.sampled_from(["", "标题", "2", "回复"]),
    ),
    max_size=80,
)


@settings(max_examples=60, deadline=None)
@given(URLS, st.randoms(use_true_random=False))
def test_a_sample_does_not_depend_on_the_order(
    links: list[tuple[str, str]], shuffler: random.Random
) -> None:
    def sampled(found: list[tuple[str, str]]) -> list[object]:
        with patch.multiple(url_sample, MAX_URLS=12, MAX_WORDS=1_000, MAX_TEXTS=2):
            sample = UrlSample()
            for url, text in found:
                sample.add_link(url, text)
            return [
                (
                    s.key,
                    s.words,
                    s.links,
                    s.found.bound,
                    sorted(f.url for f in s.found.by_hash.values()),
                )
                for s in sample.strata()
            ]

    shuffled = list(links)
    shuffler.shuffle(shuffled)
    assert sampled(shuffled) == sampled(links)


def test_rules_are_bounded_and_come_back_from_json() -> None:
    facts = [
        PageFacts(url=f"{H}/{chr(97 + n // 26)}{chr(97 + n % 26)}{'x' * 200}/{k}/login")
        for n in range(600)
        for k in range(2)
    ]
    sample = UrlSample()
    for page in facts:
        sample.add_page(page)
    rules = rules_of(sample)
    assert sum(len(rule.template) for rule in rules) <= MAX_RULES_CHARS
    assert UrlRules.from_json(rules.to_json()) == rules


def test_of_two_rules_the_one_with_more_words_counts() -> None:
    rules = UrlRules(
        [
            UrlRule(kind=UrlKind.USER, template="/{w}/{n}"),
            UrlRule(kind=UrlKind.THREAD, template="/t/{n}"),
        ]
    )
    assert url_kind(f"{H}/t/5", rules) is UrlKind.THREAD
    assert url_kind(f"{H}/anna/5", rules) is UrlKind.USER
    assert rules.find(f"{H}/t/5/6") is None


def test_a_site_learns_its_articles() -> None:
    pages = []
    for n in range(12):
        items = "".join(f"<li><a href=/news/{k}>{said(k, 9)}</a>" for k in range(n, n + 6))
        pages.append(
            RawPage.from_bytes(f"{H}/list/{n}", f"<title>列表</title><ul>{items}</ul>".encode())
        )
        body = "".join(f"<p>{said(n * 50 + i, 40)}，{said(n * 70 + i, 30)}。" for i in range(4))
        html = f"<title>{said(n, 9)} - 新闻网</title><h1>{said(n, 9)}</h1>{body}"
        pages.append(RawPage.from_bytes(f"{H}/news/{n}", html.encode()))
    model = learn_site(pages, urls=[f"{H}/news/{n}" for n in range(50)])
    assert model.url_kind(f"{H}/news/4711") is UrlKind.ARTICLE
    assert model.url_kind(f"{H}/list/4711") is UrlKind.INDEX
    assert next(rule for rule in model.url_rules if rule.kind is UrlKind.ARTICLE).urls == 50


def test_later_pages_are_known_by_their_links_before_one_is_fetched() -> None:
    facts = list(forum(*STATIC))
    for n in range(0, 40, 3):
        facts.append(PageFacts(url=f"{H}/list/{n}", links=((f"{H}/thread-{n}-1-p-2.html", "2"),)))
    rules = learn_url_rules(facts)
    assert url_kind(f"{H}/thread-77-1-p-5.html", rules) is UrlKind.THREAD


def test_a_list_with_excerpts_is_a_list() -> None:
    facts = []
    for n in range(30):
        url, title = f"{H}/story/{n}.html", said(n, 9)
        facts.append(PageFacts(url=url, kind=PageKind.ARTICLE, title=title, lines=lines(n)))
    for n in range(6):
        told = range(5 * n, 5 * n + 5)
        facts.append(
            PageFacts(
                url=f"{H}/archive/of-{'abcdef'[n]}/{n}",
                kind=PageKind.ARTICLE,
                title=f"{n}月的全部文章与消息",
                lines=tuple(lines(k)[0] for k in told),
                links=tuple((f"{H}/story/{k}.html", said(k, 9)) for k in told),
            )
        )
    rules = learn_url_rules(facts)
    assert url_kind(f"{H}/story/77.html", rules) is UrlKind.ARTICLE
    assert url_kind(f"{H}/archive/of-a/77", rules) is not UrlKind.ARTICLE
