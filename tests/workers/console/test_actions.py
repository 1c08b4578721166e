"""Actions over a real queue, store and worker: what they do, their undo, and their audit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason
from crawlclean.storage.store.journal import Action, Operation, OperationState
from tests.kit.console import ORIGIN, acting_console, do, fields_in, open_console, settings_of
from tests.kit.outcomes import HOST as FAILED_HOST, make_failure
from tests.kit.timing import wait_until
from tests.kit.worker_bench import Bench, answer

HOST = "a.example"
FAILED = 30


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A crawl ``c`` of one host: 6 records, 30 failures with status 500, and 2 with 404."""
    with Bench(tmp_path_factory.mktemp("bench"), "") as started:
        answers = {f"p{n}": answer("页") for n in range(6)}
        answers |= {f"f{n}": answer("页", status=500) for n in range(FAILED)}
        answers |= {f"m{n}": answer("页", status=404) for n in range(2)}
        started.crawl(f"http://{HOST}/", CrawlState.RUNNING, answers)
        yield started


@pytest.fixture
def client(bench: Bench) -> FlaskClient:
    return acting_console(settings_of(bench.data), bench.data)


def newest(bench: Bench) -> Action:
    with closing(bench.store()) as store:
        return store.audit.read(limit=1)[0]


def operation(bench: Bench) -> Operation:
    with closing(bench.store()) as store:
        return store.operations.read(limit=1)[0]


def ended(bench: Bench) -> Operation:
    wait_until(lambda: operation(bench).state.has_ended)
    return operation(bench)


def test_a_host_is_paused_and_the_result_leads_back(client: FlaskClient, bench: Bench) -> None:
    page = do(client, "pause_host", HOST, typed_why="too  slow")
    assert "finished" in page.text
    (pause,) = bench.frontier.pauses()
    assert (pause.host, pause.who, pause.why) == (HOST, "no password", "too slow")
    row = newest(bench)
    assert (row.action, row.target, row.place, row.who) == (
        *("pause_host", HOST, "127.0.0.1", "no password"),
    )
    assert row.asked.startswith("why=too++slow; crawls 1; ")
    assert row.did == "hosts 1"
    undo = re.search(r'href="/actions/(resume_host)\?target=([\w.]+)"', page.text)
    assert undo
    do(client, undo[1], undo[2])
    assert bench.frontier.pauses() == []
    assert newest(bench).undo == f"pause_host {HOST}"


def test_a_host_is_slowed_down_and_asked_as_before_again(client: FlaskClient, bench: Bench) -> None:
    asked = client.get(f"/actions/slow_host?target={HOST}")
    assert 'name="delay" value="5"' in asked.text, "what is proposed"
    for typed, why in (
        ({"delay": "", "slots": ""}, "by a delay, or by requests at a time"),
        ({"delay": "soon"}, "not a number of seconds: soon"),
        ({"slots": "0"}, "from 1 on"),
    ):
        wrong = client.post("/actions/slow_host", data=fields_in(asked) | typed, headers=ORIGIN)
        assert why in client.get(wrong.location).text
        asked = client.get(f"/actions/slow_host?target={HOST}")
    do(client, "slow_host", HOST, typed_delay="2.5", typed_why="spare it")
    assert newest(bench).undo == f"end_slow_host {HOST}"
    do(client, "slow_host", HOST, typed_delay="", typed_slots="1")
    assert newest(bench).undo == f"slow_host {HOST} delay=2.5&slots=&why=spare+it"
    shown = client.get(f"/hosts/{HOST}").text
    assert "at most 1 request at a time" in shown
    do(client, "end_slow_host", HOST)
    assert newest(bench).undo == f"slow_host {HOST} delay=&slots=1&why="
    assert "/actions/end_slow_host" not in client.get(f"/hosts/{HOST}").text
    assert "at most 1 request at a time, by no password" in client.get("/events").text


