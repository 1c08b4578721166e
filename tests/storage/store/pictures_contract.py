"""What every store must do with images of topics: copies are one group, in any order of arrival."""

from __future__ import annotations

import random
from dataclasses import replace

from PIL import Image

from crawlclean.cleaning.topics.pictures import Picture, read_picture
from crawlclean.storage.crawl_types import Outcome, PageRole, UrlState
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, later, make_queued
from tests.kit.pictures import edited, encoded, photograph
from tests.kit.some import some


def seen(name: str, picture: Image.Image | bytes, at: float = 0.0, crawl: str = "c1") -> Outcome:
    """The outcome of an image of a topic's crawl."""
    body = picture if isinstance(picture, bytes) else encoded(picture)
    url = f"https://{HOST}/{name}"
    queued = make_queued(f"/{name}", body=body, crawl_id=crawl, at=later(at))
    queued = replace(queued, page_id=image_id(url), role=PageRole.IMAGE)
    return Outcome(
        queued=queued,
        state=UrlState.IMAGE,
        keep_raw=True,
        media_type="image/png",
        picture=read_picture(body),
    )


def groups(store: Store, crawl: str = "c1") -> set[frozenset[str]]:
    """The ids of the images of each group."""
    return {
        frozenset(row.page_id for row in store.pictures.copies(crawl, group))
        for group, _ in store.pictures.groups(crawl)
    }


def ids(*names: str) -> frozenset[str]:
    return frozenset(image_id(f"https://{HOST}/{name}") for name in names)


class PicturesContract:
    """Part of the suite of both stores."""

    def test_copies_are_one_group_named_by_the_largest(self, store: Store) -> None:
        first, second = photograph(1), photograph(2)
        outcomes = [
            seen("a", first),
            seen("small", edited(first), 1),
            seen("b", first, 2),
            seen("other", second, 3),
            seen("x.svg", b"<svg/>", 4),
            seen("y.svg", b"<svg/>", 5),
        ]
        store.save(outcomes)
        store.save(outcomes[:1])
        assert groups(store) == {ids("a", "small", "b"), ids("other"), ids("x.svg", "y.svg")}
        newest, _, oldest = store.pictures.groups("c1")
        assert (newest[1], oldest[1]) == (2, 3)
        assert store.pictures.copies("c1", oldest[0])[0].page_id in ids("a", "b")
        small = some(store.pictures.of_image(image_id(f"https://{HOST}/small"), "c1"))
        assert (small.width, small.file_bytes) == (213, len(encoded(edited(first))))
        assert store.pictures.of_image("0" * 32, "c1") is None

    def test_every_order_of_arrival_gives_the_same_groups(self, store: Store) -> None:
        # The middle of three matches both others, which do not match each other.
        middle = bytearray(random.Random(3).randbytes(16))
        left, right = bytearray(middle), bytearray(middle)
        left[0] ^= 0xFF
        right[15] ^= 0xFF
        prints = [bytes(each) * 7 for each in (left, right, middle)]
        names = ("left", "right", "middle")
        for crawl, order in (("c1", (0, 1, 2)), ("c2", (2, 1, 0)), ("c3", (1, 2, 0))):
            for at in order:
                outcome = seen(names[at], names[at].encode(), crawl=crawl)
                looks = Picture(width=9, height=9, prints=prints[at])
                store.save([replace(outcome, picture=looks)])
            assert groups(store, crawl) == {ids(*names)}
        numbers = {store.pictures.groups(crawl)[0][0] for crawl in ("c1", "c2", "c3")}
        assert len(numbers) == 1

    def test_pictures_go_with_their_crawl_and_host(self, store: Store) -> None:
        first = photograph(1)
        store.save([seen("a", first), seen("b", first), seen("a", first, crawl="c2")])
        assert groups(store, "c2") == {ids("a")}
        store.delete_crawl("c1")
        assert groups(store, "c1") == set()
        store.save([seen("c", first), seen("c", first, crawl="c2")])
        assert groups(store, "c1") == {ids("c")}
        store.delete_host("c2", HOST)
        assert groups(store, "c2") == set()

    def test_an_image_of_another_crawl_has_no_picture(self, store: Store) -> None:
        store.save([replace(seen("a", photograph(1)), picture=None)])
        assert store.pictures.groups("c1") == []
