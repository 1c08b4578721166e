"""Golden pages: ``<case>/page.html`` from ``<case>/url`` must give ``<case>/expected.json``.

A case with ``expected_markdown.txt`` is also checked for its Markdown; one with ``fetched_at`` was
fetched then.

``python -m tests.pages.test_pages`` writes the expected files anew; read the difference before
committing it.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from cleaning import CleanRecord, RawPage, clean

HERE = Path(__file__).parent
CASES = sorted(path.parent.name for path in HERE.glob("*/page.html"))


def read(case: str) -> CleanRecord:
    url = (HERE / case / "url").read_text("utf-8").strip()
    stamp = HERE / case / "fetched_at"
    at = datetime.fromisoformat(stamp.read_text("utf-8").strip()) if stamp.exists() else None
    body = (HERE / case / "page.html").read_bytes()
    return clean(RawPage.from_bytes(url, body, fetched_at=at))


def shown(record: CleanRecord) -> dict[str, object]:
    return {
        "kind": record.kind,
        "title": record.title,
        "author": record.author,
        "published_at": record.published_at and record.published_at.isoformat(),
        "canonical_url": record.canonical_url,
        "language": record.language,
        "encoding": record.encoding,
        "body": record.body.split("\n"),
        "links": [[x.url, x.text, x.kind, x.reason] for x in record.links],
        "images": [[x.url, x.caption or x.alt, x.kind, x.reason] for x in record.images],
        "outlinks": [[x.url, x.via, x.kind] for x in record.outlinks],
        "warnings": [[x.kind, x.count] for x in record.warnings],
    }


@pytest.mark.parametrize("case", CASES)
def test_golden_page(case: str) -> None:
    expected = json.loads((HERE / case / "expected.json").read_text("utf-8"))
    assert json.loads(json.dumps(shown(read(case)))) == expected


@pytest.mark.parametrize(
    "case", [case for case in CASES if (HERE / case / "expected_markdown.txt").exists()]
)
def test_golden_markdown(case: str) -> None:
    assert read(case).markdown + "\n" == (HERE / case / "expected_markdown.txt").read_text("utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) >= 7


if __name__ == "__main__":
    for name in CASES:
        text = json.dumps(shown(read(name)), ensure_ascii=False, indent=1)
        (HERE / name / "expected.json").write_text(text + "\n", "utf-8")
        if (HERE / name / "expected_markdown.txt").exists():
            (HERE / name / "expected_markdown.txt").write_text(read(name).markdown + "\n", "utf-8")
