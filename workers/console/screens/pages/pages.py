"""A page: its record beside the answer as it came, why each text was kept or cut, and its way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from flask import Response, abort, g, redirect, request, url_for

from crawlclean.cleaning.errors import ConfigError, InvalidUrl, NotFound
from crawlclean.cleaning.records import KEPT, PageKind, VerdictKind, VerdictReason
from crawlclean.cleaning.versions import shown_lines
from crawlclean.workers.answers.hosts import PageLine
from crawlclean.workers.console.routes import (
    Console,
    Page,
    asked_limit,
    asked_place,
    asked_row,
    render,
)
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.pages.browsing import list_pages
from crawlclean.workers.operations.pages.page_versions import (
    ChangedLine,
    inline_difference,
    two_versions,
    versions_of,
)
from crawlclean.workers.operations.pages.pages import (
    MOST_LINKS,
    find_page_details,
    find_stored_page,
    list_blocks,
    newest_reading,
    silent_page,
)
from crawlclean.workers.operations.parts import Part as PartOfList
from crawlclean.workers.operations.reading import read_time
from crawlclean.workers.operations.urls.explaining import explain_from
from crawlclean.workers.output.charts import KINDS, Part
from crawlclean.workers.words import Language

PAGE_ID = re.compile(r"[0-9a-f]{32}")
FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'self'"
)
FRAME_HEADERS = {
    "Content-Security-Policy": FRAME_POLICY,
    "X-Frame-Options": "SAMEORIGIN",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
}
# A light ground and dark letters, whatever the page's own are.
_COLOURS = {
    VerdictKind.TITLE: "#b6e3ff",
    VerdictKind.HEADLINE: "#b6e3ff",
    VerdictKind.BODY: "#c4f1cb",
    VerdictKind.POST: "#c4f1cb",
    VerdictKind.QUOTE: "#d8f5dc",
    VerdictKind.CAPTION: "#d5e8ff",
    VerdictKind.ABOUT: "#f0e4ff",
    VerdictKind.COMMENTS: "#ffe0f0",
    VerdictKind.NAVIGATION: "#e4e7eb",
    VerdictKind.RELATED: "#ffedb0",
    VerdictKind.HOT: "#ffedb0",
    VerdictKind.TAGS: "#ffedb0",
    VerdictKind.LINKS: "#ffedb0",
    VerdictKind.ADVERTISING: "#ffd6cf",
    VerdictKind.LEGAL: "#e4e7eb",
    VerdictKind.HIDDEN: "#ffd6cf",
    VerdictKind.REPEAT: "#e4e7eb",
    VerdictKind.TEMPLATE: "#e4e7eb",
    VerdictKind.OTHER: "#ffe3d5",
}
FRAME_STYLES = "v-t{color:#1f2328!important}v-t:target{outline:3px solid #a40e26}" + "".join(
    f'v-t[data-kind="{kind}"]{{background:{colour}!important;'
    f"box-shadow:inset 0 -2px {'#116329' if kind in KEPT else '#a40e26'}}}"
    for kind, colour in _COLOURS.items()
)


LENGTHS = {"": (None, None), "empty": (None, 0), "short": (1, 199), "long": (2_000, None)}
"""Choices of a length: least and most characters of a body."""
UNSURE = 0.5
"""A body that is rather wrong than right."""


def show_pages(console: Console) -> Page:
    """The stored pages; the page that an address names, or why no crawl took the address."""
    text = request.args.get("url", "").strip()
    if not text:
        return _browsed(console)
    try:
        page_id = find_stored_page(console.backends, text)
        if page_id is not None:
            answer = redirect(url_for("show_page", page_id=page_id), code=303)
            return answer if isinstance(answer, Response) else abort(500)
        way, waits = explain_from(console.backends, text)
    except InvalidUrl as error:
        return render("find_page.html", way=None, text=text, wrong=str(error)), 400
    return render("find_page.html", way=way, waits=waits, text=text, wrong="")


def _browsed(console: Console) -> Page:
    """The list, filtered by what the address has."""
    asked, wrong, page = request.args, "", PartOfList[PageLine](items=())
    least, most = LENGTHS.get(asked.get("length", ""), (None, None))
    since, until = (asked.get(name, "").strip() for name in ("from", "to"))
    try:
        page = list_pages(
            console.backends,
            crawl=asked.get("crawl", "").strip(),
            host=asked.get("host", "").strip().lower(),
            kind=next((each for each in PageKind if each == asked.get("kind")), None),
            since=read_time(since) if since else None,
            until=read_time(until) if until else None,
            least_chars=least,
            most_chars=most,
            most_confidence=UNSURE if asked.get("unsure") else None,
            copies={"only": True, "without": False}.get(asked.get("copies", "")),
            after=asked_row(),
            limit=asked_limit(),
        )
    except (ConfigError, NotFound) as error:  # no time; no crawl yet
        wrong = str(error)
    return render(
        "pages.html", page=page, wrong=wrong, kinds=list(PageKind), lengths=list(LENGTHS),
        is_late=bool(page.after) and len(page.items) < asked_limit(),
    )  # fmt: skip


def show_page(console: Console, page_id: str) -> Page:
    """One page."""
    crawl = request.args.get("crawl", "")
    details = find_page_details(console.backends, checked_id(page_id), crawl)
    shown, place = request.args.get("show", ""), asked_place()
    judged = details.judged
    verdicts = judged.verdicts if judged else ()
    record = details.record
    return render(
        "page.html",
        details=details,
        blocks=list_blocks(verdicts, shown, place[0] if place else -1),
        by_kind=Counter(each.kind.value for each in verdicts).most_common(),
        kept=sum(each.is_kept for each in verdicts),
        shown=shown,
        links=_by_kind("link_kind", record.links) if record else [],
        images=_by_kind("image_kind", record.images) if record else [],
        most=MOST_LINKS,
    )


def show_page_again(console: Console, page_id: str) -> Page:
    """The difference that the newest model of the host would make to the record."""
    crawl = request.args.get("crawl", "")
    version, lines = newest_reading(console.backends, checked_id(page_id), crawl)
    return render("page_again.html", page_id=page_id, crawl=crawl, version=version, lines=lines)


def show_raw(console: Console, page_id: str) -> Page:
    """The archived answer, silent and coloured; only for the frame of a page's screen."""
    if request.headers.get("Sec-Fetch-Dest", "iframe") != "iframe":
        return Response("only for a frame of this console\n", 403, content_type="text/plain")
    crawl = request.args.get("crawl", "")
    language: Language = g.language
    titles = {each.value: str(say(language, f"rule.{each.value}")) for each in VerdictReason}
    titles |= {each.value: str(say(language, f"verdict.{each.value}")) for each in VerdictKind}
    html = silent_page(console.backends, checked_id(page_id), crawl, titles, FRAME_STYLES)
    return Response(html, 200, FRAME_HEADERS, content_type="text/html; charset=utf-8")


