"""Short lines behind a text belong to it when they stand in its part; boxes beside it do not."""

from __future__ import annotations

import pytest

from crawlclean import RawPage, VerdictReason, clean
from crawlclean.cleaning.why import verdicts

TEXT = (
    "The ferry to the island left at six, as it does on every day of the year but one, with nine"
    " passengers, a dog and the post, and came back at eight with twice as many, and no dog.",
    "Nobody on the pier could say where the dog had gone, said the captain, Ida Lund, who has been"
    " on this line for thirty years, and who never before came home with fewer than she took.",
)
INSIDE = {
    "a signature": "<p>Ida Lund and crew</p>",
    "a list": "<ul><li>Boats 3</li><li>Seats 90</li><li>Dogs 1</li></ul>",
    "a table": "<table><tr><td>Boats 3</td></tr><tr><td>Seats 90</td></tr></table>",
    "far lines": "".join(f"<p>Stop {n}</p>" for n in range(9)),
}
LIKE = {
    "sections": f"</div><div class=t><p>{TEXT[0][:-7]}, nor a cat.</p><p>Well: {TEXT[1]}</p></div>"
    "<div class=t><h2>Fares today</h2><p>Nine crowns</p>",
    "a box of the text": "<div><p>It was the last ferry, he said, that left on time.</p></div>"
    "<h2>Fares today</h2><p>Nine crowns</p>",
}
BESIDE = {
    "a question": "<div><h4>Read this already?</h4></div>",
    "a heading of a box": "<section><h3>Island and sea</h3><div>Nine boats</div></section>",
    "a shop": "<div class=x><p>Visit our fan shop</p></div>",
    "a credit": "<div class=y><span>Sources and credits</span></div>",
}


def read(end: str) -> RawPage:
    text = "".join(f"<p>{each}</p>" for each in TEXT * 3)
    html = f"<title>A dog</title><main><h1>A dog</h1><div class=t><p>{text}{end}</main>"
    return RawPage.from_bytes("http://www.example.com/dog", html.encode())


@pytest.mark.parametrize("end", INSIDE.values(), ids=INSIDE)
def test_lines_in_the_part_of_the_text_belong_to_it(end: str) -> None:
    plain = clean(read(end)).body
    assert all(f"{word}" in plain for word in ("Lund and crew", "Boats 3", "Stop 8") if word in end)


@pytest.mark.parametrize("end", LIKE.values(), ids=LIKE)
def test_so_do_lines_around_it_and_in_a_part_like_it(end: str) -> None:
    assert clean(read(end)).body.split("\n")[-2:] == ["Fares today", "Nine crowns"]


@pytest.mark.parametrize("end", BESIDE.values(), ids=BESIDE)
def test_lines_of_a_box_behind_the_text_do_not(end: str) -> None:
    page = read(f"</div>{end}")
    assert clean(page).body.split("\n") == list(TEXT * 3)
    reasons = {one.reason for one in verdicts(page) if not one.in_body}
    assert VerdictReason.FAR_FROM_TEXT in reasons or VerdictReason.OUTSIDE_CONTAINER in reasons


@pytest.mark.parametrize("end", BESIDE.values(), ids=BESIDE)
def test_nor_do_those_of_a_box_in_the_container(end: str) -> None:
    assert clean(read(end)).body.split("\n") == list(TEXT * 3)
