"""CPU time of the workers' jobs, as counted by the kernel: by host and kind of job.

``CODE`` is loaded by the interpreter of every worker at its start. After each job it writes two
times: of the process that does the jobs (queue, archive, store, cleaning, saving), and of the
worker since the last job (taking the job, waiting, RQ's bookkeeping). Learning runs inside
a job of pages; its time is subtracted there and counted as learning. The queue server, the spider
and the housekeeper are not included.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

NAME = "job_costs.jsonl"
CODE = f"""
import sys

if {{"run", "worker"}} & {{*sys.orig_argv}}:
    import json, time
    from pathlib import Path

    import crawlclean.workers.jobs.outcomes as endings
    import crawlclean.workers.tasks as tasks
    from crawlclean.workers.processes.worker import CleaningWorker

    file = Path(__file__).parent / {NAME!r}
    real_job, real_count = CleaningWorker.execute_job, tasks._Job.count
    real_perform = CleaningWorker.perform_job
    real_clean, real_learn = endings.read, tasks.learn_now
    last, used = [], dict(clean_ms=0.0, learn_ms=0.0, pages=0, learned=0)

    def write_row(**row):
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
        write_row(task="in clean_pages", host=self._host, **used)

    def write_cost(job, begun, jobs):
        task = job.func_name.rpartition(".")[2]
        host = job.args[1 if task == "clean_pages" else 0]
        ms = 1000 * (time.process_time() - begun)
        write_row(task=task, host=host, ms=ms, jobs=jobs)

    def execute_job(self, job, queue):
        begun = last.pop() if last else time.process_time()
        real_job(self, job, queue)
        write_cost(job, begun, 1)
        last.append(time.process_time())

    def perform_job(self, job, queue):
        begun = time.process_time()
        try:
            return real_perform(self, job, queue)
        finally:
            write_cost(job, begun, 0)

    CleaningWorker.perform_job = perform_job
    CleaningWorker.execute_job, tasks._Job.count = execute_job, count
    endings.read = timed("clean_ms", "pages", real_clean)
    tasks.learn_now = timed("learn_ms", "learned", real_learn)
"""


def job_costs(folder: Path) -> dict[str, dict[str, float]]:
    """Returns the cost of the jobs of each host: CPU milliseconds, pages and jobs.

    - ``cleaning_ms``: jobs of pages without their learning; ``clean_ms``: their ``clean`` calls.
    - ``learning_ms``: learning; ``again_ms``: re-cleaning jobs.
    - ``share``: (learning + again) / cleaning; ``share_of_clean``: (learning + again) / clean.

    Args:
        folder: The folder of the code with its logs; killed jobs have no line there.
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
        mine[f"{name}_ms"] += row["ms"]
        mine[f"{name}_jobs"] += row["jobs"]
    return {host: _with_shares(mine) for host, mine in sorted(sums.items())}


def _with_shares(mine: Mapping[str, float]) -> dict[str, float]:
    ours = mine.get("learning_ms", 0.0) + mine.get("again_ms", 0.0)
    shares = {
        name: round(ours / mine[of], 3)
        for name, of in (("share", "cleaning_ms"), ("share_of_clean", "clean_ms"))
        if mine.get(of)
    }
    return {**{name: round(value) for name, value in sorted(mine.items())}, **shares}
