"""Runs the commands of documents: the program's in this process, where a shell is not needed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.commands import call_main, call_main_on_one_stream
from tests.kit.crawls import ROOT
from tests.kit.forked import CAN_FORK, run_forked
from tests.kit.timing import LIMIT_S

PROGRAM = "crawlclean"
OWN_PROCESS = {"run", "sites"}
NEEDS_A_SHELL = re.compile(r"[|;&*`\n]|\$\(|<")
CALL = re.compile(rf"(?<![\w.-])(?:cli|(?:\S*/)?{PROGRAM}(?::[\d.]+)?)(?=\s|$)")


class DocShell:
    """The folder and the environment of a document."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, tools: Path) -> None:
        """Uses a folder; ``tools`` gets the program as the shell finds it."""
        self.folder = folder
        self._patch = patch
        patch.chdir(folder)
        patch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("COLUMNS", "80")
        for name, start in ((PROGRAM, "-m workers.cli "), ("python", "")):
            file = tools / name
            file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {start}"$@"\n', "utf-8")
            file.chmod(0o755)

    def run(self, text: str) -> tuple[int, str]:
        """(status, what a terminal shows) of a command line."""
        if exported := re.fullmatch(r"export (\w+)=(.*)", text):
            self._patch.setenv(exported[1], shlex.split(exported[2])[0])
            return 0, ""
        words = shlex.split(text, comments=True)
        if words[:1] != [PROGRAM] or NEEDS_A_SHELL.search(text):
            return self._in_a_shell(text)
        if words[1] in OWN_PROCESS:
            if not CAN_FORK:
                return self._in_a_shell(text)
            done = run_forked(words[1:], os.environ, self.folder, LIMIT_S, on_one_stream=True)
            return done.returncode, done.stdout
        if ">" in words:
            status, out, errors = call_main(*words[1 : words.index(">")])
            (self.folder / words[words.index(">") + 1]).write_text(out, "utf-8")
            return status, errors
        return call_main_on_one_stream(*words[1:])

    @staticmethod
    def _in_a_shell(text: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        return done.returncode, done.stdout


def own_arguments(text: str) -> list[list[str]]:
    """Returns the arguments of every call of the program in a text.

    Example: ``0 3 * * * cd /srv && crawlclean run URL >> log`` -> ``[["run", "URL"]]``. In
    containers the program is called as `cli` or by the name of its image.
    """
    calls = []
    for line in text.replace("\\\n", " ").splitlines():
        if CALL.search(line) is None:
            continue
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        called: list[str] | None = None
        for word in words:
            if set(word) <= set("();<>|&"):
                called = None
            elif called is not None:
                called.append(word)
            elif re.fullmatch(CALL, word):
                called = []
                calls.append(called)
    return [words for words in calls if words and words != ["."]]  # `docker build` of a folder
