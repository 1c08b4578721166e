"""Jobs that hang and hear no alarm: how long after its time each is killed."""

from __future__ import annotations

import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.queue.jobs import PAGES
from tests.kit.crawls import ROOT, command, environment
from tests.kit.processes import kill
from tests.kit.worker_bench import Bench

LIMIT_S = 5.0
TIMEOUT_S = 2
WORKERS = 5

# Cleaning any page hangs the first time.
HANGING = """
import hashlib, signal, sys
from pathlib import Path

if "worker" in sys.orig_argv:
    import crawlclean.workers.jobs.outcomes as endings

    real, folder = endings.read, Path(__file__).parent

    def clean(page, *rest):
        raw = getattr(page, "page", page)  # parsed before, or not
        mark = folder / hashlib.sha1(raw.url.encode()).hexdigest()
        if not mark.exists():
            mark.touch()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            while True:
                signal.pause()
        return real(page, *rest)

    endings.read = clean
"""


@dataclass
class Hangs:
    """Seconds from the end of a job's time to the loss of its claim."""

    jobs: int
    timeout_s: int
    median_s: float
    worst_s: float
    complaints: list[str]


def hangs(folder: Path, jobs: int) -> Hangs:
    """Jobs of one hanging page each, five at a time."""
    early = folder / "early"
    early.mkdir()
    (early / "sitecustomize.py").write_text(HANGING, "utf-8")
    urls = [f"http://h{n}.example/" for n in range(jobs)]
    with Bench(folder) as bench:
        bench.fetch(*urls)
        queue = Queue(PAGES, connection=bench.client, serializer=JSONSerializer)
        for name in queue.job_ids:
            job = Job.fetch(name, connection=bench.client, serializer=JSONSerializer)
            job.timeout = TIMEOUT_S
            job.save()
        workers = [
            subprocess.Popen(
                command("worker", "--data", str(bench.data)),
                env=environment(PYTHONPATH=f"{early}:{ROOT}"),
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
            )
            for _ in range(WORKERS)
        ]
        try:
            bench.sweep_until(bench.is_done, 60.0 * jobs)
        finally:
            for worker in workers:
                kill(worker.pid)
                worker.wait()
        over = [_overtime_s(bench, url) for url in urls]
        complaints = [f"{url} has no record" for url in set(urls) - set(bench.stored())]
    complaints += [f"killed {late:.1f} s late" for late in over if late > LIMIT_S]
    return Hangs(
        jobs=jobs,
        timeout_s=TIMEOUT_S,
        median_s=round(statistics.median(over), 1),
        worst_s=round(max(over), 1),
        complaints=complaints,
    )


def _overtime_s(bench: Bench, url: str) -> float:
    log = bench.url_row(page_id(url)).log
    claimed = next(step.at for step in log if step.step == "claimed")
    lost = next(step.at for step in log if step.step == "claim_lost")
    return (lost - claimed).total_seconds() - TIMEOUT_S
