"""A lead between the title and the text belongs to the body, captions to their pictures."""

from __future__ import annotations

import pytest

from crawlclean import CleanRecord, RawPage, VerdictReason, clean, learn_site
from crawlclean.cleaning.why import verdicts

TITLE = "Harbour bridge closes for a year"
LEAD = "Ferries will run every ten minutes instead, and the council pays for the first month."
TEXT = (
    "The bridge over the old harbour will be closed from Monday, because rust was found in two of"
    " its pillars, said the engineer of the town, Pia Holm, to those who came to the town hall.",
    "Repairs will take a year, she said; the first workers arrive in March, and the tram to the"
    " island will stop at the market until then, where a new stop was built, with a roof.",
    "Shops on the island fear for the summer, when nine of ten of their customers come on foot or"
    " by tram; the owner of the bakery, Jon Ek, wants a night ferry, and he is not alone in this.",
    "The town has asked three firms for offers, and all of them want to begin before the ice comes,"
    " because the divers cannot work below it; the cheapest offer was opened in public, on Friday.",
    "Whoever has a boat may now land at the fish market, for free, as long as the work goes on, and"
    " bicycles are carried on every ferry, said Holm, who comes to the island by bicycle herself.",
)
PARTS = {
    "in the head": "<header><h1>{title}</h1><p class=intro>{lead}</p></header>{by}{text}",
    "beside a picture": "<h1>{title}</h1><div><img src=a.jpg><p>{lead}</p></div>{by}{text}",
    "a heading": "<h1>{title}</h1><h2>{lead}</h2>{by}{text}",
    "named a teaser": "<h1>{title}</h1>{by}<div class=news-teaser>{lead}</div>{text}",
    "inside": "<article><h1>{title}</h1><p>{lead}</p>{by}{text}</article>",
    "repeated": "<h1>{title}</h1><p>{lead}</p>{by}<div class=text><p>{lead}</p>{paragraphs}</div>",
}
OTHERS = {
    "a caption": "<h1>{title}</h1><div class=img-caption>{lead}</div>{by}{text}",
    "a figure": "<h1>{title}</h1><figure><img src=a.jpg><p>{lead}</p></figure>{by}{text}",
    "above the title": "<p>{lead}</p><h1>{title}</h1>{by}{text}",
    "a teaser with a link": "<h1>{title}</h1><div class=teaser><p>{lead}</p><a href=/b>On</a></div>"
    "{by}{text}",
    "hidden": "<h1>{title}</h1><p style='display:none'>{lead}</p>{by}{text}",
}


def read(layout: str, *, texts: tuple[str, ...] = TEXT, title: str = TITLE) -> RawPage:
    paragraphs = "".join(f"<p>{text}</p>" for text in texts)
    inside = layout.format(
        title=title, lead=LEAD, by="<div class=by>By Pia Holm</div>", paragraphs=paragraphs,
        text=f"<div class=text>{paragraphs}</div>",
    )  # fmt: skip
    html = f"<title>{title}</title><div><a href=/>Home</a></div>{inside}<footer>Imprint</footer>"
    return RawPage.from_bytes("http://www.example.com/a", html.encode())


def lines_of(record: CleanRecord) -> list[str]:
    return record.body.split("\n")


@pytest.mark.parametrize("layout", PARTS.values(), ids=PARTS)
def test_a_lead_belongs_to_the_body(layout: str) -> None:
    record = clean(read(layout))
    assert lines_of(record) == [LEAD, *TEXT]
    assert record.markdown.count(LEAD) == 1
    assert record.author == "Pia Holm"


def test_why_says_that_it_is_a_lead() -> None:
    found = {one.text: one.reason for one in verdicts(read(PARTS["in the head"]))}
    assert found[LEAD] is VerdictReason.LEAD


@pytest.mark.parametrize("layout", OTHERS.values(), ids=OTHERS)
def test_other_texts_are_no_leads(layout: str) -> None:
    assert lines_of(clean(read(layout))) == list(TEXT)


def test_a_lead_stands_at_a_place_of_the_host_too() -> None:
    layout = PARTS["in the head"]
    pages = []
    for n in range(8):
        texts = tuple(f"Number {n}, written on day {n}: {text}" for text in TEXT)
        page = read(layout.replace("{lead}", f"{n} of {n}: {{lead}}"), texts=texts)
        pages.append(RawPage.from_bytes(f"http://www.example.com/{n}.html", page.html.encode()))
    model = learn_site(pages)
    for n, page in enumerate(pages):
        assert lines_of(clean(page, model))[0] == f"{n} of {n}: {LEAD}"


def test_a_line_of_the_template_is_no_lead() -> None:
    pages = []
    for n in range(8):
        texts = tuple(f"Number {n}, written on day {n}: {text}" for text in TEXT)
        html = read(PARTS["in the head"], texts=texts, title=f"{TITLE}, part {n}").html
        pages.append(RawPage.from_bytes(f"http://www.example.com/{n}.html", html.encode()))
    model = learn_site(pages)
    assert all(LEAD not in clean(page, model).body for page in pages)


CAPTIONS = {
    "figcaption": "<figure><img src=b.jpg><figcaption>The old bridge in May.</figcaption></figure>",
    "name": "<div><img src=b.jpg><p class=wp-caption-text>The old bridge in May.</p></div>",
    "cutline": "<div><img src=b.jpg><div class=cutline>The old bridge in May.</div></div>",
    "inner": "<figure><img src=b.jpg><figcaption><p>The old bridge in May.</p></figure>",
}


@pytest.mark.parametrize("figure", CAPTIONS.values(), ids=CAPTIONS)
def test_captions_belong_to_their_pictures(figure: str) -> None:
    page = read("<h1>{title}</h1><div class=text><p>{lead}</p>" + figure + "{paragraphs}</div>")
    record = clean(page)
    assert lines_of(record) == [LEAD, *TEXT]
    assert [image.caption for image in record.images] == ["The old bridge in May."]
    reasons = {one.text: one.reason for one in verdicts(page)}
    assert reasons["The old bridge in May."] is VerdictReason.CAPTION


def test_no_caption_is_lost() -> None:
    caption = "<p class=caption>The old bridge in May, seen from the market.</p>"
    without = read("<h1>{title}</h1><div class=text><p>{lead}</p>" + caption + "{paragraphs}</div>")
    assert "The old bridge in May" in clean(without).body  # no picture has it
    long = "The old bridge, as it was seen in May from the market. " * 12
    figure = f"<figure><img src=b.jpg><figcaption>{long}</figcaption></figure>"
    page = read("<h1>{title}</h1><div class=text>" + figure + "{paragraphs}{paragraphs}</div>")
    assert long.strip() in clean(page).body  # longer than the record's caption


def test_a_page_of_pictures_keeps_their_captions() -> None:
    figures = "".join(
        f"<figure><img src={n}.jpg><figcaption>Day {n}: {LEAD}</figcaption></figure>"
        for n in range(6)
    )
    record = clean(read("<h1>{title}</h1><div class=text>" + figures + "</div>"))
    assert record.body.count(LEAD) == 6


def test_names_that_scripts_use_say_nothing_of_a_part() -> None:
    folded = f"<div class='text js-readmore js_lightbox'><p>{LEAD}</p></div>"
    record = clean(read("<h1>{title}</h1><div class=text>{paragraphs}" + folded + "</div>"))
    assert lines_of(record) == [*TEXT, LEAD]