def test_crawls_are_paused_resumed_and_stopped(client: FlaskClient, bench: Bench) -> None:
    do(client, "retry_some", "c", reason="http_status", status="404")
    assert bench.frontier.counts("c").pending == 2
    do(client, "pause_crawl", "c")
    assert bench.frontier.counts("c").state is CrawlState.PAUSED
    assert newest(bench).undo == "resume_crawl c"
    assert bench.spider.lease() == ()  # it is heard, however long the fixture took
    do(client, "resume_crawl", "c")
    assert bench.frontier.counts("c").state is CrawlState.RUNNING
    assert newest(bench).did == "crawls 1"
    do(client, "stop_crawl", "c")
    assert bench.frontier.counts("c").state is CrawlState.STOPPED


def test_a_group_is_retried_twenty_first_then_all(client: FlaskClient, bench: Bench) -> None:
    before = bench.frontier.counts("c").pending
    values = {"reason": "http_status", "status": "500"}
    asked = client.get("/actions/retry_failed", query_string={"target": "c", **values})
    assert "/actions/retry_some?target=c" in asked.text
    frozen = fields_in(asked)
    do(client, "retry_some", "c", **values)
    assert newest(bench).did == "urls 20; to_be_fetched"
    assert bench.frontier.counts("c").pending == before + 20
    sent = client.post("/actions/retry_failed", data=frozen, headers=ORIGIN)
    again = client.post("/actions/retry_failed", data=frozen, headers=ORIGIN)
    assert again.location == sent.location
    assert "operation" in client.get(sent.location).text
    done = ended(bench)
    assert (done.state, done.kind, done.total) == (OperationState.DONE, "retry", FAILED)
    assert done.done == FAILED - 20, "20 waited already"
    assert bench.frontier.counts("c").pending == before + FAILED
    page = client.get(f"/operations/{done.seq}")
    assert ">done</span>" in page.text
    assert "/actions/stop_operation" not in page.text
    assert client.get("/operations").status_code == 200
    live = client.get(f"/operations/{done.seq}/live")
    assert live.status_code == 200


def test_what_failed_after_the_page_was_made_is_not_retried(
    client: FlaskClient, bench: Bench
) -> None:
    do(client, "retry_failed", "c", reason="http_status", status="404", until="1000000")
    assert ended(bench).done == 0


def test_a_host_is_learned_and_its_model_rolled_back(client: FlaskClient, bench: Bench) -> None:
    do(client, "learn_host", HOST)
    assert ended(bench).detail.startswith(("new_version ", "same_version "))
    store = bench.store()
    version = store.models.newest(HOST)
    store.close()
    page = do(client, "roll_back", HOST, version=str(version))
    assert newest(bench).did == f"model_version {version + 1}"
    assert f"version={version}" in page.text
    do(client, "try_reclean", HOST)
    tried = ended(bench)
    assert (tried.state, tried.done) == (OperationState.DONE, tried.total), tried
    assert tried.detail.startswith("would_change ")
    do(client, "reclean_host", HOST)
    assert ended(bench).state is OperationState.DONE
    store = bench.store()
    assert set(store.hosts.by_model(HOST)) <= {0, version, version + 1}
    store.close()


def test_a_class_is_forbidden_pinned_and_reset(client: FlaskClient, bench: Bench) -> None:
    template = "/p{n}"

    def pins() -> dict[str, str]:
        return dict(bench.frontier.classes.known("c", HOST).pins)

    page = do(client, "forbid_class", HOST, template=template)
    assert pins() == {template: "forbid"}, page.text
    assert newest(bench).undo == f"reset_class {HOST} template=%2Fp%7Bn%7D"
    do(client, "pin_class", HOST, template=template, typed_word="article")
    assert pins() == {template: "article"}
    assert newest(bench).undo == f"forbid_class {HOST} template=%2Fp%7Bn%7D"
    do(client, "reset_class", HOST, template=template)
    assert pins() == {}
    assert newest(bench).undo == f"pin_class {HOST} template=%2Fp%7Bn%7D&word=article"
    do(client, "lift_traps", HOST)
    assert newest(bench).did == "classes 0"


