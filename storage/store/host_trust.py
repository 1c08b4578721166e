"""How far a host's words about its changes are true, at rest: one row a host and crawl.

The value is that of ``cleaning/revisits.py``, as JSON in zstd: at most some 4 KB, of which the
sample of a sitemap's dates takes the most.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.cleaning.revisits import HostTrust
from crawlclean.storage.store.ports import Tables
from crawlclean.storage.store.record_blobs import compress, decompress

HostKey = tuple[str, str]
"""(host, crawl): ``("www.example.com", "news")``."""

_TRUST = msgspec.json.Decoder(HostTrust)


def read_trust(tables: Tables, keys: Collection[HostKey]) -> dict[HostKey, HostTrust]:
    """The trust in hosts; a host of which nothing is known is not in the result.

    Raises:
        StoreDamaged: This program never wrote it.
    """
    found = tables.get("visit_trust", keys, ("packed",))
    try:
        return {
            (key[0], key[1]): _TRUST.decode(decompress(bytes(row[0]))) for key, row in found.items()
        }
    except DAMAGE as error:
        raise StoreDamaged(f"the stored trust in a host cannot be read: {error}") from error


def write_trust(tables: Tables, key: HostKey, trust: HostTrust) -> None:
    """Stores the trust in a host."""
    packed = compress(msgspec.json.encode(trust))
    tables.put("visit_trust", {"host": key[0], "crawl_id": key[1], "packed": packed})
