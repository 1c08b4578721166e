"""`topic --images`: the content images of relevant pages are fetched, and no other image.

Also when it is killed while it fetches them, and of a page that another crawl has fetched.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawlclean.storage.store.pictures import image_id
from tests.kit.commands import DataFolder
from tests.kit.console import open_console
from tests.kit.crawls import crawlclean, start
from tests.kit.pictures import edited, photograph, png
from tests.kit.timing import wait_until
from tests.kit.web import Page, Web, html

QUERY = "地震|余震 救援"
QUAKE = "当地发生六级地震,救援队连夜赶到震中搜救被困群众,余震不断,救援物资陆续运抵灾区安置点。"
SPORT = "昨晚的联赛比赛中主队以三比二战胜客队,前锋在下半场连入两球,球票已经售出数千张。"
NOISE = {"/logo.png", "/banner.gif", "/spacer.gif", "/teaser.jpg"}
OF_QUAKES = {"/photo.jpg", "/copy.png", "/small.jpg", "/map.svg"}
OF_SPORTS = {"/goal.jpg", "/team.jpg"}
ADOPTED = "/far.jpg"  # on a page that the crawl of another topic fetches
CONTENT = {"/1.html": 3, "/2.html": 2, "/3.html": 1, "/5.html": 1}  # images of relevant pages
DELAY_S = "0.1"  # so one request at a time


def article(title: str, text: str, *pictures: str) -> str:
    """An article with pictures between its paragraphs, and noise around."""
    body = "".join(
        f'<p>{title}：{text * 2}</p><figure><img src="{src}" alt="{title}现场">'
        f"<figcaption>图为{title}的现场</figcaption></figure>"
        for src in pictures
    )
    around = (
        '<div class="header"><img src="/logo.png" width="120" height="40"></div>'
        '<div class="ad"><a href="http://shop.example/"><img src="/banner.gif" width="728" '
        'height="90"></a></div><img src="/spacer.gif" width="1" height="1">'
    )
    behind = '<div class="hot"><a href="/1.html"><img src="/teaser.jpg">更多</a></div>'
    own = f"{title}。{text}"  # what most pages of a site have counts as its template
    page = html(title, own)
    return page.replace("<h1>", f"{around}<h1>").replace("<ul>", f"{body}<p>{own}</p>{behind}<ul>")


def site(elsewhere: str) -> dict[str, Page]:
    """Two pages on the topic and two on another one; ``elsewhere`` is a host of images."""
    first = photograph(1)
    return {
        "/": html(
            "综合门户",
            links={
                "/1.html": "地震救援快讯",
                "/2.html": "地震余震消息",
                "/3.html": "联赛战报",
                "/4.html": "联赛赛前",
            },
        ),
        "/1.html": article("地震救援快讯", QUAKE, "/photo.jpg", "/copy.png", "/map.svg"),
        "/2.html": article("地震余震消息", QUAKE, "/small.jpg", f"{elsewhere}/other.jpg"),
        "/sport.html": html("联赛 战报", SPORT, links={"/5.html": "联赛 战报:救援队义赛"}),
        "/5.html": article("地震救援队义赛", QUAKE, ADOPTED),
        ADOPTED: png(photograph(5)),
        "/3.html": article("联赛战报", SPORT, "/goal.jpg"),
        "/4.html": article("联赛赛前", SPORT, "/team.jpg"),
        "/photo.jpg": png(first),
        "/copy.png": png(first),
        "/small.jpg": png(edited(first)),
        "/map.svg": {
            "body": "<svg xmlns='http://www.w3.org/2000/svg'/>",
            "headers": {"Content-Type": "image/svg+xml"},
        },
        **{path: png(photograph(9)) for path in NOISE | OF_SPORTS},
    }


@dataclass(frozen=True)
class Crawled:
    """A topic crawl with images that was killed and resumed, then had a mark.

    Attributes:
        folder: Its data folder.
        url: Of the site.
        killed: Paths that were asked for before all processes were killed.
        first: Times that each path was asked for before the mark.
        then: Times that each path was asked for in all.
    """

    folder: DataFolder
    url: str
    killed: set[str]
    first: dict[str, int]
    then: dict[str, int]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    place = tmp_path_factory.mktemp("images")
    data = ("--allow-private", "--delay", DELAY_S, "--data", str(place / "data"))
    folder = DataFolder(place / "data")
    other = {"/other.jpg": png(photograph(2))}
    with (
        Web(place / "images", other, "127.0.7.9") as images,
        Web(place / "web", site(images.url(""))) as web,
    ):
        words = ("--seeds", web.url("/"), "--query", QUERY, "--images")
        run = start("topic", "quake", *words, *data)
        wait_until(lambda: bool(OF_QUAKES & web.requests().keys()))
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        killed = set(web.requests())
        sport = ("--seeds", web.url("/sport.html"), "--query", "联赛 战报")
        crawlclean("topic", "sport", *sport, *data)
        crawlclean("topic", "quake", *data[-2:])
        first = dict(web.requests())
        folder.output("topic", "quake", "--relevant", web.url("/3.html"))
        crawlclean("topic", "quake", *data[-2:])
        assert images.requests()["/other.jpg"] <= 2
        yield Crawled(folder, web.url(""), killed, first, dict(web.requests()))


def test_no_refused_image_is_asked_for(crawled: Crawled) -> None:
    assert {f"/{n}.html" for n in range(1, 5)} <= crawled.first.keys()
    asked = {path for path in crawled.first if not path.endswith((".html", ".txt", "/"))}
    assert asked == OF_QUAKES | {ADOPTED} | ({"/sitemap.xml"} & asked)
    assert not NOISE & crawled.then.keys()


def test_a_kill_loses_no_image_and_repeats_none_but_those_asked_for_before(
    crawled: Crawled,
) -> None:
    """Mostly one has been asked for by then, the one in flight."""
    before = OF_QUAKES & crawled.killed
    assert before
    assert {path for path in OF_QUAKES if crawled.then[path] > 1} <= before
    assert max(crawled.then[path] for path in OF_QUAKES) <= 2


def test_images_of_an_adopted_page_are_fetched(crawled: Crawled) -> None:
    assert "/5.html" not in crawled.killed
    assert (crawled.then["/5.html"], crawled.then[ADOPTED]) == (1, 1)
    (report,) = crawled.folder.rows("topic", "quake", "--report", "--json")
    assert report["adopted"] >= 1


def test_images_of_a_page_that_is_marked_relevant_are_fetched_by_the_next_run(
    crawled: Crawled,
) -> None:
    assert "/goal.jpg" in crawled.then
    assert "/team.jpg" not in crawled.then
    same = OF_QUAKES | {ADOPTED}
    assert [crawled.then[path] for path in same] == [crawled.first[path] for path in same]


def test_copies_are_listed_once_with_their_caption_and_page(crawled: Crawled) -> None:
    rows = crawled.folder.rows("images", "quake", "--copies", "--json")
    found = {f"/{row['largest']['url'].rpartition('/')[2]}": row for row in rows}
    (name,) = found.keys() & {"/photo.jpg", "/copy.png"}
    picture = found[name]
    others = {image["url"].removeprefix(crawled.url) for image in picture["others"]}
    assert others | {name} == {"/photo.jpg", "/copy.png", "/small.jpg"}
    assert picture["copies"] == 3
    assert found.keys() == {name, "/other.jpg", "/map.svg", "/goal.jpg", ADOPTED}
    image = picture["largest"]
    assert (image["page"], image["width"]) == (f"{crawled.url}/1.html", 320)
    assert image["caption"] == "图为地震救援快讯的现场"
    assert image["alt"] == "地震救援快讯现场"
    text = crawled.folder.output("images", "quake")
    assert "320 x 240" in text
    assert "3 copies  图为地震救援快讯的现场" in text


def test_a_story_shows_its_picture_from_the_store(crawled: Crawled) -> None:
    """The console asks nobody for it; an SVG image is a document, and is not shown."""
    client = open_console(crawled.folder.data)
    page = client.get("/topics/quake?words=快讯").text
    (picture,) = re.findall(r'<img src="(/topics/quake/pictures/\w{32})"', page)
    shown = client.get(picture)
    assert (shown.status_code, shown.mimetype) == (200, "image/png")
    assert shown.data.startswith(b"\x89PNG")
    assert "sandbox" in shown.headers["Content-Security-Policy"]
    vector = client.get(f"/topics/quake/pictures/{image_id(f'{crawled.url}/map.svg')}")
    assert vector.status_code == client.get(f"/topics/quake/pictures/{'0' * 32}").status_code == 404


def test_the_report_counts_what_was_refused(crawled: Crawled) -> None:
    (report,) = crawled.folder.rows("topic", "quake", "--report", "--json")
    images = report["images"]
    assert (images["content"], images["stored"], images["pictures"]) == (7, 7, 5)
    assert images["shown"] == 7 + len(NOISE)
    assert sum(images["refused"].values()) == len(NOISE)
    text = crawled.folder.output("topic", "quake", "--report")
    assert "images on relevant pages: 11, refused 4" in text
    assert "stored 7 of 7, 5 pictures and 2 copies" in text


def test_images_of_irrelevant_pages_are_no_content_of_a_host(crawled: Crawled) -> None:
    host = crawled.url.removeprefix("http://")
    (report,) = crawled.folder.rows("hosts", host, "--json")
    images = report["image_requests"]
    records = crawled.folder.rows("export", "--crawl", "quake", "--host", host)
    here = {row["url"].removeprefix(crawled.url) for row in records}  # others: of the other topic
    assert {"/1.html", "/2.html"} <= here
    content = sum(n for path, n in CONTENT.items() if path in here)
    assert (images["content"], images["stored"]) == (content, content)
    is_here = "/4.html" in here
    assert images["irrelevant"] == is_here, "/team.jpg"
    assert images["requests_saved"] == is_here + sum(images["held_back"].values())
    text = crawled.folder.output("hosts", host)
    assert f"{content} of {content} content images" in text
    assert ("1 of irrelevant pages" in text) == is_here


def test_export_writes_each_picture_of_the_topic_once(crawled: Crawled, tmp_path: Path) -> None:
    rows = crawled.folder.rows("export", "--topic", "quake", "--images", str(tmp_path))
    files = {
        f"/{image['url'].rpartition('/')[2]}": image["file"]
        for row in rows
        for image in row["images"]
        if "file" in image
    }
    assert {row["url"].removeprefix(crawled.url) for row in rows} >= {"/1.html", "/3.html"}
    assert files.keys() == OF_QUAKES | {"/other.jpg", "/goal.jpg", ADOPTED}
    assert len({files[name] for name in ("/photo.jpg", "/copy.png", "/small.jpg")}) == 1
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 5
