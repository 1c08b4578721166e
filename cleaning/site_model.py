"""What a host taught: one value that goes with its pages into ``clean``.

A model is written as JSON with sorted keys, so that the same pages give the same bytes. Its size is
bounded: when it is too long, the addresses with the smallest shares go first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from cleaning.errors import ConfigError
from cleaning.learn.url_rules import UrlRules, url_kind
from cleaning.records import UrlKind
from cleaning.source.urls import normalize

MAX_MODEL_BYTES = 256 * 1024
_FORMAT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseAddresses:
    """Addresses on many of a host's pages, each with its share m2 in 0..1 (paper 3, eq. 3)."""

    links: Mapping[str, float] = field(default_factory=dict)
    images: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteModel:
    """What the pages of one host have in common.

    Attributes:
        host: Lower-case authority the pages came from.
        version: Grows with every learning; 1 is the first.
        learned_at: When the newest page of the sample was fetched; aware UTC.
        page_count: Pages it was learned from.
        url_rules: The host's own URL rules, asked before the common ones.
        body_rule: Where bodies stand, ``""`` while nothing was learned.
        template: Text lines that repeat on the host's pages.
        noise: Links and images that repeat on the host's pages.
        related_rule: Where related links stand, ``""`` while nothing was learned.
    """

    host: str
    version: int = 1
    learned_at: datetime
    page_count: int
    url_rules: UrlRules = field(default_factory=UrlRules)
    body_rule: str = ""
    template: tuple[str, ...] = ()
    noise: NoiseAddresses = field(default_factory=NoiseAddresses)
    related_rule: str = ""

    def url_kind(self, url: str) -> UrlKind:
        """What a URL of the host leads to, fetched or not.

        Raises:
            InvalidUrl: ``url`` is no absolute http(s) URL.
        """
        return url_kind(normalize(url), self.url_rules)

    def to_json(self) -> str:
        """The model as JSON of at most 256 KB, the same for equal models."""
        return json.dumps(_as_dict(self), ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> SiteModel:
        """The model that ``to_json`` wrote.

        Raises:
            ConfigError: The text is no model this version can read.
        """
        try:
            data: dict[str, Any] = json.loads(text)
            if data["format"] != _FORMAT:
                raise ValueError(f"format {data['format']}")
            return cls(
                host=str(data["host"]),
                version=int(data["version"]),
                learned_at=datetime.fromisoformat(data["learned_at"]).astimezone(UTC),
                page_count=int(data["page_count"]),
                url_rules=UrlRules.from_data(data["url_rules"]),
                body_rule=str(data["body_rule"]),
                template=tuple(map(str, data["template"])),
                noise=NoiseAddresses(
                    links={str(url): float(share) for url, share in data["links"].items()},
                    images={str(url): float(share) for url, share in data["images"].items()},
                ),
                related_rule=str(data["related_rule"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"not a site model this version can read: {error}") from None


def bounded(model: SiteModel, max_bytes: int = MAX_MODEL_BYTES) -> SiteModel:
    """The model without the addresses of smallest share that make its JSON too long."""
    excess = len(model.to_json().encode()) - max_bytes
    if excess <= 0:
        return model
    entries = [
        (share, url, kind)
        for kind, table in (("links", model.noise.links), ("images", model.noise.images))
        for url, share in table.items()
    ]
    entries.sort(key=lambda entry: (entry[0], entry[1], entry[2]))
    dropped: dict[str, set[str]] = {"links": set(), "images": set()}
    for share, url, kind in entries:
        if excess <= 0:
            break
        dropped[kind].add(url)
        text = json.dumps({url: share}, ensure_ascii=False, separators=(",", ":"))
        excess -= len(text.encode()) - 2  # without the braces; a comma may stay behind
    noise = NoiseAddresses(
        links={u: s for u, s in model.noise.links.items() if u not in dropped["links"]},
        images={u: s for u, s in model.noise.images.items() if u not in dropped["images"]},
    )
    return replace(model, noise=noise)


def _as_dict(model: SiteModel) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "host": model.host,
        "version": model.version,
        "learned_at": model.learned_at.isoformat(),
        "page_count": model.page_count,
        "url_rules": model.url_rules.to_data(),
        "body_rule": model.body_rule,
        "template": list(model.template),
        "links": dict(model.noise.links),
        "images": dict(model.noise.images),
        "related_rule": model.related_rule,
    }
