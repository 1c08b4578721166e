"""Golden folders: a page with the record that it must give, as in ``tests/pages/``.

| file | holds |
|---|---|
| ``url`` | URL of the page |
| ``page.html`` | the response's bytes |
| ``expected.json`` | what ``shown`` must return for the record; not of a page that killed workers |
| ``fetched_at`` | when it was fetched, where words like "today" need it |
| ``content_type`` | the Content-Type header, where the charset needs it |
| ``model.json`` | the host's model that cleans it; without one the page is cleaned alone |
| ``cases.json`` | who reported what, of an exported case |
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cleaning.document.raw_page import RawPage
from cleaning.model.site_model import SiteModel
from cleaning.page import clean
from cleaning.records import CleanRecord, Via
from storage.store.cases import Case, CasePage, CaseSubject
from workers.operations.cases.parts import NOT_BODY

URL, PAGE, EXPECTED, FETCHED_AT = "url", "page.html", "expected.json", "fetched_at"
CONTENT_TYPE, MODEL, CASES = "content_type", "model.json", "cases.json"
_KIND, _REASON = 2, 3
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


def clean_case(page: CasePage) -> CleanRecord:
    """Cleans the page of a case, with the model that it has.

    Raises:
        ConfigError: The model is of another version of this program.
    """
    raw = RawPage.from_bytes(
        page.url, page.body, page.content_type or None, fetched_at=page.fetched_at
    )
    return clean(raw, SiteModel.from_json(page.model) if page.model else None)


def expected_of(folder: Path, found: Shown) -> Shown:
    """What a golden folder expects, with what its reports left open taken from what was found.

    A report of a link or an image gives its kind, not the rule that decides it: there
    ``expected.json`` has null for the reason.

    Args:
        folder: The folder.
        found: What the page gives.
    """
    return settled(json.loads((folder / EXPECTED).read_text("utf-8")), found)


def settled(expected: Shown, found: Shown) -> Shown:
    """What is expected, with null as reason of a link or an image replaced by what was found."""
    result = dict(expected)
    for name in ("links", "images"):
        theirs: Sequence[Any] = found.get(name, ())
        result[name] = [
            [*row[:_REASON], theirs[place][_REASON]]
            if row[_REASON] is None and place < len(theirs)
            else row
            for place, row in enumerate(expected[name])
        ]
    return result


def corrected(found: Shown, cases: Sequence[Case]) -> Shown:
    """What was found on a page, with what its cases say instead.

    Args:
        found: As ``shown`` returns it.
        cases: Cases of this page, all with one digest.
    """
    result: Shown = {**found, "body": list(found["body"])}
    texts = [case for case in cases if case.subject is CaseSubject.TEXT]
    for case in sorted(texts, key=lambda case: (case.start, case.place), reverse=True):
        result["body"] = _body_with(result["body"], case)
    for case in cases:
        if case.subject in (CaseSubject.LINK, CaseSubject.IMAGE):
            _set_kind(result, f"{case.subject}s", case)
        elif case.subject is not CaseSubject.TEXT:
            optional = (CaseSubject.AUTHOR, CaseSubject.PUBLISHED_AT)
            is_null = not case.wanted and case.subject in optional
            result[case.subject.value] = None if is_null else case.wanted
    return result


def _set_kind(result: Shown, name: str, case: Case) -> None:
    """Sets the kind of a link or an image; the frontier gets the link with this kind, too."""
    rows = [list(row) for row in result[name]]
    rows[case.place][_KIND:] = [case.wanted, None]
    result[name] = rows
    if case.subject is CaseSubject.LINK:
        result["outlinks"] = [
            [url, via, case.wanted if (url, via) == (case.text, Via.LINK) else kind]
            for url, via, kind in result["outlinks"]
        ]


def _body_with(lines: Sequence[str], case: Case) -> list[str]:
    """The lines of a body without a text that is not body, or with one that is.

    Places are counted in characters without white space: a line of the body may join texts of the
    page, and lines of code are indented as on the page.
    """
    before, rest = _split([] if list(lines) == [""] else lines, case.start)
    if case.wanted == NOT_BODY:
        _, rest = _split(rest, case.chars)
        return [*before, *rest] or [""]
    return [*before, *case.text.split("\n"), *rest]


def _split(lines: Sequence[str], chars: int) -> tuple[list[str], list[str]]:
    """Lines before and behind a number of characters that are no white space."""
    before: list[str] = []
    for number, line in enumerate(lines):
        own = sum(map(len, line.split()))
        if own <= chars:
            before.append(line)
            chars -= own
            continue
        if not chars:
            return before, list(lines[number:])
        place = _place_behind(line, chars)
        return [*before, line[:place].rstrip()], [line[place:].lstrip(), *lines[number + 1 :]]
    return before, []


def _place_behind(line: str, chars: int) -> int:
    """The place in a line behind a number of characters that are no white space."""
    for place, character in enumerate(line):
        if not chars:
            return place
        chars -= not character.isspace()
    return len(line)


def files_of(cases: Sequence[Case], page: CasePage) -> Mapping[str, bytes]:
    """The files of the golden folder of a page: name -> bytes.

    Args:
        cases: Cases of this page, at least one, all with one digest.
        page: The page.
    """
    told = [
        {
            "part": case.subject.value,
            "text": case.text,
            "was": case.was,
            "rule": case.rule,
            "wanted": case.wanted,
            "note": case.note,
            "who": case.who,
            "at": case.at.isoformat(),
        }
        for case in cases
    ]
    files = {
        URL: f"{page.url}\n".encode(),
        PAGE: page.body,
        FETCHED_AT: f"{page.fetched_at.isoformat()}\n".encode(),
        CASES: (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode(),
    }
    if page.found:
        files[EXPECTED] = as_text(corrected(json.loads(page.found), cases)).encode()
    if page.content_type:
        files[CONTENT_TYPE] = f"{page.content_type}\n".encode()
    if page.model:
        files[MODEL] = page.model.encode()
    return files