def checked_id(page_id: str) -> str:
    """The id of an address; 404 for a text that is none."""
    if not PAGE_ID.fullmatch(page_id):
        abort(404)
    return page_id


def _by_kind(kind: str, found: Iterable[object]) -> list[Part]:
    counts = Counter(str(getattr(each, "kind", "")) for each in found)
    return [
        Part(name=say(g.language, f"{kind}.{value}"), value=n, kind=place % KINDS + 1)
        for place, (value, n) in enumerate(counts.most_common())
    ]


# The versions of a page: what it showed when, and what changed between two of them.

MOST_SHOWN_LINES = 1_000
"""Lines of a difference that one screen shows."""


def show_page_versions(console: Console, page_id: str) -> Page:
    """The versions, and the difference of two that the address names, else of the newest two."""
    crawl = request.args.get("crawl", "")
    wanted = [at for name in ("older", "newer") if (at := _asked_time(name))]
    versions = versions_of(console.backends, checked_id(page_id), crawl)
    older = newer = None
    lines: list[ChangedLine] = []
    if len(versions) > 1:
        _, older, newer = two_versions(console.backends, page_id, wanted, crawl)
        lines = inline_difference(shown_lines(older), shown_lines(newer))
    return render(
        "page_versions.html", page_id=page_id, crawl=crawl, versions=versions, older=older,
        newer=newer, lines=lines[:MOST_SHOWN_LINES], left_out=len(lines[MOST_SHOWN_LINES:]),
    )  # fmt: skip


def _asked_time(name: str) -> datetime | None:
    """A time of the address, ``older=2026-10-05T18:30:00Z``, to its last second; None without.

    Raises:
        BadRequest: It is no time.
    """
    text = request.args.get(name, "")
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        abort(400, description=name)
