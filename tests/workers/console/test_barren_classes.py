"""The sign of a class whose pages repeat others, until somebody forbids the class."""

from __future__ import annotations

import re
from contextlib import closing
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery
from crawlclean.workers.operations.watching.signs.judging import NEWEST
from tests.kit.commands import DataFolder
from tests.kit.console import acting_console, do, settings_of
from tests.kit.outcomes import HOST, make_outcome, with_record
from tests.kit.queues import pause_host
from tests.kit.worker_bench import Bench


def signs(bench: Bench) -> str:
    """The list of signs, read by somebody who comes now."""
    page = acting_console(settings_of(bench.data), bench.data).get("/").text
    return re.sub(r"\s+", " ", page.partition('id="now-signs"')[2].partition("</ul>")[0])


def test_a_forbidden_class_is_no_sign_any_more(tmp_path: Path) -> None:
    """Its pages are not fetched from then on; those that were fetched stay stored."""
    spec = CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",))
    with Bench(tmp_path) as bench, closing(bench.store()) as store:
        store.crawls.put(spec, CrawlState.RUNNING)
        bench.frontier.open_crawl(spec)
        waiting = [Discovery(url=f"https://{HOST}/cal/{n}/{n}.html") for n in range(9)]
        bench.frontier.offer("c", waiting)
        at = datetime.now(UTC)
        for n in range(NEWEST):  # between them articles with a text of their own
            copy = make_outcome(f"/cal/{n}/{n + 1}.html", crawl_id="c", at=at)
            own = make_outcome(f"/t/{n}", crawl_id="c", at=at)
            store.save([with_record(copy, signature="a" * 16), own])
        store.statistics.refresh()
        assert "pages repeat others" in signs(bench)
        template = re.search(r"forbid_class\?[^\"]*template=([^\"&]+)", signs(bench))
        assert template
        client = acting_console(settings_of(bench.data), bench.data)
        page = do(client, "forbid_class", HOST, template="/cal/{n}/{n}.html")
        assert "no sign of this host stands on Now" in page.text
        assert "pages repeat others" not in signs(bench)


def test_what_only_a_forbidden_class_leads_to_is_forbidden_with_it(tmp_path: Path) -> None:
    """Classes that other pages lead to, or that lead to themselves alone, are not named."""
    url = f"http://{HOST}"
    spec = CrawlSpec(crawl_id="c", seeds=(f"{url}/",))
    months = [f"/cal/{n}/{n % 12}.html" for n in range(4)]
    days = [f"{month}?d={day}" for month in months for day in range(3)]
    found = {month: f"/cal/{n}/1.html" for n, month in enumerate(months)}
    found |= {day: months[n % 4] for n, day in enumerate(days)}
    found |= {f"{days[0]}{n}": days[n] for n in range(1, 5)}  # days lead to days, too
    found |= {f"/news/{n}": "/" if n else months[0] for n in range(3)}
    found |= {f"/tag/{n}": f"/tag/{n + 1}" for n in range(2)}
    month, day = "/cal/{n}/{n}.html", "/cal/{n}/{n}.html?d={n}"
    with Bench(tmp_path) as bench, closing(bench.store()) as store:
        store.crawls.put(spec, CrawlState.RUNNING)
        store.save([make_outcome("/cal/9/9.html", crawl_id="c")])
        store.statistics.refresh()
        bench.frontier.open_crawl(spec)
        pause_host(bench.frontier, HOST)
        waiting = [Discovery(url=url + at, referrer=url + on) for at, on in found.items()]
        bench.frontier.offer("c", waiting)
        client = acting_console(settings_of(bench.data), bench.data)
        asked = {"target": HOST, "template": month}
        page = client.get("/actions/forbid_class", query_string=asked)
        assert page.text.count("With it, as only these pages lead there") == 1
        assert f"waiting URLs: 16, of <code><bdi>{day}" in page.text
        assert "<dd>20</dd>" in page.text, "the waiting URLs of both"
        hrefs = map(unescape, re.findall(r'href="([^"]+)"', page.text))
        offered = [parse_qs(urlsplit(href).query) for href in hrefs]
        assert {"target": [HOST], "template": [month], "alone": ["1"]} in offered
        do(client, "forbid_class", HOST, template=month, alone="1")
        assert set(bench.frontier.classes.known("c", HOST).pins) == {month}
        do(client, "reset_class", HOST, template=month)
        done = do(client, "forbid_class", HOST, template=month)
        assert set(bench.frontier.classes.known("c", HOST).pins) == {month, day}
        table = client.get(f"/hosts/{HOST}").text.partition("URL classes")[2]
        assert [table.count(f">{each}</bdi>") for each in (month, day)] == [1, 1]
        undo = re.search(r'href="(/actions/reset_class[^"]+)"', done.text)
        assert undo
        named = parse_qs(urlsplit(unescape(undo[1])).query)
        do(client, "reset_class", HOST, template=named["template"][0])
        assert not bench.frontier.classes.known("c", HOST).pins
        told = DataFolder(bench.data).output("classes", HOST, "--forbid", month)
        assert told.splitlines() == [
            f"{month}: not fetched any more",
            "4 URLs of it waiting: left out",
            "16 URLs waiting of a class that only its pages lead to; to leave it out, too: "
            f"--forbid '{day}'",
        ]
