"""What the URLs of a host bring, class by class, and which classes are stopped.

``lua/weigh.lua`` keeps the accounts, by the order in which pages end, across all workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage.queue.clients import Arg, Scripts, queue_errors
from storage.queue.maintenance import forget_traps

MAX_NEW_CLASSES = 20  # of one page: more say the same


@dataclass(frozen=True, slots=True, kw_only=True)
class PageYield:
    """What one ended page brought.

    Attributes:
        patterns: The class of its URL, then the groups the class lies in.
        text: What it says, as a number; None when it says nothing (a redirect).
        bare: The same without numbers and its own address, of a page with next to no body.
        address: Its URL, as a number.
        finder: The URL it was found on, as a number.
        variant: Its path with what it says, as a number.
        has_query: Whether its URL has a query.
        found: Patterns of the URLs that were new to the crawl and of another class, one for each
            class.
        found_own: Whether URLs of its own class were new.
    """

    patterns: tuple[str, ...]
    text: int | None
    bare: int | None = None
    address: int
    finder: int
    variant: int
    has_query: bool = False
    found: tuple[tuple[str, ...], ...] = ()
    found_own: bool = False

    def arguments(self) -> tuple[Arg, ...]:
        """The four values of ``weigh.lua``."""
        numbers = [str(number) for number in (self.text, self.bare) if number is not None]
        mark = "?" if self.has_query else "+"
        lines = ["\t".join(found) for found in self.found[:MAX_NEW_CLASSES]]
        return (
            " ".join(numbers),
            f"{self.address} {self.finder} {mark}{self.variant}",
            "\t".join(self.patterns),
            "\n".join(lines + ["="] * self.found_own),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRow:
    """The account of a class, or a group, of a host's URLs.

    ``stopped`` says why nothing more of it is fetched; ``""`` when it is.
    """

    crawl_id: str
    host: str
    pattern: str
    pages: int
    with_news: int
    barren_in_a_row: int
    stopped: str


class TrapLedger:
    """The accounts of every crawl; methods raise ``QueueUnavailable`` when the server is away."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def weigh(
        self, crawl_id: str, host: str, limit: int, yields: Sequence[PageYield]
    ) -> dict[str, str]:
        """Adds what pages of a host brought; returns what that stops, and why.

        Args:
            crawl_id: Their crawl.
            host: Their host.
            limit: Barren pages in a row that stop a class, >= 1.
            yields: One for each page, in the order they ended.
        """
        args: list[Arg] = [crawl_id, host, limit]
        for page in yields:
            args += page.arguments()
        with queue_errors():
            flat = [text.decode() for text in self._scripts("weigh", args)]
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def stopped(self, crawl_id: str, host: str) -> Mapping[str, str]:
        """Stopped classes and groups of a host, and why each was stopped."""
        with queue_errors():
            found = self._client.hgetall(f"cc:ts:{crawl_id}:{host}")
        return {pattern.decode(): why.decode() for pattern, why in found.items()}

    def rows(self, crawl_id: str, host: str) -> list[ClassRow]:
        """Every account of a host, most pages first."""
        with queue_errors():
            states = self._client.hgetall(f"cc:k:{crawl_id}:{host}")
        stopped = self.stopped(crawl_id, host)
        rows = []
        for name, state in states.items():
            pages, with_news, row, _ = (int(number) for number in state.split())
            pattern = name.decode()
            rows.append(
                ClassRow(
                    crawl_id=crawl_id,
                    host=host,
                    pattern=pattern,
                    pages=pages,
                    with_news=with_news,
                    barren_in_a_row=row,
                    stopped=stopped.get(pattern, ""),
                )
            )
        return sorted(rows, key=lambda row: (-row.pages, row.pattern))

    def lift(self, crawl_id: str, host: str) -> int:
        """Lets the classes of a host begin anew; returns how many were stopped."""
        stopped = len(self.stopped(crawl_id, host))
        with queue_errors():
            forget_traps(self._client, crawl_id, host)
        return stopped
