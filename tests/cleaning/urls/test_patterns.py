"""Which addresses are of one class, and which a trap by their look."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.cleaning.urls.patterns import (
    TrapSign,
    find_trap_sign,
    is_session_like,
    pattern_of,
    patterns_of,
    without_session,
)

H = "http://a.example"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", ""),
        ("/a.html", "/*.html"),
        ("/thread-12-1-1.html", "/*.html"),
        ("/news/", "/*/"),
        ("/2024/05/03/slug/", "/*/*/*/*/"),
        ("/calendar/2024-05", "/calendar/*"),
        ("/page2/x.html", "/page#/*.html"),
        ("/forum.php?tid=3&mod=view", "/*.php?mod&tid"),
        ("/forum.php?mod=view&tid=4", "/*.php?mod&tid"),
        ("/s/0a1b2c3d4e5f/articles/1.html", "/s/{session}"),
        ("/s/0a1b2c3d4e5f/x/", "/s/{session}"),
        ("/s/6fa459ea-ee8a-3ca4-894e-db77e160355e/x", "/s/{session}"),
        ("/a/x.jsp;jsessionid=0A1B2C3D4E5F", "/a/{session}"),
        ("/a/b/c?PHPSESSID=0a1b2c3d4e5f6a7b", "/{session}?PHPSESSID"),
        ("/x/y?sid=0a1b2c3d4e5f6a7b", "/{session}?sid"),
        # characters are counted, not the bytes of their escapes
        ("/%E5%BC%80%E5%8F%9112/a.html", "/开发#/*.html"),
        ("/%EF%BC%91%EF%BC%92%E6%9C%88/a", "/#月/*"),
        ("/x?%E9%A1%B52=3", "/*?页#"),
        ("/x?session=%E4%B8%AD%E6%96%87", "/*?session"),
        ("/%BF%AA%B7%A22/a", "/%BF%AA%B7%A2#/*"),  # GBK stays escaped
        ("/x?sid=%BF%AA%B7%A2", "/*?sid"),
    ],
)
def test_the_class_of_an_address(path: str, pattern: str) -> None:
    assert pattern_of(H + path) == next(iter(patterns_of(H + path)), "") == pattern


def test_chinese_words_are_not_one_class() -> None:
    words = ["%E5%BC%80%E5%8F%91", "%E8%AE%BE%E8%AE%A1", "%BF%AA%B7%A2", "%C9%E8%BC%C6"]
    assert len({patterns_of(f"{H}/{word}/a.html")[0] for word in words}) == len(words)


def test_a_pattern_is_as_long_as_it_reads() -> None:
    assert patterns_of(f"{H}/{'%E4%B8%AD' * 150}/a")[0] == "/" + "中" * 150 + "/*"
    assert patterns_of(f"{H}/{'%E4%B8%AD' * 170}/a")[0].endswith("中***")


def test_groups_are_wider_than_their_class_and_never_the_whole_site() -> None:
    assert patterns_of(H + "/a/b/c/d/e.html?x=1")[1:] == (
        "/a/b/c/d/*.html?**",
        "/a/b/c/**",
        "/a/b/**",
        "/a/**",
    )
    assert patterns_of(H + "/x.html") == ("/*.html",)
    assert patterns_of(H + "/") == ()


@pytest.mark.parametrize(
    "word",
    ["windows2000server", "utf8mb4", "2024-01-05", "how-to-use-mp3-and-mp4-files", "deadbeef"],
)
def test_words_dates_and_slugs_are_no_sessions(word: str) -> None:
    assert not is_session_like(word)


PATHS = st.text("abz019/._-;=?&%2F", max_size=60).map(lambda text: normalize(f"{H}/{text}"))


@given(PATHS)
def test_every_address_has_a_bounded_class_inside_its_groups(url: str) -> None:
    found = patterns_of(url)
    assert found == patterns_of(url)
    assert all(0 < len(pattern) <= 160 for pattern in found)
    assert all(group.endswith("**") for group in found[1:])
    assert len(found) <= 5
    assert "\n" not in "".join(found[:1])
    assert "\t" not in "".join(found[:1])


@given(st.lists(st.sampled_from(["a", "bc", "7", "0a1b2c3d4e5f"]), max_size=6), st.data())
def test_numbers_make_no_classes(segments: list[str], data: st.DataObject) -> None:
    path = "/".join(["", *segments, "x.html"])
    other = "".join(data.draw(st.sampled_from("123456789")) if c == "7" else c for c in path)
    assert patterns_of(H + path) == patterns_of(H + other)


@given(PATHS)
def test_a_trap_s_sign_and_a_session_are_found_in_any_address(url: str) -> None:
    assert find_trap_sign(url) in {None, *TrapSign}
    assert without_session(without_session(url)) == without_session(url)


@pytest.mark.parametrize(
    ("path", "sign"),
    [
        ("/" + "x/" * 4, None),  # hashed folders
        ("/more/more/more/x", None),
        ("/more/more/more/more/x", TrapSign.REPEATED_SEGMENTS),
        ("/a/b/a/b/x", None),
        ("/ab/cd/ab/cd/ab/cd/x", TrapSign.REPEATED_SEGMENTS),
        ("/12/12/12/12/x", None),
        ("/%E6%96%B0%E9%97%BB" * 4 + "/x", TrapSign.REPEATED_SEGMENTS),
        ("/%EF%BC%91" * 4 + "/x", None),  # full-width 1
        ("/1/1/1/1/1/1/x", TrapSign.REPEATED_SEGMENTS),
        ("/" + "/".join(f"s{n}" for n in range(20)), None),
        ("/" + "/".join(f"s{n}" for n in range(21)), TrapSign.TOO_MANY_SEGMENTS),
        ("/login?next=%2Flogin%3Fnext%3D%252Fx", None),
        ("/login?next=%2Flogin%3Fnext%3D%252Flogin%253Fnext%253D%25252Fx", TrapSign.NESTED_ADDRESS),
        ("/login?next=/login?next=/login?next=/x", TrapSign.NESTED_ADDRESS),
        ("/go?url=http%3A%2F%2Fb.example%2F%3Fid%3D1", None),
        ("/x?a=%2525252F", TrapSign.NESTED_ADDRESS),
        ("/x?q=100%25", None),
        ("/x?" + "&".join(f"a{n}=1" for n in range(30)), None),
        ("/x?" + "&".join(f"a{n}=1" for n in range(31)), TrapSign.TOO_MANY_PARAMETERS),
    ],
)
def test_signs_of_a_trap(path: str, sign: TrapSign | None) -> None:
    assert find_trap_sign(H + path) is sign


@pytest.mark.parametrize(
    ("path", "without"),
    [
        ("/x.jsp;jsessionid=0A1B", "/x.jsp"),
        ("/x.jsp;v=1;jsessionid=0A1B?a=b", "/x.jsp;v=1?a=b"),
        ("/x?PHPSESSID=abc123&a=b", "/x?a=b"),
        ("/x?PHPSESSID=abc123", "/x"),
        ("/article?sid=20240105", "/article?sid=20240105"),  # a story's number
        ("/talk?sessionid=42", "/talk?sessionid=42"),  # of a conference
        ("/x?q=phpsessid", "/x?q=phpsessid"),
        ("/p?id=4&cat=shoes&utm_source=list&sid=0a1b2c3d4e5f", "/p?id=4&cat=shoes"),
        ("/p?UTM_Medium=mail&utm_campaign=", "/p"),
        ("/p?fbclid=IwAR0&id=4&gclid=Cj0&msclkid=1", "/p?id=4"),
        ("/item.htm?spm=a2g0o.home.1.2&id=7", "/item.htm?id=7"),
        ("/x?mc_cid=1&mc_eid=2&_ga=1.2&_hsenc=p2&a=1", "/x?a=1"),
        ("/x?session=0f3ab91c77de", "/x"),
        ("/x?sid=spring-shoes&session=morning", "/x?sid=spring-shoes&session=morning"),
        ("/x?next=utm_source&gclid_help=1", "/x?next=utm_source&gclid_help=1"),
        ("/utm_source=1/fbclid=2", "/utm_source=1/fbclid=2"),
        ("/x?spm_id=3&ga=1&ref=top&source=list", "/x?spm_id=3&ga=1&ref=top&source=list"),
    ],
)
def test_a_declared_session_is_left_out(path: str, without: str) -> None:
    assert without_session(H + path) == H + without
