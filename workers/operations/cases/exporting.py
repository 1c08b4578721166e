"""Cases as golden folders: in a folder of this machine, or as a zip file in memory."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cleaning.errors import ConfigError, NotFound
from storage.store.cases import Case, CasePage
from storage.store.codec import to_microseconds
from storage.store.protocol import Store
from workers.answers.cases import CaseFolder
from workers.config import Settings
from workers.operations.backends import existing_store
from workers.operations.cases.golden import files_of

MOST_ZIP_BYTES = 32 << 20
"""Bytes of the files of a zip file, which is made in memory."""
MOST_ZIP_FOLDERS = 500
READ_CASES = 200


@dataclass(frozen=True, slots=True)
class Folder:
    """A golden folder that is not written yet.

    Attributes:
        name: ``www.example.com_4f1193a0_0c27be``: host, page, and its digest.
        page: Its page.
        cases: Its cases, the oldest first.
    """

    name: str
    page: CasePage
    cases: Sequence[Case]

    @property
    def files(self) -> Mapping[str, bytes]:
        """Name -> bytes."""
        return files_of(self.cases, self.page)


def folders(store: Store) -> Iterator[Folder]:
    """Yields a folder for each page with cases, of the newest case first."""
    done: set[tuple[str, str]] = set()
    before: int | None = None
    while True:
        found = store.cases.read(before, READ_CASES)
        for case in found:
            if (case.page_id, case.digest) not in done:
                done.add((case.page_id, case.digest))
                yield folder_of(store, case)
        if len(found) < READ_CASES:
            return
        before = to_microseconds(found[-1].at)


def folder_of(store: Store, case: Case) -> Folder:
    """The folder of the page of a case: with all cases of this page, cleaned the same way.

    Raises:
        NotFound: The case was withdrawn.
    """
    page = store.cases.page(case.case_id)
    if page is None:
        raise NotFound(f"there is no case {case.case_id}")
    of_page = [each for each in store.cases.of_page(case.page_id) if each.digest == case.digest]
    host = re.sub(r"[^a-z0-9.-]", "_", case.host)[:100].lstrip(".")
    return Folder(f"{host}_{case.page_id[:8]}_{case.digest[:6]}", page, of_page)


def export_cases(settings: Settings, into: Path) -> Iterator[CaseFolder]:
    """Writes the golden folder of each page with cases; yields what it wrote.

    A folder that is there is written anew: its page is the same.

    Args:
        settings: Where the store is.
        into: Created if it does not exist: ``tests/pages``.

    Raises:
        ConfigError: A file cannot be written.
    """
    with existing_store(settings) as store:
        for folder in folders(store):
            place = into / folder.name
            try:
                place.mkdir(parents=True, exist_ok=True)
                for name, data in folder.files.items():
                    (place / name).write_bytes(data)
            except OSError as error:
                raise ConfigError(f"{place} cannot be written: {error}") from error
            yield CaseFolder(
                folder=str(place),
                url=folder.page.url,
                cases=tuple(case.case_id for case in folder.cases),
            )


def zip_of(found: Iterator[Folder]) -> bytes:
    """Returns a zip file of golden folders.

    Raises:
        ConfigError: They are more or larger than a zip file in memory may be.
    """
    held = io.BytesIO()
    size = count = 0
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for folder in found:
            count += 1
            for name, data in folder.files.items():
                size += len(data)
                if size > MOST_ZIP_BYTES or count > MOST_ZIP_FOLDERS:
                    raise ConfigError(
                        f"the cases have over {MOST_ZIP_FOLDERS} pages or {MOST_ZIP_BYTES >> 20} "
                        "MB: `cases --export FOLDER` writes them"
                    )
                at = folder.cases[-1].at if folder.cases else folder.page.fetched_at
                info = zipfile.ZipInfo(f"{folder.name}/{name}", at.timetuple()[:6])
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, data)
    return held.getvalue()
