"""Messages in the form of each kind of receiver, on real servers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from crawlclean.crawler.config import CrawlConfig
from crawlclean.storage.receiver_types import Receiver, ReceiverKind
from crawlclean.workers.answers.notices import Notice
from crawlclean.workers.config import Settings, WorkerConfig
from crawlclean.workers.sending.delivering import MOST_BYTES, Courier, text_of
from crawlclean.workers.sending.webhook import Result
from crawlclean.workers.words import Language
from tests.kit.certificates import Authority
from tests.kit.mail_server import MailServer
from tests.kit.receiver import Receiver as WebReceiver

NOW = datetime(2026, 11, 29, 8, tzinfo=UTC)
SECRET = "a secret of the robot"  # noqa: S105 - of a test
RIGHT, WRONG = "right", "wrong"
CHATS = (ReceiverKind.FEISHU, ReceiverKind.DINGTALK, ReceiverKind.WECOM, ReceiverKind.SLACK)


def notice(n: int = 1, **values: Any) -> Notice:
    given = {
        "type": "sign",
        "level": "bad",
        "title": "a.example：请求失败",
        "text": "12 个请求返回状态码 503",
    }
    return Notice(id=f"sign:{n}", at=NOW, **{**given, **values})


def receiver(kind: ReceiverKind, target: str) -> Receiver:
    return Receiver(
        name="oncall", kind=kind, target=target, private=True, since=NOW, next_try=NOW,
        owned_until=NOW, lang="zh",
    )  # fmt: skip


def send(
    kind: ReceiverKind, target: str, *items: Notice, message_id: str = "sign:1", **config: Any
) -> Result:
    settings = Settings(workers=WorkerConfig(**config))
    return Courier(settings).deliver(receiver(kind, target), items or (notice(),), message_id)


@pytest.fixture
def web() -> Iterator[WebReceiver]:
    with WebReceiver() as started:
        started.text = '{"code":0,"errcode":0,"msg":"success"}'
        started.answer = lambda _: 200
        yield started


def text_in(kind: ReceiverKind, message: dict[str, Any]) -> str:
    """The text of a chat's message, whose form is that of the chat's documentation."""
    if kind is ReceiverKind.FEISHU:
        assert message["msg_type"] == "text"
        return str(message["content"]["text"])
    if kind is ReceiverKind.SLACK:
        return str(message["text"])
    assert message["msgtype"] == "text"
    return str(message["text"]["content"])


@pytest.mark.parametrize("kind", CHATS)
def test_a_chat_gets_plain_words_in_its_form(web: WebReceiver, kind: ReceiverKind) -> None:
    assert send(kind, web.url).error == ""
    (got,) = web.got
    reference = hashlib.sha256(b"sign:1").hexdigest()[:8]
    text = text_in(kind, got.json)
    assert text == f"🔴 a.example：请求失败\n12 个请求返回状态码 503\n#{reference}"


@pytest.mark.parametrize("kind", CHATS)
def test_what_comes_together_is_one_message_of_a_length_that_the_chat_takes(
    web: WebReceiver, kind: ReceiverKind
) -> None:
    items = [notice(n, title=f"主机{n}：请求失败", text="说" * 400) for n in range(20)]
    assert send(kind, web.url, *items, message_id="several:1").error == ""
    (got,) = web.got
    text = text_in(kind, got.json)
    assert text.startswith("20 条消息，第一条：🔴 主机0：请求失败\n\n🔴 主机0")
    assert len(text.encode()) <= MOST_BYTES[kind]
    assert text.splitlines()[-1].startswith("#")


def test_feishu_is_signed_as_its_robots_check(web: WebReceiver) -> None:
    secrets = f"other=x\noncall={SECRET}"
    assert send(ReceiverKind.FEISHU, web.url, receiver_secrets=secrets).error == ""
    (got,) = web.got
    key = f"{got.json['timestamp']}\n{SECRET}".encode()
    expected = base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()
    assert got.json["sign"] == expected
    assert abs(time.time() - int(got.json["timestamp"])) < 60
    assert SECRET not in got.body.decode()


def test_dingtalk_is_signed_in_its_url(web: WebReceiver) -> None:
    url = f"{web.url}?access_token=x"
    secrets = f"oncall={SECRET}"
    assert send(ReceiverKind.DINGTALK, url, receiver_secrets=secrets).error == ""
    (got,) = web.got
    asked = {name: values[0] for name, values in parse_qs(urlsplit(got.path).query).items()}
    text = f"{asked['timestamp']}\n{SECRET}".encode()
    digest = hmac.new(SECRET.encode(), text, hashlib.sha256).digest()
    assert asked["sign"] == base64.b64encode(digest).decode()
    assert got.path.startswith("/stories?access_token=x&")
    assert abs(time.time() * 1000 - int(asked["timestamp"])) < 60_000


@pytest.mark.parametrize(
    ("kind", "answer", "error", "wait_s"),
    [
        (ReceiverKind.FEISHU, '{"code":19021,"msg":"sign match fail"}',
         "code 19021: sign match fail", 0),
        (ReceiverKind.FEISHU, '{"StatusCode":0,"StatusMessage":"success"}', "", 0),
        (ReceiverKind.FEISHU, '{"code":11232,"msg":"frequency limited"}',
         "code 11232: frequency limited", 60),
        (ReceiverKind.DINGTALK, '{"errcode":310000,"errmsg":"keywords not in content"}',
         "code 310000: keywords not in content", 0),
        (ReceiverKind.DINGTALK, '{"errcode":130101,"errmsg":"send too fast"}',
         "code 130101: send too fast", 60),
        (ReceiverKind.WECOM, '{"errcode":93000,"errmsg":"invalid webhook url"}',
         "code 93000: invalid webhook url", 0),
        (ReceiverKind.WECOM, "<html>", "its answer is not that of a robot of this chat", 0),
        (ReceiverKind.SLACK, "ok", "", 0),
    ],
)  # fmt: skip
def test_a_refusal_in_an_answer_with_status_200_is_read(
    web: WebReceiver, kind: ReceiverKind, answer: str, error: str, wait_s: float
) -> None:
    web.text = answer
    result = send(kind, web.url)
    assert (result.error, result.wait_s) == (error, wait_s)


@pytest.mark.parametrize("kind", CHATS)
def test_a_status_of_a_chat_is_an_error(web: WebReceiver, kind: ReceiverKind) -> None:
    web.answer = lambda _: 404
    assert send(kind, web.url).error == "status 404"


@pytest.mark.parametrize(
    ("kind", "title"),
    [(ReceiverKind.SLACK, "<!channel> & all"), (ReceiverKind.FEISHU, '<at user_id="all"></at>')],
)
def test_a_title_of_a_page_calls_nobody(web: WebReceiver, kind: ReceiverKind, title: str) -> None:
    assert send(kind, web.url, notice(title=title, level="info")).error == ""
    assert "<" not in text_in(kind, web.got[0].json)


def test_a_webhook_gets_notices_with_ids_and_a_signature(web: WebReceiver) -> None:
    items = [notice(1), notice(2, type="mended", level="ok", host="a.example", kind="refuses")]
    result = send(
        ReceiverKind.WEBHOOK, web.url, *items, message_id="several:4f", webhook_secret=SECRET
    )
    assert result.error == ""
    (got,) = web.got
    assert got.headers["webhook-id"] == got.json["data"]["id"] == "several:4f"
    assert got.json["type"] == "notices"
    assert [each["id"] for each in got.json["data"]["notices"]] == ["sign:1", "sign:2"]
    signed = f"several:4f.{got.headers['webhook-timestamp']}.".encode() + got.body
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert got.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


def test_private_addresses_of_chats_need_leave(web: WebReceiver) -> None:
    url = web.url.replace("127.0.0.1", "localhost")
    public = replace(receiver(ReceiverKind.FEISHU, url), private=False)
    result = Courier(Settings()).deliver(public, [notice()], "sign:1")
    assert result.error.startswith("its address is private")
    assert web.got == []


# Mail.


def mail(server: MailServer, *items: Notice, ca_file: Path | None = None, **config: Any) -> Result:
    given = {"smtp_server": server.address, "smtp_from": "crawl@example.com", **config}
    settings = Settings(workers=WorkerConfig(**given), crawl=CrawlConfig(ca_file=ca_file))
    one = receiver(ReceiverKind.MAIL, "a@example.com, b@example.com")
    return Courier(settings).deliver(one, items or (notice(),), "sign:1")


def test_a_mail_arrives_with_words_and_an_id_of_its_own() -> None:
    with MailServer() as server:
        for _ in range(2):
            assert mail(server, smtp_security="none").error == ""
    first, again = server.got
    assert first.to == ("a@example.com", "b@example.com")
    assert first.message["Subject"] == "🔴 a.example：请求失败"
    assert first.message["From"] == "crawl@example.com"
    assert first.text == "🔴 a.example：请求失败\n12 个请求返回状态码 503\n"
    assert first.message["Message-ID"] == again.message["Message-ID"]
    assert first.message["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_mail_goes_by_tls_with_a_password(tmp_path: Path, security: str) -> None:
    authority = Authority(tmp_path / "ca")
    tls = authority.server_context("localhost")
    with MailServer(tls=tls, is_tls_at_once=security == "tls", password=RIGHT) as server:
        config: Any = {"smtp_security": security, "smtp_user": "crawl"}
        sent = mail(server, ca_file=authority.ca_file, smtp_password=RIGHT, **config)
        assert sent.error == ""
        wrong = mail(server, ca_file=authority.ca_file, smtp_password=WRONG, **config)
        assert wrong.error == "535 5.7.8 authentication failed"
        untrusted = mail(server, smtp_password=RIGHT, **config)
        assert untrusted.error.startswith("its certificate is wrong")
    (got,) = server.got
    assert (got.is_encrypted, got.user) == (True, "crawl")


def test_a_server_without_tls_gets_no_password() -> None:
    with MailServer(password=RIGHT) as server:
        sent = mail(server, smtp_user="crawl", smtp_password=RIGHT)
    assert "STARTTLS" in sent.error
    assert server.got == []


def test_why_a_mail_was_not_taken_is_told() -> None:
    with MailServer() as server:
        server.refused = {"a@example.com"}
        assert mail(server, smtp_security="none").error == ""
        assert [each.to for each in server.got] == [("b@example.com",)]
        server.refused |= {"b@example.com"}
        assert mail(server, smtp_security="none").error == "550 no such user; 550 no such user"
        server.is_down = True
        assert mail(server, smtp_security="none").error == "421 later"
    assert mail(server, smtp_security="none").error.startswith("no connection: ")
    nowhere = mail(server, smtp_server="")
    assert nowhere.error == "no mail server: the setting smtp_server is empty"


def test_a_title_with_line_breaks_is_one_subject() -> None:
    with MailServer() as server:
        assert mail(server, notice(title="a\r\nBcc: x@y.example"), smtp_security="none").error == ""
    assert server.got[0].message["Subject"] == "🔴 a  Bcc: x@y.example"
    assert server.got[0].message["Bcc"] is None


def test_texts_in_english() -> None:
    first, text = text_of(
        [notice(title="a: requests fail", url="https://c.example/hosts/a"), notice(2, title="b")],
        Language.ENGLISH,
    )
    assert first == "2 messages, the first: 🔴 a: requests fail"
    assert "https://c.example/hosts/a" in text.splitlines()
