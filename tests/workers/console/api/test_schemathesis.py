"""Requests that schemathesis makes from the description: right ones and wrong ones.

Right ones are accepted, wrong ones are refused by 4xx, no answer is 500, and every answer has the
status, the media type and the schema that the description names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from crawlclean.workers.console.api.serving import DESCRIPTION
from crawlclean.workers.console.api.tokens import TokenScope
from tests.kit.api import Program, program

if TYPE_CHECKING:  # every process that collects tests would import it, a second each
    from schemathesis import Case
    from schemathesis.schemas import APIOperation, BaseSchema

EXAMPLES = 5
"""Of each address and kind of request."""


@pytest.fixture(scope="module")
def asking(data: Path) -> Program:
    return program(data, TokenScope.ADMIN)


def operations(asking: Program) -> Iterator[APIOperation[Any, Any, Any, Any]]:
    """Every address of the API."""
    import schemathesis
    from schemathesis.core.result import Err

    schemathesis.openapi.format("cursor", st.just(""))
    pages = ["http://a.example/1.html", "a.example/none", "http://中文.example/%E4", "4f1193"]
    schemathesis.openapi.format("url-or-page-id", st.sampled_from(pages))
    headers = {"Authorization": f"Bearer {asking.token}"}
    described: BaseSchema = schemathesis.openapi.from_wsgi(
        DESCRIPTION, asking.client.application, headers=headers
    )
    for found in described.get_all_operations():
        assert not isinstance(found, Err)
        yield found.ok()


@pytest.mark.parametrize("name", ["positive", "negative"])
def test_every_request_is_answered_as_described(asking: Program, name: str) -> None:
    from schemathesis import GenerationMode

    mode, count = GenerationMode(name), 0
    for operation in operations(asking):
        if mode is GenerationMode.NEGATIVE and not (operation.query or operation.path_parameters):
            continue  # no request to it can be wrong

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: Case[Any]) -> None:
            nonlocal count
            # Without a cursor a list begins; schemathesis takes "" for one that is wrong.
            assume(mode is GenerationMode.POSITIVE or case.query.get("after") != "")
            count += 1
            bearer = f"Bearer {asking.token}"  # its transport for WSGI unpacks nothing
            case.call_and_validate(headers={"Authorization": bearer, "Accept-Encoding": "identity"})

        ask()
    assert count > EXAMPLES
