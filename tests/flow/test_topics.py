"""A topic crawl with the real program: killed, resumed, marked, edited, asked.

More than 400 lines: all tests share one crawl, which takes half a minute.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest
from lxml.etree import parse

from crawlclean.storage import opening
from crawlclean.storage.queue.embedded import DataLock
from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.commands import DataFolder, valid
from tests.kit.console import open_console
from tests.kit.crawls import crawlclean, start
from tests.kit.receiver import Delivered, Receiver
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.topic_web import EXAMPLE, PORTAL, QUAKES, QUERY, RECIPES, RELIEF, SPORTS, topic_web
from tests.kit.web import Web, html
from tests.storage.store.receivers_contract import put_receiver

ARTICLES = 12
DELAY_S = "0.1"
DRY = ("--dry-after", "40")
KILLED_AFTER = 12  # requests: the learner has had a batch, and most pages wait

ATOM = "{http://www.w3.org/2005/Atom}"


@dataclass(frozen=True)
class Crawled:
    """A topic crawl that was killed and resumed.

    Attributes:
        folder: Its data folder.
        port: Of all hosts of the web.
        end: What the command printed at the end.
        requests: Times that each page was asked for.
        order: Addresses of the hosts that articles were asked of, in order.
        told: What the webhook got.
        states: What `topics`, `--show` and `--report` said of it: running, then killed.
        web: The servers by address.
    """

    folder: DataFolder
    port: int
    end: str
    requests: dict[str, int]
    order: list[str]
    told: list[Delivered]
    states: list[set[tuple[str, str]]]
    web: Mapping[str, Web]

    def url(self, address: str, path: str) -> str:
        return f"http://{address}:{self.port}{path}"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A crawl that is killed with all its processes, then resumed; a second topic in between."""
    place = tmp_path_factory.mktemp("topic")
    example = place / "example.txt"
    example.write_text(EXAMPLE, "utf-8")
    data = ("--allow-private", "--delay", DELAY_S, "--data", str(place / "data"))
    with topic_web(place / "web", ARTICLES) as web, Receiver() as receiver:
        seeds = place / "seeds.txt"
        seeds.write_text(web[PORTAL].url("/") + "\n", "utf-8")
        words = ("--seeds", str(seeds), "--query", QUERY, "--examples", str(example))
        hooked = (*words, "--webhook", receiver.url)
        killed = start("topic", "quake", *hooked, *data)
        folder = DataFolder(place / "data")
        wait_until(lambda: sum(len(each.log()) for each in web.values()) >= KILLED_AFTER, LIMIT_S)
        states = [shown_states(folder)]
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        states.append(shown_states(folder))
        sports = ("--seeds", web[SPORTS].url("/list.html"), "--query", "联赛 主队")
        crawlclean("topic", "体育赛事", *sports, *DRY, *data)
        done = crawlclean("topic", "quake", *DRY, *data[-2:])
        requests = {
            each.url(path): times
            for each in web.values()
            for path, times in each.requests().items()
        }
        log = sorted(
            (at, address)
            for address, each in web.items()
            for at, _, path in each.log()
            if path.startswith("/a/")
        )
        order = [address for _, address in log]
        yield Crawled(
            folder, web[PORTAL].port, done.stdout, requests, order, receiver.got, states, web
        )


def shown_states(folder: DataFolder) -> set[tuple[str, str]]:
    """(state, note) of topic quake, as each command says it."""
    (listed,) = folder.rows("topics", "--json")
    (shown,) = folder.rows("topic", "quake", "--show", "--json")
    (report,) = folder.rows("topic", "quake", "--report", "--json")
    return {(each["state"], each["note"]) for each in (listed, shown, report["topic"])}


@pytest.fixture
def copy(crawled: Crawled, tmp_path: Path) -> DataFolder:
    """The data folder for a test that changes it."""
    shutil.copytree(crawled.folder.data, tmp_path / "data")
    return DataFolder(tmp_path / "data")


def relevant(crawled: Crawled) -> set[str]:
    """The URLs of the pages on earthquakes."""
    return {
        crawled.url(address, f"/a/{n}.html")
        for address in (QUAKES, RELIEF)
        for n in range(1, ARTICLES + 1)
    }


