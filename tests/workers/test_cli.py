"""The command line: help, exit statuses, and how its output ends."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawlclean.workers.answers.crawls import EndedBy
from crawlclean.workers.cli import help_text, main, parse
from crawlclean.workers.commands.names import COMMANDS, EXIT_STATUSES, FAMILIES, OLD_NAMES
from crawlclean.workers.commands.run import status_of
from crawlclean.workers.config import SECTIONS, variable
from tests.kit.crawls import ROOT, command, crawlclean, environment
from tests.kit.timing import LIMIT_S


@pytest.fixture(autouse=True)
def plain_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment without settings of ours; logging as it was afterwards."""
    for name in os.environ:
        if name.startswith("CRAWLCLEAN_"):
            monkeypatch.delenv(name)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)


def test_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    listed = re.findall(r"^  (\w+)  ", text, re.MULTILINE)
    assert listed[:8] == ["run", "sites", "topic", "show", "why", "hosts", "failures", "export"]
    assert set(listed) == {name.split()[0] for name in COMMANDS}
    assert len(listed) < 25
    assert f"Exit status: {EXIT_STATUSES}." in text


@pytest.mark.parametrize("family", FAMILIES)
def test_a_first_word_lists_its_commands(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([family, "--help"]) == 0
    text = capsys.readouterr().out
    assert main([family]) == 2
    assert capsys.readouterr().out == text
    listed = {f"{family} {word}" for word in re.findall(r"^  ([\w-]+)  ", text, re.MULTILINE)}
    assert listed == {name for name in COMMANDS if name.startswith(f"{family} ")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*name.split(), "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: crawlclean {name} ")
    assert "None" not in text
    assert len(text.splitlines()) > 5


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_an_old_name_does_the_same_and_says_the_new_one(
    old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*new.split(), "--help"])
    explained = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([old, *(["x"] if old in FAMILIES else []), "--help"])
    said = capsys.readouterr()
    assert said.out == explained
    assert said.err.startswith(f"crawlclean: `{old}` is now `{new}`; ")
    assert said.err.count("\n") == 1
    assert old in FAMILIES or f"  {old}  " not in help_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["run"],
        ["run", "http://a.example/", "--scope", "world"],
        ["run", "http://a.example/", "--depth", "deep"],
        ["run", "http://a.example/", "--max-time", "1 week"],
        ["run", "http://a.example/", "--max-time", "-5"],
        ["export", "--images"],
        ["show"],
        ["config", "--unknown"],
    ],
)
def test_wrong_use_is_status_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("crawlclean: ")
    assert said.count("\n") == 1, "one line"
    assert "--help" in said


