"""Sends a message to a command: a program without a shell, the message on its standard input."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from cleaning.errors import ConfigError
from workers.control_characters import printable
from workers.sending.webhook import Result

TIMEOUT_S = 30.0
MOST_OUTPUT_BYTES = 2_000
LOOK_S = 0.1
KEPT_VARIABLES = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE",
)  # fmt: skip
"""The environment of a command. Settings of this program, with passwords of servers, are not."""


def split_command(line: str) -> str:
    """Returns a command as it is stored, a JSON list: ``["/usr/bin/tee", "-a", "new.jsonl"]``.

    The line is split as a shell would, once, here; no shell reads it later. The program is looked
    up now, so that a later change of the search path runs no other.

    Raises:
        ConfigError: The line cannot be split, or there is no such program.
    """
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"--command: {str(error).lower()}") from None
    if not argv or "\0" in line:
        raise ConfigError("--command is empty")
    program = shutil.which(argv[0])
    if program is None:
        raise ConfigError(f"--command: there is no program {argv[0]}")
    return json.dumps([str(Path(program).absolute()), *argv[1:]])


def run_command(
    argv: Sequence[str],
    message: bytes,
    folder: Path,
    environ: Mapping[str, str],
    must_end: Callable[[], bool] = lambda: False,
) -> Result:
    """Runs a command once; it succeeds with exit status 0, within ``TIMEOUT_S``.

    The command is a process group of its own, which is killed at the end, with all that it started.

    Args:
        argv: Program and arguments.
        message: For its standard input.
        folder: Where it runs.
        environ: Of which it gets ``KEPT_VARIABLES``.
        must_end: Whether the sender ends; the command is killed then.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - the operator's own command, without a shell
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={name: environ[name] for name in KEPT_VARIABLES if name in environ},
            start_new_session=True,
        )
    except OSError as error:
        return Result(f"cannot be started: {error.strerror}")
    with process:
        try:
            output = _talk(process, message, must_end)
            status = process.poll()
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    shown = printable(output.decode(errors="replace").strip())
    if status is None:
        return Result(
            "the sender ended" if must_end() else f"not done in {TIMEOUT_S:g} s", 0, shown
        )
    if status < 0:
        return Result(f"killed by signal {-status}", 0, shown)
    return Result(f"exit status {status}" if status else "", 0, shown)


def _talk(process: subprocess.Popen[bytes], message: bytes, must_end: Callable[[], bool]) -> bytes:
    """Writes the message and reads the output until the process ends; returns its beginning."""
    deadline = time.monotonic() + TIMEOUT_S
    kept = bytearray()
    left = memoryview(message)
    with selectors.DefaultSelector() as selector:
        for stream, event in (
            (process.stdin, selectors.EVENT_WRITE),
            (process.stdout, selectors.EVENT_READ),
        ):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, event)
        while time.monotonic() < deadline and not must_end():
            has_ended = process.poll() is not None
            ready = selector.select(0 if has_ended else LOOK_S)
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    left = _write(process, left, selector)
                else:
                    _read(process, kept, selector)
            if has_ended and not any(key.fileobj is process.stdout for key, _ in ready):
                break
            if not selector.get_map() and not has_ended:
                time.sleep(LOOK_S)  # both ends are closed, and it works on
    return bytes(kept)


def _write(
    process: subprocess.Popen[bytes], left: memoryview, selector: selectors.BaseSelector
) -> memoryview:
    if process.stdin is None:
        return left
    try:
        left = left[os.write(process.stdin.fileno(), left[:65_536]) :]
    except BrokenPipeError:  # a command need not read
        left = left[len(left) :]
    if not left:
        selector.unregister(process.stdin)
        process.stdin.close()
    return left


def _read(
    process: subprocess.Popen[bytes], kept: bytearray, selector: selectors.BaseSelector
) -> None:
    if process.stdout is None:
        return
    read = os.read(process.stdout.fileno(), 65_536)
    kept += read[: MOST_OUTPUT_BYTES - len(kept)]
    if not read:
        selector.unregister(process.stdout)
