"""The served sites of a topic's data: pages, and their URLs on loopback."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PORT = 8830
NO_SITEMAP = "User-agent: *\nDisallow: /__f/\n"


class ServedSites:
    """Names of pages, ``w3school.test/index.html``, and their URLs on loopback."""

    def __init__(self, siteroot: Any, www: Path, port: int = PORT) -> None:
        """Reads the folders of pages with the data's own module; all hosts have one port."""
        self._port = port
        self._sites = {
            name: siteroot.Site(name, str(www))
            for name in sorted(siteroot.SITES)
            if (www / name).is_dir()
        }
        self._addresses = {name: str(siteroot.ip(name)) for name in self._sites}
        self._hosts = {f"{address}:{port}": name for name, address in self._addresses.items()}

    def urls(self, pages: Iterable[str]) -> list[str]:
        """Returns the URLs of those pages that are served."""
        return list(self._urls(pages))

    def _urls(self, pages: Iterable[str]) -> Iterator[str]:
        for page in pages:
            host, _, file = page.partition("/")
            site = self._sites[host]
            if file in site.files:
                yield f"http://{self._addresses[host]}:{self._port}{site.mount}/{file}"

    def page(self, url: str) -> str:
        """Returns the page of a URL, as links of the graph name it; else the URL."""
        found = self._resolve(url)
        return found[1] if found and found[0] == "file" else url

    def _resolve(self, url: str) -> tuple[str, str] | None:
        """``("file", "a.test/b.html")`` or ``("redir", "/b/")``; None: there is nothing."""
        parts = urlsplit(url)
        host = self._hosts.get(parts.netloc)
        found = self._sites[host].resolve(parts.path, parts.query) if host else None
        if found is None:
            return None
        kind, target = found
        return kind, f"{host}/{os.fsdecode(target)}" if kind == "file" else str(target)
