"""`show`, `hosts`, `failures`, `export`: what is stored."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cleaning.errors import ConfigError, NotFound
from cleaning.records import CleanRecord, HostStats
from cleaning.urls.normal_form import page_id
from storage.opening import open_store
from storage.store.codec import record_to_json, stats_to_json
from storage.store.protocol import Store
from workers.commands.control import unrest
from workers.commands.images import (
    host_images,
    image_json,
    image_text,
    record_with_files,
    report_json,
    report_rows,
    save_images,
    stored_lines,
)
from workers.config import Settings
from workers.jobs.images import find_image
from workers.output.charts import draw
from workers.output.drift_report import drift_json
from workers.output.host_report import host_text
from workers.output.printing import print_json, printable, table

PAGE_ID = re.compile(r"[0-9a-f]{6,32}")


@contextmanager
def reading(settings: Settings) -> Iterator[Store]:
    """The store, open for a command."""
    store = open_store(settings.storage)
    try:
        yield store
    finally:
        store.close()


def find_page(store: Store, target: str) -> str:
    """The page id that a URL or the beginning of an id names.

    Raises:
        NotFound: No page, or several.
    """
    if PAGE_ID.fullmatch(target):
        found = store.urls.find_ids(target, limit=2)
        if len(found) > 1:
            raise NotFound(f"several pages begin with {target}: give more digits")
        if not found:
            raise NotFound(f"no page has the id {target}")
        return found[0]
    return page_id(target)


def show(settings: Settings, target: str, *, as_json: bool) -> int:
    """Prints one record, or what is known of one image.

    Raises:
        NotFound: It is not stored.
    """
    with reading(settings) as store:
        record = store.records.get(find_page(store, target))
        image = find_image(store, target) if record is None else None
        stored = stored_lines(store, record) if record and not as_json else []
    if image:
        print_json(image_json(image)) if as_json else sys.stdout.write(image_text(image))
    elif record is None:
        raise NotFound(f"no record of {target}; `why {target}` says what became of it")
    elif as_json:
        print_json(record_to_json(record))
    else:
        sys.stdout.write(_as_text(record, stored))
    return 0


def _as_text(record: CleanRecord, stored: list[tuple[str, str]]) -> str:
    about = [
        ("url", record.url),
        ("canonical", record.canonical_url if record.canonical_url != record.url else ""),
        ("id", record.page_id),
        ("kind", str(record.kind)),
        ("title", record.title),
        ("author", record.author or ""),
        ("published", str(record.published_at or "")),
        ("language", record.language or ""),
        ("encoding", record.encoding),
        ("fetched", f"{record.fetched_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("body by", str(record.body_source)),
        ("links", str(len(record.links))),
        ("images", str(len(record.images))),
        *stored,
        ("warnings", ", ".join(f"{w.kind} {w.detail}".strip() for w in record.warnings)),
    ]
    head = "".join(f"{name:<10} {printable(value)}\n" for name, value in about if value)
    body = printable(record.body, keep_lines=True)
    return head + (f"\n{body}\n" if body else "\nno body\n")


def hosts(settings: Settings, host: str, *, as_json: bool) -> int:
    """Prints the statistics of all hosts, or of one in full.

    Raises:
        NotFound: Nothing of the host is stored.
    """
    before = unrest(settings)
    with reading(settings) as store:
        if host:
            stats = store.statistics.get(host)
            if stats is None:
                raise NotFound(f"nothing of {host} is stored")
            found = [stats]
            model, by_model = store.models.get(host), store.hosts.by_model(host)
            drifts = store.drifts.of(host)
            report = host_images(store, host)
        else:
            found = store.statistics.all()
    moves = before or unrest(settings)
    found = [replace(stats, exact=not moves) for stats in found]
    if as_json and host:
        more = {"records_by_model": by_model, **report_json(report)}
        more["drifts"] = [drift_json(event) for event in drifts]
        print_json(stats_to_json(found[0]) | more)
    elif as_json:
        for stats in found:
            print_json(stats_to_json(stats))
    elif host:
        text = host_text(found[0], model, by_model, report_rows(report), drifts)
        sys.stdout.write(draw(text, sys.stdout.encoding, os.environ))
    else:
        sys.stdout.write(_hosts_table(found))
    if moves and not as_json:
        sys.stdout.write(printable(moves) + "\n")
    return 0


def _hosts_table(found: list[HostStats]) -> str:
    rows = [("HOST", "RECORDS", "FAILED", "OTHER", "BODY CHARS", "NOISE LINKS", "LAST SEEN")]
    for s in found:
        records, failed = s.pages_by_state.get("record", 0), s.pages_by_state.get("failed", 0)
        rows.append(
            (
                s.host,
                str(records),
                str(failed),
                str(sum(s.pages_by_state.values()) - records - failed),
                str(s.body_chars),
                f"{s.noise_share:.0%}",
                f"{s.last_seen:%Y-%m-%d %H:%M}" if s.last_seen else "-",
            )
        )
    return table(rows)


def failures(settings: Settings, target: str, *, as_json: bool) -> int:
    """Prints the URLs that gave no record, newest first; of one crawl or host when named."""
    with reading(settings) as store:
        crawls = {row.spec.crawl_id for row in store.crawls.all()}
        crawl = target if target in crawls else None
        rows = store.urls.failures(crawl, None if crawl or not target else target)
        if target and not crawl and not rows and store.statistics.get(target) is None:
            raise NotFound(
                f"no crawl and no host is named {target}; `crawls` and `hosts` list them"
            )
    for row in rows:
        if as_json:
            print_json(
                {
                    "crawl": row.crawl_id,
                    "url": row.url,
                    "host": row.host,
                    "reason": str(row.reason),
                    "detail": row.detail,
                    "status": row.status,
                    "attempts": row.attempts,
                    "failed_at": row.failed_at.isoformat(),
                }
            )
        else:
            tries = f"{row.attempts} tries" if row.attempts > 1 else "1 try"
            said = f"{row.url}  {row.reason}: {row.detail or '-'} ({tries})"
            sys.stdout.write(printable(said) + "\n")
    return 0


def export(
    settings: Settings, form: str, since: str, crawl: str, folder: Path | None = None
) -> int:
    """Writes records to standard output as JSON lines, Markdown or text, images into a folder.

    Raises:
        ConfigError: ``since`` is no time.
        NotFound: No such crawl.
    """
    begin = read_time(since) if since else None
    with reading(settings) as store:
        if crawl and crawl not in {row.spec.crawl_id for row in store.crawls.all()}:
            raise NotFound(f"no crawl is named {crawl}; `crawls` lists them")
        for record in store.records.scan(crawl or None, begin):
            files = save_images(store, record, crawl, folder) if folder else {}
            if form == "jsonl":
                print_json(record_with_files(record, files) if files else record_to_json(record))
            elif form == "markdown":
                sys.stdout.write(_for_terminal(_as_markdown(record)))
            else:
                text = _for_terminal(f"{record.url}\n{record.title}\n{record.body}\n")
                sys.stdout.write(f"{text}\f\n")
    return 0


def _for_terminal(text: str) -> str:
    """The text itself in a file or pipe; on a terminal only what it can show."""
    return printable(text, keep_lines=True) if sys.stdout.isatty() else text


def _as_markdown(record: CleanRecord) -> str:
    body = record.markdown or record.body.replace("\n", "\n\n")
    return f"# {record.title or record.url}\n\n<{record.url}>\n\n{body}\n\n---\n\n"


def read_time(text: str) -> datetime:
    """An ISO date or time; without a zone it is UTC.

    Raises:
        ConfigError: It is neither.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is no time: write 2026-01-31 or 2026-01-31T12:00:00+08:00"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
