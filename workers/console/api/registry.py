"""Addresses of the API: each is registered once, for the routes and for OpenAPI."""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import unquote_to_bytes

import msgspec
from flask import Flask, Response, request
from msgspec import Struct
from werkzeug.exceptions import HTTPException

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.json_values import dump
from crawlclean.storage.console_tokens import TokenFile
from crawlclean.workers.answers.schema import encode, field_types, meanings_in
from crawlclean.workers.console.api.problems import MEDIA_TYPE, of_service_error, problem, refuse
from crawlclean.workers.console.api.tokens import Token, Tokens, TokenScope
from crawlclean.workers.console.routes import LARGEST, MOST_ROWS, USUAL_ROWS, Console
from crawlclean.workers.operations.parts import Part, Place

# Reads what a request of the API gives: the query, or the body, as a value of its type.

JSON = "application/json"
T = TypeVar("T")


def check_text() -> None:
    """Refuses an address that is no UTF-8, which Flask would read with other letters.

    Raises:
        HTTPException: 400.
    """
    try:
        request.environ.get("PATH_INFO", "").encode("latin-1").decode()
        unquote_to_bytes(request.query_string).decode()
    except UnicodeError:
        refuse(400, "the address is not UTF-8")


def read_query(wanted: type | None) -> dict[str, Any]:
    """The parameters of the query by name, as their type has them."""
    known = field_types(wanted).keys() if wanted else set()
    for name in request.args:
        if name not in known:
            refuse(400, f"{name[:40]}: unknown; known are {', '.join(sorted(known)) or 'none'}")
        if len(request.args.getlist(name)) > 1:
            refuse(400, f"{name}: given twice")
    if wanted is None:
        return {}
    query: Any = _converted(lambda: msgspec.convert(request.args.to_dict(), wanted, strict=False))
    return msgspec.structs.asdict(query)


def read_body(wanted: type | None, raw: bytes) -> list[Any]:
    """The body as a value of its type, in a list; ``[]`` where there is none."""
    if wanted is None:
        if raw not in (b"", b"{}"):
            refuse(400, "this address takes no body")
        return []
    if request.mimetype != JSON:
        refuse(415, f"the body must be {JSON}")
    value = _converted(lambda: msgspec.json.decode(raw))
    known = field_types(wanted).keys()
    for name in value if isinstance(value, dict) else ():
        if name not in known:
            refuse(400, f"{name[:40]}: unknown; known are {', '.join(sorted(known))}")
    return [_converted(lambda: msgspec.convert(value, wanted))]


def _converted(convert: Callable[[], T]) -> T:
    try:
        return convert()
    except (ValueError, RecursionError) as error:  # msgspec's are among them
        told, _, where = str(error).partition(" - at `$.")
        name = where.rstrip("`")
        refuse(400, f"{name}: {told}" if name else told)


# Pages of lists: a cursor is the place behind the last row, opaque to clients.

MOST_CURSOR_CHARS = 1024  # a cursor has the place of one row: a number and a name
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
Cursor = Annotated[
    str, msgspec.Meta(max_length=MOST_CURSOR_CHARS, extra_json_schema={"format": "cursor"})
]
Name = Annotated[str, msgspec.Meta(max_length=4096)]
"""A name or an address in a query."""


def cursor(of: str, value: int, key: str = "") -> str:
    """Returns a cursor.

    Args:
        of: The list and its order: ``hosts failed``.
        value: The last row's value of the column that the list is sorted by.
        key: The last row's name, where values repeat.
    """
    text = msgspec.json.encode((of, value, key))
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def place(text: str, of: str) -> Place | None:
    """Returns value and key of a cursor; None of ``""``.

    Raises:
        HTTPException: 400, the text is no cursor of this list.
    """
    if not text:
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        which, value, key = msgspec.json.decode(raw, type=tuple[str, int, str])
    except (binascii.Error, ValueError):
        refuse(400, "after: not a cursor of this API")
    if which != of:
        refuse(400, f"after: a cursor of another list or order ({which[:40]})")
    if not -LARGEST <= value <= LARGEST:
        refuse(400, "after: not a cursor of this API")
    return value, key


# Actions that are asked for twice act once: ``Idempotency-Key``.

KEY = re.compile(r"[\x21-\x7e]{1,128}")


class Answer(Struct, frozen=True):
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
        before, status, body = known
        if before != digest:
            return problem(422, "Idempotency-Key: it was used for another request")
        if status is None:
            return problem(
                409,
                "the first request with this key has not ended, or its console has died",
                {"Retry-After": "2"},
            )
        return _response(Answer(status, body), {"Idempotency-Replayed": "true"})
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


BASE = "/api/v1"
FRESH: Final = {"Cache-Control": "private, no-cache"}
"""A client may keep an answer, and asks with its ETag whether it still holds."""

_PLACE = re.compile(r"<(?:(int):)?(\w+)>")


class Call(Struct, frozen=True):
    """A request of the API.

    Attributes:
        console: What all views share.
        token: Who asks.
        place: The address from where, ``192.0.2.7``.
    """

    console: Console
    token: Token
    place: str


Question = Callable[..., Any]
"""A function of ``operations/`` that takes the backends and what is asked for, by name.

Its arguments are the path's values and the query, and its docstring is their documentation. One
that gives a ``Part`` is a list: ``after`` and ``limit`` are cursor and size of a part, and
``sort`` or ``order`` its order.
"""

