"""What the MongoDB store says when its server, its URL or its user is not as it should be."""

from __future__ import annotations

import socket
import struct
import threading
import time
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

import bson
import pytest
from pymongo.errors import OperationFailure

from crawlclean.cleaning.errors import (
    ConfigError,
    SchemaMismatch,
    ServiceError,
    StoreFull,
    StoreUnavailable,
)
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.mongo import connection as mongo_connection
from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.opening import open_store
from tests.kit.mongo_server import MongoServer, plain_client, running
from tests.kit.outcomes import make_outcome


def database_of(store: MongoStore) -> str:
    with store._db.use() as database:
        return str(database.name)


def check_line(error: ServiceError) -> None:
    assert "\n" not in str(error)
    assert "secret" not in "".join(traceback.format_exception(error))


def test_server_away() -> None:
    assert mongo_connection._options("mongodb://h/")["serverSelectionTimeoutMS"] == 5000
    url = "mongodb://u:secret@127.0.0.1:9/x?serverSelectionTimeoutMS=200"
    assert "serverSelectionTimeoutMS" not in mongo_connection._options(url), "the URL's counts"
    with closing(MongoStore(url)) as store:
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9 does not answer") as caught:
            store.save([make_outcome()])
        check_line(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "mongodb://u:secret@h:port/x",
        "mongodb://u:sec@ret@h/x",
        "mongodb://u:secret@h:99999/x",
        "redis://u:secret@h/x",
        "mongodb://",
        "mongodb://u:secret@h/a b",
        "mongodb://u:secret@h/x?w=0",
        "mongodb://u:secret@h/x?w=0&journal=true",
        "nothing",
    ],
)
def test_wrong_urls(url: str) -> None:
    with (
        closing(MongoStore(url)) as store,
        pytest.raises(ConfigError, match="MongoDB URL") as caught,
    ):
        store.crawls.all()
    check_line(caught.value)


def test_wrong_credentials_and_rights(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        with plain_client(server.url("admin")) as client:
            for name, role in (("writer", "readWrite"), ("reader", "read")):
                roles = [{"role": role, "db": "crawl"}]
                order = {"createUser": name, "pwd": "secret", "roles": roles}
                client.admin.command(order)
        server.terminate()  # only then the users are kept that were made without a journal
    with running(tmp_path, "--auth") as server:

        def connected(user: str) -> Any:
            return closing(MongoStore(f"mongodb://{user}{server.address}/crawl?authSource=admin"))

        with connected("writer:secret@") as store:
            assert store.save([make_outcome()]) == 1
        for user in ("writer:secret2@", "nobody:secret@", ""):
            with connected(user) as store, pytest.raises(ConfigError, match="this user") as caught:
                store.crawls.all()
            check_line(caught.value)
        with connected("reader:secret@") as store:
            assert store.records.count() == 1
            with pytest.raises(ConfigError, match="readWrite"):
                store.save([make_outcome("/2")])


@pytest.mark.parametrize(
    ("code", "error", "text"),
    [
        (14031, StoreFull, "free some"),
        (8000, ConfigError, "refuses this user"),
        (10107, StoreUnavailable, "takes no writes"),
        (13435, StoreUnavailable, "takes no writes"),
        (91, StoreUnavailable, "takes no writes"),
        (262, StoreUnavailable, "try again"),
        (64, StoreUnavailable, "try again"),
    ],
)
def test_what_the_server_says(
    server: MongoServer, store: MongoStore, code: int, error: type[ServiceError], text: str
) -> None:
    with closing(MongoStore(f"{store._db._url}?heartbeatFrequencyMS=500")) as impatient:
        impatient.save([make_outcome("/1")])
        with server.failing("alwaysOn", ["insert"], errorCode=code):
            with pytest.raises(error, match=text) as caught:
                impatient.save([make_outcome("/2")])
            check_line(caught.value)
        assert impatient.save([make_outcome("/2")]) == 1


@pytest.mark.parametrize(
    ("code", "said", "error", "text"),
    [
        (8000, "you are over your space quota, using 514 MB of 512 MB", StoreFull, "free some"),
        (1, "28: No space left on device", StoreFull, "free some"),
        (8000, "bad auth : authentication failed", ConfigError, "refuses this user"),
        (20, "Cannot write: the node is in read-only mode", StoreUnavailable, "is read-only"),
        (96, "storage engine does not accept writes, read only", StoreUnavailable, "is read-only"),
        (50, "operation exceeded time limit", StoreUnavailable, "try again"),
    ],
)
def test_what_other_servers_say(code: int, said: str, error: type[ServiceError], text: str) -> None:
    """Words that a server of the tests cannot be made to say."""
    connection = MongoConnection("mongodb://u:secret@h/x")
    with pytest.raises(error, match=text) as caught:
        raise connection._translate(OperationFailure(said, code))
    check_line(caught.value)
    assert caught.value.retryable is (error is not ConfigError)


def test_a_journal_that_could_not_be_written_is_no_success(
    server: MongoServer, store: MongoStore
) -> None:
    store.save([make_outcome("/1")])
    concern = {"code": 64, "errmsg": "waiting for replication timed out"}
    failing = server.failing("alwaysOn", ["insert"], writeConcernError=concern)
    with failing, pytest.raises(StoreUnavailable, match="try again"):
        store.save([make_outcome("/2")])
    store.save([make_outcome("/2")])
    assert store.records.count() == 2


def test_too_old_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=answer_as_old, args=(listener,), daemon=True).start()
        with closing(MongoStore(f"mongodb://{address}/x")) as store:
            with pytest.raises(SchemaMismatch, match=r"too old: 4\.4 is needed") as caught:
                store.crawls.all()
            check_line(caught.value)
        listener.shutdown(socket.SHUT_RDWR)


def answer_as_old(listener: socket.socket) -> None:
    """MongoDB 4.0's greeting to everyone who connects."""
    greeting = {"ok": 1, "ismaster": True, "minWireVersion": 0, "maxWireVersion": 7}
    body = struct.pack("<ib", 0, 0) + bson.encode(greeting)
    try:
        while True:
            connection, _ = listener.accept()
            with connection:
                length, request = struct.unpack("<ii", connection.recv(8))
                connection.recv(length)
                connection.sendall(struct.pack("<iiii", 16 + len(body), 1, request, 2013) + body)
                time.sleep(0.05)
    except OSError:
        return


# --- configuration -------------------------------------------------------------------------------


def test_both_urls_open_the_database_they_name(server: MongoServer) -> None:
    config = StorageConfig(redis_url="redis://h", mongodb_url=server.url("named"))
    store = open_store(config)
    assert isinstance(store, MongoStore)
    assert store.crawls.all() == []
    assert database_of(store) == "named"
    store.close()
    config = StorageConfig(redis_url="redis://h", mongodb_url=f"mongodb://{server.address}")
    store = open_store(config, create=True)
    assert isinstance(store, MongoStore)
    assert database_of(store) == "crawl"
    store.close()