def test_a_killed_topic_goes_on_and_loses_nothing(crawled: Crawled) -> None:
    topic, _ = crawled.folder.rows("topics", "--json")
    assert (topic["state"], topic["version"], topic["outdated"]) == ("ended", 1, 0)
    assert relevant(crawled) <= crawled.requests.keys()
    assert max(crawled.requests.values()) <= 2  # those in flight when it was killed, twice
    assert f"{topic['pages']} pages judged, {topic['relevant']} relevant" in crawled.end


def test_a_killed_topic_is_said_to_run_no_more(crawled: Crawled) -> None:
    alive, killed = crawled.states
    assert alive == {("running", "")}
    assert killed == {("ended", "no process runs it; `topic quake` goes on with it")}


def test_a_crawl_ends_when_its_last_records_brought_nothing(crawled: Crawled) -> None:
    topic, _ = crawled.folder.rows("topics", "--json")
    dry = re.search(r"none of the last (\d+) records is relevant; the same command", topic["note"])
    assert dry
    assert int(dry[1]) >= int(DRY[1])
    assert topic["state"] == "ended"


def test_good_links_are_preferred(crawled: Crawled) -> None:
    assert crawled.order.count(QUAKES) + crawled.order.count(RELIEF) >= 2 * ARTICLES
    assert crawled.order.count(RECIPES) < 30 * ARTICLES, "it ended before its last page"


def test_a_report_leaves_a_queue_at_rest_alone(copy: DataFolder) -> None:
    """Who starts the queue has the folder, and a crawl that begins in this second is refused."""

    def state() -> dict[Path, int]:
        files = (copy.data / "lock", *(copy.data / "queue").rglob("*"))
        return {each: each.stat().st_mtime_ns for each in files if each.exists()}

    before = state()
    (report,) = copy.rows("topic", "quake", "--report", "--json")
    assert (report["waiting"], state()) == (None, before)


def test_a_run_that_is_refused_changes_nothing(
    copy: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "TURN_S", 0.1)
    (before,) = copy.rows("topic", "quake", "--show", "--json")
    seeds = ("--seeds", "http://127.0.0.1:9/", "--allow-private")
    lock = DataLock(copy.data)
    try:
        for arguments in (("quake", "--query", "足球"), ("new", *seeds, "--query", "足球")):
            assert "in use" in copy.error("topic", *arguments)
    finally:
        lock.release()
    (after,) = copy.rows("topic", "quake", "--show", "--json")
    assert after == before
    assert "new" not in {row["topic"] for row in copy.rows("topics", "--json")}


def test_the_report_counts_the_harvest(crawled: Crawled) -> None:
    (report,) = crawled.folder.rows("topic", "quake", "--report", "--json")
    topic = report["topic"]
    found = {page["url"] for page in report["newest"]}
    assert len(found & relevant(crawled)) >= len(found) - 3
    assert report["stories"] + report["copies"] == topic["relevant"] >= 2 * ARTICLES
    for part in ("days", "hosts"):  # the sums of all parts agree
        for name in ("stories", "copies"):
            assert sum(each[name] for each in report[part]) == report[name]
        assert sum(each["pages"] for each in report[part]) == topic["pages"]
    assert sum(each["pages"] for each in report["harvest"]) == report["budget"]["pages"]
    hosts = {host["host"].partition(":")[0]: host for host in report["hosts"]}
    found_there = hosts[RELIEF]["stories"] + hosts[RELIEF]["copies"]
    assert found_there >= ARTICLES  # no list names this host
    assert {hosts[QUAKES]["pages"], hosts[RELIEF]["pages"]} == {ARTICLES + 1}
    text = crawled.folder.output("topic", "quake", "--report")
    assert "newest stories:" in text
    assert crawled.folder.output("topics").splitlines()[1].startswith("quake ")


def test_each_new_story_is_told_to_the_webhook(crawled: Crawled) -> None:
    (report,) = crawled.folder.rows("topic", "quake", "--report", "--json")
    (receiver,) = report["topic"]["receivers"]
    assert (receiver["waiting"], receiver["given_up"], receiver["last_error"]) == (0, 0, "")
    told = [each.data for each in crawled.told]
    by_id = {each["id"]: each for each in told}
    # More than the report's: two stories that proved to be one later were told as two, by one id
    # where this was known before the second was sent.
    assert receiver["sent"] >= len(by_id) >= report["stories"] > 0
    # One was on its way when its sender was killed.
    assert len(told) <= receiver["sent"] + 1
    assert len({each["url"] for each in told}) >= len(by_id)
    # Pages that were stored and not yet acknowledged at the kill are stored and counted again.
    assert receiver["sent"] + receiver["copies"] >= report["stories"] + report["copies"]
    assert {page["url"] for page in report["newest"]} & {each["url"] for each in told}
    assert all("地震" in each["title"] + each["excerpt"] for each in by_id.values())


