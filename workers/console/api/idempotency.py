"""Actions that are asked for twice act once: ``Idempotency-Key``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from flask import Response

from crawlclean.storage.console_tokens import TokenFile
from crawlclean.workers.console.api.problems import MEDIA_TYPE, problem, refuse

KEY = re.compile(r"[\x21-\x7e]{1,128}")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an action.

    Attributes:
        status: HTTP status.
        body: JSON.
    """

    status: int
    body: bytes


def once(
    file: TokenFile, token: str, key: str, asked: bytes, act: Callable[[], Answer]
) -> Response:
    """Acts, or repeats the answer to the first request with this key.

    An action that failed and may succeed later frees its key. One whose console died keeps it: the
    end of the action is not known.

    Args:
        file: Where keys are kept, for a day.
        token: Id of the token; keys of other tokens are other keys.
        key: The header ``Idempotency-Key``.
        asked: What is asked for: address and body.
        act: Does it.
    """
    if not KEY.fullmatch(key):
        refuse(400, "Idempotency-Key: needed, 1 to 128 visible ASCII characters")
    digest = hashlib.sha256(asked).digest()
    known = file.begin(token, key, digest)
    if known is not None:
        if known.asked != digest:
            return problem(422, "Idempotency-Key: it was used for another request")
        if known.status is None:
            return problem(
                409,
                "the first request with this key has not ended, or its console has died",
                {"Retry-After": "2"},
            )
        return _response(Answer(known.status, known.body), {"Idempotency-Replayed": "true"})
    try:
        answer = act()
    except BaseException:
        file.free(token, key)
        raise
    file.end(token, key, answer.status, answer.body)
    return _response(answer, {})


def _response(answer: Answer, headers: dict[str, str]) -> Response:
    media_type = "application/json" if answer.status < 400 else MEDIA_TYPE
    return Response(answer.body, answer.status, headers, content_type=media_type)
