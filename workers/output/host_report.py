"""The statistics and the model of one host on one screen, for `hosts HOST`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.learn.model_diff import describe
from crawlclean.cleaning.lexicon import minute
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.live_state import WaitReason, Waits
from crawlclean.storage.store.hosts import UnsurePage
from crawlclean.storage.store.models import DriftEvent, DriftOutcome, ModelLine, StoredModel
from crawlclean.workers.answers.crawls import UrlClass
from crawlclean.workers.answers.hosts import ImageRequests
from crawlclean.workers.control_characters import printable, readable_line
from crawlclean.workers.operations.controlling.waits import hold_lines, visit_text, wait_text
from crawlclean.workers.operations.hosts.hosts import HostDetails
from crawlclean.workers.output.image_report import report_rows
from crawlclean.workers.output.outcome_report import kept_line
from crawlclean.workers.output.printing import Row, chart, gauge, listed, rows_text, table
from crawlclean.workers.site_models import read_model
from crawlclean.workers.spoken import counted, say, term, told

# URL classes as a table, for `classes HOST` and `hosts HOST`.

HEAD = ("KIND", "FETCHED", "WITH NEWS", "LEARNED FROM", "CLASS")


def classes_text(host: str, classes: Sequence[UrlClass], most: int | None = None) -> str:
    """Returns a table of classes for each crawl.

    Args:
        host: Lower-case authority, as ``example.com``; ``""`` for classes of several hosts.
        classes: Sorted by crawl.
        most: Classes to print of each crawl; None: all.
    """
    if not classes:
        named = readable_line(host) or say("any host")
        return say("no URL classes of {host} yet", host=named) + "\n"
    text = []
    for (crawl, name), group in groupby(classes, lambda each: (each.crawl, each.host)):
        found = list(group)
        of = "" if host else say(" of {host}", host=name)
        text.append(say("URL classes in {crawl}{of}", crawl=crawl, of=of) + "\n")
        text.append(_table(found[:most]))
        if most is not None and len(found) > most:
            more = len(found) - most
            text.append(say("{n} more: see `classes {host}`", n=more, host=name) + "\n")
    return "".join(text)


def _fetched(each: UrlClass) -> tuple[str, str]:
    """Pages fetched so far, and those with news; ``-`` for a class whose pages are not counted."""
    if not each.pattern_pages and each.pages_seen:
        return "-", "-"
    return str(each.pattern_pages), str(each.pattern_pages_with_news)


def _table(classes: Sequence[UrlClass]) -> str:
    """A line for each class, with the decision and the reason for a stop below."""
    rows = [HEAD] + [
        (
            term("url_kind", each.kind or "-"),
            *_fetched(each),
            # When it was learned.
            say("{part} of {all}", part=each.pages_seen, all=each.urls) if each.urls else "-",
            each.template,
        )
        for each in classes
    ]
    head, *lines = table(rows).splitlines()
    text = [f"{head}\n"]
    for line, each in zip(lines, classes, strict=True):
        text.append(f"{line}\n")
        if each.operator:
            word = readable_line(say(term("url_kind", each.operator)))
            text.append("    " + say("set by an operator: {word}", word=word) + "\n")
        text += [
            "    " + say("not fetched: {why}", why=readable_line(told(why))) + "\n"
            for why in (each.refused, each.stopped)
            if why
        ]
    return "".join(text)


# Drift events as text, for `model show HOST` and `hosts HOST`.

SHOWN_CLASSES = 3  # of a drift event: those with most pages
SIGNS = {
    DriftSign.BODIES: "bodies in other containers",
    DriftSign.FRAME: "navigation links gone",
    DriftSign.NEW_CLASSES: "pages of a kind met later",
    DriftSign.AGE: "model is old",
}
OUTCOMES = {
    DriftOutcome.LEARNED: "learned version {version}",
    DriftOutcome.WAITS: "not learned yet",
    DriftOutcome.NOTHING_BETTER: "not learned",
    DriftOutcome.TAKEN_BACK: "learned version {version}, rolled back",
}


def drift_line(event: DriftEvent) -> str:
    """The event in one line: time, sign, evidence, outcome."""
    alarm = event.alarm
    done = say(OUTCOMES[event.outcome], version=event.new_version)
    return say(
        "{time} {sign}{which}: {fit} of {pages} pages fit version {version}, {expected:.0%} "
        "expected; {done}{detail}",
        time=minute(alarm.since),
        sign=say(SIGNS[alarm.sign]),
        which=say(" in {place}", place=alarm.url_class) if alarm.url_class else "",
        fit=alarm.pages - alarm.misfits,
        pages=alarm.pages,
        version=event.model_version,
        expected=alarm.expected,
        done=done,
        detail=say(" ({detail})", detail=told(event.detail)) if event.detail else "",
    )


def evidence_lines(event: DriftEvent) -> list[str]:
    """The event in several lines: with the changed URL classes and example pages."""
    alarm = event.alarm
    lines = [drift_line(event)]
    if alarm.empty:
        lines.append("  " + say("{n} of these pages have no body", n=alarm.empty))
    lines += [
        f"  {pattern or '/'}  {counted(n, 'page')}" for pattern, n in alarm.classes[:SHOWN_CLASSES]
    ]
    if len(alarm.classes) > SHOWN_CLASSES:
        lines.append(f"  {counted(len(alarm.classes) - SHOWN_CLASSES, 'more class')}")
    return lines + ["  " + say("example: {url}", url=url) for url in alarm.examples]


# Descriptions of a site model for a terminal.

MOST_OF_KIND = 6  # lines alike, without --full: all kinds fit on a screen
MAX_CLASSES = 20  # more would push what is above them off the screen
WIDTH = 80  # columns of a terminal, as it begins
_VALUE = re.compile(r"html/|https?://|/|['\"]")  # where a path, a URL or a text begins
_PATH = re.compile(r"(?:html)?(?:/[^/\s]+){2,}")


def in_words(model: SiteModel) -> list[str]:
    """Describes a model in lines, with its URL classes."""
    rules = list(model.url_rules)
    lines = [
        *describe(model),
        *(f"  {rule.template} ({rule.kind})" for rule in rules[:MAX_CLASSES]),
    ]
    more = len(rules) - MAX_CLASSES
    return [*lines, f"  {more} more"] if more > 0 else lines


def on_a_screen(lines: Sequence[str]) -> list[str]:
    """Shortens a description: the first lines of each kind, container paths cut to 80 columns."""
    shown: list[str] = []
    for kind, run in groupby(lines, _kind):
        alike = list(run)
        most = MOST_OF_KIND if kind else len(alike)
        shown += [_with_short_path(line) for line in alike[:most]]
        if len(alike) > most:
            shown.append(f"{kind.rstrip(' +-')} ... {len(alike) - most} more (--full)")
    return shown


def _kind(line: str) -> str:
    """The common beginning of lines of one kind: ``template: ``; ``""`` for single lines."""
    value = _VALUE.search(line)
    return line[: value.start()] if value and line[: value.start()].strip() else ""


def _with_short_path(line: str) -> str:
    """Cuts leading steps of the container path of a long line: ``.../div.foot``."""
    path = _PATH.search(line)
    if len(line) <= WIDTH or path is None or "://" in line:
        return line
    before, parts, behind = line[: path.start()], path[0].split("/")[1:], line[path.end() :]
    while len(parts) > 1 and len(before) + len(".../" + "/".join(parts)) + len(behind) > WIDTH:
        del parts[0]
    return f"{before}.../{'/'.join(parts)}{behind}"


def host_text(
    figures: HostDetails, stored: StoredModel | None, images: ImageRequests | None
) -> str:
    """Formats one host in at most 41 lines of 79 columns, and its waits while a queue runs.

    Args:
        figures: The host.
        stored: The version of its model that is in use; None before the host was learned.
        images: Report on its images; None when no crawl of the host fetches images.
    """
    s, by_model = figures.answer, figures.answer.records_by_model
    ended = sum(s.pages_by_state.values())
    links, records = sum(s.links_by_kind.values()), s.pages_by_state.get("record", 0)
    made_with = {
        say("version {version}", version=v) if v else say("no model"): n
        for v, n in by_model.items()
    }
    states = f"{ended:,}: {listed(s.pages_by_state, 'url_state')}" if ended else say("none")
    rows = [
        ("pages", states),
        *([("kept", kept_line(s.kept_records))] if s.kept_records else []),
        *chart("errors", s.errors_by_reason, 3, "reason"),
        ("TLS", _certificates(s)),
        ("statuses", listed(s.errors_by_status)),
        ("warnings", listed(s.pages_by_warning, "warning")),
        *chart("kinds", s.pages_by_kind, kind="page_kind"),
        *chart("links", s.links_by_kind, kind="link_kind"),
        *chart("images", s.images_by_kind, kind="image_kind"),
        *gauge("noise", "links", round(links * s.noise_share), links),
        *gauge("text", "characters", s.body_chars, s.html_chars),
        *(gauge("no text", "pages", s.empty_bodies, records) if s.empty_bodies else []),
        *gauge("repeated", "bodies", s.near_duplicates, records),
        ("volume", _volume(s)),
        ("waits", _waits(s, ended)),
        *_now_rows(figures.waits),
        *_visit_rows(s.next_visits),
        ("seen", _seen(s)),
        *report_rows(images),
        *_unsure_rows(s.least_sure),
        *_model_rows(stored),
        *_drift_rows(figures.drifts),
        *(chart("made with", made_with, 3) if stored or any(by_model) else []),
    ]
    return f"{printable(s.host)}\n" + rows_text(rows)


def _certificates(s: HostStats) -> str:
    """Returns ``wrong certificate: expired 12`` with the number of URLs, or ``""``."""
    faults = listed(s.certificate_faults)
    return say("wrong certificate: {faults}", faults=faults) if faults else ""


def _volume(s: HostStats) -> str:
    told = "{fetched:,} bytes, {chars:,} characters of HTML"
    return say(told, fetched=s.fetched_bytes, chars=s.html_chars)


def _waits(s: HostStats, ended: int) -> str:
    if not s.wait_ms:
        return ""
    mean = s.wait_ms / ended / 1000
    return say("{mean:,.1f} s on average from discovery to response", mean=mean)


def _now_rows(waits: Waits | None) -> list[Row]:
    """What the host waits for in each crawl; no row for a crawl without URLs of the host."""
    if waits is None:
        return []
    rows = []
    for wait in waits.hosts:
        if wait.reason is not WaitReason.NOTHING_LEFT:
            left = say("{urls} left", urls=counted(wait.urls, "URL"))
            waiting = "{crawl}: {waits}; {left}"
            text = wait_text(wait, waits.at)
            rows.append(say(waiting, crawl=wait.crawl, waits=text, left=left))
    rows += hold_lines(waits) if rows else []
    return [("" if place else "now", row) for place, row in enumerate(rows)]


def _visit_rows(next_visits: Mapping[str, datetime]) -> list[Row]:
    """When the next page of the host is due in each crawl that keeps fresh."""
    now = datetime.now(UTC)
    rows = [crawl + say(": ") + visit_text(at, now) for crawl, at in next_visits.items()]
    return [("" if place else "visits", row) for place, row in enumerate(rows)]


def _seen(s: HostStats) -> str:
    if not (s.first_seen and s.last_seen):
        return ""
    return say("{first} to {last} UTC", first=minute(s.first_seen), last=minute(s.last_seen))


def _model_rows(stored: StoredModel | None) -> list[Row]:
    if stored is None:
        return [("model", say("none yet"))]
    about = stored.about
    rows = [("model", _version_text(about))]
    try:
        return [*rows, ("", _summary(read_model(stored)))]
    except ConfigError as error:
        return [*rows, ("", say("not used: {error}", error=error))]


def _unsure_rows(pages: Sequence[UnsurePage]) -> list[Row]:
    rows = [f"{each.confidence:.2f} {each.url}" for each in pages]
    return [("" if place else "least sure", row) for place, row in enumerate(rows)]


def _drift_rows(drifts: Sequence[DriftEvent]) -> list[Row]:
    """The newest drift event, and how many are older."""
    rows = [("changed" if e.is_change else "new kind", drift_line(e)) for e in drifts[:1]]
    if len(drifts) > 1:
        older = counted(len(drifts) - 1, "older event")
        command = f"model show {drifts[0].host}"
        rows.append(("", say("{older}: `{command}` lists them", older=older, command=command)))
    return rows


def _version_text(about: ModelLine) -> str:
    return say(
        "version {version} of {time} UTC ({why}), learned from {pages}",
        version=about.version,
        time=minute(about.saved_at),
        why=learned_because(about),
        pages=counted(about.page_count, "page"),
    )


def learned_because(about: ModelLine) -> str:
    """Why a version was learned: ``drift: 12 days old``."""
    why = term("learned", about.reason)
    return why + say(": ") + told(about.detail) if about.detail else why


def _summary(model: SiteModel) -> str:
    """Summarizes a model in one line."""
    places: Sequence[Any] = model.body_rule.places
    parts = []
    if places:
        pages = places[0].on.bit_count()
        place, on = places[0].path.rpartition("/")[2], counted(pages, "page")
        parts.append(say("bodies in {place} on {pages}", place=place, pages=on))
    parts.append(counted(len(model.template.lines), "repeated line"))
    parts.append(counted(len(model.noise.links), "repeated link"))
    parts.append(counted(len(model.noise.images), "repeated image"))
    if model.template.title_suffixes:
        end = model.template.title_suffixes[0].text
        parts.append(say("titles end with {end!r}", end=end))
    if model.post_rule is not None:
        parts.append(say("posts"))
    parts.append(counted(len(model.url_rules), "URL class"))
    return say(", ").join(parts)
