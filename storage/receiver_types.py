"""Receivers of messages, what waits for them, and what they were sent: values of the store."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from msgspec import Struct


class ReceiverKind(StrEnum):
    """How a receiver is reached."""

    WEBHOOK = "webhook"  # a URL that gets a POST, by Standard Webhooks
    MAIL = "mail"  # addresses, by the mail server of the settings
    FEISHU = "feishu"  # a robot of a Feishu chat: the URL of its webhook
    DINGTALK = "dingtalk"  # a robot of a DingTalk chat
    WECOM = "wecom"  # a robot of a WeCom chat
    SLACK = "slack"  # an incoming webhook of Slack
    COMMAND = "command"  # a program of this machine, of an older version: it is not run any more


class ReceiverOrder(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody asks of a receiver: a table ``[receivers.NAME]`` of a crawl file.

    Attributes:
        kind: How it is reached.
        target: A URL; of mail, addresses with commas.
        private: Whether the URL may lead to a loopback or private address.
        signs: The least level of the signs that it is told: ``bad``, ``warn``; ``""``: none.
        ended: Whether it is told of crawls that ended.
        stories: Topics of whose new stories it is told.
        digest: Topics whose stories of a day it gets once a day.
        digest_at: When, ``08:00``.
        zone: Time zone of its hours: ``Asia/Shanghai``.
        quiet: Hours in which it gets nothing, ``22:00-07:00``; what is to be told waits.
        red_passes: Whether signs of the level ``bad`` are told in quiet hours, too.
        most_an_hour: Messages an hour; what is above waits, and goes with the next one; 0: any.
        lang: Language of its messages.
    """

    kind: ReceiverKind
    target: str
    private: bool = False
    signs: Literal["", "warn", "bad"] = ""
    ended: bool = False
    stories: tuple[str, ...] = ()
    digest: tuple[str, ...] = ()
    digest_at: str = "08:00"
    zone: str = "UTC"
    quiet: str = ""
    red_passes: bool = False
    most_an_hour: int = 20
    lang: Literal["en", "zh"] = "en"


class Receiver(ReceiverOrder, frozen=True, kw_only=True):
    """A receiver, and how far it is reached.

    Attributes:
        name: ``oncall``; of `topic NAME --webhook`: ``webhook:NAME``.
        since: When it was stored.
        next_try: Nothing is sent before this time.
        owner: The sender that sends now; ``""``: none.
        owned_until: When another sender may take it.
        source: The crawl whose file has it; ``""``: none has.
        is_off: Whether it was removed, and may come back.
        former: The order before the last change, JSON; ``""``: there was no change.
        told_event: Number of the newest event of a crawl that it was told, or that was before it.
        digest_day: Day of the last digest: ``2026-11-29``.
        tries: Failures since the last success.
        failing_since: Time of the first of them, or None.
        last_error: Why the last one failed, one line without secrets, or ``""``.
        last_sent: Time of the last success, or None.
        sent: Stories and other things that were told.
        copies: Pages that were not sent, because their story was.
        given_up: What was not sent, because the receiver did not take it in time.
    """

    name: str
    since: datetime
    next_try: datetime
    owned_until: datetime
    owner: str = ""
    source: str = ""
    is_off: bool = False
    former: str = ""
    told_event: int = 0
    digest_day: str = ""
    tries: int = 0
    failing_since: datetime | None = None
    last_error: str = ""
    last_sent: datetime | None = None
    sent: int = 0
    copies: int = 0
    given_up: int = 0


class OutboxRow(Struct, frozen=True, kw_only=True):
    """What a receiver is to be told: a relevant page, or a notice.

    Attributes:
        receiver: Its name.
        id: The same for every try: ``sign:4f1193a0``; of a page, topic and page id.
        at: Since when it waits.
        level: ``bad``, ``warn``, ``ok``, ``info``; ``story``; ``test``, which never waits.
        topic: Topic of the page; ``""``: it is a notice.
        page_id: 32 hex digits; ``""``: it is a notice.
        notice: The notice, JSON of a worker; ``""``: it is a page.
    """

    receiver: str
    id: str
    at: datetime
    level: str
    topic: str = ""
    page_id: str = ""
    notice: str = ""


class Alert(Struct, frozen=True, kw_only=True):
    """A sign that somebody was told of, until it is gone for a while.

    Attributes:
        sign: What makes it this sign: kind, host, crawl, and what it is about.
        id: Of this time that it came: ``4f1193a0c27b``.
        kind: Kind of the sign.
        host: Its host; ``""``: none.
        crawl_id: Its crawl; ``""``: none.
        target: What else it is about; ``""``: nothing.
        since: When it was seen first.
        gone_since: Since when it is not seen any more; None: it is there.
        told: Names of the receivers that were told.
    """

    sign: str
    id: str
    kind: str
    host: str
    crawl_id: str
    target: str
    since: datetime
    gone_since: datetime | None = None
    told: tuple[str, ...] = ()


class SentMessage(Struct, frozen=True, kw_only=True):
    """A message as the log has it.

    Attributes:
        receiver: Who it was for.
        message_id: Its id, by which a receiver drops what it has.
        text: Its first line.
        n: How many things it told.
        error: Why it was not taken, one line without secrets; ``""``: it was.
        at: When; None while it is added: now.
        seq: Its number, from 1; 0 while it is added.
    """

    receiver: str
    message_id: str
    text: str
    n: int
    error: str = ""
    at: datetime | None = None
    seq: int = 0
