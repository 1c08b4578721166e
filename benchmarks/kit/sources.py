"""Pages of the labelled data as they were fetched; those of the six sites with their kinds."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from benchmarks.kit.results import require_data
from benchmarks.kit.serving import labelled_sites

LINKS = "pages.jsonl.gz"
NO_URL = "http://page.example/"


@dataclass(frozen=True, slots=True)
class SitePage:
    """One file of a site and its path there; its kind is ``index``, ``content`` or ``""``."""

    site: str
    path: str
    kind: str
    body: bytes


def site_pages() -> Iterator[SitePage]:
    """Every file of every site, in the archive's order."""
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
    """A page of any part of the labelled data as it was fetched."""

    host: str
    url: str
    body: bytes


def every_source() -> Iterator[Source]:
    """Every page of the body data, the link data and the sites."""
    files = [*sorted(require_data("body").glob("*.jsonl.gz")), require_data("links") / LINKS]
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                url = row["url"] or NO_URL
                host = row.get("host") or urlsplit(url).netloc
                yield Source(host, url, base64.b64decode(row["html_base64"]))
    for page in site_pages():
        yield Source(page.site, f"http://{page.site}/{quote(page.path)}", page.body)
