"""The sign of a class whose pages bring nothing new, until somebody forbids the class."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from cleaning.url_classes.stopping import Account, Asked, Verdict
from storage.crawl_types import CrawlSpec, CrawlState, Discovery
from tests.kit.console import acting_console, do, settings_of
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.worker_bench import Bench
from workers.operations.watching.signs.signs import FEWEST_PAGES, QUEUED

PATTERN = "/cal/*/*.html"


def signs(bench: Bench) -> str:
    """The list of signs, read by somebody who comes now."""
    page = acting_console(settings_of(bench.data), bench.data).get("/").text
    return re.sub(r"\s+", " ", page.partition('id="now-signs"')[2].partition("</ul>")[0])


def test_a_forbidden_class_is_no_sign_any_more(tmp_path: Path) -> None:
    """Its pages are not fetched from then on; those that were fetched stay counted."""
    spec = CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/",))
    with Bench(tmp_path) as bench, closing(bench.store()) as store:
        store.crawls.put(spec, CrawlState.RUNNING)
        bench.frontier.open_crawl(spec)
        waiting = [Discovery(url=f"https://{HOST}/cal/{n}/{n}.html") for n in range(2 * QUEUED)]
        bench.frontier.offer("c", waiting)
        store.save([make_outcome(f"/cal/{n}/{n + 1}.html", crawl_id="c") for n in range(3)])
        store.statistics.refresh()
        account = Account(pages=FEWEST_PAGES, with_news=1)
        verdict = Verdict(stopped={}, accounts={PATTERN: account})
        asked = Asked(patterns=(PATTERN,), fingerprints=())
        bench.frontier.classes.judge("c", HOST, asked, lambda _: verdict)
        assert "nothing new" in signs(bench)
        template = re.search(r"forbid_class\?[^\"]*template=([^\"&]+)", signs(bench))
        assert template
        client = acting_console(settings_of(bench.data), bench.data)
        page = do(client, "forbid_class", HOST, template="/cal/{n}/{n}.html")
        assert "no sign of this host stands on Now" in page.text
        assert "nothing new" not in signs(bench)
