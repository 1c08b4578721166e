"""The housekeeper: its process, and turns that must not hold up sweeping."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from contextlib import closing

import pytest

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.workers.operations.alerting.alerts import Alerting
from crawlclean.workers.processes import housekeeper as module
from crawlclean.workers.processes.housekeeper import Housekeeper
from tests.kit.crawls import ROOT, command, environment
from tests.kit.receiver import Receiver, hanging_until
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.worker_bench import Bench
from tests.workers.sending.test_turns import save_waiting


def test_the_process_heals_a_queue_while_a_receiver_hangs_and_ends_when_told(bench: Bench) -> None:
    release = threading.Event()

    with Receiver(hanging_until(release)) as slow:
        with closing(bench.store()) as store:
            save_waiting(store, "a", slow.url, 1)
        process = subprocess.Popen(
            command("housekeeper", "--data", str(bench.data)),
            stderr=subprocess.PIPE,
            env=environment(),
            cwd=ROOT,
        )
        try:
            wait_until(lambda: len(slow.got) == 1)
            bench.fetch("http://a.example/1")
            [job] = bench.client.zrange("cc:jobs", 0, -1)
            bench.frontier.claim(job.decode(), "dead")
            bench.frontier.break_claim(job.decode())
            wait_until(lambda: bench.frontier.counters().get("claims_lost") == 1)
            release.set()
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=LIMIT_S)
        finally:
            release.set()
            process.kill()
            process.wait()
    assert process.returncode == 0, said
    assert b"swept" in said
    assert bench.frontier.now().processes == [], "it has told that it ends"
    assert b"Traceback" not in said
    with closing(bench.store()) as store:
        assert [each.sent for each in store.receivers.all()] == [1]


def test_sweeping_goes_on_beside_turns_that_fail_or_are_slow(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow turn rests for longer than it took; one that fails for good is tried again later."""
    stop, failed, slept = threading.Event(), [], []

    def fail(_: Housekeeper) -> float:
        failed.append(1)
        raise StoreDamaged("a row of the outbox")

    def sleep(_: Housekeeper) -> float:
        slept.append(1)
        threading.Event().wait(0.2)
        return 0.0

    monkeypatch.setattr(Housekeeper, "_send", fail)
    monkeypatch.setattr(Housekeeper, "_revisit", sleep)
    monkeypatch.setattr(module, "REST_S", 0.5)
    with bench.context() as context:
        thread = threading.Thread(target=Housekeeper(context, Alerting).work, args=(stop,))
        begun = time.monotonic()
        thread.start()
        wait_until(lambda: bench.frontier.counters().get("sweeps", 0) >= 3 and len(failed) > 1)
        stop.set()
        thread.join()
    assert (len(slept) - 1) * 0.2 / module.SHARE <= time.monotonic() - begun
