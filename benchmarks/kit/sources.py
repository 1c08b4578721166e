"""Pages of the labelled data as they were fetched; pages of the six sites with their kinds."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks.kit.results import require_data
from benchmarks.kit.serving import labelled_sites

NO_URL = "http://page.example/"  # of pages whose URL is unknown


def rows_of(file: Path) -> Iterator[dict[str, Any]]:
    """Yields the rows of a labelled file, one JSON object a line (``forum/discuz.jsonl.gz``)."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def link_rows() -> Iterator[dict[str, Any]]:
    """Yields the pages with labelled links and images."""
    yield from rows_of(require_data("links") / "pages.jsonl.gz")


@dataclass(frozen=True, slots=True)
class SitePage:
    """A file of a site: its path in the site, its kind (``index``, ``content`` or ``""``)."""

    site: str
    path: str
    kind: str
    body: bytes


def site_pages() -> Iterator[SitePage]:
    """Yields every file of every site, in the order of the archive."""
    labels = labelled_sites()
    with tarfile.open(require_data("sites") / "www.tar.xz", "r|xz") as archive:
        for member in archive:
            _, _, place = member.name.partition("www/")
            site, _, path = place.partition("/")
            file = archive.extractfile(member) if member.isfile() and site in labels else None
            if file is None:
                continue
            gold = labels[site]["gold"]
            kinds = [kind for kind in ("index", "content") if re.search(gold[kind], path)]
            yield SitePage(site, path, kinds[0] if kinds else "", file.read())


@dataclass(frozen=True, slots=True)
class Source:
    """A page of any part of the labelled data: host, URL and the bytes of the response."""

    host: str
    url: str
    body: bytes


def every_source() -> Iterator[Source]:
    """Yields every page of the body data, the link data and the sites."""
    bodies = [rows_of(file) for file in sorted(require_data("body").glob("*.jsonl.gz"))]
    for row in chain(*bodies, link_rows()):
        url = row["url"] or NO_URL
        host = row.get("host") or urlsplit(url).netloc
        yield Source(host, url, base64.b64decode(row["html_base64"]))
    for page in site_pages():
        yield Source(page.site, f"http://{page.site}/{quote(page.path)}", page.body)
