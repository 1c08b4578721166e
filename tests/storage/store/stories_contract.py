"""What every store must do with near-duplicates: subclass beside the two fixtures of processes."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations
from pathlib import Path

from crawlclean.cleaning.topics.stories import story_signature
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.stories import number_of
from tests.kit.outcomes import HOST, T0, make_outcome, with_queued, with_record
from tests.kit.recount import counted
from tests.kit.some import some

ROOT = Path(__file__).parents[3]
OTHER = "copies.example"
LETTERS = [chr(code) for code in range(0x4E00, 0x4E00 + 2_500)]
PAIRS = 12
WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
from tests.storage.store.stories_contract import PAIRS, page, text
where = sys.argv[1]
with closing(MongoStore(where) if "://" in where else SqliteStore(Path(where))) as store:
    store.crawls.all()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(PAIRS):
        store.save([page(f"/{sys.argv[2]}/{number}", text(number), host=sys.argv[2])])
"""
REBUILDER = """
import sys
from contextlib import closing
from pathlib import Path
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
where = sys.argv[1]
with closing(MongoStore(where) if "://" in where else SqliteStore(Path(where))) as store:
    for _ in store.story_rebuild.steps(at_once=2):
        print("step", flush=True)
        sys.stdin.readline()
"""
HOSTS = {f"h{n}.example" for n in range(3)}


def text(seed: int, chars: int = 600) -> str:
    return "".join(random.Random(seed).choices(LETTERS, k=chars))


def page(
    path: str, body: str, *, host: str = HOST, crawl_id: str = "c1", at: datetime = T0
) -> Outcome:
    """A page whose body is a story, fetched at a time and never published."""
    made = make_outcome(path, crawl_id=crawl_id, at=at)
    url = made.queued.url.replace(HOST, host)
    pid = page_id(url)
    of_page = {"page_id": pid, "url": url, "host": host}
    made = with_record(made, body=body, published_at=None, signature=pid[:16], **of_page)
    return replace(with_queued(made, **of_page), story=story_signature(body))


def told_by_hosts(seed: int, hosts: int) -> list[Outcome]:
    """The pages of one story, one a minute."""
    return [
        page(f"/{seed}", text(seed), host=f"h{n}.example", at=at(seed + n)) for n in range(hosts)
    ]


def at(minutes: int) -> datetime:
    return T0 + timedelta(minutes=minutes)


def told(store: Store, outcome: Outcome) -> list[str]:
    """The URLs of a page's story, the earliest first; none when it is alone."""
    story = store.stories.of_page(outcome.queued.page_id)
    return [each.url for each in story.pages] if story else []


def urls(*outcomes: Outcome) -> list[str]:
    return [each.queued.url for each in outcomes]


def copies(store: Store, host: str) -> int:
    return some(counted(store).get(host)).near_duplicates


