"""Reported verdicts: what people say the cleaning got wrong, to be exported as test cases."""

from __future__ import annotations

import re

from flask import Response, abort

from workers import __dist__
from workers.console.routes import Console, Page, Routes, asked_limit, asked_number, render
from workers.operations.cases.cases import part_name
from workers.operations.watching.journal import list_cases
from workers.operations.watching.views.cases import (
    show_one,
    zip_of_all,
    zip_of_case,
)

CASE_ID = re.compile(r"[0-9a-f]{16}")
LEVELS = {"stands": "bad", "mended": "ok", "changed": "warn", "unreadable": "", "not_tried": "bad"}
COMMAND = f"{__dist__} cases --export FOLDER"


def register(routes: Routes) -> None:
    """Adds the pages."""
    routes.page("/cases", show_cases)
    routes.page("/cases.zip", export_cases)
    routes.page("/cases/<case_id>", show_case)
    routes.page("/cases/<case_id>/folder.zip", export_case)


def show_cases(console: Console) -> Page:
    """The cases, newest first."""
    page = list_cases(console.backends, asked_number(), asked_limit())
    return render("cases.html", page=page, command=COMMAND)


def show_case(console: Console, case_id: str) -> Page:
    """One case: the page, what was found, what is wanted, and what the cleaner finds now."""
    case, now_found = show_one(console.backends, _checked(case_id))
    return render(
        "case.html", case=case, now_found=now_found, part=part_name(case),
        levels=LEVELS,
    )  # fmt: skip


def export_case(console: Console, case_id: str) -> Page:
    """The golden folder of one page."""
    name, data = zip_of_case(console.backends, _checked(case_id))
    return _download(f"{name}.zip", data)


def export_cases(console: Console) -> Page:
    """The golden folders of all pages with cases."""
    return _download("cases.zip", zip_of_all(console.backends))


def _checked(case_id: str) -> str:
    """The id of an address; 404 for a text that is none."""
    if not CASE_ID.fullmatch(case_id):
        abort(404)
    return case_id


def _download(name: str, data: bytes) -> Response:
    safe = re.sub(r"[^a-zA-Z0-9._-]", "_", name)
    headers = {"Content-Disposition": f'attachment; filename="{safe}"'}
    return Response(data, 200, headers, content_type="application/zip")
