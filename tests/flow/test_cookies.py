"""Real crawls of sites that want their cookies back."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.crawls import crawlclean, stored_urls
from tests.kit.raw_web import RawWeb, answer
from tests.kit.web import html

ONE_AT_A_TIME = {"CRAWLCLEAN_SLOTS": "1"}
CIRCLES = [(length, linked) for length in (2, 3, 5) for linked in (True, False)]
"""Of redirects: how many addresses they have, and whether a page links to all of them."""


class Walled(RawWeb):
    """Pages that are shown to whoever has their cookie; all others are told something else."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__({}, address)

    def wall(self, path: str, cookie: str, otherwise: bytes) -> None:
        """Adds a page behind a cookie."""

        def say(connection: socket.socket) -> None:
            is_known = cookie in self.heads[-1].partition("Cookie: ")[2]
            page = html(path, f"这是{path}的正文，一座石桥修好了，两岸的人都来看，大家都很高兴。")
            connection.sendall(answer(page.encode()) if is_known else otherwise)

        self.answers[path] = say


def moved(to: str, *headers: str) -> bytes:
    return answer(b"", f"Location: {to}", *headers, status="302 Found")


def crawl(data: Path, *arguments: str) -> None:
    crawlclean("run", *arguments, "--allow-private", "--data", str(data), env=ONE_AT_A_TIME)


def failures(data: Path) -> dict[str, str]:
    said = crawlclean("failures", "--data", str(data)).stdout
    return dict(line.split("  ", 1) for line in said.splitlines())


def test_cookies_lead_through_walls(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Walled() as web, Walled("127.0.0.2") as other:
        paths = ("/session", "/self", "/loop", "/own", "/circle", "/restless")
        away = other.url("/page")
        page = html("首页", links={**dict.fromkeys(paths, "看看"), away: "别处"})
        web.answers["/"] = answer(page.encode(), "Set-Cookie: sid=1; Path=/; HttpOnly")
        web.wall("/session", "sid=1", answer(b"", status="403 Forbidden"))
        web.wall("/self", "wall=2", moved("/self", "Set-Cookie: wall=2; Max-Age=99"))
        web.wall("/loop", "gate=3", moved("/check"))
        web.answers["/check"] = moved("/loop", "Set-Cookie: gate=3")
        # What no cookie opens.
        web.answers["/own"] = moved("/own#top")
        web.answers["/circle"], web.answers["/other"] = moved("/other"), moved("/circle")
        web.wall("/restless", "never", moved("/restless", "Set-Cookie: x=1; path=/r"))
        other.answers["/page"] = answer(html("别处").encode())
        crawl(data, web.url(), "--scope", "any")
        read = {path for path in paths if web.url(path) in stored_urls(data)}
        assert read == {"/session", "/self", "/loop"}
        assert [web.paths().count(path) for path in paths] == [1, 2, 2, 1, 2, 2]
        assert "cookie" not in other.head_of("/page")
        why = failures(data)
        assert set(why) == {web.url("/own"), web.url("/circle"), web.url("/restless")}
        assert "redirects to itself" in why[web.url("/own")]
        assert "redirects to itself" in why[web.url("/restless")]
        assert (
            f"it redirects to {web.url('/other')}, which redirects back" in why[web.url("/circle")]
        )


@pytest.fixture(scope="module")
def circles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Walled, dict[str, str]]]:
    """After a crawl of a site with circles of redirects: (server, failures)."""
    data = tmp_path_factory.mktemp("circles") / "data"
    entries = ["/loop"]
    with Walled() as web:
        for length, all_linked in CIRCLES:
            circle = circle_of(length, all_linked=all_linked)
            entries += circle if all_linked else [f"/way-to-{length}"]
            web.answers[f"/way-to-{length}"] = moved(f"/{length}-c0")
            for n, path in enumerate(circle):
                web.answers[path] = moved(circle[(n + 1) % length])
        web.wall("/loop", "gate=3", moved("/check"))
        web.answers["/check"] = moved("/set")
        web.answers["/set"] = moved("/loop", "Set-Cookie: gate=3")
        web.answers["/"] = answer(html("首页", links=dict.fromkeys(entries, "看看")).encode())
        crawl(data, web.url())
        assert web.url("/loop") in stored_urls(data), "a circle of three that sets its cookie"
        yield web, failures(data)


def circle_of(length: int, *, all_linked: bool) -> list[str]:
    """The paths of a circle, which lead to each other."""
    return [f"/{length}-{'l' if all_linked else 'c'}{n}" for n in range(length)]


@pytest.mark.parametrize(("length", "all_linked"), CIRCLES)
def test_a_circle_of_redirects_is_a_failure(
    circles: tuple[Walled, dict[str, str]], length: int, *, all_linked: bool
) -> None:
    web, failed = circles
    circle = circle_of(length, all_linked=all_linked)
    why = [failed[url] for url in map(web.url, circle) if url in failed]
    assert why, "no URL of the circle can be had"
    assert all(" back" in each for each in why)
    assert all_linked or all("also with its cookies" in each for each in why)
    assert max(web.paths().count(path) for path in circle) <= 2


def test_cookies_outlive_their_process(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Walled() as web:
        page = html("首页", links={"/session": "看看"})
        web.answers["/"] = answer(page.encode(), "Set-Cookie: sid=1")
        web.wall("/session", "sid=1", answer(b"", status="403 Forbidden"))
        crawl(data, web.url(), "--crawl", "c", "--max-pages", "1")
        crawl(data, web.url(), "--crawl", "c", "--max-pages", "9")
        assert web.url("/session") in stored_urls(data)


def test_the_hosts_file_is_the_jar_of_its_host(tmp_path: Path) -> None:
    data, hosts = tmp_path / "data", tmp_path / "hosts.toml"
    with Walled() as web:
        hosts.write_text(f'["http://{web.host}"]\ncookies = {{ sid = "mine" }}\n', "utf-8")
        page = html("首页", links={"/session": "看看"})
        web.answers["/"] = answer(page.encode(), "Set-Cookie: sid=theirs", "Set-Cookie: b=1")
        web.answers["/session"] = answer(page.encode())
        crawl(data, web.url(), "--hosts-file", str(hosts))
        assert web.head_of("/session")["cookie"] == "sid=mine"
        assert len(stored_urls(data)) == 2
