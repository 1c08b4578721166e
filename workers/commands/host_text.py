"""`hosts HOST`: the statistics of one host and its model, on one screen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cleaning.errors import ConfigError
from cleaning.records import HostStats
from cleaning.site_model import SiteModel
from storage.models import ModelVersion, StoredModel
from workers.commands.printing import printable
from workers.site_models import read_model

BAR_CHARS = 24
LABEL_CHARS = 12
MOST_BARS = 4  # of one chart; what is less than those is one more
EIGHTHS = " ▏▎▍▌▋▊▉"


def host_text(stats: HostStats, stored: StoredModel | None, by_model: Mapping[int, int]) -> str:
    """At most 24 lines for a terminal.

    Args:
        stats: The host's.
        stored: The version of its model that is in use.
        by_model: Records by the version that made them.
    """
    s = stats
    made_by = {f"version {v}" if v else "no model": n for v, n in by_model.items()}
    rows = [
        ("pages", _listed(s.pages_by_state)),
        *_chart("kinds", s.pages_by_kind),
        *_chart("links", s.links_by_kind),
        *_chart("images", s.images_by_kind),
        ("errors", _listed(s.errors_by_reason)),
        ("text", f"{s.body_chars:,} of {s.html_chars:,} characters are body"),
        ("noise", f"{bar(s.noise_share, 1.0)} {s.noise_share:.0%} of the links"),
        ("volume", f"{s.fetched_bytes:,} bytes, {s.near_duplicates} records with another's body"),
        *_model_rows(stored),
        *(_chart("made by", made_by, 3) if stored or any(by_model) else []),
    ]
    if s.first_seen and s.last_seen:
        rows.append(("seen", f"{s.first_seen:%Y-%m-%d %H:%M} to {s.last_seen:%Y-%m-%d %H:%M}"))
    return f"{printable(s.host)}\n" + "".join(
        f"  {printable(f'{name:<8} {value}')}".rstrip() + "\n" for name, value in rows if value
    )


def bar(value: float, most: float, chars: int = BAR_CHARS) -> str:
    """A bar of ``chars`` characters, filled by the share of ``value`` in ``most``."""
    eighths = math.ceil(8 * chars * value / most) if most > 0 and value > 0 else 0
    whole, rest = divmod(min(eighths, 8 * chars), 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(chars, "░" if most == 1.0 else " ")


def _listed(counts: Mapping[Any, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return ", ".join(f"{name} {n:,}" for name, n in ordered if n)


def _chart(
    name: str, counts: Mapping[Any, int], most_bars: int = MOST_BARS
) -> list[tuple[str, str]]:
    """Lines of a chart, the largest count first; small ones of many share the last line."""
    ordered = sorted(((str(k), n) for k, n in counts.items() if n), key=lambda i: (-i[1], i[0]))
    if len(ordered) > most_bars:
        rest = ordered[most_bars - 1 :]
        ordered = [*ordered[: most_bars - 1], (f"{len(rest)} more", sum(n for _, n in rest))]
    total = sum(n for _, n in ordered)
    return [
        ("" if i else name, f"{label:<{LABEL_CHARS}} {bar(n, total)} {n:,}")
        for i, (label, n) in enumerate(ordered)
    ]


def _model_rows(stored: StoredModel | None) -> list[tuple[str, str]]:
    if stored is None:
        return [("model", "none yet")]
    about = stored.about
    rows = [("model", _version_text(about))]
    try:
        return [*rows, ("", _taught(read_model(stored)))]
    except ConfigError as error:
        return [*rows, ("", f"not used: {error}")]


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
