"""Finds what receivers are to be told: signs and their end, crawls that ended, daily digests.

The housekeeper looks every 15 s and puts notices into the outbox, in one transaction with
what it has to remember of them: who is killed in between has told nothing, or all of it.

- **One message a sign.** A sign that was told is an alert (``Alerts``) until it is gone for
  ``mended_after_s``; then it is told as mended, to whom it was told. One that comes and goes in
  between is the same one. A receiver that is new is told of what stands.
- **A level.** Who wants ``bad`` is told of a sign when it becomes so.
- **Nobody is told of itself.** That a receiver is away is told to the others.

Of two housekeepers that look at once both put the same notice, with the same id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.receiver_types import Alert, OutboxRow, Receiver
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.workers import formats
from crawlclean.workers.answers.found_stories import found_story
from crawlclean.workers.answers.notices import Notice
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.topics.reading import who_tells
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.signs.judging import Sign, SignKind, in_order
from crawlclean.workers.operations.watching.signs.signs import all_signs
from crawlclean.workers.operations.watching.signs.wording import sign_words, span_words
from crawlclean.workers.sending.turns import notice_row
from crawlclean.workers.words import Language, say

MOST_EVENTS = 100  # ends of crawls that are told at once, the newest
MOST_LISTED = 20  # stories of a digest; it says how many more there are
_OF_ONE_MOMENT = frozenset({SignKind.POISON, SignKind.SHRUNK})
"""Signs of what has happened: they lapse, nothing mends them."""
COLON = {Language.ENGLISH: ": ", Language.CHINESE: "："}
ENDED = frozenset({CrawlState.FINISHED.value, CrawlState.STOPPED.value})


class Alerting:
    """The looks of one process."""

    def __init__(
        self, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Opens nothing yet."""
        self._settings = settings
        self._now = now
        self._backends = KeptBackends(settings)

    def look(self) -> None:
        """Puts into the outbox what is new.

        Raises:
            ServiceError: The queue or the store is away: nothing is known to be mended.
        """
        with self._backends.queue() as frontier:
            frontier.ping()
        with self._backends.store() as store:
            receivers = store.receivers.all()
            for each in receivers:
                self._tell_ends(store, each)
                self._tell_digests(store, each)
            alerts = store.alerts.all()
            if alerts or any(each.signs for each in receivers):
                self._backends.forget_all()  # what was known a look ago is old
                signs = {sign_key(each): each for each in in_order(all_signs(self._backends)[0])}
                self._tell_signs(store, receivers, signs, alerts)

    def close(self) -> None:
        """Closes queue and store."""
        self._backends.close()

    # --- signs ---

    def _tell_signs(
        self,
        store: Store,
        receivers: Sequence[Receiver],
        signs: dict[str, Sign],
        alerts: dict[str, Alert],
    ) -> None:
        now = self._now()
        for key, sign in signs.items():
            alert = alerts.get(key)
            if not sign.is_trouble:
                continue
            before = alert or _alert(key, sign, now)
            new = [
                each for each in receivers if _wants(each, sign) and each.name not in before.told
            ]
            rows = [notice_row(each.name, self._sign(each, sign, before, now)) for each in new]
            after = replace(
                before, gone_since=None, told=(*before.told, *(each.name for each in new))
            )
            if after.told and after != alert:
                store.alerts.put(after, rows)
        for key, alert in alerts.items():
            if key in signs and signs[key].is_trouble:
                continue
            if alert.gone_since is None:
                store.alerts.put(replace(alert, gone_since=now))
            elif (now - alert.gone_since).total_seconds() >= self._settings.workers.mended_after_s:
                told = [each for each in receivers if each.name in alert.told]
                lapsed = alert.kind in _OF_ONE_MOMENT
                rows = [] if lapsed else [_mended(each, alert, now) for each in told]
                store.alerts.end(alert, rows)

    def _sign(self, receiver: Receiver, sign: Sign, alert: Alert, now: datetime) -> Notice:
        language = Language(receiver.lang)
        text = sign_words(sign, language)
        if sign.since and sign.kind is SignKind.WALL and not sign.is_back:
            text += f" {formats.local(sign.since, ZoneInfo(receiver.zone))}"
        if sign.crawl_id and sign.host:
            text += "\n" + say(language, "notice.of_crawl", crawl=sign.crawl_id)
        if sign.example:
            text += "\n" + sign.example
        return Notice(
            id=f"sign:{alert.id}", type="sign", at=now, level=sign.level,
            title=_title(alert, language), text=text, kind=alert.kind, host=alert.host,
            crawl=alert.crawl_id, url=self._url(sign.page),
        )  # fmt: skip

    def _url(self, path: str) -> str:
        base = self._settings.workers.console_url
        return base.rstrip("/") + path if base else ""

    # --- crawls that ended ---

    def _tell_ends(self, store: Store, receiver: Receiver) -> None:
        newest = store.events.newest()
        if not receiver.ended or newest <= receiver.told_event:
            return
        events = store.events.read(limit=MOST_EVENTS, kind=EventKind.CRAWL.value)
        new = [each for each in reversed(events) if each.seq > receiver.told_event]
        rows = [self._ended(receiver, each) for each in new if each.link in ENDED]
        store.receivers.tell(rows, replace(receiver, told_event=newest))

    def _ended(self, receiver: Receiver, event: Event) -> OutboxRow:
        language, records, failed, left = Language(receiver.lang), 0, 0, 0
        with suppress(NotFound), self._backends.queue() as frontier:  # purged meanwhile
            counts = frontier.counts(event.crawl_id)
            records, failed, left = counts.stored, counts.failed, counts.open
        state = say(language, f"state.{event.link}")
        about = say(language, "notice.ended_text", n=records, failed=failed, left=left)
        return notice_row(
            receiver.name,
            Notice(
                id=f"ended:{event.seq}:{event.crawl_id}", type="ended", at=event.at or self._now(),
                level="info", crawl=event.crawl_id, text=about,
                title=say(language, "notice.ended", crawl=event.crawl_id, state=state),
                url=self._url(f"/crawls/{event.crawl_id}"),
            ),
        )  # fmt: skip

    # --- digests ---

    def _tell_digests(self, store: Store, receiver: Receiver) -> None:
        local = self._now().astimezone(ZoneInfo(receiver.zone))
        day, is_due = f"{local:%Y-%m-%d}", f"{local:%H:%M}" >= receiver.digest_at
        if not receiver.digest or not is_due or receiver.digest_day >= day:
            return
        rows = []
        if receiver.digest_day or receiver.since.astimezone(local.tzinfo) < _at(local, receiver):
            rows = [self._digest(store, receiver, topic, day) for topic in receiver.digest]
        store.receivers.tell([row for row in rows if row], replace(receiver, digest_day=day))

    def _digest(self, store: Store, receiver: Receiver, topic: str, day: str) -> OutboxRow | None:
        row, language, now = store.topics.get(topic), Language(receiver.lang), self._now()
        if row is None:
            return None
        stories = list(self._new_stories(store, topic, now - timedelta(days=1)))
        lines = []
        for page_id in stories[:MOST_LISTED]:
            page = store.topics.page(topic, page_id)
            told = store.stories.of_page(page_id)
            if page and (story := found_story(store, page, row, told)):
                lines.append(f"- {story.title or story.url} ({story.host})\n  {story.url}")
        if len(stories) > len(lines):
            lines.append(say(language, "signs.others", n=len(stories) - len(lines)))
        title = say(language, "notice.digest", topic=topic, n=len(stories), day=day)
        return notice_row(
            receiver.name,
            Notice(
                id=f"digest:{topic}:{day}", type="digest", at=now, level="info", topic=topic,
                title=title, text="\n".join(lines), url=self._url(f"/topics/{topic}"),
            ),
        )  # fmt: skip

    def _new_stories(self, store: Store, topic: str, since: datetime) -> Iterator[str]:
        """The first page of each story that no relevant page told before a time."""
        begin = to_microseconds(since)
        for fetched_at, page_id, _, is_relevant, _ in store.topics.in_order(topic):
            if not is_relevant or fetched_at < begin:
                continue
            story = store.stories.ids_of([page_id]).get(page_id)
            first = who_tells(self._backends, topic, story)[1] if story else ()
            if not first or first[0] == page_id:
                yield page_id


