"""The table of commands: where each stands, in the groups in which `--help` lists them.

Two words of a name are one command: ``crawl pause``. The module of a command is imported when the
command is called; `--help` needs this table alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

EXIT_STATUSES = (
    "0 done, 1 failed, 2 wrong use, 3 URLs are left (a limit, `stop` or `pause` ended the crawl), "
    "130 interrupted"
)


class Exit(IntEnum):
    """Exit status of a command; ``EXIT_STATUSES`` explains them to users."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    URLS_LEFT = 3
    INTERRUPTED = 130  # as shells report a process that SIGINT has ended


GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "the first day": {
        "run": ("run", "crawl sites into clean records"),
        "sites": ("run", "crawl a list of sites, each as a separate crawl"),
        "topic": ("topic", "follow a topic over many hosts"),
        "show": ("show", "print one record"),
        "why": ("show", "print every step of one URL, from discovery to store"),
        "hosts": ("hosts", "statistics of hosts"),
        "failures": ("lists", "list failed URLs with reasons"),
        "export": ("export", "write records to standard output or files"),
    },
    "read": {
        "crawls": ("crawls", "list the crawls, and what their hosts wait for"),
        "topics": ("topic", "list topics with their harvest"),
        "search": ("show", "find records by words of their texts"),
        "stories": ("lists", "list reprints of one text, over all hosts"),
        "images": ("lists", "list the pictures of a topic, copies as one"),
        "classes": ("hosts", "list the URL classes of a host"),
    },
    "act": {
        "crawl pause": (
            "crawls",
            "fetch nothing of a crawl or a host until `crawl resume`; list what is paused",
        ),
        "crawl resume": ("crawls", "end a pause (a crawl or a host)"),
        "crawl stop": ("crawls", "end a crawl; the same command resumes it (a crawl or a host)"),
        "crawl purge": ("crawls", "delete a crawl or a host, records too"),
        "crawl retry": ("queued_again", "fetch failed URLs again"),
        "crawl refetch": ("queued_again", "fetch stored pages again"),
        "crawl recover": ("queued_again", "rebuild a lost queue from the store"),
        "crawl drop-raw": ("crawls", "drop archived responses to free room"),
        "model show": ("model", "describe the learned model of a host"),
        "model learn": ("model", "learn a host from its archived pages"),
        "model diff": ("model", "compare two versions of a host's model"),
        "model rollback": ("model", "use a version of a model again"),
        "model why": ("model", "explain why a text, link or image is template"),
        "model check": ("model", "try overrides on a host's stored pages"),
        "model reclean": ("model", "re-clean a host's stored pages with its model"),
    },
    "pages of others": {
        "clean": ("clean", "clean pages of other crawlers"),
        "import": ("clean", "store pages that were fetched by others"),
    },
    "operate": {
        "console": ("console", "serve the operators' console; `console tokens`: for its API"),
        "console tokens": ("console", "tokens for the console's API"),
        "receivers": ("receivers", "who is told of signs, stories and ends of crawls"),
        "doctor": ("settings", "check this machine and the data folder, or a crawl file"),
        "config": ("settings", "list all settings and their values; `config schema`: JSON Schemas"),
        "config schema": ("settings", "print the JSON Schema of a command's JSON"),
        "metrics": ("settings", "print counters and gauges in Prometheus' format"),
        "join spider": ("joining", "join a running crawl to fetch pages"),
        "join worker": ("joining", "join a running crawl to clean pages"),
        "join housekeeper": (
            "joining",
            "join a running crawl to redo lost work, queue what is due again, and tell receivers",
        ),
    },
}
"""Group -> name -> (its file, one line for lists of commands).

The function in the file has the last word of the name: ``crawls.drop_raw`` of ``crawl drop-raw``.
"""
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
FAMILIES = {
    "crawl": "a crawl or a host",
    "model": "the learned model of a host",
    "join": "one more process for a running crawl",
}
"""First words that do nothing alone, and what `--help` says of the commands behind them."""

OLD_NAMES = {
    **{
        name.partition(" ")[2]: name
        for name in COMMANDS
        if name.startswith(("crawl ", "join ", "console ", "config "))
    },
    "model": "model show",
    "learn": "model learn",
    "reclean": "model reclean",
    "traps": "classes --stopped",
    "check": "doctor",
}
"""Names of the version before, which this one still takes, and what is typed instead."""

GONE = {
    "cases": "`why URL --text ''` prints how the texts of a page were judged, and in a checkout of "
    "the program `python -m tests.pages.make_golden` makes a golden folder of it",
    **dict.fromkeys(("sweeper", "keeper", "sender"), "its work is done by `join housekeeper`"),
}
"""Commands of older versions, and what takes their place."""
