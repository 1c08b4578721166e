"""Rules of hosts at rest: what decides which URLs of a host a crawl fetches.

Workers keep a copy of what the queue holds: robots.txt, the rules of the URL classes, operators'
decisions and stopped classes. So a finished crawl explains a URL without its queue, which forgets a
host's robots.txt after two days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from crawlclean.cleaning.json_values import dump_versioned, load_versioned
from crawlclean.storage.store.ports import Tables
from crawlclean.storage.store.record_blobs import compress, decompress


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRules:
    """The rules of a host in a crawl, as the queue held them when the last page ended.

    Attributes:
        robots: The lines of robots.txt that concern us; None: robots.txt was not read.
        rules: Rules of the URL classes, JSON text of a worker; ``""``: none.
        pins: Operators' decisions by template: ``{"/tag/{w}": "forbid"}``.
        stopped: Stopped classes and refused templates with the reason, as ``UrlClassLedger`` has
            them: ``{"/cal/*": "no novelty"}``.
    """

    robots: str | None = None
    rules: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)


_RULES = msgspec.json.Decoder(KeptRules)


class Rules:
    """The member ``rules``: one row a host and crawl."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self, crawl_id: str, host: str) -> KeptRules | None:
        """The rules of a host in a crawl; None before a page of the host ended.

        Raises:
            StoreDamaged: This program never wrote it.
        """
        packed = self._packed(crawl_id, host)
        return (
            None if packed is None else load_versioned(decompress(packed), _RULES, "host's rules")
        )

    def put(self, crawl_id: str, host: str, rules: KeptRules) -> bool:
        """Stores the rules of a host; returns whether they have changed."""
        packed = compress(dump_versioned(rules))
        if packed == self._packed(crawl_id, host):
            return False
        self._tables.put("rules", {"host": host, "crawl_id": crawl_id, "packed": packed})
        return True

    def _packed(self, crawl_id: str, host: str) -> bytes | None:
        rows = self._tables.get("rules", [(host, crawl_id)], ("packed",))
        return bytes(next(iter(rows.values()))[0]) if rows else None
