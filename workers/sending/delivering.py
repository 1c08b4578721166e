"""Delivers what a receiver is told, in the form of its kind: a webhook, a mail, a robot of a chat.

A story of a webhook is a message of its own. Everything else that waits goes together, as one
message with a paragraph for each.

The robots of chats answer 200 with a code in JSON when they refuse; this is read. Feishu and
DingTalk check a signature of the time where the robot has a secret.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import smtplib
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import formatdate
from typing import Final
from urllib.parse import urlencode

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.receiver_types import Receiver, ReceiverKind
from crawlclean.workers.answers.notices import Notice, NoticesData, NoticesMessage
from crawlclean.workers.answers.schema import encode
from crawlclean.workers.answers.topics import StoryMessage
from crawlclean.workers.config import Settings, receiver_secrets
from crawlclean.workers.control_characters import printable
from crawlclean.workers.sending.webhook import (
    TIMEOUT_S,
    Posting,
    Result,
    Webhook,
    signature_of,
    trusting,
    why_no_connection,
)
from crawlclean.workers.words import Language, say

Item = StoryMessage | Notice

COMMAND_IS_GONE = "not run any more: set a webhook (--edit --webhook URL --no-command)"
MARKS: Final[Mapping[str, str]] = {"bad": "🔴 ", "warn": "🟡 ", "ok": "✅ "}
"""Before a title: a list of messages shows it."""

MOST_BYTES: Final[Mapping[ReceiverKind, int]] = {
    ReceiverKind.FEISHU: 18_000,
    ReceiverKind.DINGTALK: 18_000,
    ReceiverKind.WECOM: 2_048,
    ReceiverKind.SLACK: 12_000,
    ReceiverKind.MAIL: 100_000,
}
"""Of a text; more is refused, or cut where the chat likes."""

TOO_OFTEN: Final = frozenset({11232, 130101, 660026, 45009})
"""Codes of Feishu, DingTalk and WeCom: more messages in this minute than a robot may send."""

ERROR_CHARS = 200  # of what a chat or a mail server answers


def check_secret(settings: Settings, name: str) -> None:
    """Checks the secret of a webhook.

    Raises:
        ConfigError: It is none.
    """
    if secret := _secret(settings, name):
        signature_of(secret, "", 0, b"")


def _secret(settings: Settings, name: str) -> str:
    own = receiver_secrets(settings.workers).get(name, "")
    return own or settings.workers.webhook_secret


class Courier:
    """Delivers messages to receivers of every kind."""

    def __init__(self, settings: Settings) -> None:
        """Opens nothing; the settings have secrets, certificates and the mail server."""
        self._settings = settings
        self._posting = Posting(settings.crawl.ca_file)

    def deliver(self, receiver: Receiver, items: Sequence[Item], message_id: str) -> Result:
        """Sends one message; returns how it ended. A command of an older version always fails.

        Args:
            receiver: Who gets it.
            items: What it tells; a story of a webhook stands alone.
            message_id: The same for every try of the same items.
        """
        if receiver.kind is ReceiverKind.COMMAND:
            return Result(COMMAND_IS_GONE)
        if receiver.kind is ReceiverKind.WEBHOOK:
            return self._webhook(receiver, items, message_id)
        first, text = text_of(items, Language(receiver.lang))
        if receiver.kind is ReceiverKind.MAIL:
            return self._mail(receiver, first, text, message_id)
        reference = hashlib.sha256(message_id.encode()).hexdigest()[:8]
        most = MOST_BYTES[receiver.kind]
        return self._chat(receiver, f"{_cut(text, most - 20)}\n#{reference}")

    def _webhook(self, receiver: Receiver, items: Sequence[Item], message_id: str) -> Result:
        now = time.time()
        message: StoryMessage | NoticesMessage
        if isinstance(items[0], StoryMessage):
            message = items[0]
        else:
            notices = tuple(each for each in items if isinstance(each, Notice))
            data = NoticesData(id=message_id, notices=notices)
            at = datetime.fromtimestamp(now, UTC)
            message = NoticesMessage(type="notices", timestamp=at, data=data)
        secret = _secret(self._settings, receiver.name)
        webhook = Webhook(secret, self._settings.crawl.ca_file)
        return webhook.send(
            receiver.target, message_id, encode(message), int(now), is_private=receiver.private
        )

    def _chat(self, receiver: Receiver, text: str) -> Result:
        secret = receiver_secrets(self._settings.workers).get(receiver.name, "")
        url, form = _form(receiver, text, secret)
        result = self._posting.post(
            url,
            json.dumps(form, ensure_ascii=False).encode(),
            {"content-type": "application/json; charset=utf-8"},
            is_private=receiver.private,
            reads=receiver.kind is not ReceiverKind.SLACK,
        )
        if result.error or receiver.kind is ReceiverKind.SLACK:
            return result
        return _read_answer(result.body)

    def _mail(self, receiver: Receiver, subject: str, text: str, message_id: str) -> Result:
        config = self._settings.workers
        if not config.smtp_server:
            return Result("no mail server: the setting smtp_server is empty")
        host, port = mail_server(config.smtp_server, config.smtp_security)
        mail = EmailMessage()
        mail["From"] = config.smtp_from or config.smtp_user or f"{__dist__}@localhost"
        mail["To"] = receiver.target
        mail["Subject"] = printable(subject)
        mail["Date"] = formatdate()
        number = hashlib.sha256(message_id.encode()).hexdigest()[:32]
        mail["Message-ID"] = f"<{number}@{__dist__}.invalid>"  # the same for every try
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(_cut(text, MOST_BYTES[ReceiverKind.MAIL]) + "\n")
        trusted = trusting(self._settings.crawl.ca_file)
        try:
            with (
                smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_S, context=trusted)
                if config.smtp_security == "tls"
                else smtplib.SMTP(host, port, timeout=TIMEOUT_S)
            ) as server:
                if config.smtp_security == "starttls":
                    server.starttls(context=trusted)
                if config.smtp_user:
                    server.login(config.smtp_user, config.smtp_password)
                server.send_message(mail)  # an address of several that is refused stays behind
        except smtplib.SMTPRecipientsRefused as error:
            return Result(
                _short("; ".join(f"{code} {_said(why)}" for code, why in error.recipients.values()))
            )
        except smtplib.SMTPResponseException as error:
            return Result(_short(f"{error.smtp_code} {_said(error.smtp_error)}"))
        except smtplib.SMTPException as error:  # it cannot do what is asked, or went away
            return Result(_short(str(error)))
        except OSError as error:
            return Result(why_no_connection(error))
        return Result()


def mail_server(server: str, security: str) -> tuple[str, int]:
    """Host and port of the setting ``smtp_server``: ``mail.example.com:2525``.

    Raises:
        ConfigError: The port is none.
    """
    host, colon, port = server.rpartition(":")
    if not colon or server.endswith("]"):
        return server.strip("[]"), {"tls": 465, "none": 25}.get(security, 587)
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ConfigError(f"smtp_server is {server}: expected a host, or a host with a port")
    return host.strip("[]"), int(port)


def _said(text: bytes | str) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _short(text: str) -> str:
    return printable(text)[:ERROR_CHARS]


# Texts for people: a title, and a paragraph for each thing that is told.


def text_of(items: Sequence[Item], language: Language) -> tuple[str, str]:
    """The first line and the whole text of a message."""
    titles = [_title(each) for each in items]
    first = titles[0]
    if len(items) > 1:
        first = say(language, "notice.several", n=len(items), first=titles[0])
    paragraphs = [
        "\n".join(filter(None, (title, *_lines(each, language))))
        for title, each in zip(titles, items, strict=True)
    ]
    heads = [first] if len(items) > 1 else []
    return first, "\n\n".join([*heads, *paragraphs])


def _title(item: Item) -> str:
    if isinstance(item, StoryMessage):
        return printable(item.data.title or item.data.url)
    return MARKS.get(item.level, "") + printable(item.title)


def _lines(item: Item, language: Language) -> Sequence[str]:
    if not isinstance(item, StoryMessage):
        return printable(item.text, keep_lines=True), item.url
    story = item.data
    about = say(language, "notice.story", topic=story.topic, host=story.host)
    return printable(about), printable(story.url)


def _cut(text: str, most_bytes: int) -> str:
    whole = text.encode()
    if len(whole) <= most_bytes:
        return text
    return whole[: most_bytes - 4].decode("utf-8", "ignore") + " …"


# Robots of chats.


def _form(receiver: Receiver, text: str, secret: str) -> tuple[str, Mapping[str, object]]:
    """The URL and the JSON of a message."""
    url, kind, now = receiver.target, receiver.kind, time.time()
    if kind is ReceiverKind.SLACK:  # else <!channel> of a title would call everybody
        return url, {"text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}
    if kind is ReceiverKind.FEISHU:
        text = text.replace("<", "＜")  # else <at user_id="all"> would
        signed = {"timestamp": str(int(now)), "sign": _sign(f"{int(now)}\n{secret}", "")}
        form = {"msg_type": "text", "content": {"text": text}}
        return url, (signed if secret else {}) | form
    if kind is ReceiverKind.DINGTALK and secret:
        ms = int(now * 1000)
        sign = urlencode({"timestamp": ms, "sign": _sign(secret, f"{ms}\n{secret}")})
        url += ("&" if "?" in url else "?") + sign
    return url, {"msgtype": "text", "text": {"content": text}}


def _sign(key: str, text: str) -> str:
    return base64.b64encode(hmac.digest(key.encode(), text.encode(), hashlib.sha256)).decode()


def _read_answer(body: bytes) -> Result:
    """How a chat took a message: Feishu has ``code``, or ``StatusCode``, the others ``errcode``."""
    try:
        answer = json.loads(body)
        names = ("code", "StatusCode", "errcode")
        code = next(answer[name] for name in names if name in answer)
    except (ValueError, TypeError, StopIteration):
        return Result("its answer is not that of a robot of this chat")
    if code == 0:
        return Result()
    why = answer.get("msg") or answer.get("StatusMessage") or answer.get("errmsg") or ""
    return Result(_short(f"code {code}: {why}"), wait_s=60.0 if code in TOO_OFTEN else 0.0)
