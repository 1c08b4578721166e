"""Reported verdicts, for the console."""

from __future__ import annotations

from storage.store.cases import Case
from workers.answers.cases import CaseDetails
from workers.operations.cases.cases import (
    case_details,
    read_case,
)
from workers.operations.cases.exporting import folder_of, folders, zip_of
from workers.operations.watching.kept_backends import KeptBackends


def show_one(backends: KeptBackends, case_id: str) -> tuple[Case, CaseDetails]:
    """Returns a case, and what the cleaner makes of its page now.

    Raises:
        NotFound: There is none of this id.
    """
    with backends.store() as store:
        case = read_case(store, case_id)
        return case, case_details(store, case)


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
