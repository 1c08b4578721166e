"""Delivers a message to the receiver it is for: a webhook or a command."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from storage.topic_types import Receiver, ReceiverKind
from workers.answers.messages import StoryMessage
from workers.answers.schema import encode
from workers.sending.command import run_command
from workers.sending.webhook import Result, Webhook

log = logging.getLogger(__name__)


class Delivery:
    """Sends messages; a new connection, or a new process, for each."""

    def __init__(
        self,
        secret: str,
        ca_file: Path | None,
        folder: Path,
        must_end: Callable[[], bool] = lambda: False,
    ) -> None:
        """Sends nothing yet.

        Args:
            secret: Signs what goes to webhooks; ``""``: nothing is signed.
            ca_file: Private certificate authorities.
            folder: Where commands run.
            must_end: Whether the process ends: commands are killed.
        """
        self._webhook = Webhook(secret, ca_file)
        self._folder = folder
        self._must_end = must_end

    def __call__(self, receiver: Receiver, message: StoryMessage) -> Result:
        """Sends one message; returns how it ended."""
        body = encode(message)
        if receiver.kind is ReceiverKind.WEBHOOK:
            return self._webhook.send(
                receiver.target,
                message.data.id,
                body,
                int(time.time()),
                is_private=receiver.is_private,
            )
        argv = json.loads(receiver.target)
        result = run_command(argv, body + b"\n", self._folder, os.environ, self._must_end)
        if result.output:
            extra = {"topic": receiver.topic, "output": result.output}
            log.info("output of a command", extra=extra)
        return result
