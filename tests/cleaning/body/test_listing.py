"""Bodies of shops: grids of goods, descriptions that the page declares, cards with buttons."""

from __future__ import annotations

import json

from crawlclean.cleaning.body.page_body import Body, extract_body
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.records import BodySource, VerdictReason
from crawlclean.cleaning.why import explain

URL = "http://shop.example.com/lamps"
ABOUT = "Our lamps are made by hand in a village by the sea, and each of them takes two days. "
HEAD = "<title>Lamps - A shop</title><body><nav><a href=/>Home</a></nav>"
REVIEW = "I waited two weeks for it, and the box was open when it came, but the lamp was whole. "
DESCRIPTION = "A lamp of oiled oak, with a shade of linen that is sewn by hand."


def body_of(html: str) -> Body:
    return extract_body(parse(HEAD + html), URL)


def grid() -> str:
    tile = (
        '<li class="tile"><a href=/p{0}><h3>Lamp {0}</h3><p>${0}9</p><div>Quick view</div></a></li>'
    )
    return "".join(map(tile.format, range(9)))


def test_a_grid_behind_the_title_is_content_beside_a_text_about_it() -> None:
    """The titles are too short for teasers, and the text below is longer than the list."""
    about = f"<div class=about><p>{ABOUT * 3}</p><p>{ABOUT * 2}</p></div>"
    body = body_of(f"<h1>Lamps</h1><ul>{grid()}</ul>{about}")
    assert body.source is BodySource.LIST
    assert "Lamp 8\n$89" in body.text
    assert "Quick view" not in body.text
    assert ABOUT.strip() in body.text


def test_a_grid_behind_the_text_ends_it() -> None:
    body = body_of(f"<h1>Lamps</h1><div><p>{ABOUT * 6}</p></div><ul>{grid()}</ul>")
    assert body.source is BodySource.CONTAINER
    assert "Lamp 8" not in body.text


def test_players_and_few_columns_are_no_grid() -> None:
    """Cards have linked titles, and more than one line."""
    film = "<div class=film><p>Watch the film now</p><span>2:10</span><p>Clip {0}</p>{1}</div>"
    films = "".join(film.format(n, f"<a href=/v{n}>Play</a>") for n in range(12))
    menu = "".join(f"<li><a href=/m{n}>Room {n}</a></li>" for n in range(20))
    about = f"<div class=about><p>{ABOUT * 3}</p></div>"
    for parts in (films, f"<ul>{menu}</ul>"):
        body = body_of(f"<h1>Lamps</h1><div>{parts}</div>{about}")
        assert body.source is not BodySource.LIST


def test_each_line_of_a_grid_has_its_verdict() -> None:
    html = f"{HEAD}<h1>Lamps</h1><ul>{grid()}</ul><div><p>{ABOUT * 4}</p></div>"
    record, verdicts = explain(RawPage.from_bytes(URL, html.encode()))
    kept = [each for each in verdicts if each.in_body]
    assert "\n".join(each.text for each in kept) == record.body
    assert {each.reason for each in kept} <= {
        VerdictReason.RUNNING_TEXT,
        VerdictReason.BETWEEN_TEXT,
        VerdictReason.NEAR_TEXT,
    }


def shop(description: str, panel: str) -> str:
    data = {"@context": "https://schema.org", "@type": "Product", "description": description}
    reviews = "".join(f"<div class=opinion><p>{REVIEW}{n}.</p></div>" for n in range(8))
    return (
        f'<script type="application/ld+json">{json.dumps(data)}</script><h1>Lamp</h1>'
        f"<div class=detail>{panel}</div><div class=opinions>{reviews}</div>"
    )


def test_the_declared_description_of_a_product_is_its_body() -> None:
    more = "<ul><li>Height: 40 cm, with the shade.</li><li>Cable: two metres, black.</li></ul>"
    panel = f"<aside class=sheet><p>{DESCRIPTION}</p><p>{ABOUT}</p>{more}</aside>"
    undeclared = body_of(shop("", panel))
    assert DESCRIPTION not in undeclared.text
    body = body_of(shop(f"<p>{DESCRIPTION}</p>\n<p>{ABOUT}</p>", panel))
    assert DESCRIPTION in body.text
    assert "Cable: two metres" in body.text


def test_a_description_that_is_not_on_the_page_decides_nothing() -> None:
    html = shop("Buy lamps of every kind here, at the best price of the whole town.", "<p>Oak</p>")
    assert REVIEW.strip() in body_of(html).text


def test_cards_that_end_with_a_link_are_sections_with_buttons() -> None:
    """The link of a teaser is its title, and stands before its text."""
    text = "<p>We come to house {0}, measure the room, and make a drawing of it for you.</p>"
    link = "<a href=/s{0}>Read more about service {0}</a>"
    title = "<h3>Service {0}</h3>"
    foot = "<p>Oak.</p>"
    sections = "".join(
        f"<div class=card>{title.format(n)}{text.format(n)}<p>{link.format(n)}</p></div>"
        for n in range(4)
    )
    body = body_of(f"<h1>Lamps</h1><div class=main><p>{ABOUT * 2}</p>{sections}{foot}</div>")
    assert body.text.count("measure the room") == 4
    assert "Service 3" in body.text
    assert "Read more" not in body.text
    teasers = "".join(
        f"<div class=card><h3>{link.format(n)}</h3>{text.format(n)}</div>" for n in range(4)
    )
    body = body_of(f"<h1>Lamps</h1><div class=main><p>{ABOUT * 2}</p>{teasers}{foot}</div>")
    assert "measure the room" not in body.text


def hub(abstract: str) -> str:
    """Eight topics with lists of pages; titles of two words are no teasers by themselves."""
    pages = "".join(f"<li><a href=/{{0}}/{n}>Page {n} of topic {{0}}</a></li>" for n in range(5))
    topic = "<div class=item><h4>Topic {0}</h4>{1}<ul>{2}</ul></div>"
    topics = (topic.format(n, abstract.format(n), pages.format(n)) for n in range(8))
    return f"<h1>Lamps</h1><div class=columns>{''.join(topics)}</div>"


def test_headings_and_abstracts_of_topics_are_the_body_of_a_hub() -> None:
    body = body_of(hub("<p>How to care for lamps of kind {0}</p>"))
    assert body.source is BodySource.LIST
    lines = body.text.split("\n")
    assert lines[:2] == ["Topic 0", "How to care for lamps of kind 0"]
    assert len(lines) == 16


def test_topics_without_abstracts_are_their_lists() -> None:
    body = body_of(hub(""))
    assert body.source is BodySource.LIST
    assert "Page 4 of topic 7" in body.text


def test_each_line_of_a_hub_has_its_verdict() -> None:
    html = HEAD + hub("<p>How to care for lamps of kind {0}</p>")
    record, verdicts = explain(RawPage.from_bytes(URL, html.encode()))
    assert "\n".join(each.text for each in verdicts if each.in_body) == record.body