def test_a_receiver_is_set_shown_and_removed_without_judging_anew(copy: DataFolder) -> None:
    secret = "x8Qf93kfmLqPz7dTA1bC2dE3"  # noqa: S105 - of nobody
    edit = ("topic", "quake", "--edit", "--webhook", f"https://hooks.example/{secret}")
    shown = copy.output(*edit)
    assert "webhook    https://hooks.example/***" in shown
    assert secret not in shown
    assert ", version 1, " in shown
    (topic,) = copy.rows("topic", "quake", "--edit", "--no-webhook", "--json")
    assert topic["receivers"] == []
    status, _, error = copy.call("topic", "quake", "--edit", "--webhook", "hooks.example")
    assert status == 2
    assert "begins with http" in error


def test_a_crawl_names_the_command_that_an_older_version_ran(copy: DataFolder) -> None:
    with closing(SqliteStore(copy.data / "records.sqlite")) as store:
        put_receiver(store, ReceiverKind.COMMAND)
    done = crawlclean("topic", "quake", "--max-pages", "1", "--data", str(copy.data))
    line = "the command of topic quake is not run any more: set a webhook"
    assert done.stderr.count(line) == 1


def test_the_report_is_one_file_for_a_browser(crawled: Crawled, tmp_path: Path) -> None:
    file = tmp_path / "new" / "quake.html"
    assert crawled.folder.output("topic", "quake", "--report", "--html", str(file)) == ""
    page = re.sub("</?mark>", "", file.read_text("utf-8"))
    assert page.startswith("<!DOCTYPE html>")
    (report,) = crawled.folder.rows("topic", "quake", "--report", "--json")
    assert all(each["title"] in page for each in report["newest"])
    assert 'aria-label="stories of each step"><svg' in page
    assert list(file.parent.iterdir()) == [file]


def test_page_feed_report_and_api_have_the_same_stories(crawled: Crawled, tmp_path: Path) -> None:
    folder, file = crawled.folder, tmp_path / "quake.atom"
    (report,) = folder.rows("topic", "quake", "--report", "--json")
    told = [story["url"] for story in report["newest"]]
    assert folder.output("topic", "quake", "--feed", str(file)) == ""
    links = [link.get("href") for link in parse(file).iter(f"{ATOM}link")]
    page = open_console(folder.data).get("/topics/quake").text
    shown = re.findall(r'class="original" href="([^"]+)"', page)
    assert links[: len(told)] == told == [unescape(url) for url in shown]
    for story in report["newest"]:
        assert all(word in f"{story['title']}{story['excerpt']}" for word in story["words"])


def test_the_digest_has_the_stories_of_a_day(crawled: Crawled, tmp_path: Path) -> None:
    day = crawled.folder.rows("topic", "quake", "--report", "--json")[0]["days"][-1]
    asked = ("topic", "quake", "--day", day["day"])
    (digest,) = crawled.folder.rows(*asked, "--report", "--json")
    assert len(digest["newest"]) == day["stories"]
    assert crawled.folder.output(*asked, "--feed", str(tmp_path / "day.atom")) == ""
    assert len(list(parse(tmp_path / "day.atom").iter(f"{ATOM}entry"))) == min(100, day["stories"])
    assert crawled.folder.output(*asked, "--report", "--html", str(tmp_path / "day.html")) == ""
    page = re.sub("</?mark>", "", (tmp_path / "day.html").read_text("utf-8"))
    assert digest["newest"][-1]["title"] in page
    wrong = ("topic", "quake", "--report", "--day", "friday")
    assert "not a day" in crawled.folder.error(*wrong, status=2)
    assert "--day DAY goes with" in crawled.folder.error(*asked, status=2)


