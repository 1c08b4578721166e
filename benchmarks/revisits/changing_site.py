"""A site whose pages change at known times: 2,000 pages of five classes on three hosts.

| host | pages | its words |
|---|---|---|
| ``news.example`` | 900 | ETags and sitemap dates are true |
| ``forum.example`` | 600 | Last-Modified is true, there is no sitemap |
| ``liar.example`` | 500 | one ETag for all times, every date of the sitemap is now |

Every response has a counter, the time of day and a changed footer besides, which are no change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random

from crawlclean.cleaning.records import CleanRecord, LinkKind, Outlink, PageKind, Post, Via
from crawlclean.cleaning.revisits import DAY, HOUR, VisitClass, VisitKind
from crawlclean.cleaning.urls.normal_form import page_id

START = datetime(2026, 3, 1, tzinfo=UTC)
TRUE, PLAIN, LIAR = "news.example", "forum.example", "liar.example"
CLASSES = {
    "list": VisitClass(VisitKind.LIST, "/list/{n}"),
    "board": VisitClass(VisitKind.BOARD, "/board/{n}"),
    "thread": VisitClass(VisitKind.THREAD, "/thread/{n}"),
    "article": VisitClass(VisitKind.ARTICLE, "/article/{n}"),
    "dying": VisitClass(VisitKind.ARTICLE, "/dying/{n}"),
}
COUNTS = {
    TRUE: {"list": 20, "board": 30, "thread": 50, "article": 750, "dying": 50},
    PLAIN: {"list": 10, "board": 40, "thread": 500, "article": 20, "dying": 30},
    LIAR: {"list": 10, "board": 20, "thread": 120, "article": 330, "dying": 20},
}
ITEMS = 20


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the site.

    Attributes:
        url: Its URL.
        host: Its host.
        name: Its class: ``list``.
        changes: Seconds since ``START`` at which its content changes, in order.
        dies_at: From when it answers 404, seconds since ``START``; None: never.
    """

    url: str
    host: str
    name: str
    changes: tuple[float, ...]
    dies_at: float | None

    @property
    def page_id(self) -> str:
        """32 hex digits."""
        return page_id(self.url)

    @property
    def visit_class(self) -> VisitClass:
        """Its class as the crawl knows it."""
        return CLASSES[self.name]

    def version(self, at_s: float) -> int:
        """Number of its changes until a time."""
        return bisect_right(self.changes, at_s)

    def is_dead(self, at_s: float) -> bool:
        """Whether it answers 404."""
        return self.dies_at is not None and at_s >= self.dies_at

    def changed_at(self, at_s: float) -> float:
        """Time of its last change before a time; up to a year before ``START`` without one."""
        number = self.version(at_s)
        return self.changes[number - 1] if number else -float(int(self.page_id[:6], 16) * 2)


def make_site(days: int, seed: int = 14) -> list[Page]:
    """Returns the pages, the same for the same seed."""
    random = Random(seed)  # noqa: S311 - no secret
    return [
        _page(random, host, name, number, days * DAY)
        for host, counts in COUNTS.items()
        for name, count in counts.items()
        for number in range(count)
    ]


def _page(random: Random, host: str, name: str, number: int, end_s: float) -> Page:
    dies_at = random.uniform(0, 10 * DAY) if name == "dying" else None
    changes = tuple(_changes(random, name, dies_at or end_s))
    return Page(f"https://{host}/{name}/{number}", host, name, changes, dies_at)


def _changes(random: Random, name: str, end_s: float) -> Iterator[float]:
    """Times of changes: a Poisson process, whose rate falls in the half of the threads."""
    is_active = random.random() < 0.3
    mean, half_life = {
        "list": (HOUR * random.choice((1, 3, 6, 12)), 0.0),
        "board": (DAY * random.choice((0.5, 1, 3)), 0.0),
        "thread": (8.0 * HOUR, 3.0 * DAY) if is_active else (DAY * random.choice((5, 30)), 0.0),
        "article": (DAY * random.choice((15, 60, 1_000, 1_000)), 0.0),
        "dying": (30.0 * DAY, 0.0),
    }[name]
    at = 0.0
    while True:
        slower = 2.0 ** (at / half_life) if half_life else 1.0
        at += random.expovariate(1 / (mean * min(slower, 1e6)))
        if at >= end_s:
            return
        yield at


def headers_of(page: Page, at_s: float) -> tuple[tuple[str, str], ...]:
    """The response headers of a page at a time."""
    now = format_datetime(START + timedelta(seconds=at_s), usegmt=True)
    if page.host == TRUE:
        return (("Date", now), ("ETag", f'"v{page.version(at_s)}"'))
    if page.host == PLAIN:
        changed = START + timedelta(seconds=int(page.changed_at(at_s)))
        return (("Date", now), ("Last-Modified", format_datetime(changed, usegmt=True)))
    return (("Date", now), ("Last-Modified", now), ("ETag", '"constant"'))


def is_not_modified(page: Page, at_s: float, etag: str, modified: str) -> bool:
    """Whether the server answers 304 to a request with these conditions."""
    sent = dict(headers_of(page, at_s))
    if etag:
        return sent.get("ETag") == etag
    return page.host == PLAIN and sent.get("Last-Modified") == modified


def record_of(page: Page, at_s: float) -> CleanRecord:
    """The clean record of a page at a time."""
    version = page.version(at_s)
    at = START + timedelta(seconds=at_s)
    noise = f"阅读 {int(at_s) // 7} 次\n更新时间 {at:%Y-%m-%d %H:%M}\n{int(at_s) % 50} minutes ago"
    is_list = page.name in ("list", "board")
    outlinks = tuple(
        Outlink(
            url=f"https://{page.host}/item/{page.page_id[:8]}-{version + ITEMS - n}",
            via=Via.LINK,
            kind=LinkKind.BODY,
        )
        for n in range(ITEMS if is_list else 3)
    )
    lines = [f"第{n}段的文字，所有版本都有这一段。" for n in range(12)]
    posts: tuple[Post, ...] = ()
    if page.name == "thread":
        posts = tuple(
            Post(
                author=f"用户{n % 5}",
                published_at=None,
                floor=n + 1,
                body=f"回复：{'好' * (n + 3)}",
            )
            for n in range(min(version + 2, 60))
        )
    elif not is_list:
        lines[version % 12] = f"这一段在第{'零一二三四五六七八九'[version % 10]}版中改写。"
    kinds = {"thread": PageKind.THREAD, "list": PageKind.INDEX, "board": PageKind.INDEX}
    return CleanRecord(
        page_id=page.page_id,
        url=page.url,
        canonical_url=page.url,
        host=page.host,
        fetched_at=at,
        kind=kinds.get(page.name, PageKind.ARTICLE),
        title=f"{page.name} {page.url}",
        published_at=START - timedelta(days=10),
        language="zh",
        body="" if is_list else "\n".join([*lines, noise]),
        posts=posts,
        outlinks=outlinks,
    )


def sitemap_dates(pages: list[Page], at_s: float) -> dict[str, str | None]:
    """URL -> ``lastmod`` of a host's sitemap at a time."""
    dates: dict[str, str | None] = {}
    for page in pages:
        if not page.is_dead(at_s):
            at = at_s if page.host == LIAR else page.changed_at(at_s)
            dates[page.url] = f"{START + timedelta(seconds=int(at)):%Y-%m-%dT%H:%M:%SZ}"
    return dates
