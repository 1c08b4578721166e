"""A web server for host names that do not exist: an HTTP proxy that answers by itself.

``python -m tests.kit.named_web PAGES.json CERTIFICATE.pem`` prints its port. A client that uses
the port as its proxy gets the pages of ``https://news.example/`` and other names. A page is its
HTML, or an object with ``status``, ``headers``, ``body``, and for pages that need a log-in
``cookie`` and ``denied`` (the page of who has not sent the cookie). A host without any page is a
connection that breaks; a path without a page is a 404.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.kit.certificates import Authority
from tests.kit.server_process import ServerProcess
from tests.kit.web import Page, encoded


class NamedWeb(ServerProcess):
    """The server's process, for a ``with`` block."""

    def __init__(self, folder: Path, pages: Mapping[str, Page]) -> None:
        """Prepares a server of ``pages`` (URL -> page), and its certificate by ``ca_file``."""
        folder.mkdir(parents=True, exist_ok=True)
        self.hosts = sorted({str(urlsplit(url).hostname) for url in pages})
        authority = Authority(folder)
        certificate = authority.server_file(*self.hosts)
        self.ca_file = authority.ca_file
        given = folder / "pages.json"
        given.write_text(json.dumps(dict(pages)), "utf-8")
        super().__init__(
            [sys.executable, "-m", "tests.kit.named_web", str(given), str(certificate)]
        )

    @property
    def proxy(self) -> str:
        """URL of the proxy."""
        return f"http://127.0.0.1:{self.port}"


async def _answer(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    pages: Mapping[str, Page],
    context: ssl.SSLContext,
) -> None:
    hosts = {urlsplit(url).hostname for url in pages}
    base = ""
    try:
        while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
            method, target, _ = head.split(" ", 2)
            if method == "CONNECT":
                name = target.partition(":")[0]
                if name not in hosts:
                    break
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await writer.start_tls(context)
                base = f"https://{name}"
                continue
            writer.write(encoded(_page_of(pages, base + target, head)))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


def _page_of(pages: Mapping[str, Page], url: str, head: str) -> Mapping[str, Any]:
    page = pages.get(url, {"status": 404, "body": "<h1>404</h1>"})
    if isinstance(page, str):
        return {"body": page}
    sent = re.search(r"^cookie: (.*)$", head, flags=re.MULTILINE | re.IGNORECASE)
    if "cookie" in page and (sent is None or page["cookie"] not in sent[1].strip().split("; ")):
        return {"body": page["denied"]}
    return page


async def _serve(pages: Mapping[str, Page], certificate: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(
        lambda r, w: _answer(r, w, pages, context), "127.0.0.1", 0, limit=1 << 16
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[2]))