def test_a_page_that_two_topics_want_is_fetched_once(crawled: Crawled) -> None:
    quake, sport = crawled.folder.rows("topics", "--json")
    assert (quake["topic"], sport["topic"], sport["state"]) == ("quake", "体育赛事", "ended")
    assert sport["relevant"] >= 3 * ARTICLES
    (report,) = crawled.folder.rows("topic", "quake", "--report", "--json")
    assert report["adopted"] > 0  # sports pages that waited in its queue when it was killed
    hosts = {host["host"].partition(":")[0]: host for host in report["hosts"]}
    assert hosts[SPORTS]["pages"] >= report["adopted"]
    asked = {
        url: times
        for url, times in crawled.requests.items()
        if url.startswith(crawled.url(SPORTS, "/a/"))
    }
    assert len(asked) == 3 * ARTICLES
    assert sum(times > 1 for times in asked.values()) <= 3  # in flight when quake was killed
    url = crawled.url(SPORTS, "/a/20.html")
    verdicts = [row for row in crawled.folder.rows("why", url, "--json") if "topic" in row]
    assert {(row["topic"], row["is_relevant"]) for row in verdicts} >= {("体育赛事", True)}


def test_the_pages_to_mark_are_listed(crawled: Crawled) -> None:
    rows = list(crawled.folder.rows("topic", "quake", "--to-mark", "5", "--json"))
    assert 1 < len(rows) <= 5, "reprints and lists are left out"
    assert len({row["host"] for row in rows}) > 1
    text = crawled.folder.output("topic", "quake", "--to-mark")
    assert rows[0]["url"] in text
    assert "topic quake --not-relevant URL" in text


def test_weights_have_names(crawled: Crawled) -> None:
    weights = {
        row["name"]: row["weight"]
        for row in crawled.folder.rows("topic", "quake", "--weights", "--json")
    }
    assert weights["query:2"] > 0
    assert f"host:{QUAKES}:{crawled.port}" in weights
    assert not [name for name in weights if name.startswith("bucket")]
    assert [name for name in weights if name.startswith("from:http")]
    assert "query:2" in crawled.folder.output("topic", "quake", "--weights")


def test_why_names_words_example_and_link(crawled: Crawled) -> None:
    url = crawled.url(QUAKES, "/a/3.html")
    rows = [row for row in crawled.folder.rows("why", url, "--json") if "topic" in row]
    (verdict,) = rows
    assert verdict["is_relevant"]
    assert verdict["mark"] is None
    assert {each["name"] for each in verdict["concepts"]} >= {"地震"}
    assert verdict["nearest"].endswith("example.txt")
    assert verdict["link"] > 0.3
    lines = crawled.folder.output("why", url)
    assert "topic quake: relevant; relevance" in lines
    assert "地震 in the title" in lines


def test_why_names_the_command_of_the_topic_of_a_url_that_waits(crawled: Crawled) -> None:
    asked = crawled.requests.keys()
    waiting = next(
        url
        for n in range(2, 30 * ARTICLES)
        if (url := crawled.url(RECIPES, f"/a/{n}.html")) not in asked
    )
    status, out, _ = crawled.folder.call("why", waiting)
    assert (status, f"{waiting} in quake: pending" in out) == (0, True)
    assert "nothing runs the topic; `topic quake` resumes it" in out


def test_the_users_word_wins_and_teaches(copy: DataFolder, crawled: Crawled) -> None:
    url = crawled.url(QUAKES, "/a/3.html")
    (topic,) = copy.rows("topic", "quake", "--not-relevant", url, "--json")
    assert (topic["version"], topic["marked"], topic["outdated"]) == (2, 1, 0)
    assert "not relevant, by your mark" in copy.output("why", url)
    (again,) = copy.rows("topic", "quake", "--relevant", url, "--json")
    assert (again["version"], again["marked"]) == (3, 1)
    assert url in again["examples"]
    (without,) = copy.rows("topic", "quake", "--unmark", url, "--json")
    assert (without["version"], without["marked"], without["outdated"]) == (4, 0, 0)
    assert url not in without["examples"]
    status, _, error = copy.call("topic", "quake", "--relevant", "http://unknown.example/")
    assert (status, error.count("\n")) == (1, 1)


