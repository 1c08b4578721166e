"""Processor time of the workers' jobs, as the kernel counts it: by host, and by what the job did.

``CODE`` is loaded by every worker's interpreter at its start. After each job it writes what the
forked process used (all of it, from fork to exit: reading the queue, the archive and the store,
cleaning, saving), and what the worker itself used since the job before (taking the job from the
queue, forking, watching, RQ's books). Learning is done inside a job of pages: what the fork used
for it is told apart and belongs to learning. The queue's server, the spider and the sweeper are
not in it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

NAME = "job_costs.jsonl"
CODE = f"""
import sys

if "worker" in sys.orig_argv:
    import json, resource, time
    from pathlib import Path

    import workers.jobs.outcomes as endings
    import workers.tasks as tasks
    from workers.processes.worker import CleaningWorker

    file = Path(__file__).parent / {NAME!r}
    real_job, real_count = CleaningWorker.execute_job, tasks._Job.count
    real_clean, real_learn = endings.clean, tasks.learn_now
    last, used = [], dict(clean_ms=0.0, learn_ms=0.0, pages=0, learned=0)

    def tell(**row):
        with file.open("ab", buffering=0) as opened:
            opened.write(json.dumps(row).encode() + b"\\n")

    def timed(name, counted, real):
        def work(*args, **more):
            begun = time.process_time()
            try:
                return real(*args, **more)
            finally:
                used[name] += 1000 * (time.process_time() - begun)
                used[counted] += 1
        return work

    def count(self):
        real_count(self)
        tell(task="in clean_pages", host=self._host, **used)

    def both():
        sums = []
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            usage = resource.getrusage(who)
            sums.append(1000 * (usage.ru_utime + usage.ru_stime))
        return sums

    def execute_job(self, job, queue):
        before = last.pop() if last else both()
        real_job(self, job, queue)
        last.append(both())
        task = job.func_name.rpartition(".")[2]
        own_ms, fork_ms = (b - a for a, b in zip(before, last[0]))
        host = job.args[1 if task == "clean_pages" else 0]
        tell(task=task, host=host, worker_ms=own_ms, fork_ms=fork_ms)

    CleaningWorker.execute_job, tasks._Job.count = execute_job, count
    endings.clean = timed("clean_ms", "pages", real_clean)
    tasks.learn_now = timed("learn_ms", "learned", real_learn)
"""


def job_costs(folder: Path) -> dict[str, dict[str, float]]:
    """By host, what its jobs used: processor milliseconds, pages and jobs.

    ``cleaning_ms`` are jobs of pages but for learning in them, ``clean_ms`` the calls of ``clean``
    in them; ``learning_ms`` is learning, ``again_ms`` jobs that clean again. ``share`` is
    (learning + again) / cleaning, ``share_of_clean`` the same of the calls of ``clean`` alone.

    Args:
        folder: That of the code; jobs that were killed have written nothing.
    """
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in (folder / NAME).read_text("utf-8").splitlines():
        row = json.loads(line)
        mine = sums[row["host"]]
        if row["task"] == "in clean_pages":
            mine["clean_ms"] += row["clean_ms"]
            mine["cleaned"] += row["pages"]
            mine["learning_ms"] += row["learn_ms"]
            mine["cleaning_ms"] -= row["learn_ms"]
            mine["learned"] += row["learned"]
            continue
        name = {"clean_pages": "cleaning", "learn_site": "learning"}.get(row["task"], "again")
        mine[f"{name}_ms"] += row["worker_ms"] + row["fork_ms"]
        mine[f"{name}_jobs"] += 1
    return {host: _with_shares(mine) for host, mine in sorted(sums.items())}


def _with_shares(mine: Mapping[str, float]) -> dict[str, float]:
    ours = mine.get("learning_ms", 0.0) + mine.get("again_ms", 0.0)
    shares = {
        name: round(ours / mine[of], 3)
        for name, of in (("share", "cleaning_ms"), ("share_of_clean", "clean_ms"))
        if mine.get(of)
    }
    return {**{name: round(value) for name, value in sorted(mine.items())}, **shares}
