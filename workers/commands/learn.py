"""`learn`: what a host's archived pages have in common becomes the next version of its model."""

from __future__ import annotations

import argparse
import sys

from workers.commands.arguments import Commands
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "learn",
        run,
        "learn a host from its archived pages",
        "Learns what a host's pages have in common, from at most 100 archived ones, and stores it "
        "as the next version of the host's model: pages are cleaned with it from now on, "
        "`reclean` does those that are stored. What says the same as the version before is "
        "no new one.",
        as_json=True,
    )
    parser.add_argument("host", metavar="HOST")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Learns a host, prints the version and the model in words."""
    from workers.operations.host_models import learn_now
    from workers.output.model_report import in_words, model_json, on_a_screen
    from workers.output.printing import print_json, print_lines

    learned = learn_now(settings, arguments.host)
    about = learned.about
    if arguments.json:
        print_json(model_json(about, learned.model.to_json()) | {"is_new": learned.is_new})
        return 0
    if learned.is_new:
        sys.stdout.write(f"stored version {about.version} of the model of {about.host}\n")
    else:
        sys.stdout.write(f"nothing new: version {about.version} of {about.host} says the same\n")
    print_lines(on_a_screen(in_words(learned.model)))
    return 0
