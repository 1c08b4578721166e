"""What every store does with images: facts in a row, bytes in the archive, verdicts in records."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import msgspec

from crawlclean.cleaning.records import Image, ImageKind, ImageReason, Via
from crawlclean.storage.crawl_types import Outcome, PageRole, UrlState
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, make_failure, make_outcome, make_queued, with_record
from tests.kit.recount import counted
from tests.kit.some import some

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
URL = f"https://{HOST}/1.png"
OTHER = "images.example"


def image(body: bytes = PNG) -> Outcome:
    queued = make_queued("/1.png", body=body)
    provenance = replace(queued.provenance, via=Via.IMAGE, referrer=f"https://{HOST}/a")
    queued = replace(
        queued, page_id=image_id(URL), role=PageRole.IMAGE, host=OTHER, provenance=provenance
    )
    return Outcome(queued=queued, state=UrlState.IMAGE, keep_raw=True, media_type="image/png")


def pictured(*images: Image, path: str = "/a", crawl_id: str = "c1") -> Outcome:
    return with_record(make_outcome(path, keep_raw=True, crawl_id=crawl_id), images=images)


def cleaned_again(
    *images: Image, path: str, version: int = 1, due: bool = True, crawl_id: str = "c1"
) -> Outcome:
    outcome = with_record(pictured(*images, path=path, crawl_id=crawl_id), model_version=version)
    return replace(outcome, images_due=due, keep_raw=False)


class ImagesContract:
    """Part of the suite of both stores."""

    def test_an_image_comes_back(self, store: Store) -> None:
        assert store.save([image()]) == 1
        assert store.save([image()]) == 0, "saved again it changes nothing"
        (row,) = store.urls.rows(image_id(URL))
        assert (row.state, row.url, row.host) == (UrlState.IMAGE, URL, OTHER)
        assert (row.media_type, row.fetched_bytes) == ("image/png", len(PNG))
        assert row.sha256 == hashlib.sha256(PNG).hexdigest()
        assert row.referrer == f"https://{HOST}/a"
        assert store.answers.body(image_id(URL)) == PNG
        assert store.answers.body(image_id(URL), "c2") is None
        assert store.records.get(image_id(URL)) is None
        stats = some(counted(store).get(OTHER))
        assert stats.pages_by_state == {"image": 1}
        assert stats.fetched_bytes == len(PNG)
        assert [end.role for end in store.urls.ended("c1")] == [PageRole.IMAGE]

    def test_a_page_at_the_same_address_is_another_url(self, store: Store) -> None:
        store.save([image(), make_failure("/1.png")])
        assert store.answers.body(image_id(URL)) == PNG
        assert {row.url for row in store.urls.failures()} == {URL}
        assert image_id(URL) != make_failure("/1.png").queued.page_id

    def test_images_are_no_sample_of_pages(self, store: Store) -> None:
        store.save([image(), make_outcome("/a", keep_raw=True)])
        assert [page.url for page in store.hosts.archived(HOST)] == [f"https://{HOST}/a"]
        assert list(store.hosts.archived(OTHER)) == []

    def test_verdicts_are_read_from_records(self, store: Store) -> None:
        found = (
            Image(src="/1.png", url=URL, kind=ImageKind.CONTENT, reason=ImageReason.IN_BODY),
            Image(src="x.gif", url="https://ads.example/x.gif", kind=ImageKind.AD),
        )
        store.save([pictured(*found), pictured(path="/b")])
        pages = list(store.images.of_pages("c1", HOST))
        assert [(page.url, page.depth) for page in pages] == [
            (f"https://{HOST}/a", 2),
            (f"https://{HOST}/b", 2),
        ]
        assert pages[0].images == found
        assert len(list(store.images.of_pages("c1"))) == 2
        assert list(store.images.of_pages("c1", OTHER)) == []
        assert list(store.images.of_pages("c2")) == []

    def test_images_that_became_content_are_due_until_they_are_offered(self, store: Store) -> None:
        shown = Image(src="/1.png", url=URL, kind=ImageKind.CONTENT)
        hidden = msgspec.structs.replace(shown, kind=ImageKind.CHROME)
        pages = ("/a", "/b", "/c")
        store.save([pictured(hidden, path=path) for path in pages])
        assert store.images.due("c1") == [], "what a worker saves it offers itself"
        store.save([cleaned_again(shown, path=path) for path in pages])
        assert len(store.images.due("c1", 2)) == 2
        due = {page.url[-2:]: page for page in store.images.due("c1")}
        assert set(due) == set(pages)
        assert (due["/a"].images, due["/a"].depth) == ((shown,), 2)
        assert store.images.due("c2") == []
        store.save([cleaned_again(hidden, path="/a", version=2, due=False)])
        store.images.end_due("c1", list(due.values()))
        [left] = store.images.due("c1")
        assert (left.url[-2:], left.images) == ("/a", (hidden,)), "saved since, by its verdict now"
        store.images.forget_due("c1", OTHER)
        assert len(store.images.due("c1")) == 1
        store.images.forget_due("c1")
        assert store.images.due("c1") == []

    def test_images_go_with_their_crawl(self, store: Store) -> None:
        store.save([image()])
        store.delete_host("c1", OTHER)
        assert store.answers.body(image_id(URL)) is None
        assert store.urls.rows(image_id(URL)) == []

    def test_a_crawl_may_ask_for_images_of_pages_that_others_fetched(self, store: Store) -> None:
        photo = Image(src=URL, url=URL, kind=ImageKind.CONTENT)
        page = pictured(photo, crawl_id="c2")
        store.save([page])
        page_id = page.queued.page_id
        found = some(store.images.of_page(page_id, "c2"))
        assert (found.page_id, found.images) == (page_id, (photo,))
        assert store.images.of_page(page_id, "c1") is None
        store.images.make_due("c1", [(page_id, "c2"), (page_id, "c3")])
        assert store.images.due("c2") == []
        (due,) = store.images.due("c1")
        assert due == found
        store.images.end_due("c1", [due])
        assert store.images.due("c1") == []
