"""JSON lines of commands that change crawls, and of `doctor`, `config`, `console tokens`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from crawlclean.storage.console_tokens import TokenLine
from crawlclean.storage.crawl_types import CrawlState, KeepRaw, Scope

# JSON lines of commands that change crawls, and of `doctor` and `config`.
#
# The fields of a type are the fields of its line, and the docstring of the type is their
# documentation (``docs/json.md``).


class TargetKind(StrEnum):
    """What a command changes."""

    CRAWL = "crawl"  # a crawl with all its hosts
    HOST = "host"  # a host in every crawl


class StateChange(Struct, frozen=True, kw_only=True):
    """The line of `crawl pause|resume|stop` with an argument: the state afterwards.

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


class Paused(Struct, frozen=True, kw_only=True):
    """A line of `crawl pause` without an argument: a paused crawl or host.

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


class PurgePlan(Struct, frozen=True, kw_only=True):
    """The line of `crawl purge --dry-run`: what `crawl purge` would delete.

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


class Purged(Struct, frozen=True, kw_only=True):
    """The line of `crawl purge`: what was deleted.

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


class RetriedCrawl(Struct, frozen=True, kw_only=True):
    """A line of `crawl retry`: failed URLs of a crawl that are in the queue again.

    Attributes:
        crawl: Name of the crawl.
        urls: Their number.
    """

    crawl: str
    urls: int


class RefetchedCrawl(Struct, frozen=True, kw_only=True):
    """A line of `crawl refetch`: stored pages of a crawl that wait to be fetched again.

    Attributes:
        crawl: Name of the crawl.
        urls: Their number.
    """

    crawl: str
    urls: int


class DroppedRaw(Struct, frozen=True, kw_only=True):
    """The line of `crawl drop-raw`: archived responses that were, or would be, dropped.

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


class RecoveredCrawl(Struct, frozen=True, kw_only=True):
    """A line of `crawl recover`: a crawl that is in the queue again.

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


class Check(Struct, frozen=True, kw_only=True):
    """A line of `doctor`.

    Attributes:
        name: What was checked: ``python``, ``queue server``, ``disk``.
        status: The result.
        detail: The finding in words for a person, with the remedy of a problem.
    """

    name: str
    status: CheckStatus
    detail: str


class SettingLine(Struct, frozen=True, kw_only=True):
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


# The JSON line of `doctor FILE`: a file, its problems, and the crawl that it describes.


class FileKind(StrEnum):
    """What an operator's file is."""

    CRAWL = "crawl"  # a crawl file
    HOSTS = "hosts"  # a hosts file
    SITES = "sites"  # a list of sites
    UNREADABLE = "unreadable"  # neither text nor TOML


class FileProblem(Struct, frozen=True, kw_only=True):
    """One problem of a file.

    Attributes:
        line: From 1; 0 when it belongs to no line.
        text: What is wrong, in words for a person.
        is_warning: Whether the file can be used all the same.
    """

    line: int
    text: str
    is_warning: bool


class PlannedCrawl(Struct, frozen=True, kw_only=True):
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


class FileCheck(Struct, frozen=True, kw_only=True):
    """The line of `doctor FILE`.

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


# JSON lines of `console tokens`.
#
# The fields of a type are the fields of its line, and the docstring of the type is their
# documentation (``docs/json.md``).


class NewToken(TokenLine, frozen=True, kw_only=True):
    """The line of `console tokens --new`: a new token.

    Attributes:
        token: The token, which is shown once: ``cc_4f1193a0_9b2e...``.
    """

    token: str
