"""The report on a list of sites as text: a line of numbers for each site."""

from __future__ import annotations

from collections.abc import Sequence

from storage.crawl_types import CrawlState
from workers.control_characters import printable
from workers.operations.crawling.site_reports import SiteReport
from workers.output.progress import duration

WHY_CHARS = 76
HEAD = (
    f"{'RECORDS':>9} {'FAILED':>7} {'BODY CHARS':>13} {'NOISE':>5} {'MODEL':>5} {'TIME':>6}  SITE\n"
)


def reports_text(reports: Sequence[SiteReport]) -> str:
    """The numbers of each site on a line, and why it ended early or empty on the next."""
    lines = [HEAD]
    for each in reports:
        lines.append(
            f"{each.records:>9,} {each.failed:>7,} {each.body_chars:>13,} {each.noise_share:>5.0%} "
            f"{each.model_version or '-':>5} {duration(each.seconds) if each.seconds else '-':>6}  "
            f"{printable(each.url)}\n"
        )
        said = "" if each.state == CrawlState.FINISHED else each.state
        if said or each.why:
            lines.append(
                f"    {printable(': '.join(filter(None, (said, each.why))))[:WHY_CHARS]}\n"
            )
    finished = sum(each.state == CrawlState.FINISHED for each in reports)
    empty = sum(not each.records for each in reports)
    records = sum(each.records for each in reports)
    lines.append(
        f"{finished} of {len(reports)} sites finished, {records:,} records"
        + (f"; without any: {empty}" if empty else "")
        + "\n"
    )
    return "".join(lines)
