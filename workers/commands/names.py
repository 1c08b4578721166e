"""The table of commands: where each stands, in the groups in which `--help` lists them.

Two words of a name are one command: ``crawl pause``. The module of a command is imported when the
command is called; `--help` needs this table alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

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


class Command(NamedTuple):
    """One command.

    Attributes:
        place: Who registers it: ``crawls.register_purge``, a function of ``workers/commands/``.
        summary: One line for lists of commands, without capital letter and full stop.
    """

    place: str
    summary: str


GROUPS: Mapping[str, Mapping[str, Command]] = {
    "the first day": {
        "run": Command("run.register_run", "crawl sites into clean records"),
        "sites": Command("run.register_sites", "crawl a list of sites, each as a separate crawl"),
        "topic": Command("topic.register", "follow a topic over many hosts"),
        "show": Command("show.register_show", "print one record"),
        "why": Command("show.why.register", "print every step of one URL, from discovery to store"),
        "hosts": Command("hosts.hosts.register", "statistics of hosts"),
        "failures": Command("lists.failures.register", "list failed URLs with reasons"),
        "export": Command("export.register", "write records to standard output or files"),
    },
    "read": {
        "crawls": Command(
            "crawls.crawls.register", "list the crawls, and what their hosts wait for"
        ),
        "topics": Command("topic.register", "list topics with their harvest"),
        "search": Command("show.search.register", "find records by words of their texts"),
        "stories": Command("lists.stories.register", "list reprints of one text, over all hosts"),
        "images": Command("lists.images.register", "list the pictures of a topic, copies as one"),
        "classes": Command("hosts.classes.register", "list the URL classes of a host"),
    },
    "act": {
        "crawl pause": Command(
            "crawls.pause.register",
            "fetch nothing of a crawl or a host until `crawl resume`; list what is paused",
        ),
        "crawl resume": Command("crawls.resume.register", "end a pause (a crawl or a host)"),
        "crawl stop": Command(
            "crawls.stop.register",
            "end a crawl; the same command resumes it (a crawl or a host)",
        ),
        "crawl purge": Command("crawls.purge.register", "delete a crawl or a host, records too"),
        "crawl retry": Command("queued_again.retry.register", "fetch failed URLs again"),
        "crawl refetch": Command("queued_again.refetch.register", "fetch stored pages again"),
        "crawl recover": Command(
            "queued_again.recover.register", "rebuild a lost queue from the store"
        ),
        "crawl drop-raw": Command(
            "crawls.drop_raw.register", "drop archived responses to free room"
        ),
        "model show": Command("model.show.register", "describe the learned model of a host"),
        "model learn": Command("model.learn.register", "learn a host from its archived pages"),
        "model diff": Command("model.diff.register", "compare two versions of a host's model"),
        "model rollback": Command("model.rollback.register", "use a version of a model again"),
        "model why": Command("model.why.register", "explain why a text, link or image is template"),
        "model reclean": Command(
            "model.reclean.register", "re-clean a host's stored pages with its model"
        ),
    },
    "pages of others": {
        "clean": Command("clean.register_clean", "clean pages of other crawlers"),
        "import": Command("clean.register_import_pages", "store pages that were fetched by others"),
    },
    "operate": {
        "console": Command(
            "console.register_console",
            "serve the operators' console; `console tokens`: for its API",
        ),
        "console tokens": Command("console.register_tokens", "tokens for the console's API"),
        "doctor": Command(
            "settings.register_doctor", "check this machine and the data folder, or a crawl file"
        ),
        "config": Command(
            "settings.register_config",
            "list all settings and their values; `config schema`: JSON Schemas",
        ),
        "config schema": Command(
            "settings.register_schema", "print the JSON Schema of a command's JSON"
        ),
        "metrics": Command(
            "settings.register_config", "print counters and gauges in Prometheus' format"
        ),
        "join spider": Command("joining.register", "join a running crawl to fetch pages"),
        "join worker": Command("joining.register", "join a running crawl to clean pages"),
        "join housekeeper": Command(
            "joining.register",
            "join a running crawl to redo lost work, queue what is due again, and tell webhooks of "
            "stories",
        ),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
FAMILIES = {
    "crawl": "a crawl or a host",
    "model": "the learned model of a host",
    "join": "one more process for a running crawl",
}
"""First words that do nothing alone, and what `--help` says of the commands behind them."""

OLD_NAMES = {
    **{
        name: f"crawl {name}"
        for name in (
            "pause",
            "resume",
            "stop",
            "purge",
            "retry",
            "refetch",
            "recover",
            "drop-raw",
        )
    },
    "model": "model show",
    "learn": "model learn",
    "reclean": "model reclean",
    "traps": "classes --stopped",
    "check": "doctor",
    "tokens": "console tokens",
    "schema": "config schema",
    **{name: f"join {name}" for name in ("worker", "spider", "housekeeper")},
}
"""Names of the version before, which this one still takes, and what is typed instead."""

GONE = {
    "cases": "`why URL --text ''` prints how the texts of a page were judged, and in a checkout of "
    "the program `python -m tests.pages.make_golden` makes a golden folder of it",
    **dict.fromkeys(("sweeper", "keeper", "sender"), "its work is done by `join housekeeper`"),
}
"""Commands of older versions, and what takes their place."""
