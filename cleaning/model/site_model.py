"""What a host taught: one value that goes with its pages into ``clean``.

A model is written as JSON with sorted keys, so that the same pages give the same bytes:
``{"body_rule":{...},"expected":{...},"format":10,...}``. Its size is bounded: when it is too long,
what the fewest pages taught goes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Struct, field, structs

from cleaning.errors import ConfigError
from cleaning.model.index import SiteIndex
from cleaning.model.rules import (
    BodyRule,
    Expected,
    ImagePlace,
    LinkPlace,
    Noise,
    PageSet,
    PostRule,
    RelatedRule,
    Template,
    TemplatePart,
    TemplateText,
)
from cleaning.records import UrlKind
from cleaning.url_classes.rules import UrlRule, UrlRules, url_kind
from cleaning.urls.normal_form import normalize

FORMAT = 10
"""Number of the JSON form, raised when a program of another number would misread a model.

Lower numbers were of checkouts before version 0.2.0.
"""
MAX_MODEL_BYTES = 256 * 1024
_KEPT = 0.8  # of what can go, at each step


class SiteModel(Struct, frozen=True, kw_only=True, dict=True, tag=FORMAT, tag_field="format"):
    """What the pages of one host have in common.

    Attributes:
        host: Lower-case authority the pages came from.
        version: Grows with every learning; 1 is the first.
        learned_at: When the newest page of the sample was fetched; aware UTC.
        page_count: Pages it was learned from.
        sample: Their URLs; what the rules say of pages is said by their place here.
        url_rules: The host's own URL rules, asked before the common ones.
        body_rule: Where bodies stand.
        template: What text repeats.
        noise: Links and images that repeat.
        related_rule: Where related links stand.
        post_rule: Where the posts of threads stand; None on a host without threads.
        expected: How many pages of the sample fit all this.
    """

    host: str
    version: int = 1
    learned_at: Annotated[datetime, msgspec.Meta(tz=True)]
    page_count: int
    sample: tuple[str, ...] = ()
    url_rules: UrlRules = field(default_factory=UrlRules)
    body_rule: BodyRule = field(default_factory=BodyRule)
    template: Template = field(default_factory=Template)
    noise: Noise = field(default_factory=Noise)
    related_rule: RelatedRule = field(default_factory=RelatedRule)
    post_rule: PostRule | None = None
    expected: Expected = field(default_factory=Expected)

    @cached_property
    def index(self) -> SiteIndex:
        """The model ready to be asked by ``clean``; made when it is asked first."""
        return SiteIndex(
            self.body_rule,
            self.template,
            self.noise,
            self.related_rule,
            self.page_count,
            self.expected,
        )

    def url_kind(self, url: str) -> UrlKind:
        """What a URL of the host leads to, fetched or not.

        Raises:
            InvalidUrl: ``url`` is no absolute http(s) URL.
        """
        return url_kind(normalize(url), self.url_rules)

    def pages(self, on: PageSet) -> tuple[str, ...]:
        """The URLs of the sample that a rule was seen on."""
        return tuple(url for i, url in enumerate(self.sample) if on >> i & 1)

    def to_json(self) -> str:
        """The model as JSON of at most 256 KB, the same for equal models."""
        return _ENCODER.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> SiteModel:
        """The model that ``to_json`` wrote.

        Raises:
            ConfigError: The text is no model this version can read; one of an older format says so.
        """
        try:
            found = _FORMAT.decode(text).format
            if found == FORMAT:
                return _MODEL.decode(text)
        except (RecursionError, ValueError) as error:  # msgspec's errors are ValueErrors
            raise ConfigError(f"not a site model this version can read: {error}") from None
        raise ConfigError(
            f"a site model of format {found}, this version reads {FORMAT}: learn it anew"
        )


class _Format(Struct):
    format: int


def _as_json(value: Any) -> Any:
    if isinstance(value, PageSet):
        return f"{value:x}"
    raise NotImplementedError(f"no JSON of {type(value)}")


def _from_json(kind: type, value: Any) -> Any:
    if kind is PageSet:
        return PageSet(value, 16)
    if kind is UrlRules:
        return UrlRules(msgspec.convert(value, tuple[UrlRule, ...]))
    raise NotImplementedError(f"no reader of {kind}")


_FORMAT = msgspec.json.Decoder(_Format)
_ENCODER = msgspec.json.Encoder(enc_hook=_as_json, order="sorted")
_MODEL = msgspec.json.Decoder(SiteModel, dec_hook=_from_json)


def bounded(model: SiteModel, max_bytes: int = MAX_MODEL_BYTES) -> SiteModel:
    """The model without the addresses, lines and places of fewest pages that make it too long."""
    while len(model.to_json().encode()) > max_bytes:
        noise, template = model.noise, model.template
        smaller = structs.replace(
            model,
            noise=replace(
                noise,
                links=_largest(noise.links),
                images=_largest(noise.images),
                link_places=_most(noise.link_places),
                image_places=_most(noise.image_places),
            ),
            template=replace(template, lines=_most(template.lines), parts=_most(template.parts)),
        )
        if smaller == model:
            smaller = structs.replace(model, sample=model.sample[: len(model.sample) // 2])
        model = smaller
    return model


def _largest(shares: Mapping[str, float]) -> dict[str, float]:
    """Most of the addresses, those of the greatest shares, sorted."""
    order = sorted(shares, key=lambda url: (-shares[url], url))
    return {url: shares[url] for url in sorted(order[: int(_KEPT * len(order))])}


_Seen = TypeVar("_Seen", TemplateText, TemplatePart, LinkPlace, ImagePlace)


def _most(rules: tuple[_Seen, ...]) -> tuple[_Seen, ...]:
    """Most of the rules, those of most pages, in their order."""
    order = sorted(range(len(rules)), key=lambda i: (-rules[i].on.bit_count(), i))
    return tuple(rules[i] for i in sorted(order[: int(_KEPT * len(order))]))
