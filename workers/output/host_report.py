"""The statistics and the model of one host on one screen, for `hosts HOST`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.live_state import WaitReason, Waits
from crawlclean.storage.store.models import DriftEvent, ModelVersion, StoredModel
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.controlling.holds import hold_lines
from crawlclean.workers.operations.hosts.hosts import HostFigures
from crawlclean.workers.output.charts import Row, chart, gauge, listed, rows_text
from crawlclean.workers.output.drift_report import drift_line
from crawlclean.workers.output.image_report import report_rows
from crawlclean.workers.output.outcome_report import kept_line
from crawlclean.workers.output.wait_report import visit_text, wait_text
from crawlclean.workers.site_models import read_model


def host_text(figures: HostFigures) -> str:
    """Formats one host in at most 36 lines of 79 columns, and its waits while a queue runs."""
    s, stored, by_model = figures.stats, figures.model, figures.records_by_model
    ended = sum(s.pages_by_state.values())
    links, records = sum(s.links_by_kind.values()), s.pages_by_state.get("record", 0)
    made_with = {f"version {v}" if v else "no model": n for v, n in by_model.items()}
    rows = [
        ("pages", f"{ended:,}: {listed(s.pages_by_state)}" if ended else "none"),
        *([("kept", kept_line(s.kept_records))] if s.kept_records else []),
        *chart("errors", s.errors_by_reason, 3),
        ("TLS", _certificates(s)),
        ("statuses", listed(s.errors_by_status)),
        ("warnings", listed(s.pages_by_warning)),
        *chart("kinds", s.pages_by_kind),
        *chart("links", s.links_by_kind),
        *chart("images", s.images_by_kind),
        *gauge("noise", "links", round(links * s.noise_share), links),
        *gauge("text", "characters", s.body_chars, s.html_chars),
        *(gauge("no text", "pages", s.empty_bodies, records) if s.empty_bodies else []),
        *gauge("repeated", "bodies", s.near_duplicates, records),
        ("volume", f"{s.fetched_bytes:,} bytes, {s.html_chars:,} characters of HTML"),
        ("waits", _waits(s, ended)),
        *_now_rows(figures.waits),
        *_visit_rows(figures.next_visits),
        ("seen", _seen(s)),
        *report_rows(figures.images),
        *_model_rows(stored),
        *_drift_rows(figures.drifts),
        *(chart("made with", made_with, 3) if stored or any(by_model) else []),
    ]
    return f"{printable(s.host)}\n" + rows_text(rows)


def _certificates(s: HostStats) -> str:
    """Returns ``wrong certificate: expired 12`` with the number of URLs, or ``""``."""
    return f"wrong certificate: {listed(s.certificate_faults)}" if s.certificate_faults else ""


def _waits(s: HostStats, ended: int) -> str:
    if not s.wait_ms:
        return ""
    return f"{s.wait_ms / ended / 1000:,.1f} s on average from discovery to response"


def _now_rows(waits: Waits | None) -> list[Row]:
    """What the host waits for in each crawl; no row for a crawl without URLs of the host."""
    if waits is None:
        return []
    rows = []
    for wait in waits.hosts:
        if wait.reason is not WaitReason.NOTHING_LEFT:
            left = f"{counted(wait.urls, 'URL')} left"
            rows.append(f"{wait.crawl_id}: {wait_text(wait, waits.at)}; {left}")
    rows += hold_lines(waits) if rows else []
    return [("" if place else "now", row) for place, row in enumerate(rows)]


def _visit_rows(next_visits: Mapping[str, datetime]) -> list[Row]:
    """When the next page of the host is due in each crawl that keeps fresh."""
    now = datetime.now(UTC)
    rows = [f"{crawl_id}: {visit_text(at, now)}" for crawl_id, at in next_visits.items()]
    return [("" if place else "visits", row) for place, row in enumerate(rows)]


def _seen(s: HostStats) -> str:
    if not (s.first_seen and s.last_seen):
        return ""
    return f"{minute(s.first_seen)} to {minute(s.last_seen)} UTC"


def _model_rows(stored: StoredModel | None) -> list[Row]:
    if stored is None:
        return [("model", "none yet")]
    about = stored.about
    rows = [("model", _version_text(about))]
    try:
        return [*rows, ("", _summary(read_model(stored)))]
    except ConfigError as error:
        return [*rows, ("", f"not used: {error}")]


def _drift_rows(drifts: Sequence[DriftEvent]) -> list[Row]:
    """The newest drift event, and how many are older."""
    rows = [("changed" if e.is_change else "new kind", drift_line(e)) for e in drifts[:1]]
    if len(drifts) > 1:
        rows.append(
            ("", f"{counted(len(drifts) - 1, 'older event')}: `model {drifts[0].host}` lists them")
        )
    return rows


def _version_text(about: ModelVersion) -> str:
    why = f"{about.reason}: {about.detail}" if about.detail else str(about.reason)
    return (
        f"version {about.version} of {minute(about.saved_at)} UTC ({why}), "
        f"learned from {counted(about.page_count, 'page')}"
    )


def _summary(model: SiteModel) -> str:
    """Summarizes a model in one line."""
    places: Sequence[Any] = model.body_rule.places
    parts = []
    if places:
        pages = places[0].on.bit_count()
        parts.append(f"bodies in {places[0].path.rpartition('/')[2]} on {counted(pages, 'page')}")
    parts.append(counted(len(model.template.lines), "repeated line"))
    parts.append(counted(len(model.noise.links), "repeated link"))
    parts.append(counted(len(model.noise.images), "repeated image"))
    if model.template.title_suffixes:
        parts.append(f"titles end with {model.template.title_suffixes[0].text!r}")
    if model.post_rule is not None:
        parts.append("posts")
    parts.append(counted(len(model.url_rules), "URL class"))
    return ", ".join(parts)
