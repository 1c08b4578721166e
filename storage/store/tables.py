"""Every table of a store, once: columns, key and indexes, for both databases.

SQLite makes its tables and indexes of this (``sqlite/schema.py``). In MongoDB a table is a
collection: a row is a document, its key one text as ``_id`` (``mongo/ports.py``), and it has the
same indexes but for those that name others (``mongo/schema.py``).

Times are whole microseconds since 1970 UTC, e.g. 1772366400123456. What is ``packed`` is zstd.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

from msgspec import Struct

HostColumn = Literal["records", "failed", "excluded", "body_chars", "fetched_bytes", "last_seen"]
"""A column that hosts can be sorted by; each has an index."""

HOST_COLUMNS: Final[tuple[HostColumn, ...]] = get_args(HostColumn)


class Index(Struct, frozen=True):
    """An index of a table.

    Attributes:
        name: Its name in SQLite; ``""``: it is MongoDB's alone.
        columns: ``"crawl_id, host"``.
        only: A condition of the rows that it has, ``"reason IS NOT NULL"``; ``""``: all rows.
        mongo: Its columns in MongoDB, if they are others; ``""``: it is SQLite's alone.
    """

    name: str
    columns: str
    only: str = ""
    mongo: str | None = None


class Table(Struct, frozen=True):
    """A table.

    Attributes:
        name: Of the table, and of the collection.
        columns: As SQL has them; each must have a value if it is not ``NULL``. Those that name one
            row are marked ``KEY``.
        number: The column that numbers the rows in SQLite, if that is not the key.
        is_clustered: Whether SQLite keeps the rows in the index of the key.
        indexes: Its indexes besides that of the key.
    """

    name: str
    columns: str
    number: str = ""
    is_clustered: bool = False
    indexes: tuple[Index, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The names of the columns that name one row."""
        return tuple(each.split()[0] for each in self.columns.split(",") if each.endswith(" KEY"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(each.split()[0] for each in self.columns.split(","))


_FAILED, _WITH_VISIT = "reason IS NOT NULL", "next_visit IS NOT NULL"
_OF_HOST = Index("", "crawl_id, host")  # SQLite deletes the rows of a host by page, or by key

TABLES: Final = (
    # The order of a crawl, its state, when it was created, and the queue that runs it.
    Table(
        "crawls",
        "crawl_id TEXT KEY, spec TEXT, state TEXT, created_at INTEGER, queue TEXT DEFAULT ''",
    ),
    # The queues that run crawls: where they are, when their housekeepers were heard.
    Table("queues", "queue_id TEXT KEY, place TEXT, server TEXT, heard_at INTEGER"),
    # The newest outcome of a URL, with its failure if it has one. (fetched_at, model_version) is
    # its fence, digest differs between two outcomes of the same version. media_type and sha256 are
    # NULL except for a stored image; certificate except for a host whose certificate is wrong;
    # reason, detail and attempts except for a failure; the last four except in a crawl that keeps
    # fresh. MongoDB keeps here what statistics need of a record, and ``stale`` while the outcome
    # is not counted.
    Table(
        "urls",
        """page_id TEXT KEY, crawl_id TEXT KEY, host TEXT, url TEXT, state TEXT, fetched_at INTEGER,
        model_version INTEGER, digest BLOB, depth INTEGER, via TEXT, referrer TEXT NULL,
        link_text TEXT, discovered_at INTEGER NULL, status INTEGER, etag TEXT NULL,
        last_modified TEXT NULL, fetched_bytes INTEGER, html_chars INTEGER, wait_ms INTEGER,
        log TEXT, role TEXT, media_type TEXT NULL, sha256 TEXT NULL, certificate TEXT NULL,
        reason TEXT NULL, detail TEXT NULL, attempts INTEGER NULL, next_visit INTEGER NULL,
        interval_s INTEGER NULL, checked_at INTEGER NULL, visits BLOB NULL""",
        indexes=(
            # Covers the search for due URLs, which reads all that are due.
            Index("due_urls", "crawl_id, next_visit, page_id, interval_s, host", _WITH_VISIT),
            Index("urls_of_host", "crawl_id, host, state"),
            Index("failures", "page_id, crawl_id", _FAILED, mongo=""),
            Index("failures_by_time", "fetched_at, page_id", _FAILED),
            Index("failures_of_crawl", "crawl_id, fetched_at, page_id", _FAILED),
            Index("failures_of_host", "crawl_id, host, fetched_at, page_id", _FAILED),
            Index("failures_of_site", "host, fetched_at, page_id", _FAILED),
            Index(
                "certificates", "crawl_id, host, certificate", "certificate IS NOT NULL", mongo=""
            ),
            Index("", "stale", "stale IS NOT NULL"),
        ),
    ),
    # The newest record of a URL; ``Blobs`` reads its text. saved_seq numbers the saves. is_current:
    # the URL's newest outcome is this record and no later failure; only current records count in
    # the statistics, so that their numbers add up. images_due: the crawl, while images of the
    # record became content and wait to be offered. warnings: their kinds, each once, sorted:
    # capped_links,needs_javascript. ``owed`` in MongoDB: see ``mongo/writing.py``.
    Table(
        "records",
        """page_id TEXT KEY, crawl_id TEXT KEY, host TEXT, fetched_at INTEGER,
        model_version INTEGER, digest BLOB, saved_at INTEGER, is_current INTEGER,
        images_due TEXT NULL, kind TEXT, signature TEXT, body_chars INTEGER, warnings TEXT,
        links_body INTEGER, links_related INTEGER, links_navigation INTEGER, links_function INTEGER,
        links_ad INTEGER, links_hot INTEGER, links_tag INTEGER, links_legal INTEGER,
        links_other INTEGER, images_content INTEGER, images_ad INTEGER, images_chrome INTEGER,
        images_thumb INTEGER, images_other INTEGER, confidence REAL NULL""",
        number="saved_seq INTEGER PRIMARY KEY AUTOINCREMENT",
        indexes=(
            Index("", "saved_seq"),
            Index("records_of_crawl", "crawl_id, saved_seq"),
            Index("records_of_host", "crawl_id, host, saved_seq"),
            # Learning and re-cleaning read a host page by page, over all crawls. MongoDB's
            # documents are large, so its index covers this.
            Index(
                "records_of_site",
                "host, page_id, crawl_id",
                mongo="host, page_id, fetched_at, model_version",
            ),
            Index("least_sure_of_host", "host, confidence", "confidence IS NOT NULL"),
            Index("records_by_time", "saved_at, saved_seq"),
            Index("records_with_due_images", "images_due", "images_due IS NOT NULL"),
            Index("", "owed.stale", "owed.stale IS NOT NULL"),
        ),
    ),
    # The newest archived response of a URL: in SQLite its place in a WARC segment.
    Table(
        "raw",
        """page_id TEXT KEY, crawl_id TEXT KEY, host TEXT, url TEXT, fetched_at INTEGER,
        segment INTEGER, offset INTEGER, length INTEGER""",
        indexes=(
            Index("raw_of_segment", "segment", mongo=""),
            # Sums of what crawls take read this index alone.
            Index("raw_of_crawl", "crawl_id, host, length", mongo="crawl_id, host"),
            Index("raw_of_site", "host, page_id, crawl_id", mongo="host, page_id, fetched_at"),
        ),
    ),
    # An older version of a record, as its difference to the next newer one.
    Table(
        "versions",
        """page_id TEXT KEY, crawl_id TEXT KEY, fetched_at INTEGER KEY, host TEXT, added INTEGER,
        removed INTEGER, packed BLOB""",
        indexes=(_OF_HOST,),
    ),
    # What the visits of a host's URL class have found.
    Table(
        "visit_classes",
        """host TEXT KEY, crawl_id TEXT KEY, url_class TEXT KEY, changes REAL, time_s REAL,
        visits INTEGER, changed INTEGER, not_modified INTEGER""",
        indexes=(_OF_HOST,),
    ),
    # How far a host's dates and ETags are true.
    Table(
        "visit_trust",
        "host TEXT KEY, crawl_id TEXT KEY, packed BLOB",
        indexes=(_OF_HOST,),
    ),
    # A pointer between stories that turned out to be one.
    Table(
        "stories",
        "story INTEGER KEY, target INTEGER",
        indexes=(Index("stories_by_target", "target"),),
    ),
    # An index that is being built anew: records up to until_seq are taken out (clear), and added
    # again up to after_seq (add).
    Table("rebuilds", "what TEXT KEY, phase TEXT, until_seq INTEGER, after_seq INTEGER"),
    # Statistics of a host in a crawl, JSON.
    Table(
        "hosts",
        "host TEXT KEY, crawl_id TEXT KEY, is_dirty INTEGER, stats TEXT NULL",
        indexes=(
            Index("hosts_of_crawl", "crawl_id"),
            Index("dirty_hosts", "host, crawl_id", "is_dirty", mongo=""),
        ),
    ),
    # What lists read (``overview.py``): a host over all crawls; its URLs in a final state, and its
    # failures of one cause, in a crawl; the last two are sums of these over hosts.
    Table(
        "host_rows",
        """host TEXT KEY, crawls INTEGER, records INTEGER, failed INTEGER, excluded INTEGER,
        other INTEGER, body_chars INTEGER, fetched_bytes INTEGER, noise_ppm INTEGER,
        near_duplicates INTEGER, model_version INTEGER, first_seen INTEGER NULL, last_seen INTEGER,
        updated_at INTEGER""",
        indexes=(
            *(Index(f"hosts_by_{name}", f"{name}, host") for name in HOST_COLUMNS),
            Index("hosts_by_update", "updated_at"),
        ),
    ),
    Table(
        "host_states",
        "host TEXT KEY, crawl_id TEXT KEY, state TEXT KEY, n INTEGER",
        is_clustered=True,
        indexes=(Index("states_of_crawl", "crawl_id, state, n"),),
    ),
    Table(
        "failure_groups",
        """host TEXT KEY, crawl_id TEXT KEY, reason TEXT KEY, status INTEGER KEY, n INTEGER,
        first_at INTEGER, newest_at INTEGER, sample TEXT""",
        is_clustered=True,
        indexes=(
            Index("groups_of_crawl", "crawl_id, reason, status, n, host, first_at, newest_at"),
            Index("largest_groups", "n, sample, crawl_id"),
            Index("largest_groups_of_reason", "reason, n, sample, crawl_id"),
            Index("largest_groups_of_crawl", "crawl_id, n, sample"),
        ),
    ),
    Table("crawl_counts", "crawl_id TEXT KEY, state TEXT KEY, n INTEGER"),
    Table(
        "causes",
        """crawl_id TEXT KEY, reason TEXT KEY, status INTEGER KEY, n INTEGER, hosts INTEGER,
        first_at INTEGER, newest_at INTEGER""",
    ),
    # Robots.txt and URL classes of a host, as the queue held them.
    Table(
        "rules",
        "host TEXT KEY, crawl_id TEXT KEY, packed BLOB",
        indexes=(Index("rules_of_crawl", "crawl_id"),),
    ),
    # A host that an operator paused.
    Table("pauses", "host TEXT KEY, since INTEGER, crawls TEXT, who TEXT, why TEXT"),
    # A host that an operator slowed down.
    Table(
        "slowdowns",
        """host TEXT KEY, delay_ms INTEGER NULL, slots INTEGER NULL, since INTEGER, who TEXT,
        why TEXT""",
    ),
    # The number of the newest row, of each of the next three tables.
    Table("numbers", "what TEXT KEY, n INTEGER"),
    # What happened to a crawl, a host or a process.
    Table(
        "events",
        "seq INTEGER KEY, at INTEGER, kind TEXT, host TEXT, crawl_id TEXT, text TEXT, link TEXT",
        indexes=(
            Index("events_of_host", "host, seq"),
            Index("events_of_crawl", "crawl_id, seq"),
            Index("events_of_kind", "kind, seq"),
        ),
    ),
    # What somebody did by console or API.
    Table(
        "audit",
        """seq INTEGER KEY, at INTEGER, who TEXT, place TEXT, action TEXT, target TEXT, asked TEXT,
        did TEXT NULL, undo TEXT""",
    ),
    # A long action with its progress.
    Table(
        "operations",
        """seq INTEGER KEY, kind TEXT, target TEXT, who TEXT, asked TEXT, state TEXT, done INTEGER,
        total INTEGER, detail TEXT, begun_at INTEGER, moved_at INTEGER, is_stopping INTEGER""",
    ),
    # Figures of the whole program. slots: 1, or the samples of a block. at: seconds since 1970 UTC.
    Table("samples", "step INTEGER KEY, slots INTEGER KEY, at INTEGER KEY, vals BLOB"),
    # Pending URLs that outgrew the queue's memory.
    Table(
        "spills",
        "spill_id TEXT KEY, crawl_id TEXT, host TEXT, urls INTEGER, packed BLOB",
        indexes=(Index("spills_of_host", "crawl_id, host"),),
    ),
    # A version of a host's site model, for all crawls; the newest is in use.
    Table(
        "models",
        """host TEXT KEY, version INTEGER KEY, learned_at INTEGER, saved_at INTEGER,
        page_count INTEGER, size_bytes INTEGER, reason TEXT, detail TEXT, packed BLOB""",
    ),
    # A detected change of a host, for all crawls.
    Table(
        "drifts",
        """host TEXT KEY, model_version INTEGER KEY, at INTEGER KEY, outcome TEXT,
        new_version INTEGER, evidence TEXT""",
    ),
    # A topic: what the user asked, and what judging its pages needs.
    Table(
        "topics",
        """name TEXT KEY, version INTEGER, spec TEXT, state TEXT, crawl_id TEXT, examples BLOB,
        packed BLOB, created_at INTEGER, note TEXT, read_words TEXT NULL, read_after INTEGER NULL,
        read_end INTEGER NULL""",
    ),
    # A version of a topic's link model, with its last batch.
    Table(
        "topic_models",
        """topic TEXT KEY, version INTEGER KEY, learned_at INTEGER, page_ids TEXT, hub_ids TEXT,
        is_marked INTEGER, packed BLOB""",
    ),
    # What a topic holds of a page. fence: version of the topic and time of the response, the older
    # judgement never wins. at: when it was published, else fetched. read_at: when a person read it.
    # to_learn: the topic, while the learner is to learn from the page.
    Table(
        "topic_pages",
        """topic TEXT KEY, page_id TEXT KEY, crawl_id TEXT, url TEXT, host TEXT, title TEXT,
        fetched_at INTEGER, at INTEGER, version INTEGER, fence INTEGER, relevance REAL, label REAL,
        relevant INTEGER, parts TEXT, features BLOB, parent TEXT, mark INTEGER NULL,
        to_learn TEXT NULL, learned_in INTEGER NULL, hub_in INTEGER NULL, read_at INTEGER NULL""",
        indexes=(
            Index("topic_pages_of_page", "page_id"),
            Index("topic_pages_of_crawl", "crawl_id, host"),
            Index("topic_pages_by_time", "topic, fetched_at, page_id, relevant, crawl_id, at"),
            Index("topic_pages_by_publication", "topic, relevant, at, page_id"),
            Index("topic_pages_by_host", "topic, relevant, host, at, page_id"),
            Index("topic_pages_by_relevance", "topic, relevance, page_id"),
            Index("topic_pages_by_version", "topic, version"),
            Index("topic_pages_by_parent", "topic, parent, fetched_at"),
            Index("topic_pages_to_learn", "to_learn, page_id", "to_learn IS NOT NULL"),
            Index("topic_pages_marked", "topic, mark", "mark IS NOT NULL"),
        ),
    ),
    # An image of a topic's crawl by its looks. grp: least number of the copies' ids.
    Table(
        "pictures",
        """page_id TEXT KEY, crawl_id TEXT KEY, host TEXT, fetched_at INTEGER, sha256 TEXT,
        width INTEGER, height INTEGER, file_bytes INTEGER, prints BLOB, grp INTEGER""",
        number="seq INTEGER PRIMARY KEY",
        indexes=(
            Index("pictures_by_group", "crawl_id, grp"),
            Index("pictures_by_bytes", "crawl_id, sha256"),
            Index("", "keys"),
            _OF_HOST,
        ),
    ),
    # Who is told of stories, signs and ends of crawls; what waits for them; the stories they were
    # told of; the signs they were told of; what was sent.
    Table(
        "receivers",
        """name TEXT KEY, kind TEXT, target TEXT, private INTEGER, signs TEXT, ended INTEGER,
        stories TEXT, digest TEXT, digest_at TEXT, zone TEXT, quiet TEXT, red_passes INTEGER,
        most_an_hour INTEGER, lang TEXT, since INTEGER, next_try INTEGER, owned_until INTEGER,
        owner TEXT, source TEXT, is_off INTEGER, former TEXT, told_event INTEGER, digest_day TEXT,
        tries INTEGER, failing_since INTEGER NULL, last_error TEXT, last_sent INTEGER NULL,
        sent INTEGER, copies INTEGER, given_up INTEGER""",
    ),
    Table(
        "outbox",
        """receiver TEXT KEY, id TEXT KEY, at INTEGER, level TEXT, topic TEXT, page_id TEXT,
        notice TEXT""",
        indexes=(
            Index("outbox_by_time", "receiver, at, id"),
            Index("outbox_of_topic", "topic"),
        ),
    ),
    Table(
        "told",
        "receiver TEXT KEY, topic TEXT KEY, number INTEGER KEY, page_id TEXT",
        is_clustered=True,
    ),
    Table(
        "alerts",
        """sign TEXT KEY, id TEXT, kind TEXT, host TEXT, crawl_id TEXT, target TEXT, since INTEGER,
        gone_since INTEGER NULL, told TEXT""",
    ),
    Table(
        "messages",
        """seq INTEGER KEY, at INTEGER, receiver TEXT, message_id TEXT, text TEXT, n INTEGER,
        error TEXT""",
        indexes=(Index("messages_of_receiver", "receiver, error, seq"),),
    ),
)

SQLITE_TABLES: Final = (
    # The text of a record, which its narrow row of ``records`` has not: the statistics of a host
    # read thousands of rows and no text.
    Table("record_blobs", "saved_seq INTEGER KEY, record BLOB, links BLOB"),
    # A WARC segment, and up to where its bytes count.
    Table("segments", "segment INTEGER KEY, committed INTEGER"),
    # What finds near-duplicates of a record, under its saved_seq, and its story.
    Table(
        "signatures",
        "seq INTEGER KEY, sig BLOB, chars INTEGER, at INTEGER, story INTEGER NULL",
        indexes=(
            Index("signatures_by_time", "story, at", "story IS NOT NULL"),
            Index("signatures_by_chars", "story, chars", "story IS NOT NULL"),
        ),
    ),
    # By which a record, or a picture, finds those that it may be a copy of.
    Table("story_keys", "key INTEGER KEY, seq INTEGER KEY", is_clustered=True),
    Table("picture_keys", "key INTEGER KEY, seq INTEGER KEY", is_clustered=True),
)
"""Those of SQLite alone."""

MONGO_TABLES: Final = (
    # What finds near-duplicates of a record, and its story.
    Table(
        "signatures",
        """page_id TEXT KEY, crawl_id TEXT KEY, host TEXT, fetched_at INTEGER,
        model_version INTEGER, digest BLOB, signature BLOB, chars INTEGER, at INTEGER,
        story INTEGER NULL""",
        indexes=(
            Index("", "keys"),
            _OF_HOST,
            Index("", "story, at", "story IS NOT NULL"),
            Index("", "story, chars", "story IS NOT NULL"),
        ),
    ),
    # Parts of blobs over 12 MB of ``records`` and ``raw``.
    Table("chunks", "", indexes=(Index("", "owner"), _OF_HOST)),
)
"""Those of MongoDB alone; its ``meta`` has the version of the schema, and numbers the saves."""

KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {table.name: table.key for table in (*TABLES, *MONGO_TABLES)}
)
"""Table -> the columns that name one row."""
