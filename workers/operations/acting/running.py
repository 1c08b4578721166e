"""Long actions: asked for by console or API, done by workers in slices, told step by step.

``run_operation`` is a job of RQ. The next slice goes on behind the waiting jobs of pages, where the
slice before it ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from cleaning.errors import NotFound, QueueUnavailable, ServiceError
from storage.opening import join_queue
from storage.store.operations import Operation, OperationState
from workers.config import Settings
from workers.context import process_context
from workers.operations.acting import work
from workers.operations.acting.action import Asked, Done, Fact, Note
from workers.operations.acting.turn import Turn
from workers.operations.backends import existing_store, queue_side

WORK: Mapping[str, Callable[[Turn], bool]] = MappingProxyType(
    {
        "retry": work.retry,
        "learn": work.learn,
        "try_reclean": work.try_reclean,
        "reclean": work.reclean,
        "purge": work.purge_all,
        "mark": work.mark,
        "fetch_again": work.fetch_again,
        "drop_raw": work.drop_raw,
    }
)
NO_CRAWL = (
    "no crawl runs on {data}: a long action is done by the workers of a crawl. Start one, or use "
    "the command `{command}`"
)
COMMANDS = MappingProxyType(
    {
        "retry": "retry {crawl}",
        "learn": "learn {host}",
        "try_reclean": "reclean {host} --dry-run",
        "reclean": "reclean {host}",
        "purge": "purge {target}",
        "mark": "topic {topic} --{word} {url}",
        "fetch_again": "refetch {target}",
        "drop_raw": "drop-raw {target}",
    }
)
"""What does the same at rest."""
FLAGS = ("host", "reason")
"""Arguments of a retry that are flags of its command."""


def background_notes(settings: Settings) -> tuple[Note, ...]:
    """What to say of a long action at this moment: that a worker does it, or that none is there."""
    with queue_side(settings, at_rest=False) as side:
        if side.frontier is None:
            return (Note.NEEDS_CRAWL,)
        has_hands = side.frontier.now().has_hands
    return (Note.IN_BACKGROUND,) if has_hands else (Note.NO_WORKER,)


def start_operation(
    settings: Settings, kind: str, asked: Asked, arguments: Mapping[str, Any], total: int = 0
) -> Done:
    """Stores a long action and gives it to the workers.

    Args:
        settings: Where store and queue are.
        kind: A key of ``WORK``.
        asked: The action that is asked for.
        arguments: What the work needs, as JSON values.
        total: Units of work; 0: not known.

    Raises:
        NotFound: No crawl runs on the data folder; the message names the command for this case.
    """
    try:
        frontier = join_queue(settings.storage)
    except NotFound:
        flags = [f" --{name} {text}" for name in FLAGS if (text := arguments.get(name))]
        command = COMMANDS[kind].format(**arguments) + ("".join(flags) if kind == "retry" else "")
        data = settings.storage.data
        raise NotFound(NO_CRAWL.format(data=data, command=command)) from None
    try:
        with existing_store(settings) as store:
            operation = Operation(
                kind=kind,
                target=asked.target,
                who=asked.who,
                asked=json.dumps(dict(arguments), ensure_ascii=False),
                total=total,
            )
            seq = store.operations.add(operation)
        frontier.operations.enqueue(seq)
    finally:
        frontier.close()
    return Done(facts={Fact.OPERATION: seq}, notes=background_notes(settings))


def run_operation(seq: int, job_id: str, cursor: dict[str, Any]) -> None:
    """Runs a job: does the next slice of an operation, and enqueues the slice after it.

    An error that may pass leaves the operation to the sweeper; any other ends it.

    Args:
        seq: Number of the operation.
        job_id: This job; an older one than the newest does nothing.
        cursor: Where the slice begins; empty at the beginning.
    """
    context = process_context()
    operations, jobs = context.store.operations, context.frontier.operations
    operation = operations.get(seq)
    if operation is None or operation.state.has_ended or not jobs.is_newest(seq, job_id):
        return
    turn = Turn(context, operation, json.loads(operation.asked), cursor)
    try:
        turn.tell(turn.done, operation.total, operation.detail, cursor)
        is_finished = not turn.is_stopped and WORK[operation.kind](turn)
    except QueueUnavailable:
        return  # the parent logs the outage; the sweeper enqueues the operation again
    except ServiceError as error:
        if error.retryable:
            return
        operations.end(seq, OperationState.FAILED, str(error))
    else:
        if not (is_finished or turn.is_stopped):
            jobs.enqueue(seq, turn.cursor)
            return
        state = OperationState.DONE if is_finished else OperationState.STOPPED
        operations.end(seq, state, turn.detail)
    jobs.forget(seq)
