"""`model learn`, `model show`, `model reclean`: what an operator sees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError, InvalidUrl, NotFound
from crawlclean.cleaning.records import ImageKind, LinkKind, PageKind
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import FailureReason, KeepRaw, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.models import DriftOutcome
from crawlclean.workers.answers.hosts import HostAnswer
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.recleaning import RecleaningCounts
from crawlclean.workers.operations.hosts.hosts import HostDetails
from crawlclean.workers.output.host_report import host_text, on_a_screen
from crawlclean.workers.output.printing import bar, draw, percent
from tests.kit.archived_site import HOST, T0, article_url, fetched, store_pages, store_site
from tests.kit.commands import call
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
def settings(tmp_path: Path, store: SqliteStore) -> Settings:
    assert store.path.parent == tmp_path
    return replace(Settings(), storage=StorageConfig(data=tmp_path))


Out = pytest.CaptureFixture[str]


def test_learn_says_what_it_learned(settings: Settings, capsys: Out) -> None:
    assert call(settings, "model", "learn", f"http://{HOST}/anything") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"stored version 1 of the model of {HOST}\n")
    assert "bodies stand at html/body/div.article.a# on 8 of 8 pages" in said
    assert "titles end with '_海边小站' on 8 pages" in said
    assert call(settings, "model", "learn", HOST.upper()) == 0
    assert capsys.readouterr().out.startswith("no new version: version 1")
    assert call(settings, "model", "learn", HOST, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["version"], data["is_new"], data["model"]["page_count"]) == (1, False, 8)


def test_versions_differences_and_rollback(
    settings: Settings, store: SqliteStore, capsys: Out
) -> None:
    call(settings, "model", "learn", HOST)
    store_pages(store, [fetched(n) for n in range(9, 15)])
    call(settings, "model", "learn", HOST)
    capsys.readouterr()
    assert call(settings, "model", "diff", HOST, "1", "2") == 0
    assert "learned from 14 pages, was 8" in capsys.readouterr().out
    assert call(settings, "model", "diff", HOST, "1", "2", "--json") == 0
    assert "learned from 14 pages, was 8" in json.loads(capsys.readouterr().out)["differences"]
    assert call(settings, "model", "rollback", HOST, "1") == 0
    assert "version 1 of www.example.com is in use again, as version 3" in capsys.readouterr().out
    assert call(settings, "model", "diff", HOST, "1", "3") == 0
    assert capsys.readouterr().out == "versions 1 and 3 are equal\n"
    assert call(settings, "model", "show", HOST) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["VERSION", "3", "2", "1"]
    assert lines[1].endswith("rollback: to version 1")
    assert call(settings, "model", "show", HOST, "--version", "2", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["version"] == data["model"]["version"] == 2
    assert [each["version"] for each in data["versions"]] == [3, 2, 1]
    with pytest.raises(NotFound, match="has no version 7"):
        call(settings, "model", "show", HOST, "--version", "7")


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


def test_why_something_is_template(settings: Settings, capsys: Out) -> None:
    call(settings, "model", "learn", HOST)
    capsys.readouterr()
    assert call(settings, "model", "why", HOST, FOOT) == 0
    said = capsys.readouterr().out
    verdict, first, *pages = said.splitlines()
    assert verdict == "template: left out where it stands before or behind the rest of a body"
    assert first == f"'{FOOT}' on 8 of 8 pages:"
    assert all(line.startswith("  http://www.example.com/news/") for line in pages)
    assert call(settings, "model", "why", HOST, FOOT, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["whole_body_of"]) == ("template", 0)
    [found] = answer["found"]
    assert "on 8 of 8 pages: http://www.example.com/news/" in found
    assert call(settings, "model", "why", HOST, f"http://{HOST}/img/foot.png") == 0
    said = capsys.readouterr().out
    assert "an image that repeats: on 8 of 8 pages (m2 1.00)" in said
    assert call(settings, "model", "why", HOST, f"http://{HOST}/about.html") == 0
    said = capsys.readouterr().out
    assert "a link that repeats: on 8 of 8 pages" in said
    assert "link navigation (" in said
    capsys.readouterr()
    assert call(settings, "model", "why", HOST, FOOT[3:9]) == 0
    assert f"\n'{FOOT}' on 8 of 8 pages:" in capsys.readouterr().out
    assert call(settings, "model", "why", HOST, "没有见过的句子") == 1
    assert "it is on 0 of the 8 pages" in capsys.readouterr().out


def test_why_a_template_text_is_the_whole_body_of_pages(
    settings: Settings, store: SqliteStore, capsys: Out
) -> None:
    call(settings, "model", "learn", HOST)
    result = replace(fetched(1).result, body=html("登录", FOOT).encode())
    empty = [replace(fetched(n), result=result) for n in range(30, 33)]
    store_pages(store, empty)
    capsys.readouterr()
    assert call(settings, "model", "why", HOST, FOOT) == 0
    *_, line, first, second, third = capsys.readouterr().out.splitlines()
    assert line.startswith("the whole body of 3 records (body by ")
    assert line.endswith(
        "nothing else on these pages was found as text, and the last lines of a "
        "body are not left out"
    )
    assert sorted(each.strip() for each in (first, second, third)) == [p.url for p in empty]
    assert call(settings, "model", "why", HOST, FOOT, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["whole_body_of"], answer["is_whole"]) == (3, True)
    assert sum(answer["body_sources"].values()) == 3


def test_reclean_shows_the_difference_before_it_commits(
    settings: Settings, store: SqliteStore, capsys: Out
) -> None:
    store_pages(store, [fetched(20)], keep_raw=KeepRaw.NONE)
    call(settings, "model", "learn", HOST)
    capsys.readouterr()
    assert call(settings, "model", "reclean", HOST, "--dry-run") == 0
    said = capsys.readouterr().out
    assert said.startswith("8 records of www.example.com would be re-cleaned with version 1")
    assert "8 of them would change: " in said
    assert "1 unchanged: not in the archive" in said
    assert article_url(1) in said or article_url(2) in said
    assert "_海边小站  ->  渔港见闻之" in said
    assert store.hosts.by_model(HOST) == {0: 9}
    assert call(settings, "model", "reclean", HOST, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["cleaned"], data["changed"], data["not_archived"]) == (8, 8, 1)
    assert data["by_field"]["title"] == 8
    assert store.hosts.by_model(HOST) == {0: 1, 1: 8}


@pytest.mark.parametrize(
    ("dry_run", "again", "said"),
    [
        (False, False, "interrupted; the same command does the rest"),
        (False, True, "interrupted; the same command starts over"),
        (True, False, "interrupted; nothing changed"),
    ],
)
def test_an_interrupted_reclean_says_what_is_left(
    settings: Settings,
    capsys: Out,
    monkeypatch: pytest.MonkeyPatch,
    dry_run: bool,
    again: bool,
    said: str,
) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[RecleaningCounts]:
        yield RecleaningCounts(cleaned=3)
        raise KeyboardInterrupt

    call(settings, "model", "learn", HOST)
    capsys.readouterr()
    monkeypatch.setattr("crawlclean.workers.operations.hosts.host_recleaning._reclean", interrupted)
    assert (
        call(
            settings,
            "reclean",
            HOST,
            *(["--dry-run"] if dry_run else []),
            *(["--again"] if again else []),
        )
        == 130
    )
    out, errors = capsys.readouterr()
    assert said in errors
    assert out.startswith(f"3 records of {HOST} ")


def test_hosts_shows_the_model_on_one_screen(
    settings: Settings, store: SqliteStore, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert call(settings, "hosts", HOST) == 0
    assert "  model     none yet\n" in capsys.readouterr().out
    call(settings, "model", "learn", HOST)
    call(settings, "model", "reclean", HOST)
    store_pages(store, [fetched(n) for n in range(9, 11)])
    capsys.readouterr()
    assert call(settings, "hosts", HOST) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 79
    assert "  kinds     article      ████████████████████████          10  100%" in lines
    assert "  made with version 1    ███████████████████▎               8   80%" in lines
    assert "            no model     ████▉                              2   20%" in lines
    assert "version 1 of " in said
    assert "bodies in div.article.a# on 8 pages" in said
    assert call(settings, "hosts", HOST, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["records_by_model"] == {"0": 2, "1": 8}
    store.models.save(make_model(2, HOST, '{"format": 1}'))
    assert call(settings, "hosts", HOST) == 0
    assert "not used: a site model of format 1" in capsys.readouterr().out


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
    )
    drifts = [make_drift(n, HOST) for n in range(3)]
    model = make_model(9, HOST, '{"format": 1}')
    figures = HostDetails(host=HOST, waits=None, pause=None, answer=answer, drifts=drifts)
    text = host_text(figures, model, None)
    lines = text.splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 79


def test_where_no_bars_can_be_shown_they_are_plain_signs() -> None:
    drawn = "a ███▍▏ ░░ 绯"
    assert draw(drawn, "utf-8", {"LANG": "zh_CN.UTF-8"}) == drawn
    assert draw(drawn, "utf-8", {"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "a ###:: .. 绯"
    assert draw(drawn, "utf-8", {"LANG": "POSIX"}) == draw(drawn, "gbk", {})
    shown = [percent(n, 1000) for n in (0, 1, 9, 994, 999, 1000)]
    assert shown == ["0%", "<1%", "1%", "99%", ">99%", "100%"]
    assert percent(0, 0) == "-"


def test_changes_in_words(settings: Settings, store: SqliteStore, capsys: Out) -> None:
    call(settings, "model", "learn", HOST)
    event = make_drift(1, HOST, detail="3 pages since then are in the archive")
    store.drifts.save(event)
    store.drifts.save(make_drift(0, HOST, outcome=DriftOutcome.TAKEN_BACK, new_version=2))
    capsys.readouterr()
    call(settings, "model", "show", HOST)
    lines = capsys.readouterr().out.splitlines()
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
    call(settings, "model", "show", HOST, "--json")
    shown = json.loads(capsys.readouterr().out)["drifts"]
    assert [each["outcome"] for each in shown] == ["waits", "taken_back"]
    assert (shown[0]["observed"], shown[0]["sign"]) == (0.25, "bodies")
    assert call(settings, "hosts", HOST, "--json") == 0
    assert json.loads(capsys.readouterr().out)["drifts"] == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, " " * 8), (1, "▏" + " " * 7), (32, "████" + " " * 4), (33, "████▏   "), (64, "█" * 8)],
)
def test_bars(value: int, shown: str) -> None:
    assert bar(value, 64, 8) == shown


def test_without_a_model_reclean_says_what_to_do(settings: Settings, capsys: Out) -> None:
    with pytest.raises(NotFound, match=f"has no model; `model learn {HOST}` learns it"):
        call(settings, "model", "reclean", HOST)
    assert call(settings, "model", "reclean", HOST, "--again") == 0
    assert capsys.readouterr().out.startswith("8 records of")
    with pytest.raises(NotFound, match=r"nothing of other\.example is stored"):
        call(settings, "model", "reclean", "other.example", "--again")


def test_a_model_of_an_older_format_is_one_line(settings: Settings, store: SqliteStore) -> None:
    store.models.save(make_model(1, HOST, '{"format": 1}'))
    with pytest.raises(ConfigError, match="learn it anew"):
        call(settings, "model", "reclean", HOST)
    with pytest.raises(ConfigError, match=r"learn it anew \(`model learn www.example.com`\)"):
        call(settings, "model", "show", HOST)


def test_what_is_no_host(settings: Settings) -> None:
    with pytest.raises(InvalidUrl):
        call(settings, "model", "learn", "no host")


def test_the_commands_as_typed(settings: Settings) -> None:
    data = ("--data", str(settings.storage.data))
    assert "stored version 1" in crawlclean("model", "learn", HOST, *data).stdout
    wrong = crawlclean("model", "diff", HOST, "1", "2", *data, check=False)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
