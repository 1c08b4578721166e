"""`learn`: learns the next version of a host's model from its archived pages."""

from __future__ import annotations

import argparse
import json
import sys

from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "learn",
        run,
        "learn a host from its archived pages",
        "Learns a model of a host from at most 100 archived pages and stores it as the next "
        "version. New pages are cleaned with this version; `reclean` applies it to stored pages. "
        "A model equal to the last version is not stored.",
    )
    add_json(parser)
    parser.add_argument("host", metavar="HOST")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Learns a host, prints the version and a description of the model."""
    from crawlclean.workers.answers.hosts import LearnedModel
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.operations.hosts.host_models import learn_now
    from crawlclean.workers.output.host_report import in_words, on_a_screen
    from crawlclean.workers.output.printing import print_answer, write_lines

    learned = learn_now(settings, arguments.host)
    about = learned.about
    if arguments.json:
        model = json.loads(learned.model.to_json())
        print_answer(answer_of(LearnedModel, about, model=model, is_new=learned.is_new))
        return 0
    if learned.is_new:
        sys.stdout.write(f"stored version {about.version} of the model of {about.host}\n")
    else:
        sys.stdout.write(f"no new version: version {about.version} of {about.host} is equal\n")
    write_lines(on_a_screen(in_words(learned.model)))
    return 0
