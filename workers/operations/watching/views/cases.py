"""Reported verdicts, for the console."""

from __future__ import annotations

from dataclasses import dataclass

from cleaning.errors import NotFound
from storage.store.cases import Case
from workers.answers.cases import CaseDetails
from workers.operations.cases.cases import (
    CaseList,
    case_details,
    list_cases,
    read_case,
)
from workers.operations.cases.exporting import folder_of, folders, zip_of
from workers.operations.watching.kept_backends import KeptBackends


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCase:
    """A case, and what the cleaner makes of its page now.

    Attributes:
        case: The case.
        now: The same, with what the cleaner makes of it.
    """

    case: Case
    now: CaseDetails


def cases_of_console(backends: KeptBackends, before: int | None, limit: int) -> CaseList:
    """Returns cases, newest first; there are none before the first crawl."""
    try:
        with backends.store() as store:
            return list_cases(store, before, limit)
    except NotFound:
        return CaseList([], 0)


def show_one(backends: KeptBackends, case_id: str) -> ShownCase:
    """Returns a case; its page is cleaned.

    Raises:
        NotFound: There is none of this id.
    """
    with backends.store() as store:
        case = read_case(store, case_id)
        return ShownCase(case=case, now=case_details(store, case))


def zip_of_case(backends: KeptBackends, case_id: str) -> tuple[str, bytes]:
    """Returns (name, bytes) of a zip file with the golden folder of a case's page.

    Raises:
        NotFound: There is none of this id.
        ConfigError: It is too large.
    """
    with backends.store() as store:
        folder = folder_of(store, read_case(store, case_id))
    return folder.name, zip_of(iter((folder,)))


def zip_of_all(backends: KeptBackends) -> bytes:
    """Returns a zip file with the golden folder of each page with cases.

    Raises:
        ConfigError: They are too many or too large.
    """
    with backends.store() as store:
        return zip_of(folders(store))
