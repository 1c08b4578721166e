"""The site model: everything learned of one host, as one value that ``clean`` reads pages with.

A model is written as JSON with sorted keys, so that the same pages give the same bytes:
``{"body_rule":{...},"expected":{...},"format":10,...}``. Its size is bounded: in a longer model the
rules of fewest pages go first. ``SiteIndex`` holds the rules in the form in which ``clean`` looks
them up, made once for a model and not for each page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Struct, structs

from crawlclean.cleaning.document.document import Document
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.model.overrides import Override, Said
from crawlclean.cleaning.model.paths import PathIndex
from crawlclean.cleaning.model.rules import (
    BodyRule,
    ClassShares,
    Dropped,
    Expected,
    ImagePlace,
    LinkPlace,
    Noise,
    PageSet,
    PostRule,
    RelatedRule,
    Template,
    TemplateText,
)
from crawlclean.cleaning.records import NO_THREADS, UrlKind
from crawlclean.cleaning.url_classes.rules import UrlRule, UrlRules, class_of, url_kind
from crawlclean.cleaning.urls.normal_form import normalize

FORMAT = 10
"""Number of the JSON form, raised when a program of another number would misread a model.

Lower numbers were of checkouts before version 0.2.0.
"""
MAX_MODEL_BYTES = 256 * 1024  # each worker decodes the models of its hosts and holds them
_KEPT = 0.8  # share of the rules that is kept at each step of shortening a model
OFTEN = 0.5  # share of the pages from which a line is template wherever it stands
CLASS_SHARE = 0.6  # share of the pages of one URL class from which it is template there ...
CLASS_PAGES = 3  # ... where the sample has so many of them

Meaning = tuple[int, Dropped | None] | LinkPlace | ImagePlace
"""The rule at a path: (number of a body place, part dropped in it or None), links, or images."""


class SiteModel(Struct, frozen=True, kw_only=True, dict=True, tag=FORMAT, tag_field="format"):
    """The rules learned from the pages of one host.

    Attributes:
        host: Lower-case authority of the pages: ``www.example.com``.
        version: 1 for the first model of the host, growing with every learning.
        learned_at: When the newest page of the sample was fetched; aware UTC.
        page_count: Number of pages in the sample.
        sample: URLs of the pages; bit ``i`` of a rule's ``on`` is the ``i``-th URL.
        url_rules: The host's URL rules, which go before the general ones.
        body_rule: The paths of bodies.
        template: The repeated text.
        noise: The links and images that repeat, and their places.
        related_rule: The places of related links.
        post_rule: The parts of posts; None on a host without threads.
        expected: The fit of the sample to the rules.
        overrides: What a person says of its pages; no learning changes them.
    """

    host: str
    version: int = 1
    learned_at: Annotated[datetime, msgspec.Meta(tz=True)]
    page_count: int
    sample: tuple[str, ...] = ()
    url_rules: UrlRules = msgspec.field(default_factory=UrlRules)
    body_rule: BodyRule = msgspec.field(default_factory=BodyRule)
    template: Template = msgspec.field(default_factory=Template)
    noise: Noise = msgspec.field(default_factory=Noise)
    related_rule: RelatedRule = msgspec.field(default_factory=RelatedRule)
    post_rule: PostRule | None = None
    expected: Expected = msgspec.field(default_factory=Expected)
    overrides: tuple[Override, ...] = ()

    @cached_property
    def index(self) -> SiteIndex:
        """The rules in the form in which ``clean`` looks them up, made at the first use."""
        return SiteIndex(self)

    def url_kind(self, url: str) -> UrlKind:
        """Returns the kind of the page at a URL of the host, fetched or not.

        Raises:
            InvalidUrl: ``url`` is no absolute http(s) URL.
        """
        return url_kind(normalize(url), self.url_rules)

    def pages(self, on: PageSet) -> tuple[str, ...]:
        """Returns the sample's URLs for a bit mask: 0b101 gives the first and the third."""
        return tuple(url for i, url in enumerate(self.sample) if on >> i & 1)

    def to_json(self) -> str:
        """The model as JSON of at most 256 KB, the same for equal models."""
        return _ENCODER.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> SiteModel:
        """The model that ``to_json`` wrote.

        Raises:
            ConfigError: The text is no model this version can read, such as one of an older format.
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
    raise NotImplementedError(f"no JSON of {type(value)}")  # what msgspec asks of a hook


def _from_json(kind: type, value: Any) -> Any:
    if kind is PageSet:
        return PageSet(value, 16)
    if kind is UrlRules:
        return UrlRules(msgspec.convert(value, tuple[UrlRule, ...]))
    raise NotImplementedError(f"no reader of {kind}")  # what msgspec asks of a hook


_FORMAT = msgspec.json.Decoder(_Format)
_ENCODER = msgspec.json.Encoder(enc_hook=_as_json, order="sorted")
_MODEL = msgspec.json.Decoder(SiteModel, dec_hook=_from_json)


class SiteIndex:
    """The rules of a model in the form in which ``clean`` looks them up.

    Attributes:
        paths: All paths of the model.
        meanings: The rule at each path, by the number of the path.
        often: Keys of the lines on most pages, at least two (``model.paths.line_key``).
        own: Checksums of the repeated lines that bodies keep.
        classes: For each body place the explained pages by URL class: ``{"/news/*.html": 12}``.
        threads: Pages with posts by URL class.
        suffixes: Ends of titles, the longest first.
        prefixes: Beginnings of titles, the longest first.
        frame: URLs of the links on most pages.
        shares: URL class -> its fit in the sample.
        single: The sum of all classes with one page in the sample.
    """

    def __init__(self, model: SiteModel) -> None:
        self._model = model
        self._of_class: dict[str, frozenset[str]] = {}  # one entry a URL class of the sample
        self._masks = class_masks(model.sample)
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
        self.own = frozenset(template.own)
        self.classes = [dict(place.classes) for place in model.body_rule.places]
        self.threads = dict(model.body_rule.threads)
        self.suffixes = sorted((each.text for each in template.title_suffixes), key=_by_length)
        self.prefixes = sorted((each.text for each in template.title_prefixes), key=_by_length)
        self.frame = frozenset(url for url, share in noise.links.items() if share >= OFTEN)
        self.shares = {each.pattern: each for each in model.expected.classes}
        self.single = ClassShares.total(each for each in model.expected.classes if each.pages == 1)

    def often_in(self, pattern: str) -> frozenset[str]:
        """Returns the keys of the lines that are template on the pages of one URL class.

        A class with fewer than three pages in the sample has the lines on most pages of the host.
        """
        mask = self._masks.get(pattern, 0)
        pages = mask.bit_count()
        if pages < CLASS_PAGES:
            return self.often if self._model.page_count >= CLASS_PAGES else frozenset()
        found = self._of_class.get(pattern)
        if found is None:
            found = self._of_class[pattern] = frozenset(
                line.text
                for line in self._model.template.lines
                if (line.on & mask).bit_count() >= CLASS_SHARE * pages
            )
        return found


def class_masks(urls: Iterable[str]) -> dict[str, int]:
    """Returns URL class -> its pages among some URLs, page ``i`` as bit ``i``.

    Such as ``{"/news/*.html": 0b101}``.
    """
    masks: dict[str, int] = {}
    for number, url in enumerate(urls):
        pattern = class_of(url)
        masks[pattern] = masks.get(pattern, 0) | 1 << number
    return masks


def _by_length(text: str) -> tuple[int, str]:
    return -len(text), text


def bounded(model: SiteModel) -> SiteModel:
    """Returns a model of at most ``MAX_MODEL_BYTES``; what is of the fewest pages goes first."""
    while len(model.to_json().encode()) > MAX_MODEL_BYTES:
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
            template=replace(template, lines=_most(template.lines)),
        )
        if smaller == model:
            smaller = structs.replace(model, sample=model.sample[: len(model.sample) // 2])
        model = smaller
    return model


def _largest(shares: Mapping[str, float]) -> dict[str, float]:
    """80 % of the URLs, those of the greatest shares, sorted."""
    order = sorted(shares, key=lambda url: (-shares[url], url))
    return {url: shares[url] for url in sorted(order[: int(_KEPT * len(order))])}


_Seen = TypeVar("_Seen", TemplateText, LinkPlace, ImagePlace)


def _most(rules: tuple[_Seen, ...]) -> tuple[_Seen, ...]:
    """80 % of the rules, those of most pages, in their order."""
    order = sorted(range(len(rules)), key=lambda i: (-rules[i].on.bit_count(), i))
    return tuple(rules[i] for i in sorted(order[: int(_KEPT * len(order))]))


# The places of a site model on one page, found by one walk over its blocks.


@dataclass(slots=True)
class SitePlaces:
    """The blocks of one page at the places of its host's model.

    Attributes:
        model: The site model.
        post_rule: The rule for the page's posts; None if its URL can be no thread.
        said: What overrides of the host say of the page.
        bodies: Number of a place in the body rule -> blocks at its path.
        dropped: Number of a place in the body rule -> block -> the rule that drops the block.
        links: Block -> the link place at its path.
        images: Block -> the image place at its path.
        body: The block of the body if found by the body rule, else -1.
        place: Number of the place in the body rule that the body is at, -1 without.
        trust: Share of the pages of the URL class whose body is at the place, 0..1.
        left_out: The blocks in it that are dropped.
        template_lines: Lines of the template that were cut from the ends of the page's own body.
    """

    model: SiteModel
    post_rule: PostRule | None = None
    said: Said = field(default_factory=Said)
    bodies: dict[int, list[int]] = field(default_factory=dict)
    dropped: dict[int, dict[int, Dropped]] = field(default_factory=dict)
    links: dict[int, LinkPlace] = field(default_factory=dict)
    images: dict[int, ImagePlace] = field(default_factory=dict)
    body: int = -1
    place: int = -1
    trust: float = 0.0
    left_out: set[int] = field(default_factory=set)
    template_lines: list[int] = field(default_factory=list)

    def in_body(self, tree: Tree) -> list[bool]:
        """Returns for each block whether it belongs to the body that the body rule found."""
        inside = [False] * len(tree.block_tags)
        if self.body >= 0:
            first, ends = self.body, tree.block_ends
            inside[first : ends[first]] = [True] * (ends[first] - first)
            for block in self.left_out:
                if first < block < ends[first]:
                    inside[block : ends[block]] = [False] * (ends[block] - block)
        return inside


def find_places(document: Document, model: SiteModel) -> SitePlaces:
    """Finds the blocks of a page at a model's places, and the rule for its posts."""
    rule = model.post_rule
    if rule is not None and model.url_kind(document.page.url) in NO_THREADS:
        rule = None
    index = model.index
    found = SitePlaces(model=model, post_rule=rule)
    for block, number in index.paths.find(document.tree):
        meaning = index.meanings[number]
        if isinstance(meaning, LinkPlace):
            found.links[block] = meaning
        elif isinstance(meaning, ImagePlace):
            found.images[block] = meaning
        else:
            place, dropped = meaning
            if dropped is None:
                found.bodies.setdefault(place, []).append(block)
            else:
                found.dropped.setdefault(place, {})[block] = dropped
    return found
