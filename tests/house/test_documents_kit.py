"""What the tests of the documents themselves rely on: blocks, masks, calls of the program."""

from __future__ import annotations

from pathlib import Path

from tests.kit.doc_shell import own_arguments
from tests.kit.documents import blocks_of, commands_of, differences

SHOWN = ("3 pages of a.example, 2.5 s", "...", "sites: 2 ended ...")


def test_blocks_have_commands_with_their_output_and_files(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(
        "Text.\n\n1. Do:\n\n   ```console\n   $ one \\\n   >   two\n   out\n   $ three\n   ```\n"
        "```text\n# list.txt\nhttps://a.example/\n```\n"
    )
    console, file = blocks_of(document)
    assert [(c.text, c.shown) for c in commands_of(console)] == [
        ("one \\\n  two", ("out",)),
        ("three", ()),
    ]
    assert (console.place, file.file_name) == ("page.md:5", "list.txt")


def test_output_is_compared_without_its_numbers() -> None:
    printed = "sites: 7 ended, 1 running\n4 pages of a.example, 12.25 s\nmore\n"
    assert differences(SHOWN, printed) == []
    assert differences(SHOWN, "4 pages of b.example, 1 s\nsites: 1 ended, 1 open\n") == [
        "0 pages of a.example, 0 s"
    ]
    assert differences(("3 pages",), "4 pages\nand a line\n") == ["+ and a line"]


def test_calls_of_the_program_are_found_in_any_command_line() -> None:
    cron = "0 3 * * *  cd /srv && .venv/bin/crawlclean run URL --exclude '[?&]p=' >> log 2>&1"
    assert own_arguments(cron) == [["run", "URL", "--exclude", "[?&]p="]]
    assert own_arguments("docker run image/crawlclean:0.2.0 run URL | crawlclean clean -") == [
        ["run", "URL"],
        ["clean", "-"],
    ]
    assert own_arguments("docker build --tag crawlclean:0.2.0 .\ncat crawlclean-data/x") == []
