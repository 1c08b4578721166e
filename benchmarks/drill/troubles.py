"""The six troubles: how each comes over the world, and when it is mended, by store and queue."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec import structs

from benchmarks.drill.drill_site import FEW_LISTS, HOSTS, PER_LIST, POISON
from benchmarks.drill.world import CRAWL, DISK_BYTES, LEFT_BYTES, OLD_CRAWL, World
from cleaning.urls.normal_form import page_id
from storage.crawl_types import CrawlState, Discovery, FailureReason, UrlState
from storage.store.models import LearnReason
from storage.store.operations import OperationState
from workers.jobs.learning import store_next
from workers.operations.controlling.crawl_states import change_state
from workers.operations.watching.signs.signs import SignKind
from workers.site_models import read_model

QUIET_S = 5.0
"""So long nothing of a forbidden class is asked for before the class counts as forbidden."""

KNOWN_VERSION = 2
"""Of the model of a host that is known well: learned from 40 pages; the first one is of 8."""


@dataclass(slots=True)
class Patient:
    """What a trouble is about.

    Attributes:
        number: Number of the host.
        host: Its authority.
        notes: What injector and check remember.
    """

    number: int
    host: str
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One trouble.

    Attributes:
        name: A few words, which a reader of the console is not told.
        sign: The sign of it on Now; None: the sentence.
        inject: Makes it.
        is_mended: Whether the check of the drill holds.
        has_old_crawl: Whether it needs a finished crawl and a small disk.
        is_host_short: Whether its host has few pages.
        trail: Parts of the addresses of pages that are about it, beside those with its host.
        needs_model: Whether its host has to be known well before: a change is one against what was
            learned.
    """

    name: str
    sign: SignKind | None
    inject: Callable[[World, Patient], None]
    is_mended: Callable[[World, Patient], bool]
    has_old_crawl: bool = False
    is_host_short: bool = False
    trail: tuple[str, ...] = ()
    needs_model: bool = False


# 1. A colleague has paused a host.


def _pause(world: World, patient: Patient) -> None:
    why = "too slow, I will look after lunch"
    change_state(world.settings, patient.host, CrawlState.PAUSED, who="li@night-shift", why=why)


def _is_resumed(world: World, patient: Patient) -> bool:
    if _is_paused(world, patient):
        patient.notes.pop("records", None)
        return False
    before: int = patient.notes.setdefault("records", world.records(patient.host))
    return world.records(patient.host) > before


def _is_paused(world: World, patient: Patient) -> bool:
    with closing(world.queue()) as queue:
        return patient.host in {pause.host for pause in queue.pauses()}


# 2. A login wall, which comes down while the host is paused.


def _wall_up(world: World, patient: Patient) -> None:
    world.site.switches.walls.add(patient.number)


def _has_bodies(world: World, patient: Patient) -> bool:
    if _is_paused(world, patient):
        world.site.switches.walls.discard(patient.number)
    if patient.number in world.site.switches.walls or _is_paused(world, patient):
        return False
    with closing(world.store()) as store, closing(world.queue()) as queue:
        ids = {
            end.page_id
            for end in store.urls.ended(CRAWL, patient.host)
            if end.state is UrlState.RECORD and "/news/" in end.url
        }
        under_way = any(claim.host == patient.host for claim in queue.now().claims)
        return not under_way and not store.records.without_body(CRAWL, ids)


# 3. A new template: learned by itself; the operator re-cleans what older versions made.


def _redesign(world: World, patient: Patient) -> None:
    with closing(world.store()) as store:
        # As if the host had been learned last week: a layout of minutes does not change.
        if stored := store.models.get(patient.host):
            model = read_model(stored)
            long_ago = structs.replace(model, learned_at=model.learned_at - timedelta(days=7))
            store_next(store, long_ago, LearnReason.ASKED, "dated back")
        patient.notes["version"] = store.models.newest(patient.host)
    world.site.switches.redesigned.add(patient.number)


def _is_recleaned(world: World, patient: Patient) -> bool:
    """Whether a worker has re-cleaned the host with a version that was learned since."""
    with closing(world.store()) as store:
        done = [
            json.loads(each.asked)["version"]
            for each in store.operations.read(limit=20)
            if (each.kind, each.target) == ("reclean", patient.host)
            and each.state is OperationState.DONE
        ]
    return any(version > patient.notes["version"] for version in done)


# 4. The disk is full.


def _fill_disk(world: World, _patient: Patient) -> None:
    filler = world.folder / "filler"
    stat = os.statvfs(world.folder)
    size = max(0, stat.f_bavail * stat.f_frsize - LEFT_BYTES)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, min(size, DISK_BYTES))


def _has_room(world: World, patient: Patient) -> bool:
    with closing(world.queue()) as queue:
        is_held = bool(queue.now().holds)
    with closing(world.store()) as store:
        is_dropped = not store.raw_space(OLD_CRAWL).responses
    if is_held or not is_dropped:
        patient.notes.pop("records", None)
        return False
    before: int = patient.notes.setdefault("records", world.records())
    return world.records() > before


