"""Alerts and charts: they name metrics that exist, and each alert fires when it should."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import Flow, Gauge
from crawlclean.workers.metrics import exposition, metric_name
from tests.house.test_deploy import SERVICES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "metrics"
EACH = {of: dict.fromkeys(map(str, Flow), 1.0) for of in ("", ":news", "@a.example")}
TEXT = exposition({}, dict.fromkeys(Gauge, 1.0), EACH, dict.fromkeys(EACH, 1))
NAMES = set(re.findall(r"^(crawlclean_\w+)", TEXT, re.MULTILINE))
BOARD = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
(GROUP,) = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"]
RULES = {rule["alert"]: rule for rule in GROUP["rules"]}

# {alert: series at which it fires, "start+step x number of minutes" each}
FIRES = {
    "QueueAway": {'up{job="crawlclean"}': "0x2000"},
    "NoWorkers": {"crawlclean_workers": "0x2000", "crawlclean_running_crawls": "1x2000"},
    "NoSpiders": {"crawlclean_spiders": "0x2000", "crawlclean_running_crawls": "1x2000"},
    "OldestPage": {"crawlclean_oldest_job_seconds": "601x2000"},
    "Backlog": {
        "crawlclean_backpressure_waits_total": "0+10x2000",
        "crawlclean_jobs_done_total": "5x2000",
    },
    "NothingFetched": {
        "crawlclean_pages_put_total": "5x2000",
        "crawlclean_running_crawls": "1x2000",
        "crawlclean_pending_urls": "9x2000",
        "crawlclean_ready_hosts": "2x2000",
    },
    "ManyFailures": {
        "crawlclean_failed_total": "0+10x2000",
        "crawlclean_records_total": "0+9x2000",
    },
    "HostFails": {
        'crawlclean_host_responses_total{host="a.example",class="2xx"}': "0+4x2000",
        'crawlclean_host_responses_total{host="a.example",class="none"}': "0+6x2000",
        'crawlclean_host_responses_total{host="b.example",class="2xx"}': "0+6x2000",
        'crawlclean_host_responses_total{host="b.example",class="5xx"}': "0+4x2000",
    },
    "PoisonPages": {"crawlclean_poison_pages_total": "0+1x2000"},
    "URLsLost": {"crawlclean_urls_lost_total": "0+1x2000"},
    "Drift": {
        "crawlclean_drifts_bodies_total": "0x2000",
        "crawlclean_drifts_frame_total": "0+1x2000",
        "crawlclean_drifts_new_classes_total": "0x2000",
    },
    "QueueMemory": {
        "crawlclean_memory_bytes": "900x2000",
        "crawlclean_memory_limit_bytes": "1000x2000",
    },
    "Disk": {"crawlclean_free_bytes": "100000000000-40000000x2000"},
    "Certificates": {"crawlclean_wrong_certificates_total": "0+10x2000"},
    "HostsPaused": {"crawlclean_paused_hosts": "1x2000"},
}


@pytest.fixture(scope="module")
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    return found


def test_every_metric_that_is_named_exists() -> None:
    for file in ("alerts.yml", "dashboard.json"):
        named = set(re.findall(r"crawlclean_\w+", (FOLDER / file).read_text("utf-8")))
        assert len(named) > 10
        assert named <= NAMES, file


def test_every_alert_has_a_page() -> None:
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs" / "operate.md").read_text("utf-8"), re.M)
    anchors = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
    for rule in RULES.values():
        page = rule["annotations"]["page"].removeprefix("docs/operate.md#")
        assert page in anchors, rule["alert"]
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_every_counter_and_gauge_is_exported() -> None:
    assert {metric_name(name) for name in (*Counter, *Gauge)} < NAMES


def test_the_board_asks_for_crawls_and_hosts_that_are_labelled() -> None:
    variables = {each["name"]: each for each in BOARD["templating"]["list"]}
    for name in ("crawl", "host"):
        found = re.fullmatch(r"label_values\((\w+), (\w+)\)", variables[name]["definition"])
        assert found
        assert re.search(rf"^{found[1]}{{.*\b{found[2]}=", TEXT, re.MULTILINE)
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(BOARD))) - {"__all", "__field"}
    assert used == set(variables)
    assert any(each["type"] == "alertlist" for each in BOARD["panels"])
    assert {each["url"] for each in BOARD["links"]} >= {"${console}/", "${console}/events"}


def test_prometheus_takes_what_the_board_asks(promtool: str, tmp_path: Path) -> None:
    asked = [each["expr"] for panel in BOARD["panels"] for each in panel.get("targets", ())]
    rules = [{"record": f"r{n}", "expr": expr} for n, expr in enumerate(asked)]
    file = tmp_path / "board.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
    subprocess.run([promtool, "check", "rules", str(file)], check=True, capture_output=True)


def test_prometheus_finds_nothing_wrong_with_the_metrics(promtool: str) -> None:
    found = subprocess.run(
        [promtool, "check", "metrics"], input=TEXT, check=False, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_charts_stand_beside_each_other() -> None:
    panels = BOARD["panels"]
    places = {(each["gridPos"]["x"], each["gridPos"]["y"]) for each in panels}
    assert len(places) == len({each["id"] for each in panels}) == len(panels)
    assert all(each["gridPos"]["x"] + each["gridPos"]["w"] <= 24 for each in panels)


def test_prometheus_asks_the_console() -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
    (job,) = config["scrape_configs"]
    name, port = job["static_configs"][0]["targets"][0].split(":")
    assert f"--host-name={name}" in SERVICES["console"]["command"]
    assert SERVICES["console"]["ports"][0].endswith(f":{port}")
    secret = Path(job["basic_auth"]["password_file"])
    assert secret.name in SERVICES["prometheus"]["secrets"]
    assert set(SERVICES["prometheus"]["networks"]) & set(SERVICES["console"]["networks"])


def test_prometheus_tells_an_alertmanager_that_knows_each_severity() -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))
    (name, _, port) = config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"][
        0
    ].partition(":")
    service = SERVICES[name]
    assert service["ports"][0].endswith(f":{port}")
    assert set(service["networks"]) & set(SERVICES["prometheus"]["networks"])
    told = yaml.safe_load((FOLDER / "alertmanager.yml").read_text("utf-8"))
    known = {each["name"] for each in told["receivers"]}
    routes = told["route"]["routes"]
    assert {told["route"]["receiver"], *(each["receiver"] for each in routes)} == known
    named = re.findall(r'severity = "(\w+)"', str(routes))
    assert set(named) <= {rule["labels"]["severity"] for rule in RULES.values()}
    held = re.findall(r'alertname !?= "(\w+)"', str(told["inhibit_rules"]))
    assert set(held) <= set(RULES)


def test_alertmanager_takes_its_file_and_its_examples(tmp_path: Path) -> None:
    amtool = shutil.which("amtool")
    if amtool is None:
        pytest.skip("amtool is not installed (Debian: prometheus-alertmanager)")
    text = (FOLDER / "alertmanager.yml").read_text("utf-8")
    filled = tmp_path / "alertmanager.yml"
    filled.write_text(re.sub(r"^#(    )", r"\1", text, flags=re.M), "utf-8")
    for file in (FOLDER / "alertmanager.yml", filled):
        subprocess.run([amtool, "check-config", str(file)], check=True, capture_output=True)
    routes = [amtool, "config", "routes", "test", f"--config.file={FOLDER / 'alertmanager.yml'}"]
    for severity, receiver in (("page", "page"), ("ticket", "tickets")):
        done = subprocess.run(
            [*routes, f"severity={severity}"], check=True, capture_output=True, text=True
        )
        assert done.stdout.strip() == receiver


def test_prometheus_takes_the_files(promtool: str) -> None:
    for arguments in (
        ["rules", str(FOLDER / "alerts.yml")],
        ["config", "--syntax-only", str(FOLDER / "prometheus.yml")],
    ):
        subprocess.run([promtool, "check", *arguments], check=True, capture_output=True)


def test_each_alert_fires(promtool: str, tmp_path: Path) -> None:
    assert set(FIRES) == set(RULES)
    cases = [
        {
            "interval": "1m",
            "input_series": [{"series": s, "values": v} for s, v in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})',
                    "eval_time": "1600m",
                    "exp_samples": [{"labels": "{}", "value": 1}],
                }
            ],
        }
        for alert, series in FIRES.items()
    ]
    quiet = dict.fromkeys(sorted(NAMES), "0x2000") | {'up{job="crawlclean"}': "1x2000"}
    quiet |= {"crawlclean_free_bytes": "100000000000x2000"}
    cases.append(
        {
            "interval": "1m",
            "input_series": [{"series": s, "values": v} for s, v in quiet.items()],
            "promql_expr_test": [
                {"expr": "count(ALERTS)", "eval_time": "1600m", "exp_samples": []}
            ],
        }
    )
    file = tmp_path / "cases.yml"
    rules = {"rule_files": [str(FOLDER / "alerts.yml")], "evaluation_interval": "5m"}
    file.write_text(yaml.safe_dump(rules | {"tests": cases}), encoding="utf-8")
    done = subprocess.run(
        [promtool, "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
