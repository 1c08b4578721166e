"""A run with a host that fails and is mended: receivers hear of each once, also after kills."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.kit.changing_web import ChangingWeb, Shown
from tests.kit.commands import DataFolder
from tests.kit.crawls import start
from tests.kit.mail_server import MailServer
from tests.kit.receiver import Delivered, Receiver
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Web, html

PAGES = 400  # the crawl lasts longer than a sign takes to mend
FILE = """seeds = ["{seed}", "{other}"]
crawl = "news"
data = "data"
allow_private = true
delay_s = 0.5
mended_after_s = 1
console_url = "https://crawl.example.com"
smtp_server = "{mail}"
smtp_security = "none"

[receivers.oncall]
kind = "webhook"
target = "{hook}"
signs = "warn"
ended = true

[receivers.team]
kind = "mail"
target = "ops@example.com"
signs = "warn"
ended = true
lang = "zh"

[receivers.reader]
kind = "webhook"
target = "{hook}?reader"
"""


def told(receiver: Receiver) -> list[dict[str, Any]]:
    """What a webhook was told, each id once, as receivers read it."""
    notices = {each["id"]: each for got in receiver.got for each in got.json["data"]["notices"]}
    return list(notices.values())


def housekeeper_of(run_pid: int, besides: int = 0) -> int:
    """Process id of the housekeeper that a `run` has started."""
    found = 0

    def look() -> bool:
        nonlocal found
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError):
                title = (folder / "cmdline").read_bytes()
                session = int((folder / "stat").read_text().rsplit(") ", 1)[1].split()[1])
                if b"housekeeper" in title and session and _descends(int(folder.name), run_pid):
                    found = int(folder.name)
        return found not in (0, besides)

    wait_until(look, LIMIT_S)
    return found


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])
    return False


def test_a_failing_host_is_one_message_and_one_when_it_is_mended(tmp_path: Path) -> None:
    links = {f"/{n}": f"第 {n} 页" for n in range(PAGES)}
    pages = {path: html(text, text * 60) for path, text in links.items()}
    release, killed = threading.Event(), threading.Event()

    def answer(_: Delivered) -> int:
        if not killed.is_set():
            release.wait(LIMIT_S)
        return 204

    with (
        Web(tmp_path / "web", {"/": html("首页", links=links), **pages}) as web,
        ChangingWeb({"/": Shown("", status=404)}) as site,
        Receiver(answer) as hook,
        MailServer() as mail,
    ):
        file = tmp_path / "crawl.toml"
        names = {
            "seed": web.url(),
            "other": f"http://{site.host}/",
            "hook": hook.url,
            "mail": mail.address,
        }
        file.write_text(FILE.format(**names), "utf-8")
        run = start("run", str(file), "--json")
        try:
            wait_until(lambda: bool(hook.got), LIMIT_S)
            first = housekeeper_of(run.pid)
            os.kill(first, signal.SIGKILL)  # with the message on its way
            killed.set()
            release.set()
            housekeeper_of(run.pid, besides=first)
            wait_until(lambda: len(hook.got) > 1, LIMIT_S)
            wait_until(lambda: bool(mail.got), LIMIT_S)
            folder = DataFolder(tmp_path / "data")
            site.pages["/"] = Shown(html("新闻", "今天的新闻。" * 30))
            folder.output("crawl", "retry", "news", "--reason", "http_status")
            wait_until(lambda: len(told(hook)) == 2, LIMIT_S)
            wait_until(lambda: len(mail.got) == 2, LIMIT_S)
        finally:
            run.send_signal(signal.SIGTERM)
            out, err = run.communicate(timeout=LIMIT_S)
        assert json.loads(out)["records"] > 1, err
    failed, mended, ended = told(hook)
    assert (failed["type"], failed["level"], failed["kind"]) == ("sign", "warn", "seed")
    assert failed["title"] == f"{site.host}: seed failed"
    assert failed["text"].startswith("1 of 2 seeds gave no record: ")
    assert failed["url"].startswith("https://crawl.example.com/failures?")
    assert (mended["type"], mended["level"]) == ("mended", "ok")
    assert mended["id"].partition(":")[2] == failed["id"].partition(":")[2]
    assert (ended["type"], ended["crawl"]) == ("ended", "news")
    assert ended["title"] == "Crawl news: stopped"
    sent = [got.headers["webhook-id"] for got in hook.got]
    assert len(set(sent)) == 3, "what was killed on its way came again with its id"
    assert all("?reader" not in got.path for got in hook.got), "it wants nothing"
    subjects = [each.message["Subject"] for each in mail.got]
    assert subjects[:2] == [f"🟡 {site.host}：种子失败", f"✅ 已解决：{site.host}：种子失败"]
    assert "任务 news：已停止" in subjects[2]
    log = folder.rows("receivers", "oncall", "--log", "--json")
    assert [each["text"] for each in reversed(log) if not each["error"]][-1] == ended["title"]
