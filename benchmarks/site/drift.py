"""Drift alarms: delay after redesigns of whole sites, and false alarms; a part of ``site.py``.

The pages of a site come in the order of a crawl. The model is learned at the page counts at which
crawls learn, from the pages so far; each later page is judged with the model that cleans it.

- ``false_alarms``: crawls of unchanged sites, shuffled, by address (long runs of one class) and
  breadth first.
- ``redesigns``: from half of a shuffled crawl on all pages are changed. ``pages``: pages from the
  change to the alarm. ``learned``: number of runs that kept the model of the pages since then.
- ``f1``: bodies of later pages by the old model, the page alone, a model of a sample of all pages
  so far, the new model. ``f1_before``: bodies of pages before the change, by old and new model.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any

from lxml import etree, html as lxml_html

from benchmarks.kit.scoring import score
from benchmarks.site.pages import Site, html_parser
from crawlclean import RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.drift.alarms import Alarm
from crawlclean.cleaning.drift.watch import THRESHOLD, Watch, fit_of
from crawlclean.cleaning.learn.views import choose_sample
from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.workers.jobs.learning_schedule import finds_bodies, pages_of_quiet, pages_to_learn

SHUFFLES = 5
TESTED = 30
CHANGED_ORDERS = 3
T0 = datetime(2026, 1, 1, tzinfo=UTC)
WALL = "请登录后继续阅读全文。还没有账号？免费注册，一分钟即可完成。"
_NAMES = re.compile(
    r"(\b(?:class|id)\s{0,4}=\s{0,4})(\"[^\"<>]{0,400}\"|'[^'<>]{0,400}'|[\w-]{1,80})"
)
_BODY = re.compile(r"<body\b[^>]{0,2000}>", re.I)

Change = Callable[[Site, int], RawPage]


@dataclass(frozen=True, slots=True)
class Found:
    """An alarm: its page number in the crawl, the model, and the pages so far."""

    pages: int
    alarm: Alarm
    model: SiteModel
    came: dict[str, RawPage]


def measure_drift(sites: Sequence[Site], *, quick: bool = False) -> dict[str, Any]:
    """Returns false alarms, detection of redesigns, and the cost of judging."""
    shuffles, changed = (1, 1) if quick else (SHUFFLES, CHANGED_ORDERS)
    return {
        "pages_to_a_false_alarm_by_the_bound": round(exp(THRESHOLD)),
        "false_alarms": {site.name: _false_alarms(site, shuffles) for site in sites},
        "redesigns": _redesigns(sites, _changes(sites), changed),
        "cost": _cost(sites),
    }


class Crawl:
    """A crawl of a site; alarms cause no learning, so a change gives one alarm after another."""

    def __init__(self) -> None:
        self.model: SiteModel | None = None
        self.came: dict[str, RawPage] = {}
        self._watch = Watch()
        self._alarms = 0

    def copy(self) -> Crawl:
        """Returns a copy of the crawl at this page."""
        other = Crawl()
        other.model, other.came = self.model, dict(self.came)
        other._watch, other._alarms = Watch.from_text(self._watch.to_text()), self._alarms
        return other

    def add(self, page: RawPage) -> Found | None:
        """Adds the next page; returns the alarm that this page completes, or None."""
        total = len(self.came) + 1
        page = replace(page, fetched_at=T0 + timedelta(seconds=total))
        self.came[normalize(page.url)] = page
        found = self._judge(page, self.model, total) if self.model is not None else None
        most = pages_to_learn(total - 1, total)
        if most:
            version = 1 if self.model is None else self.model.version + 1
            sample = [self.came[url] for url in choose_sample(self.came, most)]
            self.model = learn_site(sample, version=version)
        return found

    def _judge(self, page: RawPage, model: SiteModel, total: int) -> Found | None:
        alarm = self._watch.judge([fit_of(clean(page, model), model)], model, total)
        if alarm is None:
            return None
        self._watch.settle(model.version, total, pages_of_quiet(self._alarms))
        self._alarms += 1
        return Found(total, alarm, model, self.came)


def _false_alarms(site: Site, shuffles: int) -> dict[str, list[str]]:
    orders = {f"shuffled {seed}": _shuffled(site, seed) for seed in range(shuffles)}
    orders |= {"by address": _by_address(site), "breadth first": _breadth_first(site)}
    alarms = {}
    for name, order in orders.items():
        crawl = Crawl()
        found = [crawl.add(site.pages[i]) for i in order]
        alarms[name] = [_said(each) for each in found if each]
    return alarms


def _redesigns(
    sites: Sequence[Site], changes: Mapping[str, Change], orders: int
) -> dict[str, dict[str, Any]]:
    """Returns the alarms by change, site and order."""
    results: dict[str, dict[str, Any]] = {name: {} for name in changes}
    for site in sites:
        rows: dict[str, list[tuple[int, int, Found | None]]] = {name: [] for name in changes}
        answers: dict[str, list[dict[str, list[float]]]] = {name: [] for name in changes}
        for seed in range(orders):
            order = _shuffled(site, seed)
            half = len(order) // 2
            crawl = Crawl()
            early = sum(crawl.add(site.pages[i]) is not None for i in order[:half])
            for name, change in changes.items():
                changed = crawl.copy()
                found, pages = None, 0
                for i in order[half:]:
                    found, pages = changed.add(change(site, i)), pages + 1
                    if found:
                        break
                rows[name].append((early, pages, found))
                if found:
                    before = [(i, site.pages[i]) for i in order[:half]]
                    rest = order[half + pages :]
                    answers[name].append(_answer(site, found, before, rest, change))
        for name in changes:
            results[name][site.name] = _noticed(rows[name], answers[name])
    return results


def _noticed(
    rows: Sequence[tuple[int, int, Found | None]], answers: Sequence[dict[str, list[float]]]
) -> dict[str, Any]:
    delays = [pages for _, pages, found in rows if found]
    return {
        "noticed": f"{len(delays)} of {len(rows)}",
        "pages": delays,
        "median_pages": statistics.median(delays) if delays else None,
        "alarms_before": sum(early for early, _, _ in rows),
        "learned": len([each for each in answers if each]),
        "f1": [each["f1"] for each in answers if each],
        "f1_before": [each["f1_before"] for each in answers if each],
        "signs": dict(Counter(str(found.alarm.sign) for _, _, found in rows if found)),
    }


def _answer(
    site: Site,
    found: Found,
    before: Sequence[tuple[int, RawPage]],
    rest: Sequence[int],
    change: Change,
) -> dict[str, list[float]]:
    """Returns F1 of bodies by model; ``{}`` when the new model was not kept."""
    since = [page for page in found.came.values() if page.fetched_at >= found.alarm.since]
    new = learn_site(since)
    if not finds_bodies(new, found.model, found.alarm):
        return {}
    mixed = learn_site([found.came[url] for url in choose_sample(found.came)])
    after = [(i, change(site, i)) for i in rest if site.is_content[i]][: 2 * TESTED]
    return {
        "f1": _f1(site, after, [found.model, None, mixed, new]),
        "f1_before": _f1(site, before, [found.model, new]),
    }


def _f1(
    site: Site, pages: Sequence[tuple[int, RawPage]], models: Sequence[SiteModel | None]
) -> list[float]:
    golds = [(page, site.gold(i).body) for i, page in pages if site.is_content[i]]
    golds = [(page, gold) for page, gold in golds if gold][:TESTED]
    means = [
        statistics.fmean(score(clean(page, model).body, gold)[2] for page, gold in golds)
        for model in models
        if golds
    ]
    return [round(mean, 4) for mean in means]


def _said(found: Found) -> str:
    a = found.alarm
    return (
        f"{a.sign} {a.url_class} at {found.pages}: {a.misfits} of {a.pages}, {a.empty} empty, "
        f"expected {a.expected}; {a.classes[:3]}"
    )


def _shuffled(site: Site, seed: int) -> list[int]:
    order = list(range(len(site.pages)))
    random.Random(seed).shuffle(order)  # noqa: S311 - an order
    return order


def _by_address(site: Site) -> list[int]:
    return sorted(range(len(site.pages)), key=lambda i: site.pages[i].url)


def _breadth_first(site: Site) -> list[int]:
    """Returns the pages in breadth-first order of links; pages without a link to them come last."""
    places = {normalize(page.url): i for i, page in enumerate(site.pages)}
    order: dict[int, None] = {}
    for start in range(len(site.pages)):
        waiting = deque([start])
        while waiting:
            place = waiting.popleft()
            if place not in order:
                order[place] = None
                urls = [link.url for link in clean(site.pages[place]).outlinks]
                waiting += [places[url] for url in urls if url in places]
    return list(order)


def _changes(sites: Sequence[Site]) -> dict[str, Change]:
    donors = {
        site.name: _donor(other) for site, other in zip(sites, [*sites[1:], sites[0]], strict=True)
    }
    return {
        "names changed": lambda site, i: _renamed(site.pages[i]),
        "containers wrapped": lambda site, i: _wrapped(site.pages[i]),
        "template of another site": lambda site, i: _in_template(site, i, *donors[site.name]),
        "wall in place of bodies": lambda site, i: _walled(site, i),
        "wall in place of pages": lambda site, i: _with(
            site.pages[i], f"<title>登录</title>{WALL}"
        ),
    }


def _with(page: RawPage, html: str) -> RawPage:
    return replace(page, html=html)


def _renamed(page: RawPage) -> RawPage:
    def changed(found: re.Match[str]) -> str:
        names = found[2].strip("\"'").split()
        return f'{found[1]}"{" ".join(f"r-{name}" for name in names)}"'

    return _with(page, _NAMES.sub(changed, page.html))


def _wrapped(page: RawPage) -> RawPage:
    found = _BODY.search(page.html)
    at = found.end() if found else 0
    return _with(page, f"{page.html[:at]}<div class=shell><div class=page>{page.html[at:]}")


def _donor(site: Site) -> tuple[Site, int]:
    """Returns a page with a body, whose template another site takes over."""
    for i, yes in enumerate(site.is_content):
        if yes and site.gold(i).body:
            return site, i
    raise ValueError(f"{site.name} has no page with a body")


def _in_template(site: Site, number: int, donor: Site, donor_page: int) -> RawPage:
    page = site.pages[number]
    root, bodies = _parsed(page, site)
    frame, places = _parsed(donor.pages[donor_page], donor)
    place = places[0]
    for child in list(place):
        place.remove(child)
    place.text = None
    moved = bodies or list(root.iter("a"))
    for element in moved:
        element.tail = None
        place.append(element)
        for name in ("class", "id"):
            element.attrib.pop(name, None)
    title = root.find(".//title")
    for element in frame.iter("title"):
        element.text = title.text if title is not None else ""
    return _with(page, lxml_html.tostring(frame, encoding="unicode"))


def _walled(site: Site, number: int) -> RawPage:
    page = site.pages[number]
    root, bodies = _parsed(page, site)
    for body in bodies:
        for child in list(body):
            body.remove(child)
        body.text = WALL
    return _with(page, lxml_html.tostring(root, encoding="unicode")) if bodies else page


def _parsed(page: RawPage, site: Site) -> tuple[etree._Element, list[etree._Element]]:
    root = lxml_html.document_fromstring(page.html.encode(), parser=html_parser())
    return root, list(root.cssselect(site.selectors["body"]))


def _cost(sites: Sequence[Site]) -> dict[str, Any]:
    """Returns the share of judging in the CPU time of cleaning, without the queue."""
    cleaning = judging = 0.0
    for site in sites:
        model: SiteModel = learn_site(site.pages[:100])
        watch = Watch()
        records = []
        begun = time.process_time()
        for page in site.pages[:200]:
            records.append(clean(page, model))
        cleaning += time.process_time() - begun
        begun = time.process_time()
        fits = [fit_of(record, model) for record in records]
        watch.judge(fits, model, len(fits))
        judging += time.process_time() - begun
    return {"share_of_cleaning": round(judging / cleaning, 5)}
