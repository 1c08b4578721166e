"""The real command with a name server of our own: ``python -m tests.kit.host_names COMMAND ...``.

``CRAWLCLEAN_TEST_NAMES`` is a JSON object: name -> address, ``""`` for a name that cannot be looked
up now. Every other name in ``.test`` does not exist, which the names in ``.slow.test`` say after a
minute.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import Any

from crawlclean.workers.cli import main

NAMES: dict[str, str] = json.loads(os.environ["CRAWLCLEAN_TEST_NAMES"])
ASK = socket.getaddrinfo


def getaddrinfo(host: Any, *arguments: Any, **more: Any) -> Any:
    """The system's answer for an address; ours for a name."""
    name = host.decode() if isinstance(host, bytes) else host
    if NAMES.get(name) == "":
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    if name in NAMES:
        return ASK(NAMES[name], *arguments, **more)
    if isinstance(name, str) and name.endswith(".test"):
        if name.endswith(".slow.test"):
            threading.Event().wait(60)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return ASK(host, *arguments, **more)


if __name__ == "__main__":
    socket.getaddrinfo = getaddrinfo
    sys.exit(main())
