"""Drift of a watched host: alarms, their delay and evidence, and Page's cumulative sums."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import structs

from crawlclean import RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.cleaning.drift.watch import (
    MAX_RUNS,
    MOST_EXPECTED,
    THRESHOLD,
    PageFit,
    Watch,
    fit_of,
    log_ratio,
    next_score,
)
from tests.cleaning.body.test_with_model import SENTENCE, article, site
from tests.kit.some import some

T0 = datetime(2026, 3, 1, tzinfo=UTC)
MODEL = SiteModel(host="www.example.com", version=2, learned_at=T0, page_count=40)
SHARES = st.floats(0, 1)
PAGES = st.lists(st.tuples(SHARES, st.booleans()), max_size=60)


def page(n: int, pattern: str = "/a/*.html", **changed: Any) -> PageFit:
    return PageFit(
        url=f"http://www.example.com/{n}",
        fetched_at=T0 + timedelta(minutes=n),
        pattern=pattern,
        is_known=True,
        at_place=True,
        framed=True,
        place_share=0.95,
        frame_share=0.95,
    )._replace(**changed)


def judged(pages: list[PageFit], model: SiteModel = MODEL) -> tuple[Watch, Alarm | None]:
    """The watch and its first alarm, page by page as from as many jobs."""
    text, alarm = "", None
    for n, each in enumerate(pages):
        watch = Watch.from_text(text)
        alarm = watch.judge([each], model, n + 1)
        text = watch.to_text()
        if alarm:
            break
    return Watch.from_text(text), alarm


def test_bodies_that_are_elsewhere_are_noticed_with_evidence() -> None:
    old = [page(n) for n in range(50)]
    new = [page(50 + n, at_place=False, is_empty=n < 3) for n in range(40)]
    watch, alarm = judged(old + new)
    assert alarm is not None
    assert alarm == watch.alarm
    assert (alarm.sign, alarm.url_class, alarm.since) == (DriftSign.BODIES, "", new[0].fetched_at)
    assert alarm.pages == alarm.misfits <= 12
    assert (alarm.empty, alarm.observed, alarm.expected) == (3, 0.0, 0.95)
    assert alarm.examples == tuple(each.url for each in new[:5])
    assert alarm.classes == (("/a/*.html", alarm.pages),)
    assert watch.judge(new, MODEL, 100) is None, "one alarm until it is dealt with"


def test_a_class_that_changes_alone_is_named() -> None:
    pages = [page(n, f"/{'ab'[n % 2]}/*.html", at_place=n < 30 or n % 2 == 0) for n in range(120)]
    _, alarm = judged(pages)
    assert alarm is not None
    assert (alarm.sign, alarm.url_class) == (DriftSign.BODIES, "/b/*.html")
    assert alarm.at - alarm.since < timedelta(minutes=40)


def test_ordinary_variety_is_no_change() -> None:
    pages = [page(n, at_place=n % 7 > 0, framed=n % 9 > 0) for n in range(300)]
    pages[100:104] = [page(100 + n, at_place=False) for n in range(4)]
    assert judged(pages)[1] is None


def test_a_lost_frame_and_new_classes_are_told_apart() -> None:
    _, alarm = judged([page(n, framed=False) for n in range(30)])
    assert alarm is not None
    assert alarm.sign is DriftSign.FRAME
    new = [page(n, "/new/*.html", is_known=False, at_place=False, frame_share=0) for n in range(30)]
    _, alarm = judged(new)
    assert alarm is not None
    assert (alarm.sign, alarm.classes) == (DriftSign.NEW_CLASSES, (("/new/*.html", alarm.pages),))
    assert judged([each._replace(is_list=True) for each in new])[1] is None
    assert judged([each._replace(is_empty=True) for each in new])[1] is None


def test_one_short_body_on_many_pages_is_a_wall() -> None:
    walls = [page(n, short=(n, 7, 1000 + n)) for n in range(30)]
    _, alarm = judged(walls)
    assert alarm is not None
    assert alarm.sign is DriftSign.BODIES
    assert judged([page(n, short=(n, 1000 + n)) for n in range(60)])[1] is None
    assert judged([page(7, short=(7, 8)) for _ in range(60)])[1] is None, "one page, fetched again"


def test_a_young_model_is_not_compared_with() -> None:
    new = [page(n, at_place=False, framed=False) for n in range(60)]
    assert judged(new, structs.replace(MODEL, page_count=8))[1] is None


def test_an_old_model_with_newer_pages_is_renewed() -> None:
    month = 43_200
    _, alarm = judged([page(n + month) for n in range(40)])
    assert alarm is not None
    assert (alarm.sign, alarm.since, alarm.pages) == (DriftSign.AGE, T0, 20)
    assert judged([page(n + month) for n in range(20)])[1] is None, "too few pages came"
    assert judged([page(n + month - 60) for n in range(40)])[1] is None


def test_after_an_alarm_it_is_quiet_and_begins_anew() -> None:
    new = [page(n, at_place=False) for n in range(20)]
    watch, alarm = judged(new)
    assert alarm is not None
    watch.settle(3, 12, quiet=50, young=9)
    model = structs.replace(MODEL, version=3)
    assert (watch.version, watch.born, watch.alarm) == (3, 3, None)
    assert watch.judge(new, MODEL, 70) is None, "pages of the version before say nothing"
    assert watch.judge(new, model, 62) is None, "it is quiet"
    assert watch.judge(new, model, 63) is not None


@given(st.lists(st.tuples(st.integers(0, 60), *[st.booleans()] * 4), max_size=80))
def test_a_watch_is_small_and_travels_as_text(
    rows: list[tuple[int, bool, bool, bool, bool]],
) -> None:
    watch = Watch()
    for n, (pattern, known, at_place, framed, short) in enumerate(rows):
        fit = page(n, f"/{pattern}/" + 90 * "长", is_known=known, at_place=at_place, framed=framed)
        watch.judge([fit._replace(short=(5, n) if short else ())], MODEL, n + 1)
        again = Watch.from_text(watch.to_text())
        assert again == watch
        assert all(run.score > 0 for run in watch.runs.values())
    assert len(watch.runs) <= MAX_RUNS + 3
    assert len(watch.to_text().encode()) < 64_000


def test_text_of_another_version_is_none() -> None:
    texts = ("", "[]", '{"version":1}', "null", "x", '["1"]', "[" * 9**6, '[1,2,3,4,{"frame":7}]')
    for text in texts:
        assert Watch.from_text(text) == Watch()


def test_how_pages_fit_what_their_host_taught() -> None:
    model = learn_site(site(12))
    (shares,) = model.expected.classes
    assert (shares.pages, shares.at_place, shares.framed) == (12, 12, 12)
    assert SiteModel.from_json(model.to_json()) == model
    fit = fit_of(clean(article(77), model), model)
    assert (fit.is_known, fit.at_place, fit.framed, fit.short) == (True, True, True, ())
    assert fit.place_share == fit.frame_share == 13 / 14
    html = article(78).html.replace("class=article id=a", "class=story id=s")
    moved = fit_of(clean(replace(article(78), html=html), model), model)
    assert (moved.at_place, moved.framed) == (False, True)
    wall = RawPage.from_bytes(article(79).url, b"<title>login</title><p>please log in</p>")
    walled = fit_of(clean(wall, model), model)
    assert (walled.at_place, walled.framed) == (False, False)
    other = fit_of(clean(replace(article(80), url="http://www.example.com/blog/3/")), model)
    assert (other.is_known, other.frame_share) == (False, 0.0)


def test_links_to_a_random_half_of_a_small_host_are_no_frame() -> None:
    """Some of them are on most pages of any sample, by chance, and not on most of the next."""
    chance = random.Random(7)

    def linked(n: int) -> RawPage:
        links = "".join(
            f"<li><a href=/news/{to}.html>第{to}篇</a></li>"
            for to in chance.sample(range(1, 201), 95)
        )
        text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(4))
        html = f"<title>见闻{n * 7}</title><div class=main>{text}</div><ul>{links}</ul>"
        return RawPage.from_bytes(f"http://www.example.com/news/{n}.html", html.encode())

    model = learn_site([linked(n) for n in range(1, 41)])
    fits = [fit_of(clean(linked(n), model), model) for n in range(41, 161)]
    assert sum(fit.framed for fit in fits) < 60, "else this shows nothing"
    assert judged(fits, model)[1] is None


def test_one_short_page_at_many_addresses_is_no_wall() -> None:
    model = learn_site(site(30))
    short = article(77).html.partition("</p>")[0] + "</p></div></body></html>"

    def watch(urls: list[str]) -> Alarm | None:
        watched, fits = Watch(), []
        for url in urls:
            page = replace(article(77), url=url, html=short)
            fits.append(fit_of(clean(page, model), model))
        assert all(fit.short for fit in fits), "else this shows nothing"
        return watched.judge(fits, model, len(fits))

    url = article(77).url
    assert watch([f"{url}?replytocom={n}" for n in range(30)]) is None
    assert some(watch([article(n).url for n in range(100, 130)])).sign is DriftSign.BODIES


# Page's cumulative sums


def scores(pages: list[tuple[float, bool]]) -> list[float]:
    """The sum before the first page and after each page, given as (expected share, fits)."""
    found = [0.0]
    for expected, fits in pages:
        found.append(next_score(found[-1], expected, fits=fits))
    return found


@given(PAGES)
def test_a_sum_is_the_largest_sum_of_the_last_log_ratios(pages: list[tuple[float, bool]]) -> None:
    ratios = [log_ratio(expected, fits=fits) for expected, fits in pages]
    most = max([0.0, *(sum(ratios[start:]) for start in range(len(ratios)))])
    assert scores(pages)[-1] == pytest.approx(most)


@given(SHARES)
def test_a_page_that_fits_is_no_evidence_of_a_change(expected: float) -> None:
    assert log_ratio(expected, fits=True) <= 0 <= log_ratio(expected, fits=False)


@given(st.floats(0.5, 1))
def test_pages_that_fit_as_expected_lower_the_sum_on_average(expected: float) -> None:
    share = min(expected, MOST_EXPECTED)
    mean = share * log_ratio(expected, fits=True) + (1 - share) * log_ratio(expected, fits=False)
    assert mean < 0


@pytest.mark.parametrize("expected", [0.6, 0.8, 0.95])
def test_false_alarms_keep_the_bound_of_the_threshold(expected: float) -> None:
    chance, pages, alarms, score = random.Random(1), 40_000, 0, 0.0
    for _ in range(pages):
        score = next_score(score, expected, fits=chance.random() < expected)
        if score >= math.log(50):
            alarms, score = alarms + 1, 0.0
    assert pages / max(alarms, 1) >= 50


@pytest.mark.parametrize(("expected", "most"), [(0.95, 8), (0.9, 12), (0.75, 21)])
def test_a_change_is_noticed_within_tens_of_pages(expected: float, most: int) -> None:
    found = scores([(expected, False)] * 60)
    assert next(n for n, score in enumerate(found) if score >= THRESHOLD) <= most
    assert scores([(0.3, False)] * 60)[-1] == 0, "pages that seldom fit are no evidence"