class StoriesContract:
    """Needs a fixture ``store`` that gives an empty store, and ``where`` others open it."""

    def test_a_reprint_is_a_page_of_the_story(self, store: Store) -> None:
        body = text(1)
        first = page("/1", body[:500], at=at(1))
        reprint = page("/a", body, host=OTHER, at=at(2))
        other = page("/2", text(2))
        store.save([other, reprint])
        assert (told(store, reprint), copies(store, OTHER)) == ([], 0)
        store.save([first])
        assert told(store, reprint) == told(store, first) == urls(first, reprint)
        assert told(store, other) == []
        assert other.queued.page_id not in store.stories.by_page()
        assert (copies(store, HOST), copies(store, OTHER)) == (0, 1)
        story = some(store.stories.of_page(first.queued.page_id))
        assert story.longest.url == reprint.queued.url
        assert (story.earliest.url, story.earliest.at) == (first.queued.url, to_microseconds(at(1)))
        assert store.stories.story(story.story_id) == story
        assert store.stories.story("no number") is store.stories.story("0" * 15) is None

    def test_a_page_that_proves_to_be_earlier_makes_the_first_one_a_copy(
        self, store: Store
    ) -> None:
        body = text(1)
        store.save([page("/1", body, at=at(5))])
        assert copies(store, HOST) == 0
        store.save([page("/a", body, host=OTHER, at=at(1))])
        assert (copies(store, HOST), copies(store, OTHER)) == (1, 0)

    def test_a_date_of_publication_shortly_before_the_fetch_is_believed(self, store: Store) -> None:
        body = text(1)
        dated, undated = page("/1", body, at=at(9)), page("/2", body, at=at(2))
        old = page("/3", body, at=at(4))
        dated = with_record(dated, published_at=at(1))
        old = with_record(old, published_at=T0 - timedelta(days=300))
        store.save([undated, dated, old])
        assert told(store, old) == urls(dated, undated, old)

    def test_three_stories_become_one_in_any_order(self, store: Store) -> None:
        body = text(3, 900)
        parts = [body[:420], body[240:660], body[480:]]
        pages = [page(f"/{n}", part, host=f"h{n}.example") for n, part in enumerate(parts)]
        whole = page("/whole", body, host="whole.example", at=at(-1))
        ids = set()
        for order in permutations([*pages, whole]):
            for each in order:
                store.save([each])
            store.save(list(order))  # and a replay of it all
            assert sorted(told(store, pages[1])) == sorted(urls(*pages, whole))
            story = some(store.stories.of_page(whole.queued.page_id))
            ids.add(story.story_id)
            of_page = store.stories.by_page()
            assert {pages[0].queued.page_id, whole.queued.page_id} <= of_page.keys()
            assert {story_id for story_id, _ in of_page.values()} == {story.story_id}
            assert of_page[whole.queued.page_id][1] == "whole.example"
            store.delete_crawl("c1")
            assert store.stories.largest(5) == []
        assert ids == {f"{min(number_of(each.queued.page_id) for each in (*pages, whole)):015x}"}

    def test_a_story_outlives_its_first_page(self, store: Store) -> None:
        body = text(4)
        pages = [page("/a", body, host=f"h{n}.example", at=at(n)) for n in range(3)]
        store.save(pages)
        before = some(store.stories.of_page(pages[0].queued.page_id))
        assert store.delete_host("c1", "h0.example") == 1
        assert told(store, pages[2]) == urls(*pages[1:])
        assert told(store, pages[0]) == []
        assert [copies(store, f"h{n}.example") for n in (1, 2)] == [0, 1]
        store.save(pages[:1])
        again = some(store.stories.of_page(pages[1].queued.page_id))
        assert (again.story_id, again.earliest.url) == (before.story_id, before.earliest.url)
        assert told(store, pages[1]) == urls(*pages)
        store.delete_crawl("c1")
        store.save(pages[1:2])
        assert told(store, pages[1]) == []

    def test_a_page_with_another_text_leaves_its_story(self, store: Store) -> None:
        pages = [page(f"/{n}", text(5), at=at(n)) for n in range(3)]
        store.save(pages)
        changed = page("/0", text(6), at=at(9))
        store.save([changed])
        assert told(store, changed) == []
        assert told(store, pages[1]) == urls(*pages[1:])
        follower = page("/follower", text(6), at=at(10))
        store.save([follower])
        assert told(store, changed) == urls(changed, follower)
        again = page("/1", text(5)[:550], at=at(20))
        store.save([again, page("/follower", "too short now", at=at(20))])
        assert told(store, pages[2]) == urls(*pages[1:]), "it keeps the time of its first visit"
        assert told(store, changed) == []

    def test_a_page_in_two_crawls_is_no_copy_of_itself(self, store: Store) -> None:
        body = text(7)
        twice = [page("/1", body), page("/1", body, crawl_id="c2", at=at(3))]
        store.save(twice)
        assert (told(store, twice[0]), copies(store, HOST)) == ([], 0)
        store.save([page("/2", body, at=at(5))])
        assert told(store, twice[0]) == [twice[0].queued.url, f"https://{HOST}/2"]
        assert copies(store, HOST) == 1
        store.delete_crawl("c1")
        assert told(store, twice[1]) == []

    def test_stories_are_listed(self, store: Store) -> None:
        for number, size in enumerate((2, 4, 3)):
            body = text(20 + number)
            for each in range(size):
                when = at(10 * number + each)
                store.save([page(f"/{number}/{each}", body, host=f"h{each}.example", at=when)])
        store.save([page("/alone", text(30))])
        assert [len(story.pages) for story in store.stories.largest(2)] == [4, 3]
        assert [len(story.pages) for story in store.stories.newest(9)] == [3, 4, 2]

    def test_a_template_shared_by_many_pages_hides_no_copy(self, store: Store) -> None:
        template = text(40, 150)
        store.save([page(f"/{n}", template + text(50 + n, 500)) for n in range(90)])
        copy = page("/copy", text(50 + 80, 500), host=OTHER, at=at(1))
        store.save([copy])
        assert told(store, copy) == [f"https://{HOST}/80", copy.queued.url]
        assert copies(store, HOST) == 0

    def test_a_rebuild_finds_what_was_saved_without_signatures(self, store: Store) -> None:
        pages = [*told_by_hosts(8, 3), *told_by_hosts(9, 2), page("/alone", text(10), at=at(50))]
        store.save([replace(each, story=b"") for each in pages])
        assert store.stories.largest(5) == []
        progress = list(store.story_rebuild.steps(at_once=2))[-1]
        assert progress == (6, 6)
        assert not store.story_rebuild.is_unfinished()
        assert told(store, pages[1]) == urls(*pages[:3])
        assert told(store, pages[3]) == urls(*pages[3:5])
        assert [copies(store, f"h{n}.example") for n in range(3)] == [0, 2, 1]
        before = store.stories.largest(5)
        assert len(list(store.story_rebuild.steps())) > 1
        assert store.stories.largest(5) == before, "its numbers, too"

    def test_a_rebuild_splits_what_only_a_deleted_page_held_together(self, store: Store) -> None:
        body = text(11, 900)
        parts = [
            page(f"/{n}", part, host=f"h{n}.example", at=at(n + 1))
            for n, part in enumerate((body[:330], body[570:]))
        ]
        whole = page("/whole", body, host="whole.example")
        store.save([whole, *parts])
        assert told(store, parts[0]) == urls(whole, *parts)
        store.delete_host("c1", "whole.example")
        assert told(store, parts[0]) == urls(*parts)
        assert copies(store, "h1.example") == 1
        list(store.story_rebuild.steps())
        assert told(store, parts[0]) == told(store, parts[1]) == []
        assert copies(store, "h1.example") == 0

    def test_a_crawl_goes_on_beside_a_rebuild(self, store: Store) -> None:
        stories = [told_by_hosts(20 + n, 3) for n in range(4)]
        for number in range(3):
            store.save([story[number] for story in stories])
        new = iter(
            [page(f"/new/{n}", text(20 + n % 4), host="new.example", at=at(60)) for n in range(40)]
        )
        for _ in store.story_rebuild.steps(at_once=2):
            store.save([next(new)])
            store.save([replace(stories[0][1], story=story_signature(text(20)))])
        moved = page("/2", text(23), host="h2.example", at=at(70))
        store.save([moved])
        found = store.stories.largest(9)
        assert [{each.host for each in story.pages} >= HOSTS for story in found] == [True] * 4
        assert told(store, stories[1][0])[:3] == urls(*stories[1])
        later = [page("/later", text(20 + n), host=f"l{n}.example", at=at(90)) for n in range(4)]
        store.save(later)
        assert [told(store, each)[-1] for each in later] == urls(*later)

    def test_a_killed_rebuild_is_completed(self, store: Store, where: Path | str) -> None:
        pages = [each for n in range(6) for each in told_by_hosts(30 + n, 2)]
        store.save(pages)
        expected = store.stories.largest(9)
        for killed_after in (1, 2, 5, 4):
            with subprocess.Popen(
                [sys.executable, "-c", REBUILDER, str(where)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            ) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                for _ in range(killed_after):
                    if process.stdout.readline() != b"step\n":
                        break
                    process.stdin.write(b"\n")
                    process.stdin.flush()
                process.kill()
            if killed_after == 2:
                assert store.story_rebuild.is_unfinished()
        list(store.story_rebuild.steps(at_once=2))
        assert store.stories.largest(9) == expected
        assert not store.story_rebuild.is_unfinished()

    def test_pairs_that_arrive_at_once_in_two_processes_find_each_other(
        self, store: Store, where: Path | str
    ) -> None:
        store.crawls.all()
        with ExitStack() as stack:
            writers = [
                stack.enter_context(
                    subprocess.Popen(
                        [sys.executable, "-c", WRITER, str(where), host],
                        cwd=ROOT,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        text=True,
                    )
                )
                for host in ("left.example", "right.example", "third.example")
            ]
            for each in writers:
                assert each.stdout is not None
                assert each.stdout.readline() == "ready\n"
            for each in writers:
                assert each.stdin is not None
                each.stdin.write("\n")
                each.stdin.flush()
            assert [each.wait(120) for each in writers] == [0] * len(writers)
        found = store.stories.largest(2 * PAIRS)
        assert [len(story.pages) for story in found] == [3] * PAIRS
        for number, story in enumerate(sorted(found, key=lambda each: each.earliest.url)):
            assert number < PAIRS
            numbers = [number_of(each.page_id) for each in story.pages]
            assert int(story.story_id, 16) == min(numbers)
