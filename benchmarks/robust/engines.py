"""Generated forums: the pages that forum programs make of one seeded discussion.

``generated_forum("phpbb2")`` gives rows as those of the labelled forums: URL, type, page, gold.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from benchmarks.robust.engine_markup import ENGINES, Engine

_BOARDS = 4
_PER_BOARD = 20
_USERS = 24
_WORDS = re.findall(
    r"\w+",
    "rain river stone bridge paper window garden winter engine letter morning harbour bread signal"
    " kettle ladder meadow copper lantern basket railway whistle pepper blanket shoulder market"
    " orchard anchor needle cellar feather mirror saddle thunder valley willow candle hammer",
)
_NAMES = re.findall(
    r"\w+",
    "Ada Boris Clara Dmitri Elena Felix Greta Hugo Ines Jonas Karin Lars Mona Nils Olga Pavel Rosa"
    " Sven Tilda Ugo Vera Wim Yara Zeno",
)
_START = datetime(2021, 3, 4, 9, 17)  # noqa: DTZ001 - only shown
Row = dict[str, Any]


def generated_forum(name: str) -> list[Row]:
    """Returns the rows of a generated forum; the same at every call."""
    return list(_Forum(name, ENGINES[name]).rows())


class _Forum:
    def __init__(self, name: str, engine: Engine) -> None:
        self._engine = engine
        self._chance = random.Random(f"7 {name}")  # noqa: S311 - made-up text
        self._pid = 1000

    def rows(self) -> Iterator[Row]:
        threads: dict[int, list[dict[str, Any]]] = {}
        for number in range(_BOARDS * _PER_BOARD):
            bid = 1 + number // _PER_BOARD
            threads.setdefault(bid, []).append(self._thread(bid, 100 + 3 * number))
        for bid, members in threads.items():
            fields = {"bid": bid, "title": f"{_WORDS[bid].title()} talk", "slug": _WORDS[bid]}
            rows = "".join(
                self._engine.row.format(**one["posts"][0] | {"count": len(one["posts"])})
                for one in members
            )
            url = self._engine.board.format(**fields)
            yield self._row(
                url, "board", self._engine.rows.format(**fields, rows=rows, self=url), fields
            )
            for one in members:
                yield self._thread_row(one)
        for uid in range(_USERS):
            user = self._user(uid)
            main = f"<h2>{user['author']}</h2><p>Joined in {2003 + uid % 9}</p>"
            yield self._row(user["user"], "user", main, {"title": user["author"]})

    def _thread(self, bid: int, tid: int) -> dict[str, Any]:
        title = self._words(5).capitalize()
        fields = {"bid": bid, "tid": tid, "title": title, "slug": title.lower().replace(" ", "-")}
        url = self._engine.thread.format(**fields)
        count = 1 + min(int(self._chance.expovariate(0.25)), 11)
        when = _START + timedelta(hours=31 * tid)
        posts = []
        for n in range(1, count + 1):
            self._pid += 1
            when += timedelta(minutes=self._chance.randrange(3, 900))
            posts.append(
                fields
                | self._user(self._chance.randrange(_USERS))
                | {
                    "n": n,
                    "pid": self._pid,
                    "odd": 1 + n % 2,
                    "parity": ("even", "odd")[n % 2],
                    "date": when.strftime(self._engine.date),
                    "when": when.isoformat() + "+00:00",
                    "text": self._text(n),
                    "self": url,
                }
            )
        return {"url": url, "fields": fields, "posts": posts}

    def _thread_row(self, one: dict[str, Any]) -> Row:
        engine, posts, fields = self._engine, one["posts"], one["fields"]
        pieces = [
            (engine.first if engine.first and post["n"] == 1 else engine.post).format(**post)
            for post in posts
        ]
        about = {**fields, "self": one["url"], "count": len(posts), "n": len(posts)}
        main = engine.posts.format(**about, posts="".join(pieces))
        texts = [post["text"].replace("<br>", "\n").replace("<p>", "\n") for post in posts]
        gold = {"first": texts[0], "replies": texts[1:], "on_page": list(range(len(posts)))}
        return self._row(one["url"], "thread", main, fields) | {"gold": gold}

    def _row(self, url: str, kind: str, main: str, fields: dict[str, Any]) -> Row:
        page = self._engine.page.format(site="Old harbour", main=main, title=fields["title"])
        return {
            "url": f"http://{self._engine.host}{url}",
            "type": kind,
            "fetched": True,
            "html": page,
            "gold": None,
        }

    def _user(self, uid: int) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "uid": 2 + uid,
            "author": _NAMES[uid],
            "slug": _NAMES[uid].lower(),
        }
        user = self._engine.user.format(**fields)
        return {"uid": fields["uid"], "author": fields["author"], "user": user}

    def _text(self, n: int) -> str:
        count = self._chance.choice((1, 1, 2, 3) if n > 1 else (2, 3, 4))
        sentences = [
            self._words(self._chance.randrange(3, 14)).capitalize() + "." for _ in range(count)
        ]
        return "<br>".join(sentences)

    def _words(self, count: int) -> str:
        return " ".join(self._chance.choices(_WORDS, k=count))
