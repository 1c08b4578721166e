"""Generates the reference pages of the documentation from the code.

``python -m benchmarks.documents.reference docs`` writes ``cli.md``, ``settings.md``, ``json.md``,
``api.md`` and ``crawl-file.md`` into a folder; a test fails when they are out of date.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from crawlclean import __dist__
from crawlclean.storage.queue.counters import Counter
from crawlclean.workers.answers.document import json_markdown
from crawlclean.workers.cli import help_text, parser_of
from crawlclean.workers.commands.names import COMMANDS
from crawlclean.workers.config import SECTIONS, setting_keys, variable
from crawlclean.workers.crawl_file.crawl_file import (
    HOSTS_HELP,
    OVERRIDES_HELP,
    all_keys,
    as_toml,
    example,
)
from crawlclean.workers.metrics import metric_name

WIDTH = "88"


def cli_markdown() -> str:
    """Returns the help of every command, 88 columns wide."""
    old = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        parts = [
            "# Commands\n",
            "Made by `make docs` from the program's own help.\n",
            _block(help_text()),
        ]
        for name in COMMANDS:
            parts += [f"## {name}\n", _block(parser_of(name).format_help())]
    finally:
        if old is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = old
    return "\n".join(parts)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def settings_markdown() -> str:
    """Returns tables of every setting and every counter."""
    lines = [
        "# Settings and counters\n",
        "Made by `make docs`. A flag beats the environment, the environment beats the default; "
        f"an unknown `{variable('')}...` variable is an error. `{__dist__} config` prints the "
        "values in force.\n",
    ]
    for section in SECTIONS:
        lines += [f"## {section}\n", "| variable | default | what it is |", "|---|---|---|"]
        for key in setting_keys().values():
            if key.section == section:
                default = "" if key.default in (None, ()) else str(key.default)
                shown = f"`{default}`" if default else "-"
                lines.append(f"| `{variable(key.name)}` | {shown} | {key.help} |")
        lines.append("")
    lines += ["## Counters\n", "| name | what is counted |", "|---|---|"]
    lines += [f"| `{metric_name(counter)}` | {counter.meaning} |" for counter in Counter]
    return "\n".join(lines) + "\n"


def crawl_file_markdown() -> str:
    """Returns the reference of the crawl file: rules, a table of every key, the example."""
    lines = [
        "# The crawl file\n",
        "Made by `make docs`. One TOML file holds what `run` and `sites` take: "
        f"`{__dist__} run FILE.toml`, `{__dist__} sites FILE.toml`. `{__dist__} doctor FILE` reads "
        f"it without crawling; `{__dist__} doctor --example` prints the example below.\n",
        "- The name must end in `.toml`.",
        "- The command line wins over the file, the file over the environment, the environment "
        "over the defaults. URLs on the command line of `run` replace the seeds.",
        "- Relative paths begin at the folder of the file. The file is UTF-8 text, at most 1 MB.",
        "- Times are numbers of seconds. Patterns stand in single quotes: `'\\.pdf$'`.",
        f"- {HOSTS_HELP}. A crawl file with such tables is also a hosts file: "
        f"`{__dist__} join spider --hosts-file FILE.toml`.",
        f"- {OVERRIDES_HELP} ([Say what is body](operate.md#say-what-is-body)).\n",
    ]
    section = ""
    for key in all_keys().values():
        if key.section != section:
            section = key.section
            lines += [
                f"\n## {section}\n",
                "| key | value | default | what it is |",
                "|---|---|---|---|",
            ]
        default = "-" if key.default in (None, "", ()) else f"`{as_toml(key.default)}`"
        lines.append(f"| `{key.name}` | {key.expected} | {default} | {key.help} |")
    lines += ["\n## Example\n", f"```toml\n{example()}```"]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Writes the pages into the folder named by the first argument."""
    from crawlclean.workers.console.api.document import api_markdown  # Flask is slow to import

    folder = Path((argv or sys.argv[1:])[0])
    pages = {
        "cli.md": cli_markdown(),
        "settings.md": settings_markdown(),
        "json.md": json_markdown(),
        "crawl-file.md": crawl_file_markdown(),
        "api.md": api_markdown(),
    }
    for name, text in pages.items():
        (folder / name).write_text(re.sub(r"[ \t]+\n", "\n", text), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
