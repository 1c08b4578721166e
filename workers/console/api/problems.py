"""Errors of the API: problem details (RFC 9457), ``application/problem+json``."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import NoReturn

from flask import Response
from msgspec import Struct
from werkzeug.exceptions import HTTPException

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.json_values import dump

MEDIA_TYPE = "application/problem+json"
PREFIX = "/api/"
AGAIN_S = 2
"""When a source that is away may be asked again: clients of queue and store wait as long."""


class Problem(Struct, frozen=True, kw_only=True):
    """Why a request was not answered.

    Attributes:
        type: Always ``about:blank``: the status says which kind of problem it is.
        title: The status in words: ``Bad Request``.
        status: The HTTP status.
        detail: What is wrong, in one line for a person.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Returns the answer with a problem.

    Args:
        status: HTTP status, 400..599.
        detail: What is wrong, in one line.
        headers: More headers.
    """
    line = " ".join(detail.split())
    told = Problem(title=HTTPStatus(status).phrase, status=status, detail=line)
    response = Response(dump(told), status, content_type=MEDIA_TYPE)
    response.headers.update(headers or {})
    return response


def refuse(status: int, detail: str, headers: Mapping[str, str] | None = None) -> NoReturn:
    """Ends the request with a problem.

    Raises:
        HTTPException: Always.
    """
    raise HTTPException(response=problem(status, detail, headers))


def of_http_error(error: HTTPException) -> Response:
    """The problem of an error of Flask's, such as an unknown address."""
    status = error.code or 500
    if status not in {each.value for each in HTTPStatus} or status < 400:
        status = 500
    detail = {
        404: "no such address; /api/openapi.json lists them",
        405: "this address does not take this method",
        413: "the body is too large",
        500: "an error of the console, which is in its log",
    }.get(status, HTTPStatus(status).phrase)
    allow = {name: value for name, value in error.get_headers() if name == "Allow"}
    if status == 405 and getattr(error, "valid_methods", None):
        allow["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]
    return problem(status, detail, allow)


def of_service_error(error: ServiceError) -> Response:
    """The problem of an error of this project: 404, 400, 503 when it may succeed later, or 500."""
    if isinstance(error, NotFound):
        return problem(404, str(error))
    if isinstance(error, ConfigError):
        return problem(400, str(error))
    if error.retryable:
        return problem(503, str(error), {"Retry-After": str(AGAIN_S)})
    return problem(500, str(error))
