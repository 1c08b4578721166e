from __future__ import annotations

import stat
from pathlib import Path

from crawlclean.storage.console_tokens import FILE, ConsoleFile
from crawlclean.workers.console.access import (
    IDLE_S,
    TRIES_OF_ADDRESS,
    TRIES_OF_ALL,
    TRIES_S,
    Access,
    LoginResult,
    generated_password,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_session_outlives_the_console_and_ends_when_it_is_idle(tmp_path: Path) -> None:
    clock = Clock()
    access = Access(ConsoleFile(tmp_path), "secret", clock=clock)
    result, session = access.login("secret", "192.0.2.1")
    assert result is LoginResult.OPENED
    later = Access(ConsoleFile(tmp_path), "secret", clock=clock)
    clock.now += IDLE_S - 1
    assert later.is_logged_in(session)
    clock.now += IDLE_S - 1
    assert later.is_logged_in(session)
    clock.now += IDLE_S + 1
    assert not later.is_logged_in(session)


def test_another_password_ends_sessions_and_a_generated_one_does_not(tmp_path: Path) -> None:
    _, session = Access(ConsoleFile(tmp_path), "one").login("one", "")
    new = generated_password()
    assert Access(ConsoleFile(tmp_path), new, is_generated=True).is_logged_in(session)
    assert not Access(ConsoleFile(tmp_path), "two").is_logged_in(session)


def test_the_file_has_no_session_and_no_password(tmp_path: Path) -> None:
    access = Access(ConsoleFile(tmp_path), "my password")
    _, session = access.login("my password", "")
    content = (tmp_path / FILE).read_bytes()
    assert session.encode() not in content
    assert b"my password" not in content
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_logout_ends_the_session(tmp_path: Path) -> None:
    access = Access(ConsoleFile(tmp_path), "secret")
    _, session = access.login("secret", "")
    access.logout(session)
    assert not access.is_logged_in(session)
    assert not access.is_logged_in("")


def test_guesses_are_limited_by_address_and_together(tmp_path: Path) -> None:
    clock = Clock()
    access = Access(ConsoleFile(tmp_path), "secret", clock=clock)
    for _ in range(TRIES_OF_ADDRESS):
        assert access.login("wrong", "a")[0] is LoginResult.WRONG
    assert access.login("secret", "a")[0] is LoginResult.TOO_OFTEN
    assert access.login("secret", "b")[0] is LoginResult.OPENED
    for number in range(TRIES_OF_ALL - TRIES_OF_ADDRESS):
        access.login("wrong", f"c{number}")
    assert access.login("secret", "b")[0] is LoginResult.TOO_OFTEN
    assert not access.is_known("secret", "b")
    clock.now += TRIES_S + 1
    assert access.login("secret", "a")[0] is LoginResult.OPENED


def test_a_token_is_of_one_form_and_session() -> None:
    access = Access(None)
    token = access.form_token("session", "retry")
    assert access.is_form_token(token, "session", "retry")
    assert access.form_token("session", "retry") != token
    for wrong, session, form in (
        (token, "other", "retry"),
        (token, "session", "pause"),
        (token[:-1] + "x", "session", "retry"),
        ("", "session", "retry"),
        ("é" * len(token), "session", "retry"),
    ):
        assert not access.is_form_token(wrong, session, form)
    assert not Access(None).is_form_token(token, "session", "retry")