def test_a_dead_process_loses_what_it_holds(client: FlaskClient, bench: Bench) -> None:
    now = bench.frontier.now()
    name = now.sessions[0].name if now.sessions else now.processes[0].name
    do(client, "declare_dead", name)
    assert newest(bench).did == "leases 0; claims 0"
    missing = client.get("/actions/declare_dead?target=elsewhere.1")
    assert missing.status_code == 404


def test_a_form_serves_once_and_for_its_numbers_only(client: FlaskClient, bench: Bench) -> None:
    page = client.get("/actions/pause_host", query_string={"target": HOST})
    form = fields_in(page)
    for changed in ({"target": "b.example"}, {"expected": "crawls 9"}, {"token": "0" * 80}):
        before = newest(bench).seq
        answer = client.post("/actions/pause_host", data=form | changed, headers=ORIGIN)
        assert answer.status_code == 403
        assert newest(bench).seq == before
    assert client.post("/actions/resume_host", data=form, headers=ORIGIN).status_code == 403
    assert client.post("/actions/pause_host", data=form).status_code == 403, "no Origin"
    first = client.post("/actions/pause_host", data=form, headers=ORIGIN)
    row = newest(bench)
    do(client, "resume_host", HOST)
    second = client.post("/actions/pause_host", data=form, headers=ORIGIN)
    assert (first.location, second.location) == (f"/audit/{row.seq}",) * 2
    assert bench.frontier.pauses() == []
    restarted = acting_console(settings_of(bench.data), bench.data)
    third = restarted.post("/actions/pause_host", data=form, headers=ORIGIN)
    assert third.location == first.location
    assert newest(bench).action == "resume_host"


def test_a_read_only_console_shows_no_form_and_keeps_who_tried(bench: Bench) -> None:
    client = open_console(bench.data)
    page = client.get("/actions/pause_host", query_string={"target": HOST})
    assert page.status_code == 403
    assert "<form" not in page.text.partition("<main")[2].partition("</main>")[0]
    assert "--allow-actions" in page.text
    answer = client.post("/actions/pause_host", data={"target": HOST}, headers=ORIGIN)
    assert answer.status_code == 403
    row = newest(bench)
    assert (row.action, row.target) == ("pause_host", HOST)
    assert row.did == "refused: the console is read-only"
    assert bench.frontier.pauses() == []
    assert "refused" in client.get("/audit").text


def test_errors_are_kept_and_unknown_actions_are_not_there(
    client: FlaskClient, bench: Bench
) -> None:
    assert client.get("/actions/explode?target=x").status_code == 404
    assert client.get("/actions/pause_host?target=no.example").status_code == 404
    assert client.get("/actions/roll_back?target=a.example&version=x").status_code == 400
    page = do(client, "pin_class", HOST, template="/p{n}", typed_word="nonsense")
    assert "nonsense is not a kind" in page.text
    assert (newest(bench).did or "").startswith("error: ")
    lines = client.get("/audit.jsonl").text.splitlines()
    assert '"action": "pin_class"' in lines[0]


def test_rows_are_shown_page_by_page(client: FlaskClient, bench: Bench) -> None:
    page = client.get("/audit?limit=2")
    assert page.text.count('<tr><th scope="row">') == 2
    behind = re.search(r'href="/audit\?limit=2&amp;after=(\d+)"', page.text)
    assert behind
    assert int(behind[1]) == newest(bench).seq - 1
    assert client.get(f"/audit?limit=2&after={behind[1]}").status_code == 200
    assert client.get("/audit?after=x").status_code == 400


def test_texts_of_strangers_stay_texts(client: FlaskClient) -> None:
    evil = '"><script>alert(1)</script>'
    page = client.get("/actions/forbid_class", query_string={"target": HOST, "template": evil})
    assert "<script>alert" not in page.text
    page = client.get("/actions/pause_host", query_string={"target": evil})
    assert page.status_code == 404
    assert "<script>alert" not in page.text


def test_before_any_crawl_nothing_was_done(tmp_path: Path) -> None:
    client = open_console(tmp_path / "absent")
    assert client.get("/audit").status_code == 200
    assert client.get("/operations").status_code == 200
    assert client.post("/actions/pause_host", headers=ORIGIN).status_code == 403


