"""Commands: no shell, little environment, a limit of time and output, no process left behind."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from cleaning.errors import ConfigError
from tests.kit.timing import LIMIT_S, wait_until
from workers.sending import command
from workers.sending.command import MOST_OUTPUT_BYTES, run_command, split_command
from workers.sending.webhook import Result

MESSAGE = ('{"data":{"title":"地震 $(touch x); `y`"}}' * 9_000).encode()


def run(folder: Path, program: str, *arguments: str, message: bytes = MESSAGE) -> Result:
    argv = [sys.executable, "-c", program, *arguments]
    environ = {**os.environ, "CRAWLCLEAN_WEBHOOK_SECRET": "s3cret", "LANG": "C.UTF-8"}
    return run_command(argv, message, folder, environ)


def test_the_message_is_on_standard_input_and_no_shell_reads_it(tmp_path: Path) -> None:
    program = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
    assert run(tmp_path, program, "$(x) ; y").error == ""
    assert (tmp_path / "$(x) ; y").read_bytes() == MESSAGE
    assert [each.name for each in tmp_path.iterdir()] == ["$(x) ; y"]


def test_settings_and_secrets_stay_here(tmp_path: Path) -> None:
    result = run(tmp_path, "import os; print(sorted(os.environ))")
    assert "PATH" in result.output
    assert "CRAWLCLEAN" not in result.output


def test_a_command_that_reads_nothing_succeeds(tmp_path: Path) -> None:
    assert run(tmp_path, "") == Result()


def test_failures_are_named(tmp_path: Path) -> None:
    failed = run(tmp_path, "print('no room'); raise SystemExit(3)")
    assert (failed.error, failed.output) == ("exit status 3", "no room")
    killed = run(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert killed.error == "killed by signal 9"
    gone = run_command(["/no/such/program"], b"", tmp_path, {})
    assert gone.error == "cannot be started: No such file or directory"


def test_output_is_bounded_and_printable(tmp_path: Path) -> None:
    noisy = "import sys; sys.stdout.write('\\x1b[31m' + 'a' * 5_000_000)"
    result = run(tmp_path, noisy)
    assert result.error == ""
    assert len(result.output) <= MOST_OUTPUT_BYTES
    assert "\x1b" not in result.output


def test_a_slow_command_is_killed_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "TIMEOUT_S", 2.0)
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    result = run(tmp_path, program)
    assert result.error == "not done in 2 s"
    child = int(result.output)
    wait_until(lambda: not is_alive(child), LIMIT_S)


def test_a_child_that_holds_the_output_holds_nobody_up(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    )
    assert run(tmp_path, program).error == ""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_line_is_split_once_and_its_program_is_looked_up() -> None:
    assert json.loads(split_command("sh -c 'echo \"a b\"' x")) == [
        shutil.which("sh"),
        "-c", 'echo "a b"', "x",
    ]  # fmt: skip
    assert Path(json.loads(split_command(shlex.quote(sys.executable)))[0]).is_absolute()
    for line in ("", "  ", "no-such-program-here x", "sh 'open"):
        with pytest.raises(ConfigError, match="--command"):
            split_command(line)
