"""A scripted operator: mends each trouble by the console's pages, as a browser would ask for them.

It reads what a person reads: the links and forms of the pages. It knows the way that `/help` tells.
"""

from __future__ import annotations

import html
import http.client
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode, urljoin, urlsplit

from benchmarks.drill.drill_site import POISON
from benchmarks.drill.world import OLD_CRAWL
from workers.operations.watching.signs.signs import SignKind

LOOK_S = 1.0
LIMIT_S = 180.0
_LINK = re.compile(r'<a [^>]*href="([^"]+)"[^>]*>(.*?)</a>', re.DOTALL)
_FIELD = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


@dataclass(slots=True)
class Operator:
    """A browser's part of the dialogue, without a browser.

    Attributes:
        address: Of the console.
        path: The page that is open.
        page: Its source.
    """

    address: str
    path: str = "/"
    page: str = ""
    cookie: str = ""

    def log_in(self, password: str) -> None:
        """Opens a session."""
        self.open("/login")
        token = re.search(r'name="token" value="(\w+)"', self.page)
        assert token  # noqa: S101 - the page has one
        self._ask("POST", "/login", {"token": token[1], "password": password, "to": "/"})

    def open(self, path: str) -> str:
        """Opens a page of this console; follows where it leads."""
        return self._ask("GET", path, {})

    def look(self, path: str) -> str:
        """Asks for a part that a browser asks for by itself, without leaving the page."""
        return self._exchange("GET", path, {})[2]

    def follow(self, wanted: str) -> str:
        """Opens the first link of the page whose address or text matches.

        Raises:
            LookupError: There is none.
        """
        for target, text in _LINK.findall(self.page):
            target = html.unescape(target)
            if re.search(wanted, target) or re.search(wanted, re.sub(r"<[^>]+>", "", text)):
                return self.open(urljoin(self.path, target))
        raise LookupError(f"no link {wanted} on {self.path}")

    def confirm(self, **typed: str) -> str:
        """Sends the form of the action's page that is open."""
        form = self.page.partition('<form method="post" action="/actions/')[2]
        action, _, rest = form.partition('"')
        fields = {name: html.unescape(text) for name, text in _FIELD.findall(
            rest.partition("</form>")[0])}  # fmt: skip
        return self._ask("POST", f"/actions/{action}", {**fields, **typed})

    def wait_for(self, path: str, wanted: str, limit_s: float = LIMIT_S) -> str:
        """Looks at a page's live part until it shows something; returns it.

        Raises:
            TimeoutError: It never did.
        """
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            page = self.look(path)
            if re.search(wanted, page, re.DOTALL):
                return page
            time.sleep(LOOK_S)
        raise TimeoutError(f"{path} never showed {wanted}")

    def _ask(self, method: str, path: str, fields: dict[str, str]) -> str:
        status, to, page = self._exchange(method, path, fields)
        while status in (302, 303):
            path = urlsplit(to)._replace(scheme="", netloc="").geturl()
            status, to, page = self._exchange("GET", path, {})
        if status != 200:
            text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
            raise LookupError(f"{method} {path}: {status} {text[:400]}")
        self.path, self.page = path, page
        return page

    def _exchange(self, method: str, path: str, fields: dict[str, str]) -> tuple[int, str, str]:
        place = urlsplit(self.address)
        connection = http.client.HTTPConnection(place.netloc, timeout=60)
        headers = {"Cookie": self.cookie, "Origin": self.address.rstrip("/")}
        if fields:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, urlencode(fields) or None, headers)
        answer = connection.getresponse()
        for name, value in answer.getheaders():
            if name == "Set-Cookie":
                self.cookie = value.partition(";")[0]
        page = answer.read().decode()
        connection.close()
        return answer.status, answer.getheader("Location", "") or "", page


def _from_sign(operator: Operator, action: str, target: str) -> None:
    """Opens the action that stands beside the sign of a host or a process on Now.

    It may come after the sign: a host that has changed is learned before it can be re-cleaned.
    """
    operator.wait_for("/now/live", rf'"/actions/{action}\?target={re.escape(target)}')
    operator.open("/")
    operator.follow(rf"^/actions/{action}\?target={re.escape(target)}")


def resume(operator: Operator, host: str) -> None:
    """1: Resume beside the sign > confirm."""
    _from_sign(operator, "resume_host", host)
    operator.confirm()


def pass_the_wall(operator: Operator, host: str) -> None:
    """2: Pause beside the sign > Try one page until it has a body > Resume > Fetch again."""
    _from_sign(operator, "pause_host", host)
    operator.confirm(why="login wall")
    time.sleep(3)  # the colleague who has the account takes the wall down
    operator.follow("^/actions/try_page")
    operator.confirm()
    operator.page = operator.wait_for(f"{operator.path}/live", "The page has a body")
    operator.follow("^/actions/resume_host")
    operator.confirm()
    operator.follow("^/actions/refetch_host")
    operator.confirm()
    operator.wait_for(f"{operator.path}/live", "the last 8 of 8 pages have a body")


def reclean(operator: Operator, host: str) -> None:
    """3: dry run beside the sign > confirm > re-clean its records, on the result > confirm."""
    _from_sign(operator, "try_reclean", host)
    operator.confirm()
    operator.page = operator.wait_for(f"{operator.path}/live", r"/actions/reclean_host\?")
    operator.follow("^/actions/reclean_host")
    operator.confirm()
    operator.wait_for(f"{operator.path}/live", "nothing left")


def make_room(operator: Operator, _host: str) -> None:
    """4: Space > drop the raw pages of the finished crawl."""
    operator.open("/space")
    operator.follow(f"/actions/drop_raw_crawl.*{OLD_CRAWL}")
    operator.confirm(typed=OLD_CRAWL)


def forbid_calendar(operator: Operator, host: str) -> None:
    """5: Forbid beside the sign, which names the class > confirm."""
    _from_sign(operator, "forbid_class", host)
    operator.confirm()


def declare_dead(operator: Operator, host: str) -> None:
    """6: Declare dead beside the sign; then the page that kills workers, by its sign."""
    page = operator.look("/now/live")
    said = re.sub(r"<[^>]+>", " ", page)
    name = re.search(r"process is silent\s.*?([\w-]+\.\d+)\s", said, re.DOTALL)
    assert name  # noqa: S101 - the sign names it
    _from_sign(operator, "declare_dead", name[1])
    operator.confirm()
    operator.wait_for("/now/live", "page kills workers")
    operator.open("/")
    operator.follow("cause=poison")
    operator.follow(re.escape(POISON))
    del host


STEPS: dict[int, Callable[[Operator, str], None]] = {
    1: resume,
    2: pass_the_wall,
    3: reclean,
    4: make_room,
    5: forbid_calendar,
    6: declare_dead,
}
SENTENCE_OF_A_FULL_DISK = "disk"


def sign_of(kind: SignKind | None) -> str:
    """What Now shows of a trouble, as a pattern of its source."""
    words = {
        SignKind.PAUSED: "host is paused",
        SignKind.WALL: "pages without a body",
        SignKind.CHANGED: "site has changed",
        SignKind.BARREN: "nothing new",
        SignKind.SILENT: "process is silent",
    }
    if kind is None:
        return r'class="sentence bad".{0,200}(disk|room|space)'
    return rf"badge \w+\">{words[kind]}"