def test_a_command_alone_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    said = capsys.readouterr()
    assert said.out == help_text()
    assert not said.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["runn", "https://a.example/"], "there is no command 'runn': did you mean run?"),
        (["exprot"], "there is no command 'exprot': did you mean export?"),
        (["fly"], "there is no command 'fly'; see"),
        (["crawl", "pauze"], "there is no command 'crawl pauze': did you mean crawl pause?"),
        (["stopp"], "there is no command 'stopp': did you mean crawl stop?"),
        (["--quick"], "there is no command '--quick'; see"),
        (["cases"], "there is no command 'cases' any more: `why URL --text ''` prints"),
        *(
            ([name], f"'{name}' any more: its work is done by `join housekeeper`")
            for name in ("sweeper", "keeper", "sender")
        ),
        (["cases", "--export", "x"], "`python -m tests.pages.make_golden` makes a golden folder"),
        (["run", "http://a.example/", "--scope", "domian"], "did you mean domain?"),
        (["crawl", "retry", "--reason", "time-out"], "did you mean timeout?"),
    ],
)
def test_a_word_near_one_that_is_known_is_offered(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert said in capsys.readouterr().err


def test_a_value_of_the_environment_is_named_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAWLCLEAN_MAX_DEPTH", "-2")
    assert main(["config"]) == 2
    assert "CRAWLCLEAN_MAX_DEPTH is -2" in capsys.readouterr().err
    assert main(["run", "http://a.example/", "--depth", "-3"]) == 2
    assert "--depth is -3" in capsys.readouterr().err


def test_each_wrong_line_of_a_list_has_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sites = tmp_path / "sites.txt"
    sites.write_text("http://a.example/\nx y\nhttp://127.0.0.1/\nftp://b.example/\n")
    assert main(["sites", str(sites), "--data", str(tmp_path / "none")]) == 2
    lines = capsys.readouterr().err.removeprefix("crawlclean: ").splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{sites}:{n}" for n in (2, 3, 4)]


def test_the_package_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crawlclean", "--version"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.startswith("crawlclean ")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["run", "http://a.example/", "--delay", "nan"], "--delay is nan"),
        (["run", "http://a.example/", "--delay", "-1"], "--delay is -1"),
        (["run", "http://a.example/", "--slots", "0"], "--slots is 0"),
        (["run", "http://a.example/", "--max-pages", "0"], "--max-pages is 0"),
        (["run", "http://a.example/", "--depth", "-1"], "--depth is -1"),
        (["run", "http://a.example/", "--max-time", "0", "--trap-pages", "-1"], "--trap-pages is"),
        (["run", "http://a.example/", "--contact", "a\nb"], "control character"),
        (["run", "ftp://a.example/"], "not an http(s) URL"),
        (["run", "not a url"], "not an http(s) URL"),
        (["run", "example.com"], "did you mean https://example.com"),
        (["run", "http://127.0.0.1:9/"], "--allow-private"),
        (["run", "http://10.0.0.1/"], "--allow-private"),
        (["run", "http://[::1]/"], "--allow-private"),
        (["run", "http://localhost./"], "--allow-private"),
        (["clean", "/none/such.html"], "does not exist"),
        (["export", "--since", "yesterday"], "is not a time"),
    ],
)
def test_wrong_values_are_one_line_and_status_2(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = [] if arguments[0] == "clean" else ["--data", str(tmp_path / "none")]
    assert main([*arguments, *data]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("crawlclean: ")
    assert text in line
    assert not (tmp_path / "none").exists(), "nothing is made before the arguments are right"


def test_an_interrupted_command_is_status_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press_ctrl_c(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "crawlclean.workers.operations.controlling.crawls.crawls_in_full", press_ctrl_c
    )
    assert main(["crawls"]) == 130
    assert capsys.readouterr().err == "crawlclean: interrupted\n"


@pytest.mark.parametrize(
    ("ends", "has_records", "status"),
    [
        ([EndedBy.DONE], True, 0),
        ([EndedBy.DONE], False, 1),
        ([EndedBy.DONE, EndedBy.LIMIT], True, 3),
        ([EndedBy.STOP], False, 3),
        ([EndedBy.LIMIT, EndedBy.SIGNAL], True, 130),
    ],
)
def test_the_status_of_crawls(ends: list[EndedBy], has_records: bool, status: int) -> None:
    assert status_of(ends, has_records=has_records) == status


@pytest.mark.parametrize(
    "arguments",
    [["crawls"], ["show", "http://a.example/"], ["hosts"], ["failures"], ["export"],
     ["why", "http://a.example/"], ["join", "worker"], ["join", "housekeeper"],
     ["crawl", "pause", "x"], ["crawl", "purge", "x"], ["metrics"]],
)  # fmt: skip
def test_a_folder_without_a_crawl_is_status_1_and_stays_as_it_is(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    joins = arguments[0] == "join"
    assert main([*arguments, "--data", str(tmp_path)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert str(tmp_path) in line
    assert ("no crawl is running" if joins else "holds no crawl") in line
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_variable_stops_every_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAWLCLEAN_SLOT", "3")
    assert main(["config"]) == 2
    assert "CRAWLCLEAN_SLOT is not a setting" in capsys.readouterr().err


def test_an_option_that_is_gone_names_what_stands_in_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["crawl", "recover", "--servers"])
    assert ended.value.code == 2
    told = "crawlclean: --servers is gone: a Redis server is a queue of its own: "
    assert capsys.readouterr().err.startswith(told)


def test_config_lists_every_setting_with_its_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAWLCLEAN_SLOTS", "3")
    assert main(["config", "--data", "/x"]) == 0
    text = capsys.readouterr().out
    for cls in SECTIONS.values():
        for name in cls.__dataclass_fields__:
            assert f"\n{variable(name)}=" in text
    assert "\nCRAWLCLEAN_SLOTS=3\n" in text
    assert "\nCRAWLCLEAN_DATA=/x\n" in text
    assert [line for line in text.splitlines() if line.startswith("[")] == [
        "[storage]",
        "[crawl]",
        "[workers]",
    ]


def test_durations(capsys: pytest.CaptureFixture[str]) -> None:
    for text, seconds in (("90", 90), ("90s", 90), ("1.5m", 90), ("2H", 7200), ("1d", 86400)):
        assert parse(["run", "x", "--max-time", text]).max_time_s == seconds
    for text in ("", "m", "1w", "1m30s", "1e3"):
        with pytest.raises(SystemExit):
            parse(["run", "x", "--max-time", text])
    assert "90, 10m or 2h" in capsys.readouterr().err


@pytest.mark.parametrize("pages", [1, 400])
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path, pages: int) -> None:
    row = json.dumps({"url": "http://a.example/", "html_base64": "PHA+eA=="})
    (tmp_path / "rows.jsonl").write_text(f"{row}\n" * pages, "utf-8")
    reader, writer = os.pipe()
    os.close(reader)  # it left before the first line
    try:
        done = subprocess.run(
            command("clean", str(tmp_path / "rows.jsonl")),
            stdout=writer,
            stderr=subprocess.PIPE,
            env=environment(),
            cwd=ROOT,
            timeout=LIMIT_S,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_output_is_utf_8_wherever_it_goes(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<meta charset=utf-8><title>标题 €</title><p>x", "utf-8")
    for env in ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "gbk"}, {"LC_ALL": "C"}):
        out = crawlclean("clean", str(tmp_path / "a.html"), env=env).stdout
        assert json.loads(out)["title"] == "标题 €"
