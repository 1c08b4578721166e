"""What a host taught: one value that goes with its pages into ``clean``.

A model is written as JSON with sorted keys, so that the same pages give the same bytes. Its size is
bounded: when it is too long, what the fewest pages taught goes first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from cleaning.errors import ConfigError
from cleaning.model.paths import PathIndex
from cleaning.model.rules import (
    BodyRule,
    ClassShares,
    Dropped,
    Expected,
    ImagePlace,
    LinkPlace,
    Noise,
    PostRule,
    RelatedRule,
    Template,
    TemplatePart,
    TemplateText,
)
from cleaning.model.serial import FORMAT, plain, read_fields
from cleaning.records import UrlKind
from cleaning.url_classes.rules import UrlRules, url_kind
from cleaning.urls.normal_form import normalize

MAX_MODEL_BYTES = 256 * 1024
_KEPT = 0.8  # of what can go, at each step
OFTEN = 0.5  # share of the pages from which a line is template wherever it stands

Meaning = tuple[int, Dropped | None] | LinkPlace | ImagePlace
"""What stands at a path: a place of bodies by its number, or what is left out there; links; images.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteModel:
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
        index: The same, ready to be asked by ``clean``.
    """

    host: str
    version: int = 1
    learned_at: datetime
    page_count: int
    sample: tuple[str, ...] = ()
    url_rules: UrlRules = field(default_factory=UrlRules)
    body_rule: BodyRule = field(default_factory=BodyRule)
    template: Template = field(default_factory=Template)
    noise: Noise = field(default_factory=Noise)
    related_rule: RelatedRule = field(default_factory=RelatedRule)
    post_rule: PostRule | None = None
    expected: Expected = field(default_factory=Expected)
    index: SiteIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Makes the model ready to be asked."""
        object.__setattr__(self, "index", SiteIndex(self))

    def url_kind(self, url: str) -> UrlKind:
        """What a URL of the host leads to, fetched or not.

        Raises:
            InvalidUrl: ``url`` is no absolute http(s) URL.
        """
        return url_kind(normalize(url), self.url_rules)

    def pages(self, on: int) -> tuple[str, ...]:
        """The URLs of the sample that a rule was seen on."""
        return tuple(url for i, url in enumerate(self.sample) if on >> i & 1)

    def to_json(self) -> str:
        """The model as JSON of at most 256 KB, the same for equal models."""
        data = {"format": FORMAT, **plain(self)}
        return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> SiteModel:
        """The model that ``to_json`` wrote.

        Raises:
            ConfigError: The text is no model this version can read; one of an older format says so.
        """
        try:
            data = json.loads(text)
            found = data["format"]
            if found != FORMAT:
                raise ConfigError(
                    f"a site model of format {found}, this version reads {FORMAT}: learn it anew"
                )
            return cls(**read_fields(cls, data))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise ConfigError(f"not a site model this version can read: {error}") from None


class SiteIndex:
    """What ``clean`` asks of a model.

    Attributes:
        paths: All paths of the model.
        meanings: What stands at each, by its number.
        often: Keys of the lines on most pages, two at least.
        classes: For each place of bodies the pages it explains by URL class.
        threads: Pages with posts by URL class.
        suffixes: What titles end with, the longest first.
        prefixes: What they begin with.
        frame: Addresses of links on most pages.
        shares: How the URL classes of the sample fit.
        single: The same of all classes that the sample has one page of, together.
    """

    def __init__(self, model: SiteModel) -> None:
        noise, template = model.noise, model.template
        paths: list[str] = []
        self.meanings: list[Meaning] = []
        for number, place in enumerate(model.body_rule.places):
            paths.append(place.path)
            self.meanings.append((number, None))
            for dropped in place.dropped:
                paths.append(dropped.path)
                self.meanings.append((number, dropped))
        links = (*noise.link_places, *model.related_rule.places)
        paths += [place.path for place in links] + [place.path for place in noise.image_places]
        self.meanings += [*links, *noise.image_places]
        self.paths = PathIndex(path.split("/") for path in paths)
        least = max(2, OFTEN * model.page_count)
        self.often = frozenset(line.text for line in template.lines if line.on.bit_count() >= least)
        self.classes = [dict(place.classes) for place in model.body_rule.places]
        self.threads = dict(model.body_rule.threads)
        self.suffixes = sorted((each.text for each in template.title_suffixes), key=_by_length)
        self.prefixes = sorted((each.text for each in template.title_prefixes), key=_by_length)
        self.frame = frame_of(noise)
        self.shares = {each.pattern: each for each in model.expected.classes}
        single = [each for each in model.expected.classes if each.pages == 1]
        self.single = ClassShares(
            pattern="",
            pages=len(single),
            at_place=sum(each.at_place for each in single),
            framed=sum(each.framed for each in single),
        )


def frame_of(noise: Noise) -> frozenset[str]:
    """Addresses of the links on most pages."""
    return frozenset(url for url, share in noise.links.items() if share >= OFTEN)


def _by_length(text: str) -> tuple[int, str]:
    return -len(text), text


def bounded(model: SiteModel, max_bytes: int = MAX_MODEL_BYTES) -> SiteModel:
    """The model without the addresses, lines and places of fewest pages that make it too long."""
    while len(model.to_json().encode()) > max_bytes:
        noise, template = model.noise, model.template
        smaller = replace(
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
            smaller = replace(model, sample=model.sample[: len(model.sample) // 2])
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
