"""The web sites of the chaos crawls, and the records that must be stored of them."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from crawlclean import CleanRecord, RawPage, clean
from tests.kit.server_process import Running
from tests.kit.web import Page, Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
CONTENT_TYPE = "text/html"


def site(pages: int, latency_ms: int, seed: int) -> dict[str, Page]:
    """A site of ``pages`` pages, no two alike: every page is reached from an earlier one."""
    chance = random.Random(seed)
    links: dict[int, list[int]] = {i: [] for i in range(pages)}
    for i in range(1, pages):
        links[chance.randrange(max(0, i - 60), i)].append(i)
        links[chance.randrange(pages)].append(i)
    return {
        f"/{i}" if i else "/": {
            "body": html(
                f"第{i}页",
                f"这是第{seed}站第{i}页的正文，只有这一页才有这样一句话，别的网页都没有。",
                TEXT * 3,
                links={f"/{n}": f"第{n}页" for n in links[i]},
            ),
            "latency_ms": latency_ms,
        }
        for i in range(pages)
    }


def text_sites(pages: int, latency_ms: int, seed: int, hosts: int) -> list[dict[str, Page]]:
    """``hosts`` sites that share ``pages`` pages."""
    return [site(pages // hosts + (n < pages % hosts), latency_ms, seed + n) for n in range(hosts)]


class Sites(Running):
    """Some web servers, for a ``with`` block; each is a host of the crawl."""

    def __init__(
        self,
        folder: Path,
        sites: Sequence[Mapping[str, Page]],
        serving: Callable[[Path, Mapping[str, Page], int], Web] | None = None,
    ) -> None:
        """Prepares a server for each site; ``serving`` makes one elsewhere than here."""
        hosts = len(sites)
        self._stack = ExitStack()
        self._sites = sites
        self._webs = [
            serving(folder / f"web{n}", each, n) if serving else Web(folder / f"web{n}", each)
            for n, each in enumerate(self._sites)
        ]
        self._logs = [folder / f"web{n}" / "requests.log" for n in range(hosts)]
        self._read = [0] * hosts
        self._asked = 0

    def start(self) -> None:
        """Starts the servers."""
        for web in self._webs:
            self._stack.enter_context(web)

    def stop(self) -> None:
        """Ends the servers."""
        self._stack.close()

    @property
    def seeds(self) -> tuple[str, ...]:
        """The first page of every host."""
        return tuple(web.url() for web in self._webs)

    def asked(self) -> int:
        """Requests so far, robots.txt among them."""
        for n, log in enumerate(self._logs):
            with log.open("rb") as opened:
                opened.seek(self._read[n])
                new = opened.read()
            self._read[n] += len(new)
            self._asked += new.count(b"\n")
        return self._asked

    def requests(self) -> Counter[str]:
        """How often each page was asked for, by URL; robots.txt left out."""
        asked: Counter[str] = Counter()
        for web in self._webs:
            for path, n in web.requests().items():
                if path != "/robots.txt":
                    asked[web.url(path)] += n
        return asked

    def pauses_s(self) -> dict[str, list[float]]:
        """Seconds from each answer's begin to the next request, by host, as its server saw it."""
        return {
            web.host: [
                after[0] - before[1] for before, after in itertools.pairwise(sorted(web.log()))
            ]
            for web in self._webs
        }

    def pages(self) -> Iterator[tuple[str, bytes]]:
        """(URL, body) of every page."""
        for web, pages in zip(self._webs, self._sites, strict=True):
            for path, page in pages.items():
                assert isinstance(page, Mapping)
                yield web.url(path), str(page["body"]).encode()

    def records(self) -> dict[str, CleanRecord]:
        """Records that must be stored, by URL: every page cleaned in this process."""
        return {
            url: clean(RawPage.from_bytes(url, body, CONTENT_TYPE)) for url, body in self.pages()
        }