# 5. An endless calendar.


def _open_calendar(world: World, patient: Patient) -> None:
    world.site.switches.calendars.add(patient.number)
    first = Discovery(url=f"http://{patient.host}/cal/2026/1/1.html", depth=1, rank=0)
    with closing(world.queue()) as queue:
        queue.add(CRAWL, [first])


def _is_forbidden(world: World, patient: Patient) -> bool:
    asked = world.site.switches.asked[patient.number, "cal"]
    if asked != patient.notes.get("asked"):
        patient.notes |= {"asked": asked, "since": time.monotonic()}
        return False
    with closing(world.store()) as store:
        ended = store.urls.sample(CRAWL, patient.host, UrlState.EXCLUDED, 1000)
        excluded = sum("/cal/" in row.url for row in ended)
    with closing(world.queue()) as queue:
        pins = queue.classes.known(CRAWL, patient.host).pins
    is_quiet = time.monotonic() - patient.notes["since"] >= QUIET_S
    return is_quiet and excluded > 0 and any("/cal/" in template for template in pins)


# 6. A worker is stopped while it holds pages; then a page kills workers.


def _stop_worker(world: World, patient: Patient) -> None:
    with closing(world.queue()) as queue:
        while True:
            for claim in queue.now().claims:
                pid = int(claim.worker.split(".")[1])
                stopped = _signal_all(pid, signal.SIGSTOP)
                held = [each for each in queue.now().claims if each.worker == claim.worker]
                if held:
                    patient.notes["process"] = ".".join(claim.worker.split(".")[:2])
                    patient.notes["stopped"] = stopped
                    patient.notes["jobs"] = [each.job_id for each in held]
                    url = f"http://{patient.host}{POISON}"
                    queue.add(CRAWL, [Discovery(url=url, rank=0)])
                    return
                for each in stopped:
                    os.kill(each, signal.SIGCONT)
            time.sleep(0.002)


def _signal_all(pid: int, signum: int) -> list[int]:
    """Sends a signal to a worker and the process of its job; returns whom it reached."""
    reached = []
    children = Path(f"/proc/{pid}/task/{pid}/children")
    with suppress(OSError):
        for each in (pid, *map(int, children.read_text().split())):
            os.kill(each, signum)
            reached.append(each)
    return reached


def _is_work_done(world: World, patient: Patient) -> bool:
    with closing(world.queue()) as queue:
        now = queue.now()
    known = [*now.processes, *now.lost]
    if any(each.name == patient.notes["process"] for each in known):
        return False
    if any(map(is_stopped, patient.notes["stopped"])):
        return False  # its work is done by others, but the crawl has a worker less
    if any(each.job_id in patient.notes["jobs"] for each in now.claims):
        return False
    with closing(world.store()) as store:
        groups = store.overview.failure_groups(CRAWL, patient.host, reason=FailureReason.POISON)
    shown_by = (poison_id(patient), "cause=poison")  # the page, its group
    return bool(groups) and any(part in each for each in world.clicks for part in shown_by)


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def poison_id(patient: Patient) -> str:
    """The page id of the page that kills."""
    return page_id(f"http://{patient.host}{POISON}")


def let_go(patient: Patient) -> None:
    """Lets stopped processes go on, so that they can end."""
    for pid in patient.notes.get("stopped", ()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def is_ready(world: World, trouble: Trouble, patient: Patient) -> bool:
    """Whether a trouble may come: a slow machine has not read its host in the same time.

    A host that changes has to be learned before, and a short one read to its end: the calendar
    comes after its other pages.
    """
    if trouble.is_host_short:
        return world.records(patient.host) >= FEW_LISTS * PER_LIST
    if not trouble.needs_model:
        return True
    with closing(world.store()) as store:
        return store.models.newest(patient.host) >= KNOWN_VERSION


def patient_of(world: World, number: int) -> Patient:
    """The host of a drawn number."""
    return Patient(number=number % HOSTS, host=world.site.host(number % HOSTS))


TROUBLES = {
    1: Trouble(name="paused host", sign=SignKind.PAUSED, inject=_pause, is_mended=_is_resumed),
    2: Trouble(
        name="login wall",
        sign=SignKind.WALL,
        inject=_wall_up,
        is_mended=_has_bodies,
        needs_model=True,
    ),
    3: Trouble(
        name="new template",
        sign=SignKind.CHANGED,
        inject=_redesign,
        is_mended=_is_recleaned,
        needs_model=True,
    ),
    4: Trouble(
        name="full disk",
        sign=None,
        inject=_fill_disk,
        is_mended=_has_room,
        has_old_crawl=True,
        trail=("/space", "drop_raw"),
    ),
    5: Trouble(
        name="endless calendar",
        sign=SignKind.BARREN,
        inject=_open_calendar,
        is_mended=_is_forbidden,
        is_host_short=True,
    ),
    6: Trouble(
        name="stopped worker, poison page",
        sign=SignKind.SILENT,
        inject=_stop_worker,
        is_mended=_is_work_done,
        trail=("/queues", "declare_dead"),
    ),
}
