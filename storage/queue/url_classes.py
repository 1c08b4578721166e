"""The ledger of a host's URL classes: rules, operators' pins, accounts, stopped classes.

Workers write the rules as a text (JSON, ``cleaning/url_classes/rules.py``). The account of a class
counts its pages and those with news; ``cleaning/url_classes/stopping.py`` decides by the accounts
which classes are stopped. Stopped classes and refused templates are fields of one hash, with their
reasons; spiders read the hash when ``stopped_version`` of the host changes:

- ``/cal/*``: a stopped pattern; ``/cal/**``: a stopped group of patterns;
- ``=/reply.php?id={n}``: a template that the rules refuse;
- ``+/show.php?id={n}``: a template that is followed although a refused one fits its URLs, too.

A write that depends on a read is a script that compares the version of the read with the stored
version. When they differ the caller reads again, so no worker's change is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from crawlclean.cleaning.messages import read_line, stored
from crawlclean.cleaning.url_classes.stopping import Account, Asked, Known, Verdict
from crawlclean.storage.crawl_types import Discovery, PageRole
from crawlclean.storage.live_state import StoppedClass
from crawlclean.storage.queue.clients import Arg, QueueMember, queue_errors
from crawlclean.storage.queue.entries import RANK_SCORE, from_ms, read_pending
from crawlclean.storage.store.hosts import KeptRules

REFUSED, FOLLOWED = "=", "+"
MOST_RANKED = 50_000  # pending URLs of a host that are ranked anew when its rules change
CHUNK = 1000  # entries of one command: the server answers others in between


class UrlClassLedger(QueueMember):
    """The URL classes of every crawl. Methods raise ``QueueUnavailable``."""

    def add_pages(self, crawl_id: str, host: str, count: int) -> int:
        """Counts fetched pages of a host; returns the new total, 0 when there is no such crawl."""
        if not self._client.exists(f"cc:c:{crawl_id}"):
            return 0
        return int(self._client.hincrby(f"cc:u:{crawl_id}:{host}", "pages", count))

    def judge(
        self, crawl_id: str, host: str, asked: Asked, decide: Callable[[Known], Verdict]
    ) -> Verdict:
        """Applies the verdict on ended pages to a host's accounts; returns the verdict.

        Args:
            crawl_id: The crawl of the pages.
            host: Their host.
            asked: The accounts and fingerprints that the decision needs.
            decide: Decides by the stored state; called again when another worker's verdict was
                stored meanwhile.
        """
        fixed: list[Arg] = [crawl_id, host, len(asked.patterns), *asked.patterns]
        question = [*fixed, *map(str, asked.fingerprints)]
        while True:
            answer = self._scripts("read_accounts", *question)
            if not answer:  # the crawl is gone
                return Verdict()
            version, known = answer[0], _known(asked, answer)
            verdict = decide(known)
            args = [crawl_id, host, version, *_lists(verdict)]
            if self._scripts("keep_accounts", *args):
                return verdict

    def stopped(self, crawl_id: str, host: str) -> dict[str, str]:
        """Stopped classes and refused templates of a host, with their reasons as stored."""
        return _texts(self._client.hgetall(f"cc:ts:{crawl_id}:{host}"))

    def all_stopped(self) -> list[StoppedClass]:
        """The stopped classes of all hosts, by crawl, host and class: one read."""
        found = self._client.hgetall("cc:traps")
        named = sorted((name.decode().split(" ", 2), int(ms)) for name, ms in found.items())
        return [
            StoppedClass(crawl_id=crawl, host=host, pattern=pattern, since=from_ms(ms))
            for (crawl, host, pattern), ms in named
        ]

    def accounts_of(self, stopped: Sequence[StoppedClass]) -> list[tuple[Account, str]]:
        """The accounts of stopped classes and why they are stopped, in their order: one request."""
        with self._client.pipeline(transaction=False) as pipe:
            for each in stopped:
                of = f"{each.crawl_id}:{each.host}"
                pipe.hget(f"cc:k:{of}", each.pattern)
                pipe.hget(f"cc:ts:{of}", each.pattern)
            found = pipe.execute() if stopped else []
        reasons = (read_line((why or b"").decode()) for why in found[1::2])
        accounts = (_account(packed or b"") for packed in found[::2])
        return list(zip(accounts, reasons, strict=True))

    def all_accounts(self, crawl_id: str, host: str) -> dict[str, Account]:
        """The accounts of a host by class or group (``/cal/*``, ``/cal/**``), most pages first."""
        found = self._client.hgetall(f"cc:k:{crawl_id}:{host}")
        accounts = [(name.decode(), _account(packed)) for name, packed in found.items()]
        return dict(sorted(accounts, key=lambda each: (-each[1].pages, each[0])))

    def accounts(self, crawl_id: str, host: str, patterns: Sequence[str]) -> list[Account]:
        """The accounts of some classes of a host, in their order; zeros where there is none."""
        found = self._client.hmget(f"cc:k:{crawl_id}:{host}", patterns)
        return [_account(packed) if packed else Account() for packed in found]

    def lift(self, crawl_id: str, host: str) -> int:
        """Resets the accounts and stops of a host's classes; returns how many were stopped."""
        return int(self._scripts("lift_stops", crawl_id, host))

    def known(self, crawl_id: str, host: str) -> KeptRules:
        """The stored rules, pins and stopped classes of a host, and its robots.txt."""
        return self.versioned(crawl_id, host)[0]

    def versioned(self, crawl_id: str, host: str) -> tuple[KeptRules, str]:
        """(what ``known`` returns, its version for ``keep``: ``"3 1"``)."""
        with self._client.pipeline() as pipe:
            pipe.hmget(f"cc:u:{crawl_id}:{host}", "rules", "rules_version")
            pipe.hgetall(f"cc:up:{host}")
            pipe.hgetall(f"cc:ts:{crawl_id}:{host}")
            pipe.hget(f"cc:g:{host}", "robots_rules")
            (rules, kept), words, stopped, lines = pipe.execute()
        version = f"{(kept or b'0').decode()} {words.pop(b'', b'0').decode()}"
        found = KeptRules(
            robots=None if lines is None else lines.decode("utf-8", "replace"),
            rules=(rules or b"").decode(),
            pins=_texts(words),
            stopped=_texts(stopped),
        )
        return found, version

    def keep(
        self,
        crawl_id: str,
        host: str,
        version: str,
        rules: str,
        refused: Mapping[str, str],
        followed: Collection[str] = (),
    ) -> bool:
        """Replaces a host's rules and its refused templates; a purged crawl stays as it is.

        Args:
            crawl_id: The crawl.
            host: Lower-case authority.
            version: By ``versioned``, of the read that the rules were computed from.
            rules: The rules, JSON text of a worker.
            refused: Templates that are not fetched, with the reason:
                ``{"/reply.php?id={n}": "leads to forms"}``.
            followed: Templates that are fetched although a refused one fits their URLs, too:
                ``("/reply.php?id={n}&page={n}",)``.

        Returns:
            False when rules or pins have changed since that read: read again.
        """
        marked = {REFUSED + template: stored(why) for template, why in refused.items()}
        marked.update(dict.fromkeys((FOLLOWED + template for template in followed), ""))
        args = [crawl_id, host, version, rules, *chain.from_iterable(marked.items())]
        return bool(self._scripts("keep_rules", *args))

    def pin(self, host: str, template: str, word: str) -> None:
        """Stores an operator's pin of a template, ``forbid``, for every crawl; ``""`` deletes."""
        with self._client.pipeline() as pipe:
            if word:
                pipe.hset(f"cc:up:{host}", template, word)
            else:
                pipe.hdel(f"cc:up:{host}", template)
            pipe.hincrby(f"cc:up:{host}", "", 1)
            pipe.execute()

    def rerank(self, crawl_id: str, host: str, rank_of: Callable[[Discovery], int]) -> int:
        """Ranks a host's pending URLs by ``rank_of``; returns how many changed their rank."""
        key = f"cc:q:{crawl_id}:{host}"
        changed = 0
        scores: dict[bytes, int] = {}
        for seen, (entry, score) in enumerate(self._client.zscan_iter(key, count=CHUNK), 1):
            found = read_pending(host, int(score), entry)
            if found.role is PageRole.PAGE and found.rank != (rank := rank_of(found)):
                scores[entry] = rank * RANK_SCORE + int(score) % RANK_SCORE
            if len(scores) >= CHUNK or seen >= MOST_RANKED:
                changed += self._move(key, scores)
                scores = {}
            if seen >= MOST_RANKED:
                break
        return changed + self._move(key, scores)

    def pending(self, crawl_id: str, host: str) -> Iterator[Discovery]:
        """Yields URLs of a host that wait in the queue's memory, at most ``MOST_RANKED``.

        Those that have failed before are left out; one that is leased meanwhile may be.
        """
        with queue_errors():
            entries = self._client.zscan_iter(f"cc:q:{crawl_id}:{host}", count=CHUNK)
            for entry, score in islice(entries, MOST_RANKED):
                yield read_pending(host, int(score), entry)

    def _move(self, key: str, scores: Mapping[bytes, int]) -> int:
        # ``xx``: a URL that was leased meanwhile must not become pending.
        return int(self._client.zadd(key, scores, xx=True, ch=True)) if scores else 0


def _texts(found: Mapping[bytes, bytes]) -> dict[str, str]:
    """The fields of a hash, in their order."""
    return dict(sorted((name.decode(), text.decode()) for name, text in found.items()))


def _account(packed: bytes) -> Account:
    """Decodes an account, ``b"120 3 48 200 9"``: the fields of ``Account`` in their order."""
    return Account(*map(int, packed.split()))


def _known(asked: Asked, answer: list[Any]) -> Known:
    """Decodes the answer of ``read_accounts.lua``."""
    _, size, accounts, stopped, fingerprints = answer
    found = zip(asked.patterns, accounts, strict=True)
    return Known(
        accounts={pattern: _account(packed) for pattern, packed in found if packed},
        stopped={each for each, is_on in zip(asked.patterns, stopped, strict=True) if is_on},
        fingerprints={
            n for n, is_on in zip(asked.fingerprints, fingerprints, strict=True) if is_on
        },
        size=int(size),
    )


def _lists(verdict: Verdict) -> Iterator[Arg]:
    """The four lists of ``keep_accounts.lua``, each after its length."""
    packed = {name: " ".join(map(str, account)) for name, account in verdict.accounts.items()}
    for each in (
        [str(number) for number in verdict.fingerprints],
        [*chain.from_iterable(packed.items())],
        [each for name, why in verdict.stopped.items() for each in (name, stored(why))],
        [*verdict.lifted],
    ):
        yield len(each)
        yield from each
