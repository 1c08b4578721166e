from __future__ import annotations

from pathlib import Path

import pytest

from crawlclean.workers.console.access import TRIES_OF_ADDRESS
from crawlclean.workers.console.routes import own_path
from tests.kit.console import (
    ORIGIN,
    PASSWORD,
    guarded_console,
    log_in,
    open_console,
    token_in,
)


def test_without_a_login_pages_lead_to_it(tmp_path: Path) -> None:
    client = guarded_console(tmp_path)
    for path in ("/", "/help", "/no-such-page"):
        answer = client.get(path)
        assert answer.status_code == 303
        assert answer.location.startswith("/login?to=")
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200
    assert client.get("/metrics").status_code == 401
    assert client.post("/preferences", headers=ORIGIN).status_code == 401


def test_login_leads_to_the_page_that_was_asked_for(tmp_path: Path) -> None:
    client = guarded_console(tmp_path)
    answer = log_in(client, to="/help?x=1")
    assert (answer.status_code, answer.location) == (303, "/help?x=1")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    page = client.get("/help")
    assert page.status_code == 200
    assert client.get("/login").status_code == 303
    client.post("/logout", data={"token": token_in(page, "/logout")}, headers=ORIGIN)
    assert client.get("/help").status_code == 303


def test_wrong_passwords(tmp_path: Path) -> None:
    client = guarded_console(tmp_path)
    for _ in range(TRIES_OF_ADDRESS):
        assert log_in(client, "wrong").status_code == 403
    assert log_in(client).status_code == 429
    assert client.get("/metrics", auth=("prometheus", PASSWORD)).status_code == 401


def test_counters_are_read_with_the_password(tmp_path: Path) -> None:
    client = guarded_console(tmp_path)
    assert client.get("/metrics", auth=("any", "wrong")).status_code == 401
    assert client.get("/metrics", auth=("any", PASSWORD)).status_code == 503  # no crawl runs


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8484", 200),
        ("[::1]:8484", 200),
        ("ops.example", 200),
        ("OPS.example.:443", 200),
        ("rebound.example", 421),
        ("127.0.0.1.rebound.example", 421),
        ("[::2]", 421),
    ],
)
def test_only_names_of_the_console_are_answered(tmp_path: Path, host: str, status: int) -> None:
    answer = guarded_console(tmp_path).get("/healthz", headers={"Host": host})
    assert answer.status_code == status


def test_forms_of_other_sites_are_refused(tmp_path: Path) -> None:
    client = open_console(tmp_path)
    token = token_in(client.get("/preferences"), "/preferences")
    form = {"token": token, "language": "zh", "to": "/help"}
    for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert client.post("/preferences", data=form, headers=headers).status_code == 403
    for wrong in ("", token[::-1]):
        answer = client.post("/preferences", data={**form, "token": wrong}, headers=ORIGIN)
        assert answer.status_code == 403
    assert client.post("/preferences", data=form, headers=ORIGIN).location == "/help"
    assert '<html lang="zh-CN">' in client.get("/help").text


def test_every_answer_has_the_headers(tmp_path: Path) -> None:
    client = open_console(tmp_path)
    for path in ("/", "/help", "/no-such-page", "/healthz", "/static/console.css"):
        with client.get(path) as answer:
            pass
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert client.get("/").headers["Cache-Control"] == "no-store"
    with client.get("/static/console.css") as style:
        assert "immutable" in style.headers["Cache-Control"]


def test_large_answers_are_compressed(tmp_path: Path) -> None:
    client = open_console(tmp_path)
    wanted = {"Accept-Encoding": "gzip"}
    assert client.get("/preferences", headers=wanted).headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in client.get("/healthz", headers=wanted).headers
    assert "Content-Encoding" not in client.get("/preferences").headers
    with client.get("/static/console.css", headers=wanted) as style:
        assert style.status_code == 200


def test_a_huge_form_is_refused(tmp_path: Path) -> None:
    client = open_console(tmp_path)
    answer = client.post("/preferences", data={"token": "x" * 100_000}, headers=ORIGIN)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "text", ["//evil.example/", "http://evil.example/", "/\\evil.example", "", "/\n//x", "x"]
)
def test_no_redirection_leads_out(text: str) -> None:
    assert own_path(text) == "/"


def test_pages_are_there_before_any_crawl(tmp_path: Path) -> None:
    client = open_console(tmp_path / "absent")
    assert client.get("/").status_code == 200
    assert client.get("/readyz").status_code == 200
    assert not (tmp_path / "absent").exists()
