"""Kill -9 while images are fetched and pages are re-cleaned, with both stores.

Half the pictures are content by their page alone, the others only by what the site's other pages
teach: those are due in the store until somebody offers them. At rest every picture that a record
calls content is stored once, whole, and nothing else was ever asked for.
"""

from __future__ import annotations

import base64
import random
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from crawlclean.cleaning.records import ImageKind
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.store.pictures import image_id
from crawlclean.storage.store.protocol import Store
from tests.chaos.fleets import fleet_of
from tests.chaos.kills import Bout, Kill, Report, plan
from tests.chaos.sites import Sites
from tests.kit.archived_site import album_html, article_html
from tests.kit.recount import counted, recount
from tests.kit.web import Page

NOISE = "/img/foot.png"
NOT_THERE = 404  # menus lead to pages that are not part of the site


def png(n: int) -> bytes:
    """A picture like no other one."""
    return b"\x89PNG\r\n\x1a\n" + zlib.crc32(b"%d" % n).to_bytes(4, "big") * 200


def picture_site(articles: int, latency_ms: int) -> dict[str, Page]:
    """A site of articles, every second of which does not show by itself whose its picture is."""
    home = "".join(f"<li><a href=/news/{n}.html>第{n}篇</a></li>" for n in range(articles))
    pages: dict[str, Page] = {"/": {"body": f"<title>海边小站</title><ul>{home}</ul>"}}
    for n in range(articles):
        body = album_html(n) if n % 2 else article_html(n).replace(b".jpg", b".png")
        pages[f"/news/{n}.html"] = {"body": body.decode(), "latency_ms": latency_ms}
        pages[f"/photo/{n}.png"] = _picture(png(n), latency_ms)
    return pages | {NOISE: _picture(png(articles), latency_ms)}


def _picture(body: bytes, latency_ms: int) -> Page:
    return {
        "body_base64": base64.b64encode(body).decode(),
        "headers": {"Content-Type": "image/png"},
        "latency_ms": latency_ms,
    }


def picture_bout(
    folder: Path,
    store: str,
    articles: int,
    kills: int | Sequence[Kill],
    seed: int,
    *,
    latency_ms: int = 20,
    hurry: bool = False,
) -> Report:
    """Report of one crawl of a site with pictures, with all its kills.

    Args:
        folder: For everything.
        store: ``sqlite`` (`run`) or ``mongo`` (processes and servers of their own).
        articles: Pages with a picture each.
        kills: How many, or which.
        seed: Of every choice.
        latency_ms: Of every answer.
        hurry: Whether a silent process counts as dead after a few seconds.
    """
    report = Report(store=store, pages=2 * articles + 1, seed=seed)
    chance = random.Random(seed)
    begun = time.monotonic()
    with (
        Sites(folder, [picture_site(articles, latency_ms)]) as sites,
        fleet_of(store, folder, sites.seeds, hurry=hurry, images=True) as fleet,
    ):
        chosen = plan(kills, fleet.roles, chance) if isinstance(kills, int) else kills
        fight = Bout(fleet, sites, report, chance)
        fight.go(chosen)
        fleet.come_to_rest()
        opened = fleet.open_store()
        report.complaints = list(_complaints(opened, fleet.crawl_id(), sites, articles))
        opened.close()
        asked = sites.requests()
        report.requests = sum(asked.values())
        report.repeats = report.requests - len(asked)
        report.redone = fight.redo.table()
        report.redo_worst_s = round(fight.redo.worst_s, 1)
        report.redo_worst_of_all_s = round(fight.redo.worst_of_all_s, 1)
    report.seconds = round(time.monotonic() - begun, 1)
    return report


def _complaints(store: Store, crawl_id: str, sites: Sites, articles: int) -> Iterator[str]:
    """Everything that is not as it should be, a line each."""
    home = sites.seeds[0]
    host = home.split("/")[2]
    bodies = {f"{home}photo/{n}.png": png(n) for n in range(articles)}
    asked = sites.requests()
    records = list(store.records.scan(crawl_id))
    if len(records) != articles + 1:
        yield f"{len(records)} records of {articles + 1}"
    shown = {i.url for r in records for i in r.images if i.kind is ImageKind.CONTENT}
    if lost := shown - set(asked):
        yield f"{len(lost)} content images were not asked for: {sorted(lost)[:3]}"
    if missing := set(bodies) - shown:
        yield f"{len(missing)} pictures are no content: {sorted(missing)[:3]}"
    if f"{home}{NOISE[1:]}" in asked:
        yield f"{NOISE} was asked for"
    for url in sorted(shown & set(bodies)):
        rows = [row for row in store.urls.rows(image_id(url)) if row.crawl_id == crawl_id]
        if [row.state for row in rows] != [UrlState.IMAGE]:
            yield f"{url} has rows {[row.state for row in rows]}"
        elif store.answers.body(image_id(url), crawl_id) != bodies[url]:
            yield f"{url} is stored with other bytes"
    if failures := [each for each in store.urls.failures(crawl_id) if each.status != NOT_THERE]:
        yield f"{len(failures)} failures: {failures[0]}"
    if due := store.images.due(crawl_id):
        yield f"images of {len(due)} pages are due"
    said, true = counted(store).get(host, crawl_id), recount(store, crawl_id, host)
    if said != true:
        yield f"the statistics are {said} instead of {true}"