PAGING: dict[str, tuple[Any, str, Any]] = {
    "limit": (Limit, "At most this many rows.", USUAL_ROWS),
    "after": (Cursor, "The ``next`` of the part before; without it the list begins.", ""),
}
"""Type, meaning and default of the two parameters that lists have."""

ORDERS = ("sort", "order")
QUERY = "Query"
"""Name of the types of all queries, which the description has as parameters."""


def query_of(question: Question, path: str) -> type | None:
    """The type of the query of a question at a path; None: it has none."""
    hints = get_type_hints(question, include_extras=True)
    meanings = meanings_in(question.__doc__ or "")
    _, *taken = inspect.signature(question).parameters.values()
    own = {each.name: each for each in taken if f"{each.name}>" not in path}
    fields: list[Any] = []
    for name in sorted(own, key=[*PAGING, *own].index):
        kind, default = Name if hints[name] is str else hints[name], own[name].default
        if name in PAGING:
            kind, meanings[name], default = PAGING[name]
        is_needed = default is inspect.Parameter.empty
        fields.append((name, kind) if is_needed else (name, kind, default))
    if not fields:
        return None
    about = "\n".join(f"    {name}: {meanings[name]}" for name, *_ in fields)
    text = {"__doc__": f"What is asked for.\n\nAttributes:\n{about}"}
    return msgspec.defstruct(QUERY, fields, kw_only=True, frozen=True, namespace=text)


View = Callable[..., Any]
"""An action: called with the ``Call``, the body if the address has one, and the path's values."""


class Address(Struct, frozen=True, kw_only=True):
    """A registered address.

    Attributes:
        name: Its name in the description: ``get_hosts``.
        about: What it answers, its first line alone in lists.
        method: ``GET`` or ``POST``.
        path: Below ``/api/v1``: ``/hosts/<host>``.
        view: What answers.
        takes: Type of the query (GET) or of the body (POST); None: neither.
        answer: Type of the answer, or of the items of a page.
        is_page: Whether the answer is a ``Part`` of a list.
        scope: What the token must permit.
    """

    name: str
    about: str
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

    def ask(self, name: str, path: str, question: Question) -> None:
        """Adds an address that a question answers.

        Args:
            name: Its name in the description: ``get_hosts``.
            path: ``/hosts/<host>``, ``/operations/<int:seq>``.
            question: Takes the backends, the path's values and the query.
        """
        answer = get_type_hints(question)["return"]
        is_page = get_origin(answer) is Part
        self._add(
            Address(
                name=name, about=_about(question), method="GET", path=path,
                view=question, takes=query_of(question, path),
                answer=get_args(answer)[0] if is_page else answer, is_page=is_page,
                scope=TokenScope.READ,
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
                name=view.__name__, about=_about(view), method="POST", path=path, view=view,
                takes=body, answer=answer, is_page=False, scope=scope,
            )
        )  # fmt: skip

    def _add(self, address: Address) -> None:
        self.addresses.append(address)
        self._app.add_url_rule(
            address.rule,
            f"api_{address.name}",
            self.guarded(functools.partial(self._answer, address), address.scope),
            methods=[address.method],
            provide_automatic_options=False,
        )

    def guarded(
        self, view: Callable[..., Response], scope: TokenScope, *, is_feed: bool = False
    ) -> Callable[..., Response]:
        """A view of Flask's that is called with the token; errors are problems.

        Readers of feeds send the token as a password. Nothing else takes one: a browser would send
        it with the forms of other sites.
        """

        def answer(**values: Any) -> Response:
            check_text()
            header, given = request.headers.get("Authorization", ""), request.authorization
            if is_feed and given and given.password:
                header = f"Bearer {given.password}"
            token = self._tokens.asked(header, scope)
            self._console.access.welcome(header)
            try:
                return view(token, **values)
            except ServiceError as error:
                return of_service_error(error)

        return answer

    def _answer(self, address: Address, token: Token, **values: Any) -> Response:
        if address.method == "GET":
            return self._read(address, values)
        return self._act(address, Call(self._console, token, request.remote_addr or ""), values)

    def _read(self, address: Address, values: Mapping[str, Any]) -> Response:
        given = {**values, **read_query(address.takes)}
        of = " ".join([address.path[1:], *(str(given[name]) for name in ORDERS if name in given)])
        if "after" in given:
            given["after"] = place(given["after"], of)
        found = address.view(self._console.backends, **given)
        body = _part(found, of) if isinstance(found, Part) else encode(found)
        response = Response(body, 200, FRESH, content_type=JSON)
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


def _about(view: Callable[..., Any]) -> str:
    """What a view answers: its docstring up to the list of its arguments or errors."""
    return re.split(r"\n+(?:Args|Returns|Raises):\n", inspect.cleandoc(view.__doc__ or ""))[0]


def _part(found: Part[Any], of: str) -> bytes:
    """A part of a list as JSON, with the cursor of the next one."""
    items = [msgspec.Raw(encode(each)) for each in found.items]
    value, _, key = found.after.partition("~")
    after = cursor(of, int(value), key) if found.after else None
    return dump({"items": items, "next": after, "as_of": found.as_of})