def test_an_edit_judges_stored_pages_anew(copy: DataFolder) -> None:
    (topic,) = copy.rows("topic", "quake", "--edit", "--query", "联赛 主队", "--json")
    assert (topic["version"], topic["outdated"]) == (2, 0)
    (with_examples,) = copy.rows(
        "topic", "quake", "--edit", "--query", "联赛 主队", "--threshold", "0.4", "--json"
    )
    assert with_examples["relevant"] >= topic["relevant"] > 0
    assert with_examples["version"] == 3


def test_an_option_that_is_given_again_replaces_the_old_one(copy: DataFolder) -> None:
    (before,) = copy.rows("topic", "quake", "--show", "--json")
    hosts = copy.data / "hosts.toml"
    hosts.write_text('["*.lamp.example"]\ndelay_s = 2.5\nslots = 2\n', "utf-8")
    given = ("--pages-per-hour", "400", "--max-pages", "1", "--exclude", "/no such/")
    polite = ("--verify-tls", "--hosts-file", str(hosts))
    crawlclean("topic", "quake", *given, *polite, "--data", str(copy.data))
    (after,) = copy.rows("topic", "quake", "--show", "--json")
    options = after["options"]
    assert (after["pages_per_hour"], options["max_pages"]) == (400, 1)
    assert (options["exclude"], options["seeds"]) == (["/no such/"], before["options"]["seeds"])
    assert after["version"] == before["version"], "no page is judged by its pace"
    shown = copy.output("topic", "quake", "--show")
    for option in (
        "--pages-per-hour 400",
        "--max-pages 1 ",
        "--exclude '/no such/'",
        "--slots 1",
        "--verify-tls",
    ):
        assert option in shown
    assert "host       *.lamp.example: delay 2.5 s, 2 slots" in shown
    assert (options["verify_tls"], options["hosts"][0]["delay_ms"]) == (True, 2500)
    crawlclean("topic", "quake", "--query", "联赛 主队", "--data", str(copy.data))
    (reworded,) = copy.rows("topic", "quake", "--show", "--json")
    assert (reworded["query"], reworded["version"]) == ("联赛 主队", before["version"] + 1)
    assert (reworded["outdated"], reworded["pages_per_hour"]) == (0, 400)


def test_examples_are_added_until_all_are_forgotten(
    copy: DataFolder, crawled: Crawled, tmp_path: Path
) -> None:
    marked = crawled.url(QUAKES, "/a/3.html")
    copy.rows("topic", "quake", "--relevant", marked, "--json")
    (before,) = copy.rows("topic", "quake", "--show", "--json")
    more = tmp_path / "more.txt"
    more.write_text("余震\n余震不断,救援队赶往灾区。", "utf-8")
    (after,) = copy.rows("topic", "quake", "--edit", "--examples", str(more), "--json")
    assert set(after["examples"]) == {*before["examples"], str(more)}
    edit = ("topic", "quake", "--edit", "--no-examples", "--json")
    assert copy.rows(*edit, "--examples", str(more))[0]["examples"] == sorted([marked, str(more)])
    assert copy.rows(*edit)[0]["examples"] == [marked]


def test_the_webhook_may_be_made_private_without_its_url(copy: DataFolder) -> None:
    edit = ("topic", "quake", "--edit")
    copy.rows(*edit, "--webhook", "http://hooks.test/", "--json")
    (topic,) = copy.rows(*edit, "--webhook-private", "--json")
    assert [(each["target"], each["may_be_private"]) for each in topic["receivers"]] == [
        ("http://hooks.test/", True)
    ]
    copy.rows(*edit, "--no-webhook", "--json")
    status, _, error = copy.call(*edit, "--webhook-private")
    assert (status, "has no webhook" in error) == (2, True)


COOKING = ("--query", "豆腐 青菜", "--no-webhook")


def recipes_asked(crawled: Crawled) -> int:
    return len(crawled.web[RECIPES].log())


def test_an_edit_of_a_topic_at_rest_wakes_its_hosts_in_the_next_run(
    copy: DataFolder, crawled: Crawled
) -> None:
    before = recipes_asked(crawled)
    copy.rows("topic", "quake", "--edit", *COOKING, "--json")
    assert recipes_asked(crawled) == before
    topic, _ = copy.rows("topics", "--json")
    most = str(topic["pages"] + 100)  # of all runs: on a slow machine the first one had 200
    crawlclean("topic", "quake", "--max-pages", most, "--data", str(copy.data))
    assert recipes_asked(crawled) > before + 20


