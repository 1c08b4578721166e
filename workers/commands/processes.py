"""`worker`, `spider`, `sweeper`: one process of a crawl that runs already."""

from __future__ import annotations

import os

from storage.opening import join_queue, queue_url
from workers.config import FILE_SUFFIX, SECRETS, Settings, to_environ, variable


def join(settings: Settings, role: str) -> int:
    """Runs one process of a role until it is told to stop.

    Raises:
        NotFound: Embedded mode, and no crawl runs on the data folder.
        QueueUnavailable: The server does not answer.
    """
    join_queue(settings.storage).close()
    # A job reads its settings from the environment of the worker it was forked from.
    os.environ.update(to_environ(settings))
    for name in SECRETS:  # read already
        os.environ.pop(variable(name) + FILE_SUFFIX, None)
    if role == "spider":
        from crawler.run import fetch_pages

        fetch_pages(queue_url(settings.storage), settings.crawl, settings.storage)
    elif role == "worker":
        from workers.processes.worker import work_until_stopped

        work_until_stopped()
    else:
        from workers.processes.sweeper import sweep_until_stopped

        sweep_until_stopped()
    return 0
