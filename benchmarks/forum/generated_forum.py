"""A generated forum: boards, threads of several pages, users, and links that waste a crawl.

Every page links to users, replies behind a login, permalinks, sort variants, print versions,
searches, a calendar and feeds. URLs have one of two schemes, ``static`` (``/thread-7-1.html``) and
``dynamic`` (query strings); the list of newest threads on every page has some URLs of the other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qs

from benchmarks.kit.generated_site import Answer, sentences

THREADS_A_PAGE = 20
POSTS_A_PAGE = 10
_NAV = (
    ("/", "首页"),
    ("/member.php?mod=login", "登录"),
    ("/member.php?mod=register", "注册"),
    ("/search.php?q=1", "搜索"),
    ("/calendar.php?month=1", "日历"),
    ("/rss.php?fid=0", "订阅"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForumSpec:
    """Size of the forum, on one host.

    Attributes:
        threads: Number of threads.
        boards: Number of boards.
        users: Number of users.
        scheme: ``static`` or ``dynamic``.
    """

    threads: int = 2000
    boards: int = 12
    users: int = 300
    scheme: str = "static"
    hosts: int = 1
    chains: int = 1

    def address(self, host: int) -> str:
        """Returns the loopback address of the forum."""
        return f"127.78.0.{host + 1}"

    def thread_pages(self, thread: int) -> int:
        """Returns the number of pages of a thread."""
        return (posts_of(thread) - 1) // POSTS_A_PAGE + 1

    def board_pages(self, board: int) -> int:
        """Returns the number of pages of a board."""
        return (len(self.threads_of(board)) - 1) // THREADS_A_PAGE + 1

    def threads_of(self, board: int) -> range:
        """Returns the threads of a board."""
        return range(board, self.threads, self.boards)


def posts_of(thread: int) -> int:
    """Returns the number of posts of a thread: few in most threads, many in some."""
    chance = random.Random(thread)  # noqa: S311 - the same forum every time
    return 1 + int(chance.expovariate(1 / 8))


class Forum:
    """Computes the response of every path."""

    def __init__(self, spec: ForumSpec, _port: int = 0) -> None:
        self._spec = spec

    def answer(self, _address: str, path: str) -> Answer:
        """Returns the response to one request."""
        if path == "/robots.txt":
            return Answer(200, b"", "text/plain")
        read = _read_path(path)
        if read is None:
            return Answer(404, b"<h1>404</h1>")
        what, n, page = read
        spec = self._spec
        if what == "thread" and 0 <= n < spec.threads and 1 <= page <= spec.thread_pages(n):
            return self._page(self._thread(n, page), title_of(n))
        if what == "print" and 0 <= n < spec.threads:
            return self._page(self._posts(n, 1, posts_of(n)), title_of(n) + " - 打印")
        if what == "post" and 0 <= n < spec.threads:
            return _moved(path_of(spec.scheme, "thread", n, page))
        if what == "board" and 0 <= n < spec.boards and 1 <= page <= spec.board_pages(n):
            return self._page(self._board(n, page), f"版块{_name(n)}")
        if what == "user" and 0 <= n < spec.users:
            return self._page(self._user(n), f"{user_name(n)}的资料")
        if what == "home":
            boards = "".join(
                f"<li>{self._link('board', b, 1, f'版块{_name(b)}')}</li>"
                for b in range(spec.boards)
            )
            return self._page(f"<ul>{boards}</ul>", "首页")
        if what in {"reply", "login"}:
            form = "<form>用户名<input name=u>密码<input type=password name=p></form>"
            return self._page(f"<p>您需要登录才可以继续。</p>{form}", "登录")
        if what in {"search", "calendar"}:
            rows = "".join(f"<li>{self._thread_link(t)}</li>" for t in range(n, n + 5))
            later = f'<a href="/calendar.php?month={n + 1}">下个月</a>'
            return self._page(f"<ul>{rows}</ul>{later}", "搜索" if what == "search" else "日历")
        return Answer(200, b"<rss><channel><title>x</title></channel></rss>", "text/xml")

    def _link(self, what: str, n: int, page: int, text: str) -> str:
        return f'<a href="{path_of(self._spec.scheme, what, n, page)}">{text}</a>'

    def _author(self, user: int) -> str:
        return self._link("user", user, 1, user_name(user))

    def _thread_link(self, thread: int) -> str:
        return self._link("thread", thread % self._spec.threads, 1, title_of(thread))

    def _page(self, content: str, title: str) -> Answer:
        chance = random.Random(title)  # noqa: S311 - as above
        other = "dynamic" if self._spec.scheme == "static" else "static"
        newest = "".join(
            f'<li><a href="{path_of(other if t % 5 == 0 else self._spec.scheme, "thread", t, 1)}">'
            f"{title_of(t)}</a></li>"
            for t in range(self._spec.threads - 8, self._spec.threads)
        )
        about = "".join(
            f"<li>{self._link('user', chance.randrange(self._spec.users), 1, '会员')}</li>"
            for _ in range(3)
        )
        nav = "".join(f' <a href="{path}">{text}</a>' for path, text in _NAV)
        return Answer(
            200,
            (
                f'<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>{title} - 山水'
                f'论坛</title></head><body><div class="nav">{nav}</div><h1>{title}</h1>'
                f'<div id="main">{content}</div><div class="side"><h3>新帖</h3><ul>{newest}</ul>'
                f"<ul>{about}</ul></div></body></html>"
            ).encode(),
        )

    def _board(self, board: int, page: int) -> str:
        threads = self._spec.threads_of(board)[(page - 1) * THREADS_A_PAGE :][:THREADS_A_PAGE]
        rows = "".join(
            f'<tr class="row"><td>{self._thread_link(t)}</td>'
            f"<td>{self._author(t % self._spec.users)}</td>"
            f"<td>{posts_of(t)}</td><td>{self._link('post', t, 1, '2024-3-5 12:30')}</td></tr>"
            for t in threads
        )
        sorts = "".join(
            self._link("board", board, page, text).replace(
                '">', f'{"&" if self._spec.scheme == "dynamic" else "?"}orderby={name}&asc={way}">'
            )
            for name, text in (("views", "查看"), ("replies", "回复"), ("author", "作者"))
            for way in (0, 1)
        )
        new = f'<a href="/post.php?action=newthread&fid={board}">发新帖</a>'
        pages = self._pages("board", board, page, self._spec.board_pages(board))
        return f"<p>{sorts}{new}</p><table>{rows}</table><p>{pages}</p>"

    def _pages(self, what: str, n: int, page: int, count: int) -> str:
        near = sorted({1, count, *range(max(1, page - 2), min(count, page + 2) + 1)})
        links = [self._link(what, n, p, str(p)) for p in near if p != page]
        if page < count:
            links.append(self._link(what, n, page + 1, "下一页"))
        return " ".join(links)

    def _thread(self, thread: int, page: int) -> str:
        posts = posts_of(thread)
        first = (page - 1) * POSTS_A_PAGE + 1
        shown = self._posts(thread, first, min(posts, first + POSTS_A_PAGE - 1))
        board = thread % self._spec.boards
        place = self._link("board", board, 1, f"版块{_name(board)}")
        tools = (
            f'<a href="/print.php?tid={thread}">打印</a> '
            f'<a href="/post.php?action=reply&fid={board}&tid={thread}">回复</a>'
        )
        pages = self._pages("thread", thread, page, self._spec.thread_pages(thread))
        return f"<p>{place} {tools}</p>{shown}<p>{pages}</p>"

    def _posts(self, thread: int, first: int, last: int) -> str:
        shown = []
        for floor in range(first, last + 1):
            chance = random.Random(thread * 1000 + floor)  # noqa: S311 - as above
            user = chance.randrange(self._spec.users) if floor > 1 else thread % self._spec.users
            text = "".join(f"<p>{s}" for s in chance.choices(sentences(), k=chance.randint(1, 4)))
            page = (floor - 1) // POSTS_A_PAGE + 1
            reply = f"/post.php?action=reply&tid={thread}&repquote={thread * 100 + floor}"
            shown.append(
                f'<div class="post" id="post{floor}"><div class="author">'
                f"{self._author(user)} 发表于 2024-3-{floor % 28 + 1} 12:30 "
                f'<a href="/redirect.php?goto=post&tid={thread}&page={page}&pid='
                f'{thread * 100 + floor}">{floor}#</a></div><div class="message">{text}</div>'
                f'<div class="buttons"><a href="{reply}">回复</a> '
                f'<a href="{reply.replace("reply", "report", 1)}">举报</a></div></div>'
            )
        return "".join(shown)

    def _user(self, user: int) -> str:
        recent = range(user, self._spec.threads, self._spec.users)
        rows = "".join(f"<li>{self._thread_link(t)}</li>" for t in list(recent)[:5])
        return f"<dl><dt>注册时间</dt><dd>2023-1-{user % 28 + 1}</dd></dl><ul>{rows}</ul>"


def path_of(scheme: str, what: str, n: int, page: int) -> str:
    """Returns the path of a thread, a board, a user or the newest post of a thread."""
    if what == "post":
        return f"/redirect.php?goto=lastpost&tid={n}&page={page}"
    if scheme == "static":
        if what == "user":
            return f"/space-uid-{n}.html"
        return f"/{what}-{n}-{page}.html"
    name = {"thread": "viewthread", "board": "forumdisplay", "user": "space"}[what]
    query = {"thread": "tid", "board": "fid", "user": "uid"}[what]
    return f"/{name}.php?{query}={n}" + (f"&page={page}" if page > 1 else "")


@lru_cache(maxsize=10_000)
def title_of(thread: int) -> str:
    """Returns the title of a thread."""
    chance = random.Random(f"title {thread}")  # noqa: S311 - as above
    return chance.choice(sentences())[: 6 + thread % 9] + _name(thread)


def user_name(user: int) -> str:
    """Returns the name of a user."""
    return f"网友{_name(user)}"


def _name(number: int) -> str:
    chance = random.Random(f"name {number}")  # noqa: S311 - as above
    return "".join(chr(chance.randrange(0x4E00, 0x9FA5)) for _ in range(2))


def _read_path(path: str) -> tuple[str, int, int] | None:
    """Returns (what, number, page) of a path in either scheme: ``("thread", 7, 1)``, or None."""
    name, _, query = path.partition("?")
    asked = {key: values[0] for key, values in parse_qs(query).items()}
    page = int(asked.get("page", "1"))
    if name == "/":
        return "home", 0, 1
    parts = name.removesuffix(".html")[1:].split("-")
    if name.endswith(".html") and len(parts) == 3 and parts[2].isdigit():
        if parts[0] == "space":
            return "user", int(parts[2]), 1
        return parts[0], int(parts[1]), int(parts[2])
    number = next(
        (int(asked[key]) for key in ("tid", "fid", "uid", "month", "q") if key in asked), 0
    )
    known = {
        "/viewthread.php": "thread",
        "/forumdisplay.php": "board",
        "/space.php": "user",
        "/print.php": "print",
        "/redirect.php": "post",
        "/post.php": "reply",
        "/member.php": "login",
        "/search.php": "search",
        "/calendar.php": "calendar",
        "/rss.php": "feed",
    }
    return (known[name], number, page) if name in known else None


def _moved(path: str) -> Answer:
    return Answer(302, b"", location=path)
