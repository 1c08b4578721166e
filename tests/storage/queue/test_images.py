"""Images in the queue: URLs of their own, before pages, and no part of a budget."""

from __future__ import annotations

from typing import Any

from crawlclean.cleaning.records import Via
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import CrawlState, Discovery, PageRole, UrlState
from crawlclean.storage.queue.entries import offer_args, pack_entries, read_pending, unpack_entries
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.pictures import IMAGE_RANK, image_id
from tests.kit.queues import (
    Spider,
    ack_all,
    assert_at_rest,
    begin,
    claim_all,
    let_time_pass,
    spec,
    urls,
)

PAGE = "http://a.example/page"


def images(n: int, host: str = "a.example") -> list[Discovery]:
    return [
        Discovery(
            url=f"http://{host}/{i}.png",
            depth=1,
            role=PageRole.IMAGE,
            via=Via.IMAGE,
            referrer=PAGE,
            rank=IMAGE_RANK,
        )
        for i in range(n)
    ]


def test_a_page_and_a_picture_at_one_address_are_two_urls(
    frontier: Frontier, spider: Spider
) -> None:
    frontier.open_crawl(spec("c", "http://a.example/", slots=20))
    frontier.add("c", [Discovery(url="http://a.example/0.png"), *images(1)])
    assert frontier.add("c", images(1)) == 0
    seed, image, page = spider.pages()
    assert seed.url == "http://a.example/"
    assert (image.role, image.page_id) == (PageRole.IMAGE, image_id(image.url))
    assert image.referrer == PAGE
    assert (page.role, page.page_id) == (PageRole.PAGE, page_id(page.url))
    assert page.url == image.url
    assert page.referrer == ""
    assert frontier.counts("c").images == 0


def test_a_spent_budget_holds_back_pages_and_no_image(
    frontier: Frontier, client: Any, spider: Spider
) -> None:
    begin(frontier, urls(5), max_pages=1, slots=1)
    (page,) = spider.pages(1)
    spider.put(page)
    spider.flush()
    frontier.add("c", images(2) + images(1, "b.example"))
    ack_all(frontier, client)
    assert frontier.counts("c").budget_left == 0
    assert frontier.counts("c").state is CrawlState.RUNNING, "images are left"
    fetched: list[str] = []
    for attempt in range(6):
        let_time_pass(client, "a.example", "b.example")
        for lease in spider.pages():
            assert lease.role is PageRole.IMAGE
            if attempt == 0:
                spider.nack(lease)
                continue
            spider.put(lease)
            fetched.append(lease.url)
        spider.flush()
        for job, pages in claim_all(frontier, client).items():
            frontier.ack(job, [(each, UrlState.IMAGE) for each in pages])
    assert sorted(fetched) == sorted(image.url for image in images(2) + images(1, "b.example"))
    counts = frontier.counts("c")
    assert (counts.state, counts.pending, counts.images) == (CrawlState.FINISHED, 4, 0)
    assert (counts.stored, counts.budget_left) == (1, 0)
    assert_at_rest(client)


def test_images_are_counted_on_their_way_to_the_store_and_back(
    frontier: Frontier, client: Any, spider: Spider, store: SqliteStore
) -> None:
    begin(frontier, images(300), slots=50)
    tail = frontier.overflow(store.spills, 40)
    tail.round()
    counts = frontier.counts("c")
    assert counts.spilled > 0
    assert counts.images == 300 - counts.spilled
    fetched: list[str] = []
    while frontier.counts("c").open:
        tail.round()
        let_time_pass(client, "a.example")
        for lease in spider.pages():
            assert lease.role is PageRole.IMAGE
            fetched.append(lease.url)
            spider.put(lease)
        spider.flush()
        ack_all(frontier, client, UrlState.IMAGE)
    assert len(fetched) == len(set(fetched)) == 300
    assert (frontier.counts("c").images, frontier.counts("c").stored) == (0, 0)


def test_forgetting_a_host_forgets_its_images(frontier: Frontier, spider: Spider) -> None:
    begin(frontier, images(9) + images(1, "b.example") + urls(3), slots=2)
    for lease in spider.pages(2):
        spider.nack(lease)
    assert frontier.counts("c").images == 10
    frontier.purge("c", "a.example")
    assert frontier.counts("c").images == 1
    frontier.purge("c", "b.example")
    assert frontier.counts("c").images == 0


def test_entries_of_images_come_back() -> None:
    (image,) = images(1)
    host, _, pid, role, rank, packed = offer_args(image)
    assert (role, rank, pid) == ("image", IMAGE_RANK, image_id(image.url))
    assert isinstance(packed, bytes)
    entry = bytes.fromhex(str(pid)) + b"i" + (7).to_bytes(6, "big") + packed
    score = IMAGE_RANK * 10**12 + 5
    assert read_pending(str(host), score, entry) == image
    assert unpack_entries(str(host), pack_entries(str(host), [(score, entry)])) == [(score, entry)]


def test_no_page_has_the_rank_of_images() -> None:
    assert offer_args(Discovery(url=PAGE, rank=IMAGE_RANK))[4] == IMAGE_RANK + 1
