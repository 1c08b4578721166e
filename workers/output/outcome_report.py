"""What crawls brought, in five lines: for the end of `run` and `sites`."""

from __future__ import annotations

from crawlclean.workers.answers.crawls import Concern, HostConcern
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.operations.crawling.outcome import CrawlOutcome
from crawlclean.workers.output.printing import listed
from crawlclean.workers.spoken import say, some_of

MOST_REASONS = 4  # of failed URLs in one line
MOST_NAMED = 5  # hosts in one line
WORDS = {
    Concern.NOTHING_STORED: "each of its URLs failed",
    Concern.NEEDS_SCRIPTS: "pages need JavaScript, which is not run",
    Concern.WALL: "URLs want a login or refuse crawlers (status 401, 403, 407, 429 or 451)",
    Concern.CERTIFICATE: "URLs have no secure connection (certificate)",
    Concern.EMPTY_BODIES: "pages have no text",
    Concern.REPEATED_BODIES: "pages have the text of another page",
    Concern.LOST_FIELDS: "pages lost a field to a defect of this program",
}


def outcome_lines(outcome: CrawlOutcome) -> list[str]:
    """At most five lines: records by kind, kept records, failures by cause, hosts that need a look.

    ``failed: http_status 404 12, timeout 3 (`failures`)``
    """
    lines = []
    if outcome.stored:
        lines.append(say("stored: {kinds} (`hosts`)", kinds=listed(outcome.stored, "page_kind")))
    if outcome.kept:
        lines.append(kept_line(outcome.kept))
    if outcome.failed:
        first = dict(list(outcome.failed.items())[:MOST_REASONS])
        rest = sum(outcome.failed.values()) - sum(first.values())
        more = say(", others {n:,}", n=rest) if rest else ""
        causes = listed(first, "reason") + more
        lines.append(say("failed: {causes} (`failures`)", causes=causes))
    if outcome.concerns:
        worst = outcome.concerns[0]
        looks = "look at {host}: {why} (`{command}`)"
        why = _in_words(worst)
        lines.append(say(looks, host=worst.host, why=why, command=worst.command))
        others = list(dict.fromkeys(c.host for c in outcome.concerns if c.host != worst.host))
        if others:
            hosts = some_of(others, MOST_NAMED)
            lines.append(say("look also at {hosts} (`hosts HOST`)", hosts=hosts))
    return [readable_line(line) for line in lines]


def kept_line(kept: int) -> str:
    """Names the records that only exports count: ``2 more records are of pages that gave ...``."""
    line = (
        "{n:,} more records are of pages that gave none when fetched again: exports have what was "
        "stored before"
    )
    if kept == 1:
        line = (
            "1 more record is of a page that gave none when fetched again: exports have what was "
            "stored before"
        )
    return say(line, n=kept)


def _in_words(concern: HostConcern) -> str:
    words = say(WORDS[concern.concern])
    if concern.concern is Concern.NOTHING_STORED:
        return say("{words} ({n:,})", words=words, n=concern.pages)
    return say("{n:,} of {all:,} {words}", n=concern.pages, all=concern.of, words=words)
