"""The real command, asked over its port."""

from __future__ import annotations

import re
import signal
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.kit.crawls import crawlclean, start
from tests.kit.timing import LIMIT_S


def test_it_prints_where_it_is_and_a_new_password(tmp_path: Path) -> None:
    console = start("console", "--port", "0", "--data", str(tmp_path / "data"))
    assert console.stdout is not None
    try:
        url = re.fullmatch(r"console at (http://127\.0\.0\.1:\d+/)\n", console.stdout.readline())
        password = re.fullmatch(r"password: (\S{22})\n", console.stdout.readline())
        assert url
        assert password
        with urlopen(f"{url[1]}help") as answer:  # noqa: S310 - our own address
            assert "/login?to=" in answer.url
            assert answer.headers["Server"] == "crawlclean"
        with urlopen(f"{url[1]}healthz") as answer:  # noqa: S310
            assert answer.read() == b"ok\n"
    finally:
        console.send_signal(signal.SIGTERM)
        _, errors = console.communicate(timeout=LIMIT_S)
    assert (console.returncode, errors) == (0, "")


@pytest.mark.parametrize(
    ("behind", "statuses"),
    [((), [403] * 5 + [429] * 2), (("--behind", "127.0.0.1"), [403] * 7)],
    ids=["forwarded-by-nobody", "forwarded-by-the-proxy"],
)
def test_a_guesser_is_known_by_the_address_that_can_be_believed(
    tmp_path: Path, behind: tuple[str, ...], statuses: list[int]
) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse")
    data = ("--data", str(tmp_path / "data"), "--password-file", str(secret))
    console = start("console", "--port", "0", *data, *behind)
    assert console.stdout is not None
    try:
        place = console.stdout.readline().split("/")[2]
        client = HTTPConnection(place, timeout=LIMIT_S)
        found = []
        for number in range(7):
            client.request("GET", "/login")
            token = re.search(r'name="token" value="(\w+)"', client.getresponse().read().decode())
            assert token
            client.request(
                "POST",
                "/login",
                urlencode({"token": token[1], "password": f"wrong {number}", "to": "/"}),
                {
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Origin": f"http://{place}",
                    "X-Forwarded-For": f"192.0.2.{number}",
                },
            )
            answer = client.getresponse()
            answer.read()
            found.append(answer.status)
        client.close()
    finally:
        console.send_signal(signal.SIGTERM)
        console.communicate(timeout=LIMIT_S)
    assert found == statuses


def test_what_it_refuses(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for arguments, told in (
        (("--host", "192.0.2.1"), "--host-name"),
        (("--no-password", "--password-file", "x"), "exclude"),
        (("--password-file", str(tmp_path / "absent")), "cannot read"),
        (("--password-file", str(tmp_path / "empty")), "is empty"),
        (("--port", "65536"), "is not a port"),
        (("--port", "-1"), "is not a port"),
    ):
        done = crawlclean("console", *arguments, "--data", str(tmp_path), check=False)
        assert done.returncode == 2, done.stderr
        assert told in done.stderr
