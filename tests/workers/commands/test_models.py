"""`model learn`, `model show`, `model reclean`: what an operator sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.cleaning.model.overrides import Override
from crawlclean.cleaning.records import ImageKind, LinkKind, PageKind
from crawlclean.storage.crawl_types import FailureReason, KeepRaw, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.hosts import UnsurePage
from crawlclean.storage.store.models import DriftOutcome
from crawlclean.workers.answers.hosts import HostAnswer
from crawlclean.workers.crawl_file.crawl_file import load_crawl_file
from crawlclean.workers.jobs.learning import keep_overrides
from crawlclean.workers.jobs.recleaning import RecleaningCounts
from crawlclean.workers.operations.hosts.hosts import HostDetails
from crawlclean.workers.output.host_report import host_text, on_a_screen
from crawlclean.workers.output.printing import bar, draw, percent
from tests.kit.archived_site import HOST, T0, article_url, fetched, store_pages, store_site
from tests.kit.commands import DataFolder
from tests.kit.crawls import crawlclean
from tests.kit.web import html
from tests.storage.store.drifts_contract import make_drift
from tests.storage.store.models_contract import make_model

FOOT = "海边小站版权所有，未经允许不得转载本站的任何内容。"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "records.sqlite")
    store_site(opened)
    yield opened
    opened.close()


@pytest.fixture
def folder(store: SqliteStore) -> DataFolder:
    return DataFolder(store.path.parent)


def test_learn_says_what_it_learned(folder: DataFolder) -> None:
    said = folder.output("model", "learn", f"http://{HOST}/anything")
    assert said.startswith(f"stored version 1 of the model of {HOST}\n")
    assert "bodies stand at html/body/div.article.a# on 8 of 8 pages" in said
    assert "titles end with '_海边小站' on 8 pages" in said
    assert folder.output("model", "learn", HOST.upper()).startswith("no new version: version 1")
    [data] = folder.rows("model", "learn", HOST, "--json")
    assert (data["version"], data["is_new"], data["model"]["page_count"]) == (1, False, 8)


def test_versions_differences_and_rollback(folder: DataFolder, store: SqliteStore) -> None:
    folder.output("model", "learn", HOST)
    store_pages(store, [fetched(n) for n in range(9, 15)])
    folder.output("model", "learn", HOST)
    assert "learned from 14 pages, was 8" in folder.output("model", "diff", HOST, "1", "2")
    assert (
        "learned from 14 pages, was 8"
        in folder.rows("model", "diff", HOST, "1", "2", "--json")[0]["differences"]
    )
    assert "version 1 of www.example.com is in use again, as version 3" in folder.output(
        "model", "rollback", HOST, "1"
    )
    assert folder.output("model", "diff", HOST, "1", "3") == "versions 1 and 3 are equal\n"
    lines = folder.output("model", "show", HOST).splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["VERSION", "3", "2", "1"]
    assert lines[1].endswith("rollback: to version 1")
    [data] = folder.rows("model", "show", HOST, "--version", "2", "--json")
    assert data["version"] == data["model"]["version"] == 2
    assert [each["version"] for each in data["versions"]] == [3, 2, 1]
    assert "has no version 7" in folder.error("model", "show", HOST, "--version", "7")


def test_a_model_of_many_places_fits_a_screen() -> None:
    place = "html/body/div.page.site/div.content/div.row/main.main/article.post.post-#/div.entry"
    lines = [
        "version 4, learned from 100 pages",
        f"bodies stand at {place} on 45 of 100 pages",
        *(f"  without /div.box-{n}/div.reply (repeats, {n} pages)" for n in range(9)),
        *(f"template: + {place}/div.box-{n}" for n in range(9)),
        f"template: - {place}",
        "related links under '相关文章' (10 pages)",
        "  /articles/{n}.html (article)",
        "  /tag/{w}.html (index)",
    ]
    shown = on_a_screen(lines)
    assert max(map(len, shown)) <= 80
    assert shown[1] == (
        "bodies stand at .../main.main/article.post.post-#/div.entry on 45 of 100 pages"
    )
    assert shown[2:8] == lines[2:8]
    assert shown[8] == "  without ... 3 more (--full)"
    assert shown[15] == "template: ... 3 more (--full)"
    assert shown[16].startswith("template: - .../")
    assert shown[17:] == lines[-3:]


def test_why_something_is_template(folder: DataFolder) -> None:
    folder.output("model", "learn", HOST)
    said = folder.output("model", "why", HOST, FOOT)
    verdict, first, *pages = said.splitlines()
    assert verdict == "template: left out where it stands before or behind the rest of a body"
    assert first == f"'{FOOT}' on 8 of 8 pages:"
    assert all(line.startswith("  http://www.example.com/news/") for line in pages)
    [answer] = folder.rows("model", "why", HOST, FOOT, "--json")
    assert (answer["verdict"], answer["whole_body_of"]) == ("template", 0)
    [found] = answer["found"]
    assert "on 8 of 8 pages: http://www.example.com/news/" in found
    said = folder.output("model", "why", HOST, f"http://{HOST}/img/foot.png")
    assert "an image that repeats: on 8 of 8 pages (m2 1.00)" in said
    said = folder.output("model", "why", HOST, f"http://{HOST}/about.html")
    assert "a link that repeats: on 8 of 8 pages" in said
    assert "link navigation (" in said
    assert f"\n'{FOOT}' on 8 of 8 pages:" in folder.output("model", "why", HOST, FOOT[3:9])
    assert "it is on 0 of the 8 pages" in folder.output(
        "model", "why", HOST, "没有见过的句子", status=1
    )


def test_why_a_template_text_is_the_whole_body_of_pages(
    folder: DataFolder, store: SqliteStore
) -> None:
    folder.output("model", "learn", HOST)
    result = replace(fetched(1).result, body=html("登录", FOOT).encode())
    empty = [replace(fetched(n), result=result) for n in range(30, 33)]
    store_pages(store, empty)
    *_, line, first, second, third = folder.output("model", "why", HOST, FOOT).splitlines()
    assert line.startswith("the whole body of 3 records (body by ")
    assert line.endswith(
        "nothing else on these pages was found as text, and the last lines of a "
        "body are not left out"
    )
    assert sorted(each.strip() for each in (first, second, third)) == [p.url for p in empty]
    [answer] = folder.rows("model", "why", HOST, FOOT, "--json")
    assert (answer["whole_body_of"], answer["is_whole"]) == (3, True)
    assert sum(answer["body_sources"].values()) == 3


def test_reclean_shows_the_difference_before_it_commits(
    folder: DataFolder, store: SqliteStore
) -> None:
    store_pages(store, [fetched(20)], keep_raw=KeepRaw.NONE)
    folder.output("model", "learn", HOST)
    said = folder.output("model", "reclean", HOST, "--dry-run")
    assert said.startswith("8 records of www.example.com would be re-cleaned with version 1")
    assert "8 of them would change: " in said
    assert "1 unchanged: not in the archive" in said
    assert article_url(1) in said or article_url(2) in said
    assert "_海边小站  ->  渔港见闻之" in said
    assert store.hosts.by_model(HOST) == {0: 9}
    [data] = folder.rows("model", "reclean", HOST, "--json")
    assert (data["cleaned"], data["changed"], data["not_archived"]) == (8, 8, 1)
    assert data["by_field"]["title"] == 8
    assert store.hosts.by_model(HOST) == {0: 1, 1: 8}


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ((), "interrupted; the same command does the rest"),
        (("--again",), "interrupted; the same command starts over"),
        (("--dry-run",), "interrupted; nothing changed"),
    ],
)
def test_an_interrupted_reclean_says_what_is_left(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], said: str
) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[RecleaningCounts]:
        yield RecleaningCounts(cleaned=3)
        raise KeyboardInterrupt

    folder.output("model", "learn", HOST)
    monkeypatch.setattr("crawlclean.workers.operations.hosts.host_recleaning._reclean", interrupted)
    status, out, errors = folder.call("model", "reclean", HOST, *option)
    assert status == 130
    assert said in errors
    assert out.startswith(f"3 records of {HOST} ")


def test_hosts_shows_the_model_on_one_screen(
    folder: DataFolder, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "  model     none yet\n" in folder.output("hosts", HOST)
    folder.output("model", "learn", HOST)
    folder.output("model", "reclean", HOST)
    store_pages(store, [fetched(n) for n in range(9, 11)])
    said = folder.output("hosts", HOST)
    lines = said.splitlines()
    assert len(lines) <= 29
    assert max(map(len, lines)) <= 79
    assert "  kinds     article      ████████████████████████          10  100%" in lines
    assert "  made with version 1    ███████████████████▎               8   80%" in lines
    assert "            no model     ████▉                              2   20%" in lines
    assert "version 1 of " in said
    assert "bodies in div.article.a# on 8 pages" in said
    [data] = folder.rows("hosts", HOST, "--json")
    assert data["records_by_model"] == {"0": 2, "1": 8}
    sure = [each["confidence"] for each in data["least_sure"]]
    assert len(sure) == 5
    assert sure == sorted(sure)
    assert f"  least sure {sure[0]:.2f} {data['least_sure'][0]['url']}" in lines
    store.models.save(make_model(2, HOST, '{"format": 1}'))
    assert "not used: a site model of format 1" in folder.output("hosts", HOST)


def test_a_screen_holds_a_host_with_everything() -> None:
    answer = HostAnswer(
        host=HOST,
        pages_by_state={str(state): 3 for state in UrlState},
        pages_by_kind=dict.fromkeys(PageKind, 2),
        links_by_kind=dict.fromkeys(LinkKind, 5),
        images_by_kind=dict.fromkeys(ImageKind, 5),
        errors_by_reason={str(reason): 2 for reason in FailureReason},
        first_seen=T0,
        last_seen=T0,
        as_of=None,
        records_by_model=dict.fromkeys(range(9), 4),
        is_paused=False,
        next_visits={},
        drifts=(),
        least_sure=(UnsurePage(url=f"https://{HOST}/", crawl="c1", confidence=0.3),) * 5,
    )
    drifts = [make_drift(n, HOST) for n in range(3)]
    model = make_model(9, HOST, '{"format": 1}')
    figures = HostDetails(answer=answer, waits=None, pause=None, drifts=drifts)
    text = host_text(figures, model, None)
    lines = text.splitlines()
    assert len(lines) <= 41
    assert max(map(len, lines)) <= 79


def test_where_no_bars_can_be_shown_they_are_plain_signs() -> None:
    drawn = "a ███▍▏ ░░ 绯"
    assert draw(drawn, "utf-8", {"LANG": "zh_CN.UTF-8"}) == drawn
    assert draw(drawn, "utf-8", {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "a ###:: .. 绯"
    assert draw(drawn, "utf-8", {"LANG": "POSIX"}) == draw(drawn, "gbk", {})
    shown = [percent(n, 1000) for n in (0, 1, 9, 994, 999, 1000)]
    assert shown == ["0%", "<1%", "1%", "99%", ">99%", "100%"]
    assert percent(0, 0) == "-"


def test_changes_in_words(folder: DataFolder, store: SqliteStore) -> None:
    folder.output("model", "learn", HOST)
    event = make_drift(1, HOST, detail="3 pages since then are in the archive")
    store.drifts.save(event)
    store.drifts.save(make_drift(0, HOST, outcome=DriftOutcome.TAKEN_BACK, new_version=2))
    lines = folder.output("model", "show", HOST).splitlines()
    newest = (
        f"{event.alarm.since:%Y-%m-%d %H:%M} bodies in other containers in /新闻/*.html: "
        "5 of 20 pages fit version 1, 95% expected; not learned yet "
        "(3 pages since then are in the archive)"
    )
    assert newest in lines
    assert lines[lines.index(newest) + 1 :][:3] == [
        "  3 of these pages have no body",
        "  /新闻/*.html  12 pages",
        "  /  3 pages",
    ]
    assert any(line.endswith("; learned version 2, rolled back") for line in lines)
    shown = folder.rows("model", "show", HOST, "--json")[0]["drifts"]
    assert [each["outcome"] for each in shown] == ["waits", "taken_back"]
    assert (shown[0]["observed"], shown[0]["sign"]) == (0.25, "bodies")
    assert folder.rows("hosts", HOST, "--json")[0]["drifts"] == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, " " * 8), (1, "▏" + " " * 7), (32, "████" + " " * 4), (33, "████▏   "), (64, "█" * 8)],
)
def test_bars(value: int, shown: str) -> None:
    assert bar(value, 64, 8) == shown


def test_without_a_model_reclean_says_what_to_do(folder: DataFolder) -> None:
    assert f"has no model; `model learn {HOST}` learns it" in folder.error("model", "reclean", HOST)
    assert folder.output("model", "reclean", HOST, "--again").startswith("8 records of")
    assert "nothing of other.example is stored" in folder.error(
        "model", "reclean", "other.example", "--again"
    )


def test_a_model_of_an_older_format_is_one_line(folder: DataFolder, store: SqliteStore) -> None:
    store.models.save(make_model(1, HOST, '{"format": 1}'))
    assert "learn it anew" in folder.error("model", "reclean", HOST, status=2)
    assert "learn it anew (`model learn www.example.com`)" in folder.error(
        "model", "show", HOST, status=2
    )


def test_what_is_no_host(folder: DataFolder) -> None:
    assert folder.error("model", "learn", "no host", status=2)


def test_the_commands_as_typed(folder: DataFolder) -> None:
    data = ("--data", str(folder.data))
    assert "stored version 1" in crawlclean("model", "learn", HOST, *data).stdout
    wrong = crawlclean("model", "diff", HOST, "1", "2", *data, check=False)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)


def test_overrides_are_tried_before_they_are_used(
    folder: DataFolder, store: SqliteStore, tmp_path: Path
) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text(
        f'[overrides."{HOST}"]\ndrop = ["div.article p:nth-child(2)", "i.none"]\nkind = "other"\n'
    )
    assert folder.output("model", "check", HOST) == f"{HOST} has no override\n"
    status, out, _ = folder.call("model", "check", HOST, "--file", str(file), "--json")
    assert status == 1, "a selector finds nothing"
    checked = json.loads(out)
    first, none, kind = checked["uses"]
    assert (checked["pages"], first["pages"], first["fits"]) == (8, 8, 8)
    assert first["changes"]["body"] == 8
    assert len(first["examples"]) == 5
    assert list(first["examples"][0]["changes"]) == ["body"]
    assert (none["fits"], none["changes"]) == (0, {})
    assert (kind["field"], kind["selector"], kind["changes"]["kind"]) == ("kind", "other", 8)
    assert store.models.get(HOST) is None, "nothing is stored"
    about = keep_overrides(store, HOST, lambda _: [Override(drop=("p",), by="session 1")])
    assert about is not None
    assert "drop p: finds something on 8 of 8 pages, changes" in folder.call(
        "model", "check", HOST
    )[1].replace("\n", " ")
    assert "overrides: drop p" in folder.output("model", "show", HOST)


def test_published_rules_become_tables_of_a_crawl_file(folder: DataFolder, tmp_path: Path) -> None:
    rules = tmp_path / f"{HOST}.txt"
    rules.write_text(
        "# a site\ntitle: //h1\nbody: //div[@class='article']\nbody: //article\n"
        "strip: //div[@class='share']\nstrip_id_or_class: tools\nstrip: //a/following::p\n"
        "footnotes: yes\nprune: no\ntest_url: http://a.example/\n"
    )
    _, out, _ = folder.call("model", "check", HOST, "--file", str(rules))
    table = out[: out.index("left out")]
    file = tmp_path / "crawl.toml"
    file.write_text(table)
    [found] = load_crawl_file(file).overrides[HOST]
    assert found.body == ("//div[@class='article']", "//article")
    assert (found.title, len(found.drop)) == (("//h1",), 2)
    assert "left out: line 7: //a/following::p could take minutes" in out
    assert "left out: line 8: footnotes" in out
