"""What crawls brought, in five lines: for the end of `run` and `sites`."""

from __future__ import annotations

from crawlclean.cleaning.lexicon import some_of
from crawlclean.workers.answers.crawls import Concern, HostConcern
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.operations.crawling.outcome import CrawlOutcome
from crawlclean.workers.output.printing import listed

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
        lines.append(f"stored: {listed(outcome.stored)} (`hosts`)")
    if outcome.kept:
        lines.append(kept_line(outcome.kept))
    if outcome.failed:
        first = dict(list(outcome.failed.items())[:MOST_REASONS])
        rest = sum(outcome.failed.values()) - sum(first.values())
        more = f", others {rest:,}" if rest else ""
        lines.append(f"failed: {listed(first)}{more} (`failures`)")
    if outcome.concerns:
        worst = outcome.concerns[0]
        lines.append(f"look at {worst.host}: {_in_words(worst)} (`{worst.command}`)")
        others = list(dict.fromkeys(c.host for c in outcome.concerns if c.host != worst.host))
        if others:
            lines.append(f"look also at {some_of(others, MOST_NAMED)} (`hosts HOST`)")
    return [readable_line(line) for line in lines]


def kept_line(kept: int) -> str:
    """Names the records that only exports count: ``2 more records are of pages that gave ...``."""
    records = "1 more record is of a page" if kept == 1 else f"{kept:,} more records are of pages"
    return f"{records} that gave none when fetched again: exports have what was stored before"


def _in_words(concern: HostConcern) -> str:
    words = WORDS[concern.concern]
    if concern.concern is Concern.NOTHING_STORED:
        return f"{words} ({concern.pages:,})"
    return f"{concern.pages:,} of {concern.of:,} {words}"
