"""The environment of the peers, and their answers, cached by page and version."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.kit.environments import PEERS as PACKAGES, interpreter, variables
from benchmarks.kit.results import ROOT
from benchmarks.page.peer_answers import PEERS

ANSWERS = ROOT / "build" / "peers-page-answers"
LOG = ROOT / "build" / "peers-page.log"


def python() -> Path:
    """Returns the interpreter of the peers' environment."""
    return interpreter("peers-page", PACKAGES)


def run(*arguments: str, pages: int = 0) -> Any:
    """Runs a command of ``peer_answers.py`` with progress on stderr; returns its result."""
    program = [str(python()), "-m", "benchmarks.page.peer_answers", *arguments]
    with (
        LOG.open("w", encoding="utf-8") as log,
        subprocess.Popen(  # noqa: S603 - our own program
            program,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=ROOT,
            env=variables(),
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        last = ""
        for number, line in enumerate(process.stdout, 1):
            last = line
            if number <= pages:
                sys.stderr.write(f"\r{arguments[0]}: page {number} of {pages} ")
        sys.stderr.write("\n" if pages else "")
    if process.returncode:
        sys.exit(f"{arguments[0]} of a peer failed: {LOG.read_text('utf-8')[-2000:]}")
    return json.loads(last)


@contextmanager
def written(pages: Sequence[dict[str, Any]]) -> Iterator[Path]:
    """Writes the pages into a temporary PAGES folder of ``peer_answers.py``."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        index = []
        for number, page in enumerate(pages):
            file = f"{number}.html"
            (folder / file).write_text(page["html"], "utf-8", errors="replace")
            entry = {key: page.get(key) for key in ("id", "url", "lang", "lacks")}
            index.append({"file": file, **entry})
        (folder / "index.json").write_text(json.dumps(index), "utf-8")
        yield folder


def answers_of_peers(pages: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Returns the text of every peer for every page; only missing texts are computed."""
    versions = run("versions")
    kept = {name: _Kept(name, versions[name]) for name in PEERS}
    digests = [_digest(page) for page in pages]
    asked = [
        {**page, "lacks": lacks}
        for page, digest in zip(pages, digests, strict=True)
        if (lacks := [name for name in PEERS if digest not in kept[name].answers])
    ]
    if asked:
        with written(asked) as folder:
            target = folder / "answers.jsonl"
            run("answers", str(folder), str(target), pages=len(asked))
            for page, line in zip(asked, target.open(encoding="utf-8"), strict=True):
                for name, text in json.loads(line)["answers"].items():
                    kept[name].answers[_digest(page)] = text
        for each in kept.values():
            each.save()
    return [{name: kept[name].answers[digest] for name in PEERS} for digest in digests]


class _Kept:
    """The cached texts of one version of a peer."""

    def __init__(self, name: str, version: str) -> None:
        self._file = ANSWERS / f"{name}-{version}.json"
        text = self._file.read_text("utf-8") if self._file.exists() else "{}"
        self.answers: dict[str, str] = json.loads(text)

    def save(self) -> None:
        ANSWERS.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(self.answers), "utf-8")
        part.replace(self._file)


def _digest(page: dict[str, Any]) -> str:
    source = "\0".join((page["url"], page["lang"], page["html"]))
    return blake2b(source.encode("utf-8", "replace"), digest_size=16).hexdigest()
