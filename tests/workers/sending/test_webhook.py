"""Webhooks against a real server: signed, never redirected, never longer than the limit."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks

from crawlclean.cleaning.errors import ConfigError
from crawlclean.workers.answers.found_stories import message_id
from crawlclean.workers.receiver_orders import check_url, hidden, is_plainly_private
from crawlclean.workers.sending import webhook
from crawlclean.workers.sending.webhook import Webhook, signature_of
from tests.kit.documents import blocks_of
from tests.kit.mongo_server import free_port
from tests.kit.receiver import Receiver
from tests.kit.timing import LIMIT_S, wait_until

TOPICS = Path(__file__).parents[3] / "docs/topics.md"
KEY = b"0123456789abcdef01234567"
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
BODY = '{"data":{"title":"地震"}}'.encode()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as started:
        yield started


def send(url: str, *, secret: str = "", is_private: bool = True) -> webhook.Result:
    return Webhook(secret).send(url, "quake:1", BODY, 1772366400, is_private=is_private)


def test_a_receiver_can_check_who_sent_what(receiver: Receiver) -> None:
    assert send(f"{receiver.url}?room=7", secret=SECRET).error == ""
    (got,) = receiver.got
    assert (got.path, got.body) == ("/stories?room=7", BODY)
    assert got.headers["content-type"] == "application/json"
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{expected}"
    assert SECRET not in str(got)


def test_the_signature_is_that_of_the_standard() -> None:
    """The example of https://www.standardwebhooks.com (libraries' test vector)."""
    signature = signature_of(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("topic", ["quake", "储能", "zürich.v1_2-a", "жильё", "ا" * 30])
@pytest.mark.parametrize("secret", [SECRET, "a sentence, no key in base64"])
def test_libraries_of_the_standard_accept_messages_of_any_topic(
    receiver: Receiver, topic: str, secret: str
) -> None:
    now = int(time.time())
    sent = Webhook(secret).send(receiver.url, message_id(topic, "4f11"), BODY, now, is_private=True)
    assert sent.error == ""
    (got,) = receiver.got  # headers as most servers read them: Latin-1
    library = standardwebhooks.Webhook(secret if secret == SECRET else secret.encode())
    assert library.verify(got.body, got.headers)["data"]["title"] == "地震"
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        library.verify(got.body + b" ", got.headers)


def test_the_webhook_of_the_documents_runs_a_command_for_each_story(tmp_path: Path) -> None:
    (program,) = (each for each in blocks_of(TOPICS) if each.file_name == "tell.py")
    port = free_port()
    script, kept = tmp_path / "tell.py", tmp_path / "new.jsonl"
    script.write_text(program.text.replace("8000", str(port)))
    keep = f'read -r story; case $story in *no*room*) exit 3; esac; echo "$story" >> {kept}'
    command = [sys.executable, str(script), "sh", "-c", keep]
    url = f"http://127.0.0.1:{port}/"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as told:
        try:
            wait_until(lambda: not send(url).error, LIMIT_S)
            refused = Webhook().send(url, "quake:2", b'{"no": "room"}', 1772366400, is_private=True)
        finally:
            told.kill()
    assert refused.error == "status 500"
    assert kept.read_bytes() == BODY + b"\n"


def test_an_id_names_one_page_of_one_topic() -> None:
    topics = ["a.b", "a%2Eb", "储能", "%E5%82%A8%E8%83%BD", "储", "a:b", "a"]
    ids = {message_id(topic, page) for topic in topics for page in ("4f11", "b:4f11")}
    assert len(ids) == 2 * len(topics)
    assert message_id("quake", "4f11") == "quake:4f11"
    assert all(each.isascii() and "." not in each and each.isprintable() for each in ids)


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    with Receiver() as other:
        receiver.answer, receiver.location = (lambda _: 307), other.url
        assert "redirects are not followed" in send(receiver.url).error
        assert other.got == []


@pytest.mark.parametrize("status", [400, 404, 500])
def test_other_answers_are_failures(receiver: Receiver, status: int) -> None:
    receiver.answer = lambda _: status
    assert send(receiver.url).error == f"status {status}"


def test_private_addresses_need_leave(receiver: Receiver) -> None:
    assert "--webhook-private" in send(receiver.url, is_private=False).error
    assert receiver.got == []
    by_name = receiver.url.replace("127.0.0.1", "localhost")
    assert "--webhook-private" in send(by_name, is_private=False).error


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200", b"HTTP/1.1 100 Go\r\n\r\nx", b"\x00" * 9])
def test_a_hanging_receiver_is_left_after_the_limit(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted: list[socket.socket] = []

        def accept() -> None:
            accepted.append(server.accept()[0])
            accepted[0].sendall(answer)

        thread = threading.Thread(target=accept)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert send(url).error == "no answer within 0.3 s"
        thread.join()
        accepted[0].close()


def test_the_first_address_that_takes_a_connection_gets_the_message(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = socket.getaddrinfo

    def getaddrinfo(_host: str, *arguments: Any, **more: Any) -> Any:
        return [*ask("::1", *arguments, **more), *ask("127.0.0.1", *arguments, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert send(receiver.url.replace("127.0.0.1", "hooks.test")).error == ""
    assert len(receiver.got) == 1
    assert "--webhook-private" in send("http://hooks.test/", is_private=False).error


def test_a_name_server_that_is_away_is_left_after_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def getaddrinfo(*_: object, **__: object) -> Any:
        may_end.wait(LIMIT_S)
        has_ended.set()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(webhook, "TIMEOUT_S", 0.3)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    try:
        assert send("http://hooks.test/").error == "no answer within 0.3 s"
        assert not has_ended.is_set()
    finally:
        may_end.set()


def test_other_programs_and_nobody_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def accept() -> None:
            with server.accept()[0] as connection:
                connection.recv(65_536)
                connection.sendall(b"+PONG\r\n\r\n")

        thread = threading.Thread(target=accept)
        thread.start()
        assert send(f"http://127.0.0.1:{port}/").error == "its answer is no HTTP"
        thread.join()
    assert "no connection" in send(f"http://127.0.0.1:{port}/").error
    with Receiver() as plain:
        assert send(plain.url.replace("http:", "https:")).error.startswith("no TLS")

    def getaddrinfo(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)  # a resolver may take its 10 s
    assert send("http://no-such-host.invalid/").error.startswith("its name is not found")


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/", "http:///x", "http://u:p@a.example/", "http://a.example/ x",
            "http://a.example:0/", "http://a.example:99999/", "http://例.example/", "http://[::1"],
)  # fmt: skip
def test_a_wrong_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="a receiver's URL"):
        check_url(url)


def test_what_names_a_private_address_is_meant() -> None:
    for url in (
        "http://127.0.0.1:8000/",
        "http://localhost/",
        "https://[::1]/",
        "http://10.1.2.3/",
    ):
        check_url(url)
        assert is_plainly_private(url)
    assert not is_plainly_private("https://hooks.example/")
    assert not is_plainly_private("http://93.184.216.34/")


def test_secrets_of_chat_services_are_hidden() -> None:
    assert hidden("https://hooks.example/services/T01/B02/x8Qf93kfmLqPz7dTA1bC2dE3") == (
        "https://hooks.example/services/T01/B02/***"
    )
    assert hidden("https://chat.example/robot/send?access_token=1") == (
        "https://chat.example/robot/send?***"
    )
    assert hidden("http://127.0.0.1:8000/stories") == "http://127.0.0.1:8000/stories"
