"""Who a queue is: its id, made once and kept in it, and the run of its server.

A Redis server that lost its data, or that was replaced, has another id: it is another queue. Stores
name queues by these ids (``storage/store/queues.py``).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from crawlclean.storage.queue.clients import queue_errors

KEY = "cc:queue"


@dataclass(frozen=True, slots=True)
class Identity:
    """A queue.

    Attributes:
        queue_id: 32 hex digits; ``""``: it has none yet.
        server: The run of its server, which a restart changes: 40 hex digits.
    """

    queue_id: str
    server: str


def read_identity(client: Any, *, make: bool) -> Identity:
    """Returns who a queue is.

    Args:
        client: A client of its server.
        make: Whether to give it an id if it has none; the users of readers may not.
    """
    with queue_errors():
        found = client.get(KEY)
        if found is None and make:
            client.set(KEY, uuid.uuid4().hex, nx=True)  # another process may be first
            found = client.get(KEY)
        server = client.info("server").get("run_id", "")
        return Identity((found or b"").decode(), str(server))
