"""JSON of what receivers are told beside stories, and of receivers themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from crawlclean.storage.receiver_types import ReceiverKind


class Notice(Struct, frozen=True, kw_only=True):
    """One thing that a receiver is told: a sign, its end, the end of a crawl, a digest, a test.

    Attributes:
        id: The same for every try: ``sign:4f1193a0c27b``; a receiver that knows it drops it.
        type: ``sign``; ``mended``: a sign that is gone; ``ended``: a crawl; ``digest``; ``test``.
        at: When it was found.
        level: ``bad``, ``warn``; ``ok``: mended; ``info``.
        title: One line: ``a.example: requests fail``.
        text: The rest, of some lines; ``""``: nothing.
        kind: Kind of the sign, as in ``GET /signs``; ``""``: it is none.
        host: Its host; ``""``: none.
        crawl: Its crawl; ``""``: none.
        topic: Its topic; ``""``: none.
        url: The page of the console that shows it; ``""``: the setting ``console_url`` is not set.
    """

    id: str
    type: str
    at: datetime
    level: str
    title: str
    text: str = ""
    kind: str = ""
    host: str = ""
    crawl: str = ""
    topic: str = ""
    url: str = ""


class NoticesData(Struct, frozen=True, kw_only=True):
    """What came together.

    Attributes:
        id: Of the message, as in the header ``webhook-id``.
        notices: The oldest first; each has an id of its own.
    """

    id: str
    notices: tuple[Notice, ...]


class NoticesMessage(Struct, frozen=True, kw_only=True):
    """What `join housekeeper` sends to a webhook: signs, ends of crawls, digests.

    Attributes:
        type: ``notices``.
        timestamp: When it was made.
        data: The notices.
    """

    type: str
    timestamp: datetime
    data: NoticesData


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverLine:
    """Who is told of stories, signs and ends of crawls, and how far this succeeds.

    Attributes:
        name: ``oncall``; of `topic NAME --webhook`: ``webhook:NAME``.
        kind: ``webhook``, ``mail``, ``feishu``, ``dingtalk``, ``wecom`` or ``slack``; ``command``
            of an older version, which is not run any more.
        target: A URL without its secret parts; of mail the addresses; of a command the JSON list of
            its words.
        may_be_private: Whether the URL may lead to a loopback or private address.
        signs: The least level of signs that it is told, ``bad`` or ``warn``; ``""``: none.
        ended: Whether it is told of crawls that ended.
        stories: Topics of whose new stories it is told.
        digest: Topics whose stories it gets once a day.
        digest_at: When, ``08:00``.
        zone: Time zone of its hours.
        quiet: Hours in which it gets nothing, ``22:00-07:00``; ``""``: none.
        red_passes: Whether signs of the level ``bad`` pass them.
        most_an_hour: Messages an hour; 0: any number.
        lang: Language of its messages.
        source: The crawl whose file has it; ``""``: none has.
        since: When it was set.
        waiting: Pages and notices that wait to be sent.
        sent: Stories and notices that were sent.
        copies: Pages that were not sent, because their story was.
        given_up: What was given up: the receiver did not take it in time.
        tries: Failures since the last success.
        next_try: When it is tried again; null while it works.
        failing_since: When it began to fail; null while it works.
        last_error: Why the last try failed; may be empty.
        last_sent: Time of the last success; null: never.
    """

    name: str
    kind: ReceiverKind
    target: str
    may_be_private: bool
    signs: str
    ended: bool
    stories: tuple[str, ...]
    digest: tuple[str, ...]
    digest_at: str
    zone: str
    quiet: str
    red_passes: bool
    most_an_hour: int
    lang: str
    source: str
    since: datetime
    waiting: int
    sent: int
    copies: int
    given_up: int
    tries: int
    next_try: datetime | None
    failing_since: datetime | None
    last_error: str
    last_sent: datetime | None