def test_what_is_wrong_with_an_order_is_said_before_anything_is_done(
    client: FlaskClient, bench: Bench
) -> None:
    def asked(name: str, **values: str) -> str:
        answer = client.get(f"/actions/{name}", query_string=values)
        assert answer.status_code == 200, answer.text
        assert '<form method="post" action="/actions' not in answer.text
        return answer.text

    with closing(bench.store()) as store:
        before = store.audit.read(limit=1)
        store.crawls.put(
            CrawlSpec(crawl_id="kept", seeds=("http://b.example/",)), CrawlState.STOPPED
        )
    one = {"seeds": "http://b.example/"}
    assert 'role="alert"' not in asked("start_crawl")
    assert "127.0.0.1 is a private" in asked("start_crawl", seeds="http://127.0.0.1/")
    assert "is no name: letters" in asked("start_crawl", crawl="a/b", **one)
    assert "kept is there already" in asked("start_crawl", crawl="kept", **one)
    assert "max_pages is &#39;few&#39;: expected" in asked("start_crawl", max_pages="few", **one)
    assert "is not a time" in asked("start_crawl", ends="soon", **one)
    assert "unterminated" in asked("edit_crawl", target="kept", exclude="(")
    assert "expected" in asked("edit_crawl", target="kept", scope="all")
    asked("edit_crawl", target="kept", max_pages="")  # nothing would change
    assert "is no name" in asked("start_topic", query="地震", **one)
    assert "there is no topic quake" in asked("start_topic", topic="quake", **one)
    assert client.get("/actions/edit_crawl?target=none").status_code == 404
    assert client.get("/actions/edit_topic?target=none").status_code == 404
    assert (
        client.get("/actions/start_crawl", query_string={"seeds": "x" * 20_001}).status_code == 413
    )
    with closing(bench.store()) as store:
        assert store.audit.read(limit=1) == before


def test_what_may_pass_is_retried_and_what_fails_again_is_left_out(
    client: FlaskClient, bench: Bench
) -> None:
    with closing(bench.store()) as store:
        store.crawls.put(CrawlSpec(crawl_id="two", seeds=()), CrawlState.STOPPED)
        failed = {500: 3, 404: 2, 410: 1}
        for status, n in failed.items():
            store.save([
                make_failure(f"/{status}/{k}", crawl_id="two", status=status,
                             reason=FailureReason.HTTP_STATUS)
                for k in range(n)
            ])  # fmt: skip
        store.save([make_failure("/forbidden", crawl_id="two", reason=FailureReason.TOO_LARGE)])
        store.statistics.refresh()
    page = client.get("/failures?crawl=two").text
    assert page.count("/actions/retry_failed?target=two") == 2, "of 500, and of all that may pass"
    assert page.count("fails again") == 3
    asked = client.get("/actions/retry_failed?target=two").text
    numbers = re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", asked)
    assert ("URLs", "3") in numbers
    assert [n for name, n in numbers if name.startswith("failed URLs left out")] == ["4"]
    group = f"/failures/group?crawl=two&host={FAILED_HOST}&cause=http_status&status=404"
    assert "These fail again, most of them" in client.get(group).text


def test_what_is_deleted_is_typed_first(client: FlaskClient, bench: Bench) -> None:
    page = client.get("/actions/purge_crawl?target=c")
    form = fields_in(page)
    wrong = client.post("/actions/purge_crawl", data=form | {"typed": "d"}, headers=ORIGIN)
    assert wrong.status_code == 422
    assert "That is not the name" in wrong.text
    assert "c" in bench.frontier.crawl_ids()
    do(client, "purge_crawl", "c", typed_typed="c")
    done = ended(bench)
    assert (done.state, done.done) == (OperationState.DONE, 1)
    assert "c" not in bench.frontier.crawl_ids()
    store = bench.store()
    assert store.crawls.get("c") is None
    assert store.audit.read(limit=1)[0].action == "purge_crawl", "a purge deletes no audit"
    store.close()
