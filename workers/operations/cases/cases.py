"""Makes, lists and withdraws cases."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from cleaning.document.raw_page import RawPage
from cleaning.errors import ConfigError, NotFound
from cleaning.urls.normal_form import normalize, page_id
from cleaning.why.verdicts import explain
from storage.store.cases import (
    MOST_CASE_BYTES,
    MOST_CASES,
    Case,
    CasePage,
    CaseSubject,
    case_id_of,
    packed,
)
from storage.store.protocol import Store
from workers.answers.cases import CaseDetails, CaseLine, CaseState
from workers.answers.making import answer_of
from workers.config import Settings
from workers.operations.backends import existing_store
from workers.operations.cases.golden import clean_case, corrected, settled, shown
from workers.operations.cases.parts import Part, find_part, right_value
from workers.operations.pages.judged_page import raw_page
from workers.site_models import SiteModels

MOST_NOTE_CHARS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A part of a stored page as the cleaner reads it now, ready to be reported.

    Attributes:
        page_id: 32 hex digits.
        crawl_id: The crawl that fetched the page.
        host: Its host.
        url: Its URL.
        part: The part.
        page: The page.
        before: The case about this part that is stored already; None without one.
        others: Cases about other parts of the page.
    """

    page_id: str
    crawl_id: str
    host: str
    url: str
    part: Part
    page: CasePage
    before: Case | None
    others: int


def read_part(settings: Settings, url: str, crawl: str, name: str) -> Reading:
    """Returns a part of a page that somebody wants to report; stores nothing.

    Args:
        settings: Where the store is.
        url: URL of the page.
        crawl: Whose answer and record; ``""``: the newest of all.
        name: The part: ``text 31``.

    Raises:
        NotFound: No answer of the page is archived, or it has no such part.
        ConfigError: The name is none, or the page is too long.
        InvalidUrl: The URL is none.
    """
    with existing_store(settings) as store:
        return _read_part(store, page_id(normalize(url)), crawl, name)


def _read_part(store: Store, of_page: str, crawl: str, name: str) -> Reading:
    raw = raw_page(store, of_page, crawl or None)
    crawl = raw.provenance.crawl_id if raw.provenance else crawl
    body = store.answers.body(of_page, crawl or None) or b""
    record = store.records.get(of_page, crawl or None)
    version = record.model_version if record else 0
    model = SiteModels(store, most=1).version(raw.host, version)
    stored = store.models.get(raw.host, version) if model else None
    content_type = next((v for k, v in raw.headers if k.lower() == "content-type"), "")
    again, verdicts = explain(
        RawPage.from_bytes(raw.url, body, content_type or None, fetched_at=raw.fetched_at), model
    )
    page = CasePage(
        url=raw.url,
        fetched_at=raw.fetched_at,
        content_type=content_type,
        body=body,
        model=stored.text if stored else "",
        found=json.dumps(shown(again)),
    )
    part = find_part(name, again, verdicts)
    case_id = case_id_of(of_page, page.digest, part.subject, part.place)
    known = store.cases.of_page(of_page)
    return Reading(
        page_id=of_page,
        crawl_id=crawl,
        host=raw.host,
        url=raw.url,
        part=part,
        page=page,
        before=next((case for case in known if case.case_id == case_id), None),
        others=sum(case.case_id != case_id for case in known),
    )


def report(settings: Settings, reading: Reading, wanted: str, note: str, who: str) -> Case:
    """Stores what is right for a part of a page; a case about it that is stored is replaced.

    Args:
        settings: Where the store is.
        reading: The part.
        wanted: What is right, as ``right_value`` reads it.
        note: Why, in words for a person.
        who: Who reports it.

    Raises:
        ConfigError: What is right is none of the choices, the page is too large, or too many cases
            are stored.
    """
    part, page = reading.part, reading.page
    case = Case(
        case_id=case_id_of(reading.page_id, page.digest, part.subject, part.place),
        page_id=reading.page_id,
        crawl_id=reading.crawl_id,
        host=reading.host,
        url=reading.url,
        subject=part.subject,
        place=part.place,
        text=part.text,
        start=part.start,
        chars=part.chars,
        was=part.was,
        rule=part.rule,
        wanted=right_value(part, wanted),
        note=" ".join(note.split())[:MOST_NOTE_CHARS],
        who=who,
        at=datetime.now(UTC),
        digest=page.digest,
    )
    size = sum(map(len, packed(page).values()))
    if size > MOST_CASE_BYTES:
        raise ConfigError(f"the page has {size:,} bytes packed, more than a case holds")
    with existing_store(settings) as store:
        if reading.before is None and store.cases.count() >= MOST_CASES:
            raise ConfigError(f"{MOST_CASES:,} cases are stored: export them and withdraw some")
        store.cases.put(case, page)
    return case


def withdraw(settings: Settings, case_id: str) -> Case:
    """Deletes a case, and returns it.

    Raises:
        NotFound: There is none of this id.
    """
    with existing_store(settings) as store:
        case = read_case(store, case_id)
        store.cases.delete(case_id)
    return case


def find_case(settings: Settings, case_id: str) -> Case:
    """Returns a case.

    Raises:
        NotFound: There is none of this id.
    """
    with existing_store(settings) as store:
        return read_case(store, case_id)


def read_case(store: Store, case_id: str) -> Case:
    """Returns a case of an open store.

    Raises:
        NotFound: There is none of this id.
    """
    case = store.cases.get(case_id)
    if case is None:
        raise NotFound(f"there is no case {case_id[:40]}")
    return case


def newest_cases(settings: Settings, limit: int) -> list[CaseLine]:
    """Returns the newest cases, at most ``limit``."""
    with existing_store(settings) as store:
        return [case_line(case) for case in store.cases.read(limit=limit)]


def case_line(case: Case) -> CaseLine:
    """A case as a line."""
    return answer_of(CaseLine, case, case=case.case_id, crawl=case.crawl_id, part=part_name(case))


def part_name(case: Case) -> str:
    """The part that a case is about: ``text 31``, ``title``."""
    return case.subject.value if case.place < 0 else f"{case.subject} {case.place}"


def case_details(store: Store, case: Case) -> CaseDetails:
    """Returns a case with what the cleaner makes of its page now: the page is cleaned.

    Raises:
        NotFound: It was withdrawn.
    """
    page = store.cases.page(case.case_id)
    if page is None:
        raise NotFound(f"there is no case {case.case_id}")
    state, differs = _state(case, page)
    line = case_line(case)
    values = {name: getattr(line, name) for name in CaseLine.__dataclass_fields__}
    return CaseDetails(**values, state=state, differs=differs)


def _state(case: Case, page: CasePage) -> tuple[CaseState, tuple[str, ...]]:
    if case.subject is CaseSubject.CRASH:
        return CaseState.NOT_TRIED, ()
    before = json.loads(page.found)
    try:
        now = shown(clean_case(page))
    except ConfigError:
        return CaseState.UNREADABLE, ()
    wanted = settled(corrected(before, [case]), now)
    differs = tuple(name for name in wanted if wanted[name] != now[name])
    if not differs:
        return CaseState.MENDED, ()
    return CaseState.STANDS if now == before else CaseState.CHANGED, differs
