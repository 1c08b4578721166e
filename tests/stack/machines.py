"""The network of the stack: two machines with podman, and the web that they crawl."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path

from tests.chaos.sites import text_sites
from tests.kit.web import Page, Web
from tests.machines.namespaces import HERE, Machine, Network

FIRST, SECOND = "198.18.78.11", "198.18.78.12"
SITES = tuple(f"198.18.78.{n}" for n in range(101, 110))
HOSTS = 3  # of each crawl, of which there are three
PORT = 8000
NETWORK = {
    "first": Machine(addresses=(FIRST,)),
    "second": Machine(addresses=(SECOND,)),
    "web": Machine(addresses=("198.18.78.4", *SITES)),
    HERE: Machine(addresses=("198.18.78.100",)),
}

LATENCY_MS = 20
PARAGRAPHS = re.compile("<p>.*</p>")
TEXT_CHARS, CLAUSE_CHARS = 300, 12  # of each of a page's two paragraphs
FIRST_LETTER, LETTERS = 0x4E00, 3000


def news_sites(pages: int, seed: int, hosts: int) -> list[dict[str, Page]]:
    """``hosts`` sites that share ``pages`` pages, no two with a line in common.

    Lines in common are template to a learned model, which leaves them out of records. And pages
    that are alike are one story, which takes the stand-in for MongoDB longer than all else.
    """
    chance = random.Random(seed)

    def text() -> str:
        letters = (chr(FIRST_LETTER + chance.randrange(LETTERS)) for _ in range(TEXT_CHARS))
        clauses = map("".join, zip(*[letters] * CLAUSE_CHARS, strict=True))
        return "，".join(clauses) + "。"

    sites = text_sites(pages, LATENCY_MS, seed, hosts)
    for page in (page for site in sites for page in site.values()):
        assert isinstance(page, dict)
        page["body"] = PARAGRAPHS.sub(f"<p>{text()}</p><p>{text()}</p>", page["body"])
    return sites


class NumberedWeb(Web):
    """A site on the machine ``web``, at an address of its own."""

    def __init__(
        self, network: Network, first: int, folder: Path, pages: Mapping[str, Page], number: int
    ) -> None:
        """Prepares the site at address ``first + number`` of ``SITES``."""
        super().__init__(folder, pages, SITES[first + number], PORT)
        self.command = network.on("web", self.command)
