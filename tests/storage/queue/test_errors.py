"""What the queue's server says is told apart by what helps: waiting, or somebody who looks."""

from __future__ import annotations

import pytest
from redis import exceptions

from crawlclean.cleaning.errors import QueueUnavailable, StorageError
from crawlclean.storage.queue.clients import queue_errors

FULL = "MISCONF Errors writing to the AOF file: No space left on device"


@pytest.mark.parametrize("before", ["", "Command # 1 (HSET k f v) of pipeline caused error: "])
def test_a_full_disk_is_waited_for(before: str) -> None:
    with pytest.raises(QueueUnavailable), queue_errors():
        raise exceptions.ResponseError(before + FULL)


def test_a_wrong_command_is_not() -> None:
    with pytest.raises(StorageError) as caught, queue_errors():
        raise exceptions.ResponseError("Command # 1 (HSET k) of pipeline caused error: ERR wrong")
    assert not isinstance(caught.value, QueueUnavailable)
