"""What a worker says of a long action, as numbers by key, which each screen puts into its language.

The line of an operation is ``would_change 12; field.body 10; field.title 2; http://a.example/1``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

FIELD = "field."
"""Begins the key of a field of records that differs: ``field.body``."""

_NUMBER = re.compile(r"([a-z_.]+) (\d{1,18})")
_URL = re.compile(r"https?://\S+")


class Detail(StrEnum):
    """What is counted."""

    CHANGED = "changed"  # records that were replaced
    WOULD_CHANGE = "would_change"  # records that re-cleaning would replace
    GONE = "gone"  # records that stay: their raw pages are gone
    OTHER_LAYOUT = "other_layout"  # records that stay: their pages are of before the change
    NOT_CLEANED = "not_cleaned"  # records that stay: re-cleaning them failed
    NEW_VERSION = "new_version"  # of a host's model, stored
    SAME_VERSION = "same_version"  # of a host's model: what was learned is equal to it
    TOPIC_VERSION = "topic_version"  # of a topic's model, with the mark
    DELETED_URLS = "deleted_urls"  # from the queue
    DELETED_RECORDS = "deleted_records"
    FREED_BYTES = "freed_bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDetail:
    """The line of an operation, read.

    Attributes:
        numbers: (key, number) each, in order: ``("would_change", 12)``.
        fields: (field of records, records in which it differs) each: ``("body", 10)``.
        urls: Examples.
        text: The line itself where it is a person's or an error's words; ``""`` otherwise.
    """

    numbers: Sequence[tuple[str, int]] = ()
    fields: Sequence[tuple[str, int]] = ()
    urls: Sequence[str] = ()
    text: str = ""


def told_detail(numbers: Mapping[str, int], urls: Sequence[str] = ()) -> str:
    """Numbers and examples as the line of an operation."""
    return "; ".join([*(f"{key} {n}" for key, n in numbers.items()), *urls])


def read_detail(line: str) -> ReadDetail:
    """Reads the line of an operation; what ``told_detail`` did not write is its text."""
    numbers, names, urls = [], [], []
    for part in filter(None, line.split("; ")):
        if found := _NUMBER.fullmatch(part):
            key, n = found[1], int(found[2])
            if key.startswith(FIELD):
                names.append((key.removeprefix(FIELD), n))
                continue
            if key in set(Detail):
                numbers.append((key, n))
                continue
        elif _URL.fullmatch(part):
            urls.append(part)
            continue
        return ReadDetail(text=line)
    return ReadDetail(numbers=numbers, fields=names, urls=urls)
