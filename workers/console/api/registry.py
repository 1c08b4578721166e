"""Addresses of the API: each is registered once, for the routes and for OpenAPI."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.json_values import dump
from crawlclean.workers.answers.schema import encode
from crawlclean.workers.console.api.asked import JSON, check_text, read_body, read_query
from crawlclean.workers.console.api.idempotency import Answer, once
from crawlclean.workers.console.api.paging import PageOf
from crawlclean.workers.console.api.problems import of_service_error
from crawlclean.workers.console.api.tokens import Token, Tokens, TokenScope
from crawlclean.workers.console.routes import LARGEST, Console

BASE = "/api/v1"
FRESH: Final = {"Cache-Control": "private, no-cache"}
"""A client may keep an answer, and asks with its ETag whether it still holds."""

_PLACE = re.compile(r"<(?:(int):)?(\w+)>")


@dataclass(frozen=True, slots=True)
class Call:
    """A request of the API.

    Attributes:
        console: What all views share.
        token: Who asks.
        place: The address from where, ``192.0.2.7``.
    """

    console: Console
    token: Token
    place: str


View = Callable[..., Any]
"""Called with the ``Call``, the query or body if the address has one, and the path's values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A registered address.

    Attributes:
        method: ``GET`` or ``POST``.
        path: Below ``/api/v1``: ``/hosts/<host>``.
        view: What answers.
        takes: Type of the query (GET) or of the body (POST); None: neither.
        answer: Type of the answer, or of the items of a page.
        is_page: Whether the answer is a ``PageOf``.
        scope: What the token must permit.
    """

    method: str
    path: str
    view: View
    takes: type | None
    answer: Any
    is_page: bool
    scope: TokenScope

    @property
    def places(self) -> dict[str, type]:
        """The values in the path, ``{"host": str}``."""
        return {name: int if kind else str for kind, name in _PLACE.findall(self.path)}

    @property
    def template(self) -> str:
        """The whole path as OpenAPI writes it: ``/api/v1/hosts/{host}``."""
        return BASE + _PLACE.sub(r"{\2}", self.path)

    @property
    def rule(self) -> str:
        """The whole path as Flask writes it; numbers that no database keeps are no address."""
        return BASE + self.path.replace("<int:", f"<int(max={LARGEST}):")


class Api:
    """The addresses of one application."""

    def __init__(self, app: Flask, console: Console, tokens: Tokens) -> None:
        """Has no addresses yet."""
        self._app = app
        self._console = console
        self._tokens = tokens
        self.addresses: list[Address] = []

    def get(
        self, path: str, view: View, *, query: type | None = None, answer: Any = None,
        page_of: type | None = None,
    ) -> None:  # fmt: skip
        """Adds an address that changes nothing; 304 while its answer is unchanged.

        Args:
            path: ``/hosts/<host>``, ``/operations/<int:seq>``.
            view: ``view(call, query, host=...)``, without ``query`` where there is none.
            query: Type of the query.
            answer: Type of the answer; or
            page_of: type of the items of a ``PageOf``.
        """
        self._add(
            Address(
                method="GET", path=path, view=view, takes=query, answer=page_of or answer,
                is_page=page_of is not None, scope=TokenScope.READ,
            )
        )  # fmt: skip

    def post(
        self, path: str, view: View, *, body: type | None = None, answer: Any,
        scope: TokenScope = TokenScope.ACT,
    ) -> None:  # fmt: skip
        """Adds an action; of requests with one ``Idempotency-Key`` only the first acts.

        Args:
            path: ``/hosts/<host>/pause``.
            view: ``view(call, body, host=...)``, without ``body`` where there is none.
            body: Type of the body, a JSON object.
            answer: Type of the answer; one with a field ``operation`` that is not None is of an
                action that goes on, and its status is 202.
            scope: What the token must permit.
        """
        self._add(
            Address(
                method="POST", path=path, view=view, takes=body, answer=answer, is_page=False,
                scope=scope,
            )
        )  # fmt: skip

    def _add(self, address: Address) -> None:
        self.addresses.append(address)
        self._app.add_url_rule(
            address.rule,
            f"api_{address.view.__name__}",
            self.guarded(functools.partial(self._answer, address), address.scope),
            methods=[address.method],
            provide_automatic_options=False,
        )

    def guarded(self, view: Callable[..., Response], scope: TokenScope) -> Callable[..., Response]:
        """A view of Flask's that is called with the token; errors are problems."""

        def answer(**values: Any) -> Response:
            check_text()
            header = request.headers.get("Authorization", "")
            token = self._tokens.asked(header, scope)
            self._console.access.welcome(header)
            try:
                return view(token, **values)
            except ServiceError as error:
                return of_service_error(error)

        return answer

    def _answer(self, address: Address, token: Token, **values: Any) -> Response:
        call = Call(self._console, token, request.remote_addr or "")
        if address.method == "GET":
            return self._read(address, call, values)
        return self._act(address, call, values)

    def _read(self, address: Address, call: Call, values: Mapping[str, Any]) -> Response:
        taken = read_query(address.takes)
        found = address.view(call, *taken, **values)
        response = Response(_encoded(found), 200, FRESH, content_type=JSON)
        response.add_etag(weak=True)
        response.make_conditional(request)
        return response

    def _act(self, address: Address, call: Call, values: Mapping[str, Any]) -> Response:
        read_query(None)
        raw = request.get_data()
        taken = read_body(address.takes, raw)

        def act() -> Answer:
            try:
                found = address.view(call, *taken, **values)
                goes_on = getattr(found, "operation", None) is not None
                return Answer(202 if goes_on else 200, encode(found))
            except HTTPException as error:
                refused = error.response
                if not isinstance(refused, Response) or refused.status_code != 409:
                    raise  # nothing was done
                return Answer(409, refused.get_data())
            except ServiceError as error:
                if error.retryable:
                    raise
                told = of_service_error(error)
                return Answer(told.status_code, told.get_data())

        key = request.headers.get("Idempotency-Key", "")
        return once(self._tokens.file, call.token.id, key, request.path.encode() + raw, act)


def _encoded(found: Any) -> bytes:
    if not isinstance(found, PageOf):
        return encode(found)
    items = [msgspec.Raw(encode(each)) for each in found.items]
    return dump({"items": items, "next": found.next, "as_of": found.as_of})
