"""Golden folders: a page with the record that it must give, as in ``tests/pages/``.

| file | holds |
|---|---|
| ``url`` | URL of the page |
| ``page.html`` | the response's bytes |
| ``expected.json`` | what ``shown`` must return for the record; not of a page that killed workers |
| ``fetched_at`` | when it was fetched, where words like "today" need it |
| ``content_type`` | the Content-Type header, where the charset needs it |
| ``model.json`` | the host's model that cleans it; without one the page is cleaned alone |
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.records import CleanRecord

URL, PAGE, EXPECTED, FETCHED_AT = "url", "page.html", "expected.json", "fetched_at"
CONTENT_TYPE, MODEL = "content_type", "model.json"
KIND, REASON = 2, 3
"""Columns of the rows of links and images."""

Shown = dict[str, Any]
"""What ``shown`` returns, as JSON values."""


def shown(record: CleanRecord) -> Shown:
    """What a golden folder holds of a record, as JSON values."""
    return {
        "kind": record.kind.value,
        "title": record.title,
        "author": record.author,
        "published_at": record.published_at and record.published_at.isoformat(),
        "canonical_url": record.canonical_url,
        "language": record.language,
        "encoding": record.encoding,
        "body": record.body.split("\n"),
        "links": [[x.url, x.text, x.kind.value, x.reason.value] for x in record.links],
        "images": [
            [x.url, x.caption or x.alt, x.kind.value, x.reason.value] for x in record.images
        ],
        "outlinks": [[x.url, x.via.value, x.kind.value] for x in record.outlinks],
        "warnings": [[x.kind.value, x.count] for x in record.warnings],
    }


def as_text(values: Shown) -> str:
    """The text of ``expected.json``."""
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def expected_of(folder: Path, found: Shown) -> Shown:
    """What a golden folder expects, with what it leaves open taken from what was found.

    Who says the kind of a link or an image does not say the rule that decides it: there
    ``expected.json`` has null for the reason.

    Args:
        folder: The folder.
        found: What the page gives.
    """
    expected: Shown = json.loads((folder / EXPECTED).read_text("utf-8"))
    for name in ("links", "images"):
        for row, theirs in zip(expected[name], found[name], strict=False):
            if row[REASON] is None:
                row[REASON] = theirs[REASON]
    return expected


def raw_of(folder: Path) -> tuple[RawPage, SiteModel | None]:
    """The page of a golden folder, and the model that cleans it.

    Raises:
        OSError: A file cannot be read.
        ConfigError: The model is of another version of this program.
    """
    at = datetime.fromisoformat(_text(folder / FETCHED_AT) or "1970-01-01T00:00Z")
    url, content_type = _text(folder / URL), _text(folder / CONTENT_TYPE) or None
    page = RawPage.from_bytes(url, (folder / PAGE).read_bytes(), content_type, fetched_at=at)
    model = _text(folder / MODEL)
    return page, SiteModel.from_json(model) if model else None


def read_folder(folder: Path) -> CleanRecord:
    """Cleans the page of a golden folder; errors as in ``raw_of``."""
    return clean(*raw_of(folder))


def _text(path: Path) -> str:
    return path.read_text("utf-8").strip() if path.exists() else ""
