"""The screens of failures, queues, traps and events, over a real store and a real queue."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from crawlclean.cleaning.url_classes.stopping import Account, Asked, Verdict
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.store.journal import Event, EventKind, Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.space import room_of
from tests.kit.console import open_console, settings_of
from tests.kit.outcomes import HOST, later, make_failure, make_outcome
from tests.kit.worker_bench import Bench

HOSTILE = "<script>alert(1)</script>\u202eevil"


@pytest.fixture
def store(bench: Bench) -> Iterator[Store]:
    with closing(bench.store()) as opened:
        for crawl in ("c", "other"):
            spec = CrawlSpec(crawl_id=crawl, seeds=(f"https://{HOST}/",))
            opened.crawls.put(spec, CrawlState.RUNNING)
        yield opened


@pytest.fixture
def console(bench: Bench) -> FlaskClient:
    return open_console(bench.data)


def text_of(console: FlaskClient, address: str) -> str:
    answer = console.get(address)
    assert answer.status_code == 200, answer.text
    return answer.text


def hrefs(page: str, begin: str) -> list[str]:
    found = re.findall(rf'href="({re.escape(begin)}[^"]*)"', page)
    return [each.replace("&amp;", "&") for each in found]


def fail(store: Store) -> None:
    """Three timeouts of one host and crawl, one status 404 of another crawl, and a record."""
    store.save([make_failure(f"/f/{n}", crawl_id="c", at=later(n)) for n in range(3)])
    lost = make_failure("/gone", crawl_id="other", reason=FailureReason.POISON)
    store.save([lost, make_outcome("/t/1", crawl_id="c")])
    store.statistics.refresh()


def test_failures_are_grouped_and_filtered(
    bench: Bench, console: FlaskClient, store: Store
) -> None:
    assert "No URL has failed" in text_of(open_console(bench.data), "/failures")
    fail(store)
    page = text_of(console, "/failures")
    groups = hrefs(page, "/failures/group")
    assert len(groups) == 2
    assert "cause=timeout" in groups[0], "the largest first"
    assert len(hrefs(text_of(console, "/failures?crawl=other"), "/failures/group")) == 1
    assert len(hrefs(text_of(console, f"/failures?host={HOST}"), "/failures/group")) == 2
    assert hrefs(text_of(console, "/failures?host=nobody.example"), "/failures/group") == []
    (only,) = hrefs(text_of(console, "/failures?cause=poison"), "/failures/group")
    assert "crawl=other" in only


def test_groups_and_their_urls_come_in_parts(console: FlaskClient, store: Store) -> None:
    fail(store)
    first = text_of(console, "/failures?limit=1")
    (more,) = (each for each in hrefs(first, "/failures?") if "after=" in each)
    second = text_of(console, more)
    assert hrefs(first, "/failures/group") != hrefs(second, "/failures/group")
    (group,) = hrefs(first, "/failures/group")
    seen = []
    address = f"{group}&limit=1"
    while address:
        page = text_of(console, address)
        seen += re.findall(r"(/f/\d)</bdi>", page)
        address = next((each for each in hrefs(page, "/failures/group") if "after=" in each), "")
    assert list(dict.fromkeys(seen)) == ["/f/2", "/f/1", "/f/0"], "newest first"


def test_a_group_that_grows_while_somebody_pages_is_named(
    bench: Bench, console: FlaskClient, store: Store
) -> None:
    fail(store)
    now = datetime.now(UTC)
    first = text_of(console, "/failures?limit=1")
    assert 'id="grown"' not in first
    (more,) = (each for each in hrefs(first, "/failures?") if "after=" in each)
    assert "begun=" in more
    assert 'id="grown"' not in text_of(console, more)
    reason = FailureReason.POISON
    lost = [make_failure(f"/gone/{n}", crawl_id="other", reason=reason, at=now) for n in range(5)]
    store.save(lost)
    store.statistics.refresh()
    fresh = open_console(bench.data)
    second = text_of(fresh, more)
    grown = second.partition('id="grown"')[2].partition("</section>")[0]
    assert "cause=poison" in grown
    assert hrefs(second.partition("Hosts and causes")[2], "/failures/group") == [], "it has moved"


def test_a_group_says_what_mends_it(console: FlaskClient, store: Store) -> None:
    fail(store)
    (group,) = hrefs(text_of(console, "/failures?cause=poison"), "/failures/group")
    assert "Workers died on each of these pages" in text_of(console, group)
    assert console.get("/failures/group?crawl=c&host=x.example&cause=dns").status_code == 404
    for wrong in ("", "?crawl=c&host=x&cause=none", "?crawl=c&host=x&cause=dns&status=x"):
        assert console.get(f"/failures/group{wrong}").status_code == 400


def test_queues_show_who_works_on_what(bench: Bench, console: FlaskClient, store: Store) -> None:
    bench.fetch("http://a.example/1", "http://a.example/2")
    [job] = bench.client.zrange("cc:jobs", 0, -1)
    bench.frontier.processes.beat(ProcessRole.WORKER)
    bench.frontier.claim(job.decode(), f"{process_name()}.0a1b2c3d")
    seq = store.operations.add(Operation(kind="retry", target=HOSTILE, who="x", total=10))
    assert store.operations.advance(seq, 4, 10, "4 of 10")
    page = text_of(console, "/queues")
    assert "<script>alert" not in page
    assert "\u202e" not in page
    for part in (job.decode(), "a.example", process_name().rpartition(".")[0], "4 / 10", "worker"):
        assert part in page
    live = console.get("/queues/live")
    assert 'id="queues-panels"' in live.text
    again = console.get("/queues/live", headers={"If-None-Match": live.headers["ETag"]})
    assert again.status_code in (200, 304)


def test_what_has_ended_was_fetched(bench: Bench, console: FlaskClient) -> None:
    """Workers count at once, spiders later: no page says that more is stored than fetched."""
    bench.frontier.count({"pages_put": 5, "records": 8, "failed": 1})
    tiles = re.findall(
        r'id="tile-(fetched|stored|failed)".*?<small>(.*?)</small>', text_of(console, "/"), re.S
    )
    assert [(name, re.sub(r"\D", "", told)) for name, told in tiles] == [
        ("fetched", "9"), ("stored", "8"), ("failed", "1"),
    ]  # fmt: skip


def test_queues_names_the_queues_that_share_the_store(
    bench: Bench, console: FlaskClient, store: Store
) -> None:
    ours = bench.frontier.queue_id()
    store.queues.hear(ours, "redis://one:6379/0", bench.frontier.server_run())
    assert "Queues that share the store" not in text_of(console, "/queues")
    store.queues.hear("f" * 32, f"redis://{HOSTILE}:6379/0", "another run")
    store.crawls.put(CrawlSpec(crawl_id="theirs", seeds=()), CrawlState.RUNNING, queue="f" * 32)
    page = text_of(console, "/queues")
    assert "Queues that share the store" in page
    assert "redis://one:6379/0" in page
    assert page.count("this one") == 1
    assert "<script>alert" not in page


def test_queues_at_rest_are_a_page(tmp_path: Path) -> None:
    page = text_of(open_console(tmp_path / "data"), "/queues")
    assert "No crawl is running" in page


@pytest.mark.usefixtures("store")
def test_traps_name_stopped_classes(bench: Bench, console: FlaskClient) -> None:
    bench.fetch("http://a.example/1")
    assert "No URL class is stopped" in text_of(console, "/traps")
    stop = Verdict(stopped={"/s/*": "no news"}, accounts={"/s/*": Account(pages=7, with_news=1)})
    asked = Asked(patterns=("/s/*",), fingerprints=())
    bench.frontier.classes.judge("c", "a.example", asked, lambda _: stop)
    page = text_of(console, "/traps")
    for part in ("/s/*", "no news", "1 class is stopped", "a.example"):
        assert part in page
    assert "No URL class is stopped" in text_of(console, "/traps?host=b.example")


def test_a_stopped_class_is_spelled_as_on_other_screens(
    bench: Bench, console: FlaskClient, store: Store
) -> None:
    bench.fetch(f"https://{HOST}/1")
    store.save([make_outcome(f"/cal/{n}/{n + 1}.html", crawl_id="c") for n in range(3)])
    store.statistics.refresh()
    stop = Verdict(
        stopped={"/cal/*/*.html": "no news"},
        accounts={"/cal/*/*.html": Account(pages=7, with_news=1)},
    )
    asked = Asked(patterns=("/cal/*/*.html",), fingerprints=())
    bench.frontier.classes.judge("c", HOST, asked, lambda _: stop)
    for page in ("/traps", f"/hosts/{HOST}"):
        assert "/cal/{n}/{n}.html" in text_of(console, page), page
    assert "/cal/*" not in text_of(console, "/traps")


def test_traps_at_rest_are_a_page(tmp_path: Path) -> None:
    assert "stops are in its queue" in text_of(open_console(tmp_path / "data"), "/traps")


def test_events_are_listed_and_filtered(console: FlaskClient, store: Store) -> None:
    for n in range(3):
        store.events.add(Event(kind=EventKind.DIED, text=f"worker {n} {HOSTILE}"))
    store.events.add(Event(kind=EventKind.TRAP, host=HOST, crawl_id="c", text="/cal/* stopped"))
    page = text_of(console, "/events")
    assert page.index("/cal/*") < page.index("worker 2") < page.index("worker 0")
    assert "<script>alert" not in page
    assert "\u202e" not in page
    only = text_of(console, f"/events?host={HOST}")
    assert "/cal/*" in only
    assert "worker 0" not in only
    assert "worker 0" not in text_of(console, "/events?kind=trap")
    first = text_of(console, "/events?limit=2")
    (more,) = (each for each in hrefs(first, "/events?") if "after=" in each)
    assert "worker 1" in text_of(console, more)
    assert "worker 2" not in text_of(console, more)


def test_space_names_the_largest_crawl_first(console: FlaskClient, store: Store) -> None:
    pages = [replace(make_outcome(f"/t/{n}", crawl_id="other"), keep_raw=True) for n in range(5)]
    store.save([*pages, make_outcome("/t/1", crawl_id="c")])
    page = text_of(console, "/space")
    assert 0 < page.index(">other<") < page.index(">c<")
    assert "Archived responses" in page


@pytest.mark.usefixtures("store")
def test_space_names_what_others_take(bench: Bench) -> None:
    room = room_of(KeptBackends(settings_of(bench.data)))
    assert room.total_bytes
    assert room.free_bytes
    used = sum(part.used_bytes for part in room.parts)
    assert room.others_bytes == room.total_bytes - room.free_bytes - used
    assert Path(room.mount).is_mount()
    page = text_of(open_console(bench.data), "/space")
    for part in ("Other files take", f"<bdi>{room.mount}</bdi>", "du -xh"):
        assert part in page


def test_space_of_hosts(console: FlaskClient, store: Store) -> None:
    pages = [replace(make_outcome(f"/t/{n}", crawl_id="other"), keep_raw=True) for n in range(5)]
    store.save([*pages, make_outcome("/t/1", crawl_id="c")])
    store.statistics.refresh()
    row = text_of(console, "/space").rpartition("<tbody>")[2].partition("</tr>")[0]
    assert f'href="/hosts/{HOST}"' in row
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", row)
    assert [cells[1], cells[3], cells[5]] == ["5", "6", "0"], "responses, records, images"
    assert cells[2].endswith(" B") or cells[2].endswith(" KiB")
    assert "≈" not in row
    assert f'"/hosts/{HOST}"' not in text_of(console, f"/space?after=0~{HOST}")


def test_space_without_a_crawl_is_a_page(tmp_path: Path) -> None:
    assert "Nothing here" in text_of(open_console(tmp_path / "data"), "/space")
