"""Files and functions of the product that one page, one URL, one command and one screen enter.

Who mends something on such a way may have to read them: fewer are better. They are counted by the
interpreter's profiler, so that what only stands in the files does not count.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from crawlclean import RawPage, clean
from crawlclean.workers.cli import main
from tests.kit.console import console_of, settings_of
from tests.kit.crawls import crawlclean
from tests.kit.web import Web, html

PRODUCT = f"{Path(sys.modules['crawlclean'].__file__ or '').parent}/"
PAGES = 3  # a page found by a link of a found page: every step of the way is taken

# Runs in every process of a crawl: writes what is entered from the first call of a START on. The
# lines before it name FOLDER, for what it writes, and PRODUCT, the folder of what is noted.
OBSERVER = """
import os, sys, threading
STARTS = {"LeaseSource.leases": "spider", "clean_pages": "worker"}
began, seen = {}, set()
def note(frame, event, argument):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(PRODUCT):
        return
    role = began.get(os.getpid()) or STARTS.get(code.co_qualname)
    if role is None:
        return
    began[os.getpid()] = role
    if (role, code) not in seen:
        seen.add((role, code))
        with open(f"{FOLDER}/{os.getpid()}", "a") as file:
            file.write(f"{role}\\t{code.co_filename}\\t{code.co_qualname}\\n")
sys.setprofile(note)
threading.setprofile(note)
"""


@dataclass(frozen=True)
class Way:
    """What is entered on a way.

    Attributes:
        files: Of the product.
        functions: (file, name of the function in it).
    """

    files: frozenset[str]
    functions: frozenset[tuple[str, str]]

    def __str__(self) -> str:
        """The numbers, and the files for who wants to shorten the way."""
        return f"{len(self.files)} files, {len(self.functions)} functions: {sorted(self.files)}"


def way_of(call: Callable[[], object]) -> Way:
    """Returns what a call enters in this thread."""
    functions: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, argument: object) -> None:  # noqa: ARG001 - the profiler's
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PRODUCT):
            functions.add((name.removeprefix(PRODUCT), frame.f_code.co_qualname))

    gc.collect()
    gc.disable()  # what was used before ends at any call
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return Way(frozenset(file for file, _ in functions), frozenset(functions))


def way_of_a_page(cases: Path) -> Way:
    """Returns the median way of the golden pages through ``clean``, by number of functions."""
    ways = []
    for case in sorted(cases.iterdir()):
        if (case / "page.html").exists():
            url = case / "url"
            address = url.read_text("utf-8").strip() if url.exists() else "http://page.example/"
            page = RawPage.from_bytes(address, (case / "page.html").read_bytes())
            clean(page)  # caches are filled: a page of a crawl is rarely the first one
            ways.append(way_of(partial(clean, page)))
    return sorted(ways, key=lambda way: len(way.functions))[len(ways) // 2]


def way_of_a_url(data: Path) -> Way:
    """Returns the way of URLs from lease to acknowledgement, in spider and worker.

    Crawls a small site by the real command; ``data`` becomes its data folder.
    """
    folder = data.parent / f"{data.name}-ways"
    folder.mkdir()
    seen = folder / "seen"
    seen.mkdir()
    names = f"FOLDER, PRODUCT = {str(seen)!r}, {PRODUCT!r}\n"
    (folder / "sitecustomize.py").write_text(names + OBSERVER, "utf-8")
    links = {f"/{n}.html": f"Story {n}" for n in range(PAGES)}
    text = "The harbour master counted the boats of the morning, and went home."
    pages = {path: html(title, *[text] * 5, links=links) for path, title in links.items()}
    with Web(folder / "web", {**pages, "/": html("Boats", text, links=links)}) as web:
        options = ("--allow-private", "--data", str(data), "--delay", "0", "--workers", "1")
        places = os.pathsep.join([str(folder), str(Path(PRODUCT).parent)])
        crawlclean("run", web.url(), *options, env={"PYTHONPATH": places})
    rows = [
        line.split("\t") for file in seen.iterdir() for line in file.read_text("utf-8").splitlines()
    ]
    if {row[0] for row in rows} != {"spider", "worker"}:
        raise RuntimeError("a process of the crawl was not seen")
    functions = frozenset((file.removeprefix(PRODUCT), name) for _, file, name in rows)
    return Way(frozenset(file for file, _ in functions), functions)


def way_of_a_screen(data: Path, path: str) -> Way:
    """Returns the way of a page of the console that was answered before."""
    with console_of(settings_of(data)) as client:

        def call() -> None:
            client.get(path)

        call()
        return way_of(call)


def ways_of(cases: Path, folder: Path) -> dict[str, Way]:
    """Returns all ways; ``cases`` are golden folders, ``folder`` is an empty one."""
    data = folder / "data"
    return {
        "page": way_of_a_page(cases),
        "URL": way_of_a_url(data),
        "hosts": way_of_a_command("hosts", "--data", str(data)),
        "failures": way_of_a_command("failures", "--data", str(data)),
        "GET /hosts": way_of_a_screen(data, "/hosts"),
    }


def way_of_a_command(*arguments: str) -> Way:
    """Returns the way of a command that was called before in this process."""

    def call() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            main(arguments)

    call()
    return way_of(call)
