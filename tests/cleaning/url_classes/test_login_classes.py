"""Classes with words of login pages, forms and calendars in their URLs: their pages decide."""

from __future__ import annotations

import random

import pytest

from crawlclean import RawPage, clean
from crawlclean.cleaning.document.document import read_document
from crawlclean.cleaning.records import PageKind, UrlKind
from crawlclean.cleaning.url_classes.classes import PageFacts, facts_of
from crawlclean.cleaning.url_classes.learning import learn_url_rules
from crawlclean.cleaning.url_classes.rules import UrlRules, rank_of, refused_templates

H = "http://a.example"
WORDS = ("water", "stone", "river", "bridge", "autumn", "harvest", "village", "market", "garden")
BOX = "<form action=/in><input name=user><input type=password></form>"


def said(seed: int, length: int) -> str:
    r = random.Random(seed)
    return " ".join(r.choice(WORDS) for _ in range(length)).capitalize() + "."


def facts(url: str, html: str) -> PageFacts:
    page = RawPage.from_bytes(url, html.encode())
    record = clean(page)
    return facts_of(read_document(page), record.links, record.kind, record.title)


def home(addresses: list[str], text: str) -> PageFacts:
    links = tuple((address, text.format(n)) for n, address in enumerate(addresses))
    return PageFacts(url=f"{H}/", kind=PageKind.INDEX, title="home", links=links)


def article(n: int) -> str:
    body = "".join(f"<p>{said(100 * n + i, 40)}</p>" for i in range(8))
    return f"<title>{said(n, 3)}</title><h1>{said(n, 3)}</h1>{body}"


def learned(addresses: list[str], pages: list[PageFacts], text: str) -> UrlRules:
    return learn_url_rules([home(addresses, text), *pages])


@pytest.mark.parametrize(
    "folder",
    ["logging", "register", "passport", "login", "signup", "report", "reply", "edit", "calendar"],
)
@pytest.mark.parametrize("text", ["r{:02}", "read on", "Report {} on the harvest of the village"])
@pytest.mark.parametrize("fetched", [0, 2, 7])
def test_a_class_whose_pages_have_prose_is_fetched(folder: str, text: str, fetched: int) -> None:
    addresses = [f"{H}/{folder}/r{n:02}.html" for n in range(60)]
    pages = [facts(address, article(n)) for n, address in enumerate(addresses[:fetched])]
    rules = learned(addresses, pages, text)
    assert refused_templates(rules, {}) == {}
    if fetched == 7:
        assert {rule.kind for rule in rules} <= {UrlKind.ARTICLE, UrlKind.INDEX}


@pytest.mark.parametrize("fetched", [0, 2, 7])
def test_forms_that_show_the_topic_that_they_answer_are_left_out(fetched: int) -> None:
    topics = [f"{H}/topic/{n}" for n in range(30)]
    forms = [f"{H}/topic/{n}/reply" for n in range(30)]
    titles = [said(n, 3).rstrip(".") for n in range(30)]
    links = [*zip(topics, titles, strict=True), *((form, "Reply") for form in forms)]
    pages = [PageFacts(url=f"{H}/", kind=PageKind.INDEX, title="home", links=tuple(links))]
    pages += [facts(address, article(n)) for n, address in enumerate(topics[:12])]
    for n, address in enumerate(forms[:fetched]):
        again = article(n).replace("<title>", "<title>Reply to: ")
        pages.append(facts(address, again + "<form action=/post><textarea></textarea></form>"))
    rules = learn_url_rules(pages)
    assert list(refused_templates(rules, {})) == ["/topic/{n}/reply"]


def test_a_class_of_login_pages_is_late_and_left_out_when_two_were_seen() -> None:
    addresses = [f"{H}/login.php?ref={n}" for n in range(60)]
    rules = learned(addresses, [], "Log in")
    (login,) = [rule for rule in rules if rule.kind is UrlKind.LOGIN]
    assert (rank_of(login) or 0) > 80
    assert refused_templates(rules, {}) == {}
    pages = [facts(address, f"<title>Log in</title>{BOX}") for address in addresses[:2]]
    assert list(refused_templates(learned(addresses, pages, "Log in"), {})) == [login.template]


def test_redirects_to_one_page_prove_a_login_class_and_to_many_do_not() -> None:
    addresses = [f"{H}/login.php?ref={n}" for n in range(60)]
    moved = [PageFacts(url=x, moved_to=f"{H}/in?to={n}") for n, x in enumerate(addresses[:3])]
    assert len(refused_templates(learned(addresses, moved, "Log in"), {})) == 1
    moved = [PageFacts(url=x, moved_to=f"{H}/a/{n}") for n, x in enumerate(addresses[:3])]
    assert refused_templates(learned(addresses, moved, "Log in"), {}) == {}
