"""A worker without forks: every job of pages is done in this one process.

No user runs this. A leak in a forked job ends with its process; here it stays and shows.
``make bench-memory`` starts this worker in its fleet.
"""

from __future__ import annotations

import os
import sys

from rq.serializers import JSONSerializer
from rq.worker import SimpleWorker

from crawlclean.storage.opening import queue_url
from crawlclean.storage.queue.clients import open_client
from crawlclean.storage.queue.jobs import QUEUES, PagesJob
from crawlclean.workers.config import load_settings
from crawlclean.workers.logs import set_up_logging
from crawlclean.workers.processes.worker import preload


def main() -> int:
    """Works until SIGTERM."""
    set_up_logging("worker")
    connection = open_client(queue_url(load_settings(os.environ).storage))
    preload()
    worker = SimpleWorker(
        list(QUEUES), connection=connection, serializer=JSONSerializer, job_class=PagesJob
    )
    worker.work(logging_level="WARNING")
    return 0


if __name__ == "__main__":
    sys.exit(main())
