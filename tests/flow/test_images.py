"""`run --images`: what is content is fetched from wherever it is, and nothing else is asked for."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from contextlib import closing
from pathlib import Path

from crawlclean.cleaning.records import ImageKind
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.models import LearnReason
from crawlclean.workers.jobs.learning import learn_host
from crawlclean.workers.operations.files.stored_images import report_images
from tests.kit.archived_site import album_html
from tests.kit.commands import DataFolder
from tests.kit.crawls import counted, crawlclean, run_crawl
from tests.kit.mongo_server import free_port
from tests.kit.web import Page, Web, html

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分，前后都是文字。"


def png(n: int) -> bytes:
    """A picture like no other one."""
    return b"\x89PNG\r\n\x1a\n" + zlib.crc32(b"%d" % n).to_bytes(4, "big") * 40


def picture(body: bytes, media_type: str = "image/png", **more: object) -> Page:
    encoded = base64.b64encode(body).decode()
    return {"body_base64": encoded, "headers": {"Content-Type": media_type}, **more}


def article(title: str, *pictures: str, links: dict[str, str] | None = None) -> str:
    """A page with content pictures between its paragraphs, and noise around."""
    body = "".join(f'<p>{LONG * 2}</p><p><img src="{src}"></p>' for src in pictures)
    around = (
        '<div class="header"><img src="/logo.png" width="120" height="40"></div>'
        '<div class="ad"><a href="http://shop.example/"><img src="/banner.gif" width="728" '
        'height="90"></a></div><img src="/spacer.gif" width="1" height="1">'
    )
    page = html(title, LONG, links=links)
    return page.replace("<h1>", f"{around}<h1>").replace("<ul>", f"{body}<p>{LONG}</p><ul>")


NOISE = {"/logo.png", "/banner.gif", "/spacer.gif"}


def site(cdn: str) -> dict[str, Page]:
    """Two articles and their pictures; ``cdn`` is another host."""
    return {
        "/": html("首页", links={"/a.html": "甲文", "/b.html": "乙文"}),
        "/a.html": article("甲文", "/1.png", f"{cdn}/2.jpg", "/moved.png", "/gone.png"),
        "/b.html": article("乙文", "/1.png", "/page.png", "/huge.png", "/fake.png", "/own.png"),
        "/1.png": picture(png(1)),
        "/moved.png": {"status": 302, "headers": {"Location": f"{cdn}/3.webp"}},
        "/page.png": html("登录", LONG),
        "/huge.png": picture(png(4) + bytes(200_000)),
        "/fake.png": picture(b"<html><body>hotlinking", "image/png"),
        "/own.png": picture(png(5)),
        **{path: picture(png(9)) for path in NOISE},
    }


def cdn_site(page: str) -> dict[str, Page]:
    return {
        "/2.jpg": picture(b"\xff\xd8\xff\xe0" + png(2), "image/jpeg", referer=page),
        "/3.webp": picture(b"RIFF\0\0\0\0WEBP" + png(3), "application/octet-stream", referer=page),
    }


def test_only_content_images_are_asked_for(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "pictures"
    web = Web(tmp_path / "web", {}, port=free_port())
    cdn = Web(tmp_path / "cdn", cdn_site(web.url("/a.html")), port=free_port())
    with cdn as images, Web(tmp_path / "web", site(cdn.url("")), port=web.port) as web:
        done = crawlclean(
            *("run", web.url(), "--images", "--allow-private", "--json", "--data", str(data)),
            env={"CRAWLCLEAN_MAX_IMAGE_BYTES": "100000"},
        )
        summary = json.loads(done.stdout)
        asked, abroad = web.requests(), images.requests()
        assert summary["records"] == 3
        assert (summary["state"], summary["images"]) == ("finished", 4)
        assert not NOISE & set(asked), "what is no content is not asked for"
        assert [path for path, n in asked.items() if n > 1] == [], "none is asked for twice"
        assert abroad == {"/robots.txt": 1, "/2.jpg": 1, "/3.webp": 1}
        store = SqliteStore(data / "records.sqlite")
        with closing(store):
            failures = {f.url: f.reason for f in store.urls.failures()}
            report = report_images(store, web.host, [summary["crawl"]])
        assert failures == {
            web.url("/gone.png"): FailureReason.HTTP_STATUS,
            web.url("/page.png"): FailureReason.NOT_IMAGE,
            web.url("/fake.png"): FailureReason.NOT_IMAGE,
            web.url("/huge.png"): FailureReason.TOO_LARGE,
        }
        assert counted(data)[UrlState.IMAGE] == 4
        assert (report.content, report.stored) == (8, 4)
        assert report.requests_saved == 3
        assert report.held_back[ImageKind.AD] >= 1
        commands = DataFolder(data)
        shown = commands.output("hosts", web.host)
        assert "4 of 8 content images" in shown
        assert "3 requests saved (no size known)" in shown
        moved = commands.output("show", web.url("/moved.png"))
        assert "image/webp" in moved
        assert "a.html" in moved
        assert "image/jpeg" in commands.output("show", web.url("/a.html"))
        assert "not_image" in commands.output("why", web.url("/page.png"))
        records = {row["url"]: row for row in commands.rows("export", "--images", str(folder))}
        named = {
            image["url"]: image["file"]
            for image in records[web.url("/a.html")]["images"]
            if "file" in image
        }
        assert set(named) == {web.url("/1.png"), f"{images.url('/2.jpg')}", web.url("/moved.png")}
        for url, name in named.items():
            stored = (folder / name).read_bytes()
            assert hashlib.sha256(stored).hexdigest() == Path(name).stem, url
        assert (folder / named[web.url("/1.png")]).read_bytes() == png(1)


def test_images_are_asked_for_when_they_are_wanted_whatever_the_budget(tmp_path: Path) -> None:
    data = tmp_path / "data"
    links = {f"/{n}.html": f"第{n}篇" for n in range(9)}
    pages: dict[str, Page] = {
        "/": article("文", "/a.png", "/b.png", "/c.png", links=links),
        **{path: html(path, LONG) for path in links},
        **{f"/{n}.png": picture(png(ord(n))) for n in "abc"},
    }
    with Web(tmp_path / "web", pages) as web:
        run_crawl(data, web.url(), "--max-pages", "1")
        assert set(web.requests()) == {"/robots.txt", "/"}, "no image is fetched unasked"
        summary = run_crawl(data, web.url(), "--max-pages", "1", "--images")
        assert (summary["records"], summary["new_records"]) == (1, 0)
        assert web.requests() == dict.fromkeys(
            ("/robots.txt", "/", "/a.png", "/b.png", "/c.png"), 1
        )


def test_what_a_crawl_at_rest_finds_to_be_content_its_next_run_fetches(tmp_path: Path) -> None:
    data, count = tmp_path / "data", 5
    pages: dict[str, Page] = {
        "/": html("首页", links={f"/{n}.html": f"第{n}篇" for n in range(count)}),
        **{f"/{n}.html": {"body": album_html(n).decode()} for n in range(count)},
        **{f"/photo/{n}.png": picture(png(n)) for n in range(count)},
        "/img/foot.png": picture(png(count)),
    }
    photos = {f"/photo/{n}.png" for n in range(count)}
    with Web(tmp_path / "web", pages) as web:
        first = run_crawl(data, web.url(), "--images")
        assert (first["state"], first["images"]) == ("finished", 0)
        with closing(SqliteStore(data / "records.sqlite")) as store:
            learn_host(store, web.host, LearnReason.ASKED)
        shown = DataFolder(data).output("model", "reclean", web.host)
        assert f"new content images on {count} pages" in shown
        assert not photos & set(web.requests()), "nothing is fetched without `run`"
        summary = run_crawl(data, web.url(), "--images")
        asked = web.requests()
    assert (summary["state"], summary["images"], summary["new_records"]) == ("finished", count, 0)
    assert {path for path in asked if path.endswith("png")} == photos
    assert set(asked.values()) <= {1, 2}, "robots.txt may be asked for again"
