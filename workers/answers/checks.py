"""The JSON line of `check`: a file, its problems, and the crawl that it describes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from crawlclean.storage.crawl_types import KeepRaw, Scope


class FileKind(StrEnum):
    """What an operator's file is."""

    CRAWL = "crawl"  # a crawl file
    HOSTS = "hosts"  # a hosts file
    SITES = "sites"  # a list of sites
    UNREADABLE = "unreadable"  # neither text nor TOML


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """One problem of a file.

    Attributes:
        line: From 1; 0 when it belongs to no line.
        text: What is wrong, in words for a person.
        is_warning: Whether the file can be used all the same.
    """

    line: int
    text: str
    is_warning: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCrawl:
    """What `run` would crawl by a crawl file, or `sites` by a list: one crawl, or one a site.

    Attributes:
        crawl: Name of the crawl, for `run`; ``""`` for a list of sites.
        seeds: Its seeds, normalized; for `sites`, each one is a site.
        scope: Which links are followed.
        max_depth: Links from the nearest seed; null: no limit.
        max_pages: Records after which it stops; null: no limit.
        max_time_s: Seconds after which it stops; null: no limit.
        include: Patterns of which one must match a followed URL, if there are any.
        exclude: Patterns of URLs that are not followed.
        delay_s: Seconds between a response and the next request to its host; null: the default.
        images: Whether content images are fetched.
        keep_fresh: Whether the crawl stays, and visits pages again when they are due.
        keep_raw: Which raw pages the archive keeps.
        hosts: Hosts and domains with settings of their own.
        data: The data folder; ``""`` on servers.
    """

    crawl: str
    seeds: tuple[str, ...]
    scope: Scope
    max_depth: int | None
    max_pages: int | None
    max_time_s: float | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    delay_s: float | None
    images: bool
    keep_fresh: bool
    keep_raw: KeepRaw
    hosts: int
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """The line of `check`.

    Attributes:
        file: The file as given.
        kind: What it is.
        problems: Its problems, by line.
        crawl: What would be crawled; null for a hosts file and for files with errors.
    """

    file: str
    kind: FileKind
    problems: tuple[FileProblem, ...]
    crawl: PlannedCrawl | None

    @property
    def has_errors(self) -> bool:
        """Whether the file cannot be used."""
        return not all(each.is_warning for each in self.problems)
