"""Who may use the API."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from werkzeug.exceptions import HTTPException

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.console_tokens import FILE, TokenFile
from crawlclean.workers.console.api.tokens import Tokens, TokenScope
from crawlclean.workers.operations.api_tokens import (
    MOST_DAYS,
    list_tokens,
    make_token,
    revoke_token,
)
from tests.kit.commands import DataFolder
from tests.kit.console import ORIGIN, guarded_console, log_in, open_console


def status_of(call: Callable[[], object]) -> int:
    with pytest.raises(HTTPException) as caught:
        call()
    assert caught.value.response is not None
    return caught.value.response.status_code


def test_without_a_token_nothing_is_answered(tmp_path: Path) -> None:
    client = guarded_console(tmp_path)
    made = make_token(tmp_path, "t", TokenScope.READ, None)
    for header in (
        "",
        "Bearer",
        "Bearer x",
        made.token,
        f"Basic {made.token}",
        f"Bearer {made.token}x",
        f"Bearer {made.token[:-1]}{'0' if made.token[-1] != '0' else '1'}",
        f"Bearer cc_00000000_{'0' * 40}",
        "Bearer \xff",
    ):
        for path in ("/api/openapi.json", "/api/v1/now"):
            answer = client.get(path, headers={"Authorization": header})
            assert answer.status_code == 401, header
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            assert answer.content_type == "application/problem+json"
    good = {"Authorization": f"bearer {made.token}"}
    assert client.get("/api/v1/now", headers=good).status_code == 200
    assert client.get(f"/api/v1/now?token={made.token}").status_code == 401


def test_a_login_is_no_token_and_a_token_no_login(tmp_path: Path) -> None:
    client = guarded_console(tmp_path)
    made = make_token(tmp_path, "t", TokenScope.ADMIN, None)
    good = {"Authorization": f"Bearer {made.token}"}
    assert client.get("/help", headers=good).status_code == 303
    assert client.get("/metrics", headers=good).status_code == 401
    log_in(client)
    assert client.get("/help").status_code == 200
    assert client.get("/api/v1/now").status_code == 401


def test_without_a_password_the_api_still_needs_a_token(tmp_path: Path) -> None:
    client = open_console(tmp_path)
    assert client.get("/").status_code == 200
    assert client.get("/api/v1/now", headers=ORIGIN).status_code == 401


def test_names_of_others_are_refused_with_a_token_too(tmp_path: Path) -> None:
    made = make_token(tmp_path, "t", TokenScope.READ, None)
    headers = {"Authorization": f"Bearer {made.token}", "Host": "rebound.example"}
    assert open_console(tmp_path).get("/api/v1/now", headers=headers).status_code == 421


def test_a_token_ends(tmp_path: Path) -> None:
    made = make_token(tmp_path, "t", TokenScope.READ, 2)
    assert made.expires_at is not None
    now = [made.expires_at.timestamp() - 1]
    tokens = Tokens(tmp_path, clock=lambda: now[0])
    assert tokens.asked(f"Bearer {made.token}", TokenScope.READ).id == made.id
    now[0] += 1
    assert status_of(lambda: tokens.asked(f"Bearer {made.token}", TokenScope.READ)) == 401


def test_a_revoked_token_ends_at_once(tmp_path: Path) -> None:
    made = make_token(tmp_path, "t", TokenScope.READ, None)
    tokens = Tokens(tmp_path)
    tokens.asked(f"Bearer {made.token}", TokenScope.READ)
    assert revoke_token(tmp_path, made.token).id == made.id
    assert status_of(lambda: tokens.asked(f"Bearer {made.token}", TokenScope.READ)) == 401
    with pytest.raises(NotFound):
        revoke_token(tmp_path, made.id)


def test_scopes_contain_each_other(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    order = list(TokenScope)
    for own in order:
        made = make_token(tmp_path, "t", own, None)
        for needed in order:
            if order.index(own) >= order.index(needed):
                tokens.asked(f"Bearer {made.token}", needed)
            else:
                asked = f"Bearer {made.token}"
                assert status_of(lambda a=asked, n=needed: tokens.asked(a, n)) == 403  # type: ignore[misc]


def test_too_many_requests_of_one_token_wait(tmp_path: Path) -> None:
    now = [1_000_000.0]
    tokens = Tokens(tmp_path, clock=lambda: now[0], most_requests=3)
    one = f"Bearer {make_token(tmp_path, 'one', TokenScope.READ, None).token}"
    two = f"Bearer {make_token(tmp_path, 'two', TokenScope.READ, None).token}"
    for _ in range(3):
        tokens.asked(one, TokenScope.READ)
    assert status_of(lambda: tokens.asked(one, TokenScope.READ)) == 429
    tokens.asked(two, TokenScope.READ)
    now[0] += 60
    tokens.asked(one, TokenScope.READ)


def test_the_file_has_no_token(tmp_path: Path) -> None:
    made = make_token(tmp_path, "t", TokenScope.READ, None)
    content = (tmp_path / FILE).read_bytes()
    assert made.id.encode() in content
    assert made.token.rpartition("_")[2].encode() not in content
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_the_last_use_is_kept(tmp_path: Path) -> None:
    made = make_token(tmp_path, "t", TokenScope.READ, None)
    Tokens(tmp_path).asked(f"Bearer {made.token}", TokenScope.READ)
    (line,) = list_tokens(tmp_path)
    assert line.used_at is not None
    assert abs(line.used_at - datetime.now(UTC)) < timedelta(hours=1)


def test_what_cannot_be_made(tmp_path: Path) -> None:
    for name, days in (("", 1), ("x" * 101, 1), ("a\nb", 1), ("t", 0), ("t", MOST_DAYS + 1)):
        with pytest.raises(ConfigError):
            make_token(tmp_path, name, TokenScope.READ, days)
    assert list_tokens(tmp_path) == []


def test_the_command_and_the_page(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert folder.output("console", "tokens") == "there is no token\n"
    (made,) = folder.rows(
        "console", "tokens", "--new", "<b>grafana", "--scope", "act", "--days", "3", "--json"
    )
    assert made["scope"] == "act"
    (line,) = folder.rows("console", "tokens", "--json")
    assert line == {name: value for name, value in made.items() if name != "token"}
    assert (
        folder.output("console", "tokens").splitlines()[1].startswith(f"{made['id']}  <b>grafana")
    )
    page = open_console(tmp_path).get("/tokens")
    assert "&lt;b&gt;grafana" in page.text
    assert made["id"] in page.text
    assert made["token"] not in page.text
    short = folder.output("console", "tokens", "--new", "second")
    assert short.startswith("cc_")
    for wrong in (["--scope", "read"], ["--days", "1"], ["--new", "x", "--scope", "all"]):
        assert folder.call("console", "tokens", *wrong)[0] == 2
    assert (
        json.loads(folder.output("console", "tokens", "--revoke", made["id"], "--json"))["id"]
        == made["id"]
    )
    assert folder.call("console", "tokens", "--revoke", made["id"])[0] == 1
    assert made["id"] not in open_console(tmp_path).get("/tokens").text


def test_an_answer_is_kept_once_a_key(tmp_path: Path) -> None:
    with closing(TokenFile(tmp_path)) as file:
        assert file.begin("t", "k", b"asked") is None
        known = file.begin("t", "k", b"asked")
        assert known is not None
        assert known[1] is None
        assert file.begin("other", "k", b"asked") is None
        file.end("t", "k", 200, b"{}")
        known = file.begin("t", "k", b"asked")
        assert known is not None
        assert known == (b"asked", 200, b"{}")
        file.free("t", "k")
        assert file.begin("t", "k", b"asked") is None
