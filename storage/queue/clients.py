"""Connections to the Redis-protocol server, translated exceptions, and the Lua scripts.

A URL is ``redis://``, ``rediss://`` or ``unix://``. Answers are bytes. A command raises
``QueueUnavailable`` while the server is away; a caller that may wait uses ``wait_for_queue``.
Clients are typed ``Any``: the library types every answer ``bytes | str``, and ours are bytes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from importlib.resources import files
from inspect import iscoroutinefunction, isfunction
from typing import Any, TypeVar

from redis import Redis, exceptions
from redis.asyncio import BlockingConnectionPool, Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError, QueueUnavailable, StorageError, StoreDamaged

log = logging.getLogger(__name__)

T = TypeVar("T")

SERVER_AWAY = (
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.BusyLoadingError,
    exceptions.ReadOnlyError,
)
AWAY = (*SERVER_AWAY, OSError)
# Short: a server that restarts is back soon, and a refused call costs it little.
RETRY_PAUSE_S = 0.2
ANSWER_S = 30.0  # a server that is silent for so long hangs: its longest script takes a second
LISTEN_S = 5.0  # no message much sooner is no silence: the connection was given up
MOST_CONNECTIONS = 8  # of a spider: one listens; the server does one command at a time anyway


# First words of error replies after which the command may succeed later: disk or memory are full,
# the server loads, or waits for a script or its replicas.
PIPELINE = " of pipeline caused error: "
LATER = ("MISCONF", "OOM", "BUSY", "LOADING", "MASTERDOWN", "NOREPLICAS", "READONLY", "TRYAGAIN")


def _socket_options(url: str) -> dict[str, Any]:
    # The class for Unix sockets refuses options of TCP. A client that listens for the server's
    # maintenance messages takes closed connections from its pool.
    if url.startswith("unix:"):
        return {}
    silent = MaintNotificationsConfig(enabled=False)
    return {"socket_keepalive": True, "maint_notifications_config": silent}


def open_client(url: str) -> Any:
    """Opens a blocking client that repeats commands for about 1 s while the server is away.

    Raises:
        ConfigError: The URL cannot be read.
    """
    return _opened(
        Redis,
        url,
        socket_timeout=ANSWER_S,
        socket_connect_timeout=5,
        driver_info=None,
        # Not a command without an answer: five times ``ANSWER_S`` would be two and a half minutes.
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.05), 4, (exceptions.ConnectionError,)),
        **_socket_options(url),
    )


def open_async_client(url: str) -> Any:
    """Opens an asyncio client that repeats no command: its caller decides.

    Commands wait for one of ``MOST_CONNECTIONS``. Without a bound a slow moment has one for each
    command, they are kept, and a server that may open few files has none left for workers.

    Raises:
        ConfigError: The URL cannot be read.
    """
    pool = _opened(
        BlockingConnectionPool,
        url,
        max_connections=MOST_CONNECTIONS,
        timeout=ANSWER_S,
        socket_timeout=ANSWER_S,
        socket_connect_timeout=5,
        driver_info=None,
        retry=AsyncRetry(NoBackoff(), 0),
        **_socket_options(url),
    )
    return AsyncRedis.from_pool(pool)


def open_quiet(client: Any) -> Any:
    """Returns a connection of its own, opened at its first command, that gets no answers.

    A command on it is done when the server reads it, though its process was killed meanwhile.
    """
    pool = client.connection_pool
    # The URL may ask for checks of health, which wait for an answer.
    own = {"redis_connect_func": _silence, "health_check_interval": 0}
    return pool.connection_class(**(pool.connection_kwargs | own))


def _silence(connection: Any) -> None:
    connection.on_connect()
    connection.send_command("CLIENT", "REPLY", "OFF")


def _opened(client: Any, url: str, **options: Any) -> Any:
    try:
        opened = client.from_url(url, **options)
        # Connects nothing; reads the URL's options.
        getattr(opened, "connection_pool", opened).make_connection()
        return opened
    except TypeError as error:
        option = str(error).rpartition(" ")[2]
        raise ConfigError(f"the Redis URL has an option that is unknown: {option}") from None
    except ValueError:
        # The message does not quote the URL: its wrong part may be half of a password.
        raise ConfigError(
            "the Redis URL cannot be read: it looks like redis://user:password@host:port/0, "
            "with %23 for # and %2F for / in the password"
        ) from None


@contextmanager
def queue_errors() -> Iterator[None]:
    """Translates exceptions of the client, and of decoding its answers, into errors of storage.

    Raises:
        QueueUnavailable: The server is away, loading, read-only or out of memory.
        ConfigError: The server refuses our credentials.
        StoreDamaged: Another program has written into the queue.
        StorageError: Any other error reply.
    """
    try:
        yield
    except (
        exceptions.AuthenticationError,
        exceptions.AuthorizationError,
        exceptions.NoPermissionError,
    ) as error:
        raise ConfigError(f"the Redis server refuses this user: {error}") from error
    except AWAY as error:
        raise QueueUnavailable(f"the Redis server is away: {error}") from error
    except exceptions.OutOfMemoryError as error:
        raise QueueUnavailable(f"the Redis server's memory is full: {error}") from error
    except exceptions.ResponseError as error:
        # In a pipeline the client puts the command in front of the error reply.
        if str(error).rpartition(PIPELINE)[2].startswith(LATER):
            raise QueueUnavailable(f"the Redis server cannot work now: {error}") from error
        raise StorageError(f"the Redis server refused a command: {error}") from error
    except exceptions.RedisError as error:
        raise StorageError(f"the Redis server answered: {error}") from error
    except (ValueError, OverflowError) as error:
        raise StoreDamaged(f"the queue holds what no {__dist__} wrote: {error}") from error


def raises_queue_errors(of: type[T]) -> type[T]:
    """Translates what the public methods of a class raise, as ``queue_errors`` does.

    Not what a generator raises: it runs after its call.
    """
    for name, method in list(vars(of).items()):
        if isfunction(method) and not name.startswith("_"):
            setattr(of, name, _translated(method))
    return of


def _translated(method: Any) -> Any:
    if not iscoroutinefunction(method):
        return queue_errors()(method)

    @wraps(method)
    async def call(*args: Any, **named: Any) -> Any:
        with queue_errors():
            return await method(*args, **named)

    return call


async def keep_listening(client: Any, channel: str, heard: Callable[[], None]) -> None:
    """Calls ``heard`` once subscribed to a channel, and at each message; runs until cancelled."""
    while True:
        try:
            with queue_errors():
                async with client.pubsub() as pubsub:
                    await pubsub.subscribe(channel)  # its confirmation is a message
                    while True:
                        if await _next_message(pubsub):
                            heard()
        except QueueUnavailable:
            await asyncio.sleep(RETRY_PAUSE_S)


async def _next_message(pubsub: Any) -> Any:
    """Returns a message, or None after ``LISTEN_S`` without one.

    Raises:
        TimeoutError: The kernel has given the connection up (ETIMEDOUT), as after a cut cable. The
            client takes that for the end of its own wait, at once and without end.
    """
    begun = time.monotonic()
    message = await pubsub.get_message(timeout=LISTEN_S)
    if message is None and time.monotonic() - begun < LISTEN_S / 2:
        raise TimeoutError("the connection was given up")
    return message


def queue_ms(client: Any) -> int:
    """The queue's clock, ms: the server's clock, but never set back (``lua/shared/lib.lua``)."""
    with client.pipeline(transaction=False) as pipe:
        pipe.time()
        pipe.hget("cc:clock", "ahead")
        (seconds, micros), ahead = pipe.execute()
    return int(seconds) * 1000 + int(micros) // 1000 + int(ahead or 0)


def send_packed(client: Any, commands: Sequence[bytes]) -> list[Any]:
    """Sends commands that are packed already (the Redis protocol, RESP); returns their answers.

    All are sent together; after a lost connection all are repeated, so a command must be one that
    may be repeated.
    """
    pool = client.connection_pool
    connection = pool.get_connection()

    def ask() -> list[Any]:
        connection.send_packed_command(commands)
        return [_answer_of(connection) for _ in commands]

    try:
        answers = connection.retry.call_with_retry(ask, lambda _: connection.disconnect())
    except BaseException:
        connection.disconnect()  # an answer may be on its way
        raise
    finally:
        pool.release(connection)
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return list(answers)


def _answer_of(connection: Any) -> Any:
    """The next answer; an error reply is returned, because the answers after it must be read."""
    try:
        return connection.read_response()
    except exceptions.ResponseError as error:
        return error


class OutageLog:
    """Logs each outage of one server with two lines: when it is noticed, and when it ends."""

    def __init__(self, server: str) -> None:
        """Begins without an outage; ``server`` is ``queue`` or ``store``."""
        self._server = server
        self._since: float | None = None

    def notice(self, error: Exception) -> None:
        """Notes that the server is away; the first call of an outage logs."""
        if self._since is None:
            self._since = time.monotonic()
            log.warning(f"{self._server} away, waiting", extra={"reason": str(error)})

    def end(self) -> bool:
        """Notes that the server is back; returns whether there was an outage, and logs it."""
        if self._since is None:
            return False
        log.warning(f"{self._server} back", extra={"away_s": round(self.lasted_s, 1)})
        self._since = None
        return True

    @property
    def lasted_s(self) -> float:
        """Seconds since the outage was noticed; 0 without one."""
        return 0.0 if self._since is None else time.monotonic() - self._since


def wait_for_queue(
    work: Callable[[], T],
    stop: threading.Event | None = None,
    limit_s: float | None = None,
    outage: OutageLog | None = None,
) -> T:
    """Repeats ``work`` while the server is away; returns the result of ``work``.

    Args:
        work: A call that is safe to repeat.
        stop: Gives up when set.
        limit_s: Gives up after this many seconds; None waits without end.
        outage: The log of an outage that the caller has noticed already.

    Raises:
        QueueUnavailable: Stopped, or the time is over.
    """
    stop = stop or threading.Event()
    outage = outage or OutageLog("queue")
    begun = time.monotonic()
    while True:
        try:
            result = work()
        except QueueUnavailable as error:
            outage.notice(error)
            waited_s = time.monotonic() - begun
            if stop.wait(RETRY_PAUSE_S) or (limit_s is not None and waited_s >= limit_s):
                raise
        else:
            outage.end()
            return result


# Files of ``lua/shared/`` before every script, in this order, and further files of single scripts.
SHARED = ("politeness", "lib")
PARTS = {
    "ack": ("topics", "harvest"),
    "add": ("topics", "seen_set"),
    "adopt": ("topics", "seen_set"),
    "flush": ("jobs",),
    "has_seen": ("seen_set",),
    "host_unreachable": ("reach",),
    "keep_accounts": ("seen_set", "texts"),
    "lease": ("topics", "harvest", "seen_set", "choose", "robots_lease", "turns", "reach", "serve"),
    "mark_ended": ("seen_set",),
    "put": ("jobs",),
    "rank": ("topics",),
    "read_accounts": ("seen_set", "texts"),
    "sweep": ("jobs",),
    "waits": ("topics", "choose"),
}
Arg = str | bytes | int


_FOLDER = files("crawlclean.storage") / "queue" / "lua"


@cache
def _names() -> list[str]:
    names = (each.name for each in _FOLDER.iterdir())
    return [name.removesuffix(".lua") for name in names if name.endswith(".lua")]


@cache
def script_source(name: str) -> str:
    """Text of a script: its shared parts (``lua/shared/``), then ``lua/<name>.lua``."""
    parts = [_FOLDER / "shared" / f"{part}.lua" for part in (*SHARED, *PARTS.get(name, ()))]
    return "".join(part.read_text("utf-8") for part in (*parts, _FOLDER / f"{name}.lua"))


class Scripts:
    """The Lua scripts bound to one client, blocking or asyncio's."""

    def __init__(self, client: Any) -> None:
        """Reads all scripts: the forks of a worker share them."""
        self._scripts = {name: client.register_script(script_source(name)) for name in _names()}

    def __call__(self, name: str, *args: Arg) -> Any:
        """Runs a script; returns the server's answer as the client decodes it (bytes, ints).

        With asyncio's client the answer must be awaited.
        """
        return self._scripts[name](args=args)


class QueueMember:
    """A concern of the queue with a class of its own, which shares the queue's client.

    Public methods of subclasses raise what ``queue_errors`` raises.
    """

    def __init_subclass__(cls) -> None:
        raises_queue_errors(cls)

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts
