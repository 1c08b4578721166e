"""A web server in the test's own process whose pages change while a crawl runs.

It answers 304 where a page has a validator and the request names it, and keeps every request with
its conditions. A page may lie: ``always_304`` answers 304 to every condition, and ``changed_now``
sends the time of each response as Last-Modified.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


@dataclass
class Shown:
    """What a path shows at this moment."""

    body: str
    etag: str = ""
    last_modified: str = ""
    status: int = 200
    media_type: str = "text/html; charset=utf-8"
    always_304: bool = False
    changed_now: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


class Asked(NamedTuple):
    """One request: its path, its conditions, the status of the answer."""

    path: str
    if_none_match: str
    if_modified_since: str
    status: int


class ChangingWeb:
    """The server, for a ``with`` block; tests change ``pages`` and read ``asked``."""

    def __init__(self, pages: Mapping[str, Shown]) -> None:
        self.pages = dict(pages)
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        """The authority of its URLs."""
        return f"127.0.0.1:{self._server.server_port}"

    def url(self, path: str = "/") -> str:
        """The URL of a path."""
        return f"http://{self.host}{path}"

    def asked_for(self, path: str) -> list[Asked]:
        """The requests of a path so far."""
        return [each for each in self.asked if each.path == path]

    def _answer(self, path: str, tag: str, since: str) -> Shown:
        page = self.pages.get(path, Shown("<h1>404</h1>", status=404))
        is_known = (tag and tag == page.etag) or (not tag and since and since == page.last_modified)
        if page.status == 200 and (is_known or (page.always_304 and (tag or since))):
            page = Shown("", status=304, etag=page.etag, last_modified=page.last_modified)
        self.asked.append(Asked(path, tag, since, page.status))
        return page

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                tag = self.headers.get("If-None-Match", "")
                page = web._answer(self.path, tag, self.headers.get("If-Modified-Since", ""))
                body = page.body.encode()
                self.send_response(page.status)
                now = self.date_time_string()
                for name, value in (
                    ("ETag", page.etag),
                    ("Last-Modified", now if page.changed_now else page.last_modified),
                    *page.headers.items(),
                ):
                    if value:
                        self.send_header(name, value)
                if page.status != 304:
                    self.send_header("Content-Type", page.media_type)
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nothing: the test reads ``asked``."""

        return Handler
