"""Names that no server knows, in a whole crawl."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.kit.crawls import ROOT, environment
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Web, html

PAGES = 20  # more than the spider has slots, several times


def test_look_ups_that_hang_hold_no_slot_of_pages(tmp_path: Path) -> None:
    """They held all slots of a spider, for up to half a minute each."""
    slow = {f"http://{i}.slow.test/": str(i) for i in range(24)}
    own = {f"/{i}": html(f"第{i}页") for i in range(PAGES)}
    home = html("首页", links={**slow, **{path: path for path in own}})
    with Web(tmp_path / "web", {"/robots.txt": "", "/": home, **own}) as web:
        names = {"good.test": "127.0.0.1"}
        run = subprocess.Popen(
            [
                sys.executable, "-m", "tests.kit.host_names", "run", f"http://good.test:{web.port}/",
                "--scope", "any", "--delay", "0.1", "--allow-private",
                "--data", str(tmp_path / "data"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=environment(
                CRAWLCLEAN_CONCURRENCY="4",
                CRAWLCLEAN_TEST_NAMES=json.dumps(names),
            ),
            start_new_session=True,
        )  # fmt: skip
        try:
            wait_until(lambda: len(web.requests()) == PAGES + 2, 50)
        finally:
            run.kill()
            run.communicate(timeout=LIMIT_S)