def sign_key(sign: Sign) -> str:
    """What makes a sign the same one in the next look: ``refuses|a.example|news||``."""
    room = sign.why.removesuffix("_soon") if sign.kind is SignKind.ROOM else ""
    crawl = "" if sign.kind in (SignKind.SILENT, SignKind.ROOM) else sign.crawl_id
    host = "" if sign.kind in (SignKind.SILENT, SignKind.STILL) else sign.host
    return "|".join((sign.kind.value, host, crawl, sign.target, room))


def _alert(key: str, sign: Sign, now: datetime) -> Alert:
    begun = f"{key}|{to_microseconds(now)}"
    return Alert(
        sign=key, id=hashlib.sha256(begun.encode()).hexdigest()[:12], kind=sign.kind.value,
        host=sign.host, crawl_id=sign.crawl_id, target=sign.target, since=now,
    )  # fmt: skip


def _wants(receiver: Receiver, sign: Sign) -> bool:
    """Whether a receiver is to be told of a sign."""
    if sign.kind is SignKind.RECEIVER and sign.target == receiver.name:
        return False
    return receiver.signs == "warn" or receiver.signs == sign.level


def _title(alert: Alert, language: Language) -> str:
    kind = say(language, f"sign_kind.{alert.kind}")
    of = alert.host or (alert.target if alert.kind != SignKind.SEED else "") or alert.crawl_id
    return f"{of}{COLON[language]}{kind}" if of else kind


def _mended(receiver: Receiver, alert: Alert, now: datetime) -> OutboxRow:
    language, gone = Language(receiver.lang), alert.gone_since or now
    lasted = span_words((gone - alert.since).total_seconds(), language)
    return notice_row(
        receiver.name,
        Notice(
            id=f"mended:{alert.id}", type="mended", at=now, level="ok", kind=alert.kind,
            title=say(language, "notice.mended", sign=_title(alert, language)),
            text=say(language, "notice.mended_text", span=lasted), host=alert.host,
            crawl=alert.crawl_id,
        ),
    )  # fmt: skip


def _at(local: datetime, receiver: Receiver) -> datetime:
    """The time of a receiver's digest on a day."""
    hour, minute = receiver.digest_at.split(":")
    return local.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
