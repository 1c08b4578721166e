"""JSON lines of commands that change crawls, and of `doctor` and `config`.

The fields of a type are the fields of its line, and the docstring of the type is their
documentation (``docs/json.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crawlclean.storage.crawl_types import CrawlState


class TargetKind(StrEnum):
    """What a command changes."""

    CRAWL = "crawl"  # a crawl with all its hosts
    HOST = "host"  # a host in every crawl


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """The line of `pause`, `resume` and `stop` with an argument: the state afterwards.

    Attributes:
        kind: Whether the target is a crawl or a host.
        target: Name of the crawl, or the host.
        state: State of the crawl afterwards, which a crawl that has ended keeps; of a host
            ``paused`` or ``running``.
        has_reached_max_pages: Whether the crawl has spent its limit, and so fetches nothing.
    """

    kind: TargetKind
    target: str
    state: CrawlState
    has_reached_max_pages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A line of `pause` without an argument: a paused crawl or host.

    Attributes:
        kind: Whether the target is a crawl or a host.
        target: Name of the crawl, or the host.
        since: When the host was paused; null for a crawl.
        who: Who paused the host, ``root@machine``; ``""``: not known.
        why: Why, as given with `--why`; may be empty.
        crawls: The crawls that know the host; of a crawl the crawl itself.
    """

    kind: TargetKind
    target: str
    since: datetime | None
    who: str = ""
    why: str = ""
    crawls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgePlan:
    """The line of `purge --dry-run`: what `purge` would delete.

    Attributes:
        kind: Whether the target is a crawl or a host.
        target: Name of the crawl, or the host.
        crawls: The crawls that lose URLs.
        records: Stored records.
        failed: Failed URLs.
        waiting: URLs left to fetch.
        model_versions: Versions of the host's model.
    """

    kind: TargetKind
    target: str
    crawls: tuple[str, ...]
    records: int
    failed: int
    waiting: int
    model_versions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """The line of `purge`: what was deleted.

    Attributes:
        kind: Whether the target was a crawl or a host.
        target: Name of the crawl, or the host.
        urls: URLs of the queue.
        records: Records of the store.
    """

    kind: TargetKind
    target: str
    urls: int
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedCrawl:
    """A line of `retry`: failed URLs of a crawl that are in the queue again.

    Attributes:
        crawl: Name of the crawl.
        urls: Their number.
    """

    crawl: str
    urls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RefetchedCrawl:
    """A line of `refetch`: stored pages of a crawl that wait to be fetched again.

    Attributes:
        crawl: Name of the crawl.
        urls: Their number.
    """

    crawl: str
    urls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedRaw:
    """The line of `drop-raw`: archived responses that were dropped, or would be (`--dry-run`).

    Attributes:
        kind: Whether the target is a crawl or a host.
        target: Name of the crawl, or the host.
        responses: Their number.
        freed_bytes: Bytes that come free on the disk.
    """

    kind: TargetKind
    target: str
    responses: int
    freed_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredCrawl:
    """A line of `recover`: a crawl that is in the queue again.

    Attributes:
        crawl: Name of the crawl.
        ended: URLs that ended in an earlier run, and are not fetched again.
        waiting: URLs that wait to be fetched.
    """

    crawl: str
    ended: int
    waiting: int


class CheckStatus(StrEnum):
    """Result of a check of `doctor`."""

    OK = "ok"  # nothing to do
    WARNING = "warning"  # crawls run, and an operator should know this
    FAILED = "failed"  # crawls do not run; `doctor` ends with status 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A line of `doctor`.

    Attributes:
        name: What was checked: ``python``, ``queue server``, ``disk``.
        status: The result.
        detail: The finding in words for a person, with the remedy of a problem.
    """

    name: str
    status: CheckStatus
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLine:
    """A line of `config`: one setting.

    Attributes:
        section: Its section: ``crawl``, ``storage``, ``workers``, ``clean``.
        variable: Its environment variable.
        value: Its value as text, without passwords.
        meaning: What it does.
    """

    section: str
    variable: str
    value: str
    meaning: str
