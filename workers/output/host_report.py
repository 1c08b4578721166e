"""`hosts HOST`: the statistics of one host and its model, on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cleaning.errors import ConfigError
from cleaning.model.site_model import SiteModel
from cleaning.records import HostStats
from storage.store.drifts import DriftEvent
from storage.store.models import ModelVersion, StoredModel
from workers.jobs.site_models import read_model
from workers.operations.hosts import HostFigures
from workers.output.charts import Row, chart, gauge, listed, rows_text
from workers.output.drift_report import drift_line
from workers.output.image_report import report_rows
from workers.output.printing import printable


def host_text(figures: HostFigures) -> str:
    """One host in at most 36 lines of 79 columns."""
    s, stored, by_model = figures.stats, figures.model, figures.records_by_model
    ended = sum(s.pages_by_state.values())
    links, records = sum(s.links_by_kind.values()), s.pages_by_state.get("record", 0)
    made_by = {f"version {v}" if v else "no model": n for v, n in by_model.items()}
    rows = [
        ("pages", f"{ended:,}: {listed(s.pages_by_state)}" if ended else "none"),
        *chart("errors", s.errors_by_reason, 3),
        *chart("kinds", s.pages_by_kind),
        *chart("links", s.links_by_kind),
        *chart("images", s.images_by_kind),
        *gauge("noise", "links", round(links * s.noise_share), links),
        *gauge("text", "characters", s.body_chars, s.html_chars),
        *gauge("repeated", "bodies", s.near_duplicates, records),
        ("volume", f"{s.fetched_bytes:,} bytes, {s.html_chars:,} characters of source"),
        ("waits", _waits(s, ended)),
        ("seen", _seen(s)),
        *report_rows(figures.images),
        *_model_rows(stored),
        *_drift_rows(figures.drifts),
        *(chart("made by", made_by, 3) if stored or any(by_model) else []),
    ]
    return f"{printable(s.host)}\n" + rows_text(rows)


def _waits(s: HostStats, ended: int) -> str:
    if not s.wait_ms:
        return ""
    return f"{s.wait_ms / ended / 1000:,.1f} s from discovery to answer on average"


def _seen(s: HostStats) -> str:
    if not (s.first_seen and s.last_seen):
        return ""
    return f"{s.first_seen:%Y-%m-%d %H:%M} to {s.last_seen:%Y-%m-%d %H:%M} UTC"


def _model_rows(stored: StoredModel | None) -> list[Row]:
    if stored is None:
        return [("model", "none yet")]
    about = stored.about
    rows = [("model", _version_text(about))]
    try:
        return [*rows, ("", _taught(read_model(stored)))]
    except ConfigError as error:
        return [*rows, ("", f"not used: {error}")]


def _drift_rows(drifts: Sequence[DriftEvent]) -> list[Row]:
    """The newest change."""
    return [("changed", drift_line(event)) for event in drifts[:1]]


def _version_text(about: ModelVersion) -> str:
    why = f"{about.reason}: {about.detail}" if about.detail else str(about.reason)
    return (
        f"version {about.version} of {about.saved_at:%Y-%m-%d %H:%M} ({why}), "
        f"learned from {about.page_count} pages"
    )


def _taught(model: SiteModel) -> str:
    """What a model says in one line."""
    places: Sequence[Any] = model.body_rule.places
    parts = []
    if places:
        on = places[0].on.bit_count()
        parts.append(f"bodies at {places[0].path.rpartition('/')[2]} on {on}")
    parts.append(f"{len(model.template.lines)} lines")
    parts.append(f"{len(model.noise.links)} links")
    parts.append(f"{len(model.noise.images)} images repeat")
    if model.template.title_suffixes:
        parts.append(f"titles end with {model.template.title_suffixes[0].text!r}")
    if model.post_rule is not None:
        parts.append("posts")
    parts.append(f"{len(model.url_rules)} URL classes")
    return ", ".join(parts)
