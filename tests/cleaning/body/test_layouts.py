"""Bodies of hosts with layouts of other kinds: manuals, stylesheets of tools, several in one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crawlclean import BodySource, PageKind, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.learn.views import limit_sample

HOST = "http://docs.example.com"
NAMES = ("anchor", "bilge", "cleat", "davit", "ensign", "fender", "gaff", "hawse", "inlet", "jetty")
NEW = "keel"


def text(name: str, count: int = 4) -> str:
    return "".join(
        f"<p>The {name} is tied {i} times a day, and nobody on the pier minds how long {name} {i}"
        " takes when the weather is as calm as it was in the summer of that year.</p>"
        for i in range(count)
    )


def page(name: str, html: str, folder: str = "manual") -> RawPage:
    head = f"<title>{name.title()} - Handbook</title>"
    return RawPage.from_bytes(f"{HOST}/{folder}/{name}.html", f"{head}{html}".encode())


def learn(make: Callable[[str], str]) -> SiteModel:
    return learn_site([page(name, make(name)) for name in NAMES])


def manual(name: str) -> str:
    kind = "chapter" if name < "f" else "refentry"
    return f"""<div class=navheader><a href=/>Home</a> <a href=p.html>Prev</a></div>
      <div class={kind} id={name}><div class=titlepage><h1>The {name.title()}</h1></div>
      <div class=meta><a href=/s/{name}>Source</a> <a href=/e/{name}>Edit</a> <a href=/>Up</a></div>
      <h2><a href=#d>Description</a></h2>{text(name)}
      <h3><div class=label>Notes</div></h3>{text(name)}</div>
      <div class=navfooter>Handbook of the harbour, all rights reserved by its makers.</div>"""


def test_names_of_a_single_page_are_left_open() -> None:
    model = learn(manual)
    paths = {place.path for place in model.body_rule.places}
    assert paths == {"html/body/div.chapter.*", "html/body/div.refentry.*"}
    record = clean(page(NEW, manual(NEW)), model)
    assert record.body_source is BodySource.SITE
    assert "all rights" not in record.body


def test_headings_of_the_page_stay_with_what_is_in_them() -> None:
    record = clean(page(NEW, manual(NEW)), learn(manual))
    body = record.body.split("\n")
    for heading in ("Description", "Notes"):
        assert heading in body
    assert record.title == "Keel"
    assert not {"Home", "Source", "Edit", "Source Edit Up"} & set(body)


def styled(name: str) -> str:
    return f"""<div class='w-1/2 p-1.5'><ul><li><a href=/>Home</a><li><a href=/l>List</a></ul></div>
      <div class='md:w-2/3 p-2.5 *'>{text(name)}<pre>tie({name})</pre></div>"""


def test_names_with_the_marks_of_paths() -> None:
    model = learn(styled)
    record = clean(page(NEW, styled(NEW)), model)
    assert record.body_source is BodySource.SITE
    assert f"tie({NEW})" in record.body


def two_layouts(name: str) -> str:
    if name < "f":
        return f"<div class=bar><a href=/>Home</a> {name}</div><main>{text(name, 9)}</main>"
    return f"<div class=top>Handbook, {name}</div><div class=story>{text(name, 9)}</div>"


def test_a_path_of_tags_does_not_stand_for_several_layouts() -> None:
    model = learn(two_layouts)
    assert "html/body" not in {place.path for place in model.body_rule.places}
    body = clean(page("gale", two_layouts("gale")), model).body
    assert "nobody" in body
    assert "Handbook" not in body


def test_lines_on_many_pages_stay_between_those_of_the_page() -> None:
    model = learn(manual)
    other = f"<div class=new>{text(NEW)}<p>Notes</p>{text(NEW)}</div>"
    assert clean(page(NEW, other), model).body.count("\nNotes\n") == 1


def overview(name: str, heading: str = "In this chapter", intro: str = "") -> str:
    rows = "".join(f"<dd><a href={name}-{i}.html>{i}. Tying the {name}</a>" for i in range(9))
    return f"""<div class=navheader><a href=/>Home</a> <a href=p.html>Prev</a></div>
      <div class=chapter id={name}><div class=titlepage><h1>The {name.title()}</h1></div>{intro}
      <div class=toc><p>{heading}</p><dl>{rows}</dl></div></div>
      <div class=navfooter>Handbook of the harbour, all rights reserved by its makers.</div>"""


def with_contents(name: str) -> str:
    return overview(name, intro=text(name)) + f"<p>{name}</p>"


def test_related_links_are_no_overview() -> None:
    model = learn(with_contents)
    assert "Tying" not in clean(page(NEW, overview(NEW, "Related articles")), model).body


def short(name: str) -> str:
    rest = (
        f"<ul>{'<li><a href=x.html>A longer line with a link</a>' * 9}</ul>" if name > "h" else ""
    )
    more = text(name, 1 if rest else 5)
    return f"<nav>Handbook</nav><div class=body><section id={name}>{more}{rest}</section></div>"


def test_a_paragraph_is_no_place_of_bodies() -> None:
    paths = [place.path for place in learn(short).body_rule.places]
    assert paths
    assert not any(path.rpartition("/")[2].startswith("p") for path in paths)


def reference(name: str) -> str:
    rows = "".join(f"<tr><td>{name}{i}<td>{i * 7} mm wide" for i in range(4))
    table = f"<table><thead><tr><th>Name<th>Size</thead><tbody>{rows}</table>"
    return f"<nav>Handbook</nav><div class=body><h1>{name.title()}</h1>{text(name)}{table}</div>"


def test_heads_of_tables_stay() -> None:
    assert "\nName\nSize\n" in clean(page(NEW, reference(NEW)), learn(reference)).body


def test_a_title_in_the_body_is_a_title() -> None:
    record = clean(page(NEW, reference(NEW)), learn(reference))
    assert record.body.startswith("Keel\n")
    assert record.kind is PageKind.ARTICLE


def commented(name: str) -> str:
    posts = "".join(
        f"<div class=entry><b>{who}</b> <i>2024-05-0{i} 12:0{i}</i><p>{who} says of the {name}: {i}"
        f" knots are better than {i + 1}, whatever the handbook of {who} says about it.</p></div>"
        for i, who in enumerate(("anna", "bert", "cora"), 1)
    )
    return f"<nav>Handbook</nav><div class=body>{text(name)}</div><div class=talk>{posts}</div>"


def test_posts_at_new_addresses_stay() -> None:
    record = clean(page(NEW, commented(NEW), folder="thread/new"), learn(boxed))
    assert len(record.posts) == 4


def boxed(name: str, box: str = "<div class=box>Share this page with the crew</div>") -> str:
    links = f"<ul class=links><li><a href=/>Harbour</a><li><a href=/{name}>Pier {name}</a></ul>"
    return f"<nav>Handbook</nav><div class=body>{text(name)}{box}{links}</div>"


def test_what_is_left_out_is_no_longer_than_elsewhere() -> None:
    model = learn(boxed)
    names = {d.path.rpartition("/")[2] for d in model.body_rule.places[0].dropped}
    assert names == {"div.box", "ul.links"}
    body = clean(page(NEW, boxed(NEW)), model).body
    assert "nobody" in body
    assert "Share this" not in body
    long = boxed(NEW, f"<div class=box>{text('davit', 6)}</div>")
    assert "the weather is as calm" in clean(page(NEW, long), model).body
    listed = f"<div class=body>{text(NEW)}<ul class=links><li>{text(NEW, 1)}<li>End</ul></div>"
    assert clean(page(NEW, listed), model).body.endswith("End")


def test_copies_of_a_page_make_its_text_no_template() -> None:
    def copy(number: int) -> RawPage:
        line = f"<p>The word of the hour is {NAMES[number % 10] * 3}, says the harbour master.</p>"
        return page(f"old-{number}", f"<div class=one><div>{text('mast', 3)}{line}</div></div>")

    model = learn_site([copy(number) for number in range(20)])
    assert "mast 2 takes when" in clean(copy(27), model).body
    several = [copy(number) for number in range(20)] + [page(n, styled(n)) for n in NAMES]
    model = learn_site(several)
    assert "mast 2 takes when" in clean(copy(27), model).body
    assert clean(page(NEW, styled(NEW)), model).body_source is BodySource.SITE


def test_a_sample_of_large_pages_is_smaller() -> None:
    large, small = page("large", "<p>" + "x" * 900), page("small", "<p>x")
    assert limit_sample([large, large, small, small], 1500) == [small, small, large]
    assert limit_sample([large], 10) == [large]


MAKERS = (manual, styled, two_layouts, with_contents, short, reference, commented, boxed)


@pytest.mark.parametrize("learned", MAKERS)
def test_a_model_of_other_pages_loses_no_body(learned: Callable[[str], str]) -> None:
    model = learn(learned)
    for make in MAKERS:
        other = page(NEW, make(NEW))
        lines = [line for line in clean(other).body.split("\n") if "nobody" in line]
        body = clean(other, model).body
        assert lines
        assert all(line in body for line in lines)
