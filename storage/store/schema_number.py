"""The check that a database was written by a program with our schema."""

from __future__ import annotations

from cleaning.errors import SchemaMismatch


def check_schema_number(place: str, found: int, ours: int) -> None:
    """Returns when a database has our schema.

    Args:
        place: Where the database is, e.g. ``crawlclean-data/records.sqlite``.
        found: Its schema number, from 1.
        ours: The number this program writes.

    Raises:
        SchemaMismatch: The numbers differ; the message is one line with what to do.
    """
    if found > ours:
        raise SchemaMismatch(
            f"{place} has schema {found}, this program reads schema {ours}: "
            "use the newer version that wrote it"
        )
    if found < ours:
        raise SchemaMismatch(
            f"{place} has schema {found}, this program reads schema {ours}: "
            "use the older version that wrote it, or crawl into another place"
        )