def has_begun(folder: DataFolder) -> bool:
    """Whether a run that keeps fresh has written its order into queue and store."""
    (topic,) = folder.rows("topic", "quake", "--show", "--json")
    return bool(topic["options"]["keep_fresh"])


@pytest.mark.parametrize("change", ["edit", "mark", "seed"])
def test_a_change_of_a_running_topic_reaches_what_waits(
    copy: DataFolder, crawled: Crawled, change: str
) -> None:
    run = start("topic", "quake", "--keep-fresh", "--no-webhook", "--data", str(copy.data))
    try:
        wait_until(lambda: has_begun(copy), LIMIT_S)
        before = recipes_asked(crawled)
        judged = {page["url"] for page in copy.rows("topic", "quake", "--to-mark", "500", "--json")}
        recipe = next(url for url in judged if RECIPES in url and "/a/" in url)
        new = f"{crawled.url(RECIPES, '/list.html')}?page="
        arguments = {
            "edit": ("--edit", *COOKING),
            "mark": ("--relevant", recipe),
            "seed": ("--edit", "--seeds", *(f"{new}{n}" for n in range(3))),
        }[change]
        copy.output("topic", "quake", *arguments)
        wait_until(lambda: recipes_asked(crawled) >= before + 3, LIMIT_S)
    finally:
        os.killpg(run.pid, signal.SIGINT)
        run.communicate()
    (topic,) = copy.rows("topic", "quake", "--show", "--json")
    added = [seed for seed in topic["options"]["seeds"] if seed.startswith(new)]
    assert len(added) == (3 if change == "seed" else 0)


def test_a_purge_keeps_the_pages_of_other_topics(copy: DataFolder) -> None:
    (before,) = copy.rows("topic", "quake", "--report", "--json")
    copy.rows("crawl", "purge", "体育赛事", "--yes", "--json")
    (after,) = copy.rows("topic", "quake", "--report", "--json")
    assert [row["topic"] for row in copy.rows("topics", "--json")] == ["quake"]
    assert after["topic"]["pages"] == before["topic"]["pages"]
    assert (before["adopted"] > 0, after["adopted"]) == (True, 0)  # its crawl has them now
    records = copy.crawls()["quake"]["records"]
    assert records >= after["topic"]["pages"]
    copy.rows("crawl", "purge", "quake", "--yes", "--json")
    assert copy.rows("topics", "--json") == []


def test_a_pause_holds_until_resume(copy: DataFolder) -> None:
    paused = copy.rows("topic", "quake", "--pause", "--json")
    assert [row["state"] for row in paused] == ["paused"]
    resumed = copy.rows("topic", "quake", "--resume", "--json")
    (line,) = resumed
    assert (line["state"], line["note"][:18]) == ("ended", "no process runs it")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("new",), "there is no topic new"),
        (("new", "--seeds", "http://a.example/"), "create it with"),
        (("new", "--seeds", "http://a.example/", "--query", "的 是"), "only words that name no"),
        (("new", "--seeds", "/nowhere", "--query", "地震"), "/nowhere"),
        (("quake", "--edit"), "changes nothing"),
        (("quake", "--edit", "--examples", "/nowhere"), "/nowhere"),
        (("quake", "--show", "--query", "足球"), "go with --edit"),
        (("quake", "--edit", "--threshold", "2"), "--threshold is 2"),
        (("quake", "--edit", "--command", "tee -a x"), "--command is gone: give a --webhook URL"),
        (("a/b", "--seeds", "http://a.example/", "--query", "地震"), "no crawl name"),
    ],
)
def test_wrong_use_is_one_line(crawled: Crawled, arguments: tuple[str, ...], error: str) -> None:
    status, _, written = crawled.folder.call("topic", *arguments)
    assert status == 2
    assert error in written
    assert written.count("\n") == 1


def test_a_topic_that_finds_nothing_gives_the_reason(tmp_path: Path) -> None:
    with Web(tmp_path / "web", {"/": html("菜谱", "豆腐两块,青菜一把,小火慢炖。")}) as web:
        data = ("--allow-private", "--data", str(tmp_path / "data"), "--json")
        done = crawlclean("topic", "t", "--seeds", web.url(), "--query", "量子计算", *data)
    valid("topic", json.loads(done.stdout))
    assert "none of 1 pages is relevant to '量子计算'" in done.stderr
