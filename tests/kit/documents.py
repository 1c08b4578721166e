"""The code blocks of documents: commands, the output shown below them, and files.

In a `console` block, a line with `$ ` is a command, `> ` continues it, the others are its output.
A line `...` stands for lines that are left out, ` ...` at the end of a line for its rest.
A block of another language whose first line is `# NAME` is the file of this name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", flags=re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# ([\w.-]+\.\w+)\n")
LEFT_OUT = "..."
PROGRESS = "pages/s, 0s"  # as it is masked


@dataclass(frozen=True)
class Block:
    """A code block: its document, the line of its fence, its language and text."""

    document: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, ``README.md:14``."""
        return f"{self.document.name}:{self.line}"

    @property
    def file_name(self) -> str:
        """Name of the file that it is; ``""`` of other blocks."""
        found = FILE_NAME.match(self.text)
        return found[1] if found else ""


@dataclass(frozen=True)
class Command:
    """A command line and the lines shown below it."""

    place: str
    text: str
    shown: tuple[str, ...]


def blocks_of(document: Path) -> Iterator[Block]:
    """Returns the code blocks of a document in their order."""
    text = document.read_text("utf-8")
    for found in FENCE.finditer(text):
        indent = len(found[1])
        lines = [line[indent:] for line in found[3].splitlines(keepends=True)]
        line = text.count("\n", 0, found.start()) + 1
        yield Block(document, line, found[2], "".join(lines))


def commands_of(block: Block) -> list[Command]:
    """Returns the commands of a `console` block; output above the first one is of no command."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif line.startswith("> ") and commands and not commands[-1][1]:
            commands[-1] = (f"{commands[-1][0]}\n{line[2:]}", [])
        elif commands:
            commands[-1][1].append(line)
    return [Command(block.place, text, tuple(shown)) for text, shown in commands]


def masked(line: str) -> str:
    """Returns a line without what differs from run to run: numbers, times, bars, widths."""
    line = re.sub(r"\b[\w-]+\.\d+\.[0-9a-f]{6,}\b", "PROCESS", line)
    line = re.sub(r"\b(\d+[dhms])+\b", "0s", line)
    line = re.sub(r"\d[\d,.:]*", "0", line)
    line = re.sub(r"[█-▏░#]{2,}|[█-▏]", "BAR", line)
    return re.sub(r"\s+", " ", line).strip()


def differences(shown: Sequence[str], printed: str) -> list[str]:
    """Returns the shown lines that were not printed; `+`: lines printed and not shown.

    Lines may stand in another order, because tables are sorted by what a run measures. A slow
    machine prints more lines of progress.
    """
    if not shown:
        return []
    real = Counter(masked(line) for line in printed.splitlines() if line.strip())
    wanted = [masked(line) for line in shown if line.strip()]
    missing, used = [], set()
    for line in wanted:
        start = line.removesuffix(LEFT_OUT).rstrip() if line.endswith(f" {LEFT_OUT}") else None
        found = [each for each in real if each == line or (start and each.startswith(start))]
        used.update(found)
        if not found and line != LEFT_OUT:
            missing.append(line)
    if LEFT_OUT in wanted:
        return missing
    more = [line for line in real if line not in used and not line.endswith(PROGRESS)]
    return missing + [f"+ {line}" for line in more]
