"""What imports do not show: neither we nor our libraries leave the process or look around it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A process of its own, because modules are imported once and an audit hook stays.
WATCH = """
import os, sys

class Watched(dict):
    def refuse(self, *_):
        raise AssertionError("the environment was read")
    __getitem__ = __contains__ = __iter__ = get = items = keys = values = copy = refuse

home = os.environ["HOME"]
os.environ = os.environb = Watched()

def refuse(event, args):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork")):
        raise AssertionError(event)
    if event in ("os.mkdir", "os.rename", "os.remove", "os.chmod", "os.truncate", "os.utime"):
        raise AssertionError(f"{event} {args}")
    if event == "open":
        path, mode, flags = args
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC)
        if writes or str(path).startswith(home):
            raise AssertionError(f"open {args}")

sys.addaudithook(refuse)
"""

DOMAINS = """
from crawlclean.cleaning.urls.normal_form import domain_of, normalize
assert domain_of("news.example.com.cn") == "example.com.cn"
assert domain_of("a.b.unknown") == "b.unknown"
assert normalize("http://例子.中国/") == "http://xn--fsqu00a.xn--fiqs8s/"
"""

CLEAN = """
from crawlclean import RawPage, clean, learn_site
body = "<title>题目</title><p>正文很长。</p><a href=/a>链接</a>".encode()
page = RawPage.from_bytes("http://www.example.com/", body)
assert clean(page, learn_site([page])).title == "题目"
"""


def run_watched(code: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Runs code where every look outside is an error."""
    home.mkdir(mode=0o500)
    return subprocess.run(
        [sys.executable, "-B", "-X", "utf8", "-c", WATCH + code],
        cwd=ROOT,
        env={"HOME": str(home)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("code", [DOMAINS, CLEAN], ids=["domains", "clean"])
def test_nothing_outside_the_process_is_touched(tmp_path: Path, code: str) -> None:
    done = run_watched(code, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "os.environ.get('HOME')",
        "os.getenv('HOME')",
        "open(home + '/x', 'w')",
        "open('x', 'a')",
        "os.mkdir(home + '/x')",
    ],
)
def test_the_watch_bites(tmp_path: Path, code: str) -> None:
    done = run_watched(code, tmp_path / "home")
    assert "AssertionError" in done.stderr
    assert not (ROOT / "x").exists()
