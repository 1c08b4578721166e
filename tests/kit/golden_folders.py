"""The pages of golden folders, cleaned; ``workers/operations/cases/golden.py`` has the format."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from cleaning.records import CleanRecord
from storage.store.cases import CasePage
from workers.operations.cases.golden import (
    CONTENT_TYPE,
    FETCHED_AT,
    MODEL,
    PAGE,
    URL,
    clean_case,
)


def read_folder(folder: Path) -> CleanRecord:
    """Cleans the page of a golden folder.

    Raises:
        OSError: A file cannot be read.
        ConfigError: The model is of another host, or of another version of this program.
    """
    model = folder / MODEL
    return clean_case(
        CasePage(
            url=(folder / URL).read_text("utf-8").strip(),
            fetched_at=datetime.fromisoformat(_text(folder / FETCHED_AT) or "1970-01-01T00:00Z"),
            content_type=_text(folder / CONTENT_TYPE),
            body=(folder / PAGE).read_bytes(),
            model=model.read_text("utf-8") if model.exists() else "",
            found="",
        )
    )


def _text(path: Path) -> str:
    return path.read_text("utf-8").strip() if path.exists() else ""
