"""The raw page in a real browser: no request, no connection, no look-up of a name.

Each case has a browser of its own, because sockets that another page opened hide connections. What
it did is read from its own network log, and from a listener that every address of the page names.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from werkzeug.serving import make_server

from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.config import StorageConfig
from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access
from crawlclean.workers.console.app import create_app
from crawlclean.workers.console.routes import Console
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from tests.browser.conftest import FLAGS
from tests.kit.crawls import run_crawl
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Web

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4
NAME = "looked-up.example"
SOURCE = """<!doctype html><html manifest="{at}/m"><head><title>raw</title>
<link rel=preconnect href="{at}"><link rel=preconnect href="http://{name}">
<link rel=dns-prefetch href="//{name}"><link rel=preload as=image
href="{at}/a"><link rel=prefetch href="{at}/b"><link rel=stylesheet href="{at}/c"><link rel=icon
href="{at}/d"><meta http-equiv=refresh content="1;url={at}/e"><base href="{at}/f/">
<style>@import "{at}/g"; body{{background:url({at}/h)}} @font-face{{font-family:x;src:url({at}/i)}}
p{{font-family:x;background:u\\72l({at}/j)}} b{{content:image-set("{at}/k" 1x)}}</style>
<script src="{at}/l"></script><script>fetch("{at}/m")</script></head>
<body background="{at}/n" onload="fetch('{at}/o')"><h1>raw</h1><p>{text}</p>
<img src="{at}/p" srcset="{at}/q 2x" onerror="fetch('{at}/r')"><a href="{at}/s" ping="{at}/t">out
to there</a><iframe src="{at}/u"></iframe><object data="{at}/v"></object><embed src="{at}/w">
<video poster="{at}/x" src="{at}/y" autoplay></video><audio src="{at}/z" autoplay></audio>
<svg><image href="{at}/1"/><use href="{at}/2"/></svg><input type=image src="{at}/3">
<form action="{at}/4"><button autofocus>go</button></form><p style="background:url({at}/5)">styled
text of the page, with a comma</p><table background="{at}/6"><tr><td>cell</table>
<picture><source srcset="{at}/7"><img loading=eager></picture><link rel=modulepreload href="{at}/8">
<img src="http://{name}/11"><template><img src="{at}/9"></template><noscript>
<img src="{at}/10"></noscript>"""


class Listener:
    """Counts connections to a port."""

    def __init__(self) -> None:
        self.count = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.count += 1
            connection.close()

    def close(self) -> None:
        """Ends it."""
        self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread, which a close alone does not
        self._socket.close()
        self._thread.join(LIMIT_S)


@contextmanager
def serving(data: Path) -> Iterator[str]:
    """A console without a password over a data folder; yields its address."""
    settings = Settings(storage=StorageConfig(data=data))
    backends = KeptBackends(settings)
    app = create_app(Console(settings, backends, Access(None)))
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(LIMIT_S)
        backends.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    """What the page's addresses lead to."""
    found = Listener()
    yield found
    found.close()


def events(path: Path) -> list[tuple[str, str]]:
    """(name of the event, its parameters) of a network log, perhaps cut off at its end."""
    text = path.read_text("utf-8", "replace")
    constants, _, rest = text.partition('"events": [')
    names = json.loads(constants.rstrip().rstrip(",") + "}")["constants"]["logEventTypes"]
    of_number = {number: name for name, number in names.items()}
    found = []
    for line in rest.splitlines():
        try:
            event = json.loads(line.rstrip().rstrip(",").removesuffix("]}"))
        except ValueError:
            continue
        found.append((of_number.get(event["type"], ""), json.dumps(event.get("params", {}))))
    return found


@pytest.fixture
def browser(playwright: Playwright, program: str, log: Path) -> Iterator[Browser]:
    """A browser of its own that writes a network log."""
    found = playwright.chromium.launch(
        executable_path=program,
        args=[*FLAGS, f"--log-net-log={log}"],
        ignore_default_args=["--disable-background-networking"],  # it would hide hints
    )
    yield found
    found.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where the browser writes what it asks of the network."""
    return tmp_path / "net.json"


def named(log: Path, listener: Listener) -> list[tuple[str, str]]:
    """The events of a log about the addresses of the page."""
    found = events(log)
    assert len(found) > 100
    return [pair for pair in found if NAME in pair[1] or f":{listener.port}" in pair[1]]


def source_of(listener: Listener) -> str:
    """The page, all of whose addresses lead to the listener."""
    return SOURCE.format(at=f"http://127.0.0.1:{listener.port}", name=NAME, text=TEXT)


def test_the_source_itself_asks_for_much(
    tmp_path: Path, listener: Listener, browser: Browser, log: Path
) -> None:
    with Web(tmp_path / "web", {"/": source_of(listener)}) as web:
        browser.new_page().goto(web.url("/"), wait_until="commit")
        wait_until(lambda: listener.count > 2)
        wait_until(lambda: NAME in log.read_text("utf-8", "replace"))
        browser.close()
    found = {name for name, params in named(log, listener) if NAME in params}
    assert any(name.startswith("HOST_RESOLVER") for name in found)


def test_the_raw_page_asks_for_nothing(
    tmp_path: Path, listener: Listener, browser: Browser, log: Path
) -> None:
    with Web(tmp_path / "web", {"/": source_of(listener)}) as web:
        run_crawl(tmp_path / "data", web.url("/"))
        pid = page_id(web.url("/"))
    before = listener.count
    asked: list[str] = []
    told: list[str] = []
    with serving(tmp_path / "data") as console:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(f"{console}/pages/{pid}", wait_until="networkidle")
        assert told == []
        # From here on the test itself runs scripts in the frame, and is told that they are blocked.
        frame = page.frame_locator("iframe.raw")
        text = frame.locator("v-t[data-kind=body]").first
        colour = text.evaluate("element => getComputedStyle(element).backgroundColor")
        assert colour == "rgb(196, 241, 203)"
        # A text of the list leads to its place in the frame.
        page.locator(".verdicts a", has_text="styled").click()
        frame.locator("v-t:target", has_text="styled").wait_for()
        frame.locator("a").first.click()
        frame.locator("span", has_text="go").first.click()
        page.wait_for_load_state("networkidle")
        assert page.url == f"{console}/pages/{pid}"
        assert len(page.context.pages) == 1
        browser.close()
    assert [url for url in asked if not url.startswith(f"{console}/")] == []
    assert [line for line in told if not line.startswith("Blocked script execution")] == []
    assert listener.count == before
    assert named(log, listener) == []


def test_the_raw_page_is_for_the_frame_alone(
    tmp_path: Path, listener: Listener, browser: Browser
) -> None:
    with Web(tmp_path / "web", {"/": source_of(listener)}) as web:
        run_crawl(tmp_path / "data", web.url("/"))
        pid = page_id(web.url("/"))
    with serving(tmp_path / "data") as console:
        answer = browser.new_page().goto(f"{console}/raw/{pid}")
        assert answer is not None
        assert answer.status == 403
