"""Generated forums: the pages that forum programs make of one seeded discussion.

``markup/`` has the addresses and templates of each program, written for this project after its
public default theme. Fields: ``site title tid bid uid pid n author date when text rows posts``.

``generated_forum("phpbb2")`` gives rows as those of the labelled forums: URL, type, page, gold.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

_BOARDS = 4
_PER_BOARD = 20
_USERS = 24
_START = datetime(2021, 3, 4, 9, 17)  # noqa: DTZ001 - only shown
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A forum program.

    Attributes:
        host: Host of the generated forum.
        thread: Address of a thread, ``/viewtopic.php?t={tid}``.
        board: Address of a board.
        user: Address of a user.
        page: Of every page; ``{main}`` is what follows.
        posts: Around the posts of a thread.
        post: One post.
        rows: Around the rows of a board.
        row: One row.
        date: How ``strftime`` writes dates.
        first: The first post, where it has a shape of its own.
        signature: Around the signature of a user, in ``{sign}``; ``""`` for a program without.
        language: ``en`` or ``zh``, of texts and names.
    """

    host: str
    thread: str
    board: str
    user: str
    page: str
    posts: str
    post: str
    rows: str
    row: str
    date: str
    first: str = ""
    signature: str = ""
    language: str = "en"


ENGINES = {
    file.stem: msgspec.toml.decode(file.read_bytes(), type=Engine)
    for file in sorted((Path(__file__).parent / "markup").glob("*.toml"))
}


@dataclass(frozen=True, slots=True)
class _Language:
    """Words and names of made-up text, and what stands between and behind words."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    between: str
    end: str


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text))


_LANGUAGES = {
    "en": _Language(
        _words_of(
            "rain river stone bridge paper window garden winter engine letter morning harbour bread"
            " signal kettle ladder meadow copper lantern basket railway whistle pepper blanket"
            " shoulder market orchard anchor needle cellar feather mirror saddle thunder valley"
            " willow candle hammer"
        ),
        _words_of(
            "Ada Boris Clara Dmitri Elena Felix Greta Hugo Ines Jonas Karin Lars Mona Nils Olga"
            " Pavel Rosa Sven Tilda Ugo Vera Wim Yara Zeno"
        ),
        " ",
        ".",
    ),
    "zh": _Language(
        _words_of(
            "下雨 河流 石头 大桥 报纸 窗户 花园 冬天 机器 来信 早晨 港口 面包 信号 水壶 梯子"
            " 草地 黄铜 灯笼 篮子 铁路 哨子 胡椒 毯子 肩膀 市场 果园 船锚 针线 地窖 羽毛 镜子"
            " 马鞍 打雷 山谷 柳树 蜡烛 锤子"
        ),
        _words_of(
            "老王 山里人 小鱼儿 北方的狼 阿明 云淡风轻 木头 青石板 海边 三月 一叶舟 大力 石头哥"
            " 南瓜 夜归人 老李头 白鹭 江上客 小满 竹林 阿福 听雨楼 秋水 半夏"
        ),
        "",
        "。",
    ),
}


def generated_forum(name: str) -> list[Row]:
    """Returns the rows of a generated forum; the same at every call."""
    return list(_Forum(name, ENGINES[name]).rows())


class _Forum:
    def __init__(self, name: str, engine: Engine) -> None:
        self._engine = engine
        self._chance = random.Random(f"7 {name}")  # noqa: S311 - made-up text
        self._pid = 1000
        self._name = name
        self._language = _LANGUAGES[engine.language]

    def rows(self) -> Iterator[Row]:
        threads: dict[int, list[dict[str, Any]]] = {}
        for number in range(_BOARDS * _PER_BOARD):
            bid = 1 + number // _PER_BOARD
            threads.setdefault(bid, []).append(self._thread(bid, 100 + 3 * number))
        for bid, members in threads.items():
            word = self._language.words[bid]
            title = f"{word.title()}{self._language.between}talk"
            fields = {"bid": bid, "title": title, "slug": _slug(word, bid)}
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
        fields = {"bid": bid, "tid": tid, "title": title, "slug": _slug(title, tid)}
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
        name = self._language.names[uid]
        fields: dict[str, Any] = {"uid": 2 + uid, "author": name, "slug": _slug(name, uid)}
        user = self._engine.user.format(**fields)
        sign = self._signature(uid)
        return {"uid": fields["uid"], "author": name, "user": user, "sign": sign}

    def _signature(self, uid: int) -> str:
        """The signature of a user, the same below all posts; half of the users have one."""
        if not self._engine.signature or uid % 2:
            return ""
        chance = random.Random(f"8 {self._name} {uid}")  # noqa: S311 - made-up text
        between = self._language.between
        words = between.join(chance.choices(self._language.words, k=4 + uid % 5))
        return self._engine.signature.format(signature=words.capitalize())

    def _text(self, n: int) -> str:
        count = self._chance.choice((1, 1, 2, 3) if n > 1 else (2, 3, 4))
        sentences = [
            self._words(self._chance.randrange(3, 14)).capitalize() + self._language.end
            for _ in range(count)
        ]
        return "<br>".join(sentences)

    def _words(self, count: int) -> str:
        return self._language.between.join(self._chance.choices(self._language.words, k=count))


def _slug(text: str, number: int) -> str:
    """Text as it stands in an address; a number where its letters are Chinese."""
    return text.lower().replace(" ", "-") if text.isascii() else str(number)
