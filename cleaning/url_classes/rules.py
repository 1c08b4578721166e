"""URL rules: the kind of a URL by its template, and what a crawl does with the class.

The rules of a host are learned (``url_classes/learning.py``): a template of URLs with the kind of
its class, the pages it was seen on, and the template of the better form of the same pages. The
common rules, regular expressions over path and query, are the fallback.

A crawl ranks URLs by the kind of their rule, and refuses a class when

- an operator forbade it, or
- it is a duplicate class, proven by two pages, or
- its kind brings nothing to read (login, form, calendar) without doubt: two pages were seen, or
  many URLs share a few anchor texts (回复), as few articles do. A login is proven by pages alone,
  and so is a class whose URLs end with names, as those of articles do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial

import msgspec

from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import UrlKind
from crawlclean.cleaning.urls.normal_form import is_asset
from crawlclean.cleaning.urls.patterns import pattern_of
from crawlclean.cleaning.urls.shapes import read_template, shape_of

_SLOT = re.compile(r"\{([0-9]{1,2})\}")
# The end of a path that has the name of a page: /report/{w}.html, /edit/{x}, /calendar/{n}.htm.
_NAMED_PAGE = re.compile(r"\{[wxs]\}[^/]*$|\.html?$")
FORBID = "forbid"
MOST_FORMS = 4  # in a row: classes lead to better ones, never in a circle, single URLs might
LEAST_PAGES = 2  # prove that a class is not worth fetching; one page may be an accident
LEAST_URLS = 5  # fewest URLs of a refused class without pages
MOST_NAMED = 0.2  # share of URLs with an anchor text of their own, up to which texts are shared
_NEVER = frozenset((UrlKind.LOGIN, UrlKind.FORM, UrlKind.CALENDAR))
# Places in the queue, 0..99: what leads to topics before the topics, then the rest.
VARIANT_RANK = 62
LIST_RANK = 30  # before topics: a list leads to many, a topic to few
_RANKS = {
    UrlKind.INDEX: LIST_RANK,
    UrlKind.THREAD: 33,
    UrlKind.ARTICLE: 33,
    UrlKind.USER: 66,
    UrlKind.FEED: 70,
    UrlKind.SEARCH: 74,
    UrlKind.DUPLICATE: 78,
    UrlKind.CALENDAR: 82,
    UrlKind.FORM: 84,
    UrlKind.LOGIN: 84,
}


class UrlRule(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """The kind of the URLs of one template; JSON ``["thread","/t/{n}","",9,4,0.9,0.0,"/t/7"]``.

    Attributes:
        kind: Kind of their pages.
        template: Path and query with ``{n}``, ``{w}``, ``{x}``, ``{s}`` for slots:
            ``/thread-{n}-{n}-1.html``.
        twin: Path and query of the better form of the same page, ``{0}`` for the first slot of this
            one: ``/thread-{0}-1-1.html``; ``""`` without.
        urls: URLs of the template when the rule was learned.
        pages: Pages the rule was seen on; of a duplicate, pages that prove it.
        named: Share of its URLs with an anchor text of their own, of those with any text.
        numbered: Share of its URLs with a number for an anchor text, as next pages have.
        example: Path and query of one of its URLs: ``/thread-170-1-1.html``.
    """

    kind: UrlKind
    template: str
    twin: str = ""
    urls: int = 0
    pages: int = 0
    named: float = 0.0
    numbered: float = 0.0
    example: str = ""


class UrlRules(tuple[UrlRule, ...]):
    """The rules of a host: a tuple, indexed by shape."""

    _by_key: dict[str, list[tuple[tuple[tuple[int, str], ...], UrlRule]]]

    def __new__(cls, rules: Iterable[UrlRule] = ()) -> UrlRules:
        """Indexes rules; of two that fit a URL the one with more fixed words counts."""
        made = super().__new__(cls, rules)
        made._by_key = {}
        for rule in made:
            key, fixed = read_template(rule.template)
            made._by_key.setdefault(key, []).append((fixed, rule))
        for found in made._by_key.values():
            found.sort(key=lambda entry: -len(entry[0]))
        return made

    @classmethod
    def from_json(cls, text: str) -> UrlRules:
        """The rules that ``to_json`` wrote.

        Raises:
            ValueError: The text is none of them.
        """
        return cls(_RULES.decode(text))

    def to_json(self) -> str:
        """The rules as a JSON list."""
        return msgspec.json.encode(self).decode()

    def find(self, url: str) -> UrlRule | None:
        """Finds the rule of a URL in normal form; None without."""
        key, values = shape_of(url)
        for fixed, rule in self._by_key.get(key, ()):
            for slot, word in fixed:
                if values[slot] != word:
                    break
            else:
                return rule
        return None

    def better_form(self, url: str) -> str | None:
        """Returns the better form of a URL of a duplicate class; None when none is known.

        The better form may have a better one: ``/print-7`` that of ``/t/7?p=1``, and this ``/t/7``.
        """
        form = url
        for _ in range(MOST_FORMS):
            rule = self.find(form)
            if rule is None or not rule.twin:
                break
            values = shape_of(form).values
            target = _SLOT.sub(partial(_value, values), rule.twin)
            form = form[: form.find("/", form.find("//") + 2)] + target
        return None if form == url else form


def _value(values: Sequence[str], slot: re.Match[str]) -> str:
    return values[int(slot[1])]


_RULES = msgspec.json.Decoder(tuple[UrlRule, ...])


# The kind of URLs whose lower-case path and query contain a match of a pattern; the first decides.
COMMON_RULES: tuple[tuple[UrlKind, str], ...] = (
    (UrlKind.FEED, r"[/?&=](?:feeds?|rss|atom)(?:\.xml|\.php)?(?:[/?&]|$)"),
    (UrlKind.FEED, r"\.(?:rss|atom)$|[?&]feed=|/sitemap[\w-]*\.xml"),
    (
        UrlKind.LOGIN,
        # Whole names and values: how-to-register-a-patent.html is an article.
        r"[/?&=](?:wp-)?(?:log-?in|log-?on|log-?out|sign-?in|sign-?up|sign-?out"
        r"|register|passport|lostpw|lostpassword)(?:[/?&=.]|$)|[?&]mod=logging(?:&|$)",
    ),
    (UrlKind.DUPLICATE, r"[?&](?:replytocom|print|share|printable)="),
    (UrlKind.DUPLICATE, r"[?&](?:view|action|mode)=print|/amp/?$"),
    (UrlKind.SEARCH, r"/search(?:[/?._-]|$)|[?&]mod=search|/\?s="),
    (
        UrlKind.FORM,
        r"(?:^|[/?&_.-])(?:newreply|newthread|posting|new-?topic|reply|edit(?:post)?"
        r"|report)(?:\.\w+)?(?:[?&/]|$)",
    ),
    (
        UrlKind.FORM,
        r"[?&](?:mod|action|mode|act|do|op|a)=(?:post|new|reply|edit|delete|report|create)",
    ),
    (UrlKind.CALENDAR, r"(?:^|[/?&=])calendar(?:[/?&=.]|$)"),
    (UrlKind.USER, r"/(?:user|users|member|members|profile|author)/[^/]"),
    (UrlKind.USER, r"[?&]uid=|space-uid-|(?:profile|memberlist|member)\.php"),
    (UrlKind.INDEX, r"^/(?:(?:index|default|home)\.\w{2,5})?$"),
)


def class_of(url: str, rules: UrlRules | None = None) -> str:
    """Returns the class of a URL in normal form: a template of the rules, else a pattern.

    A template (``/thread-{n}-{n}-1.html``) is the shape of the URL with the words that its host
    teaches. Where no rule fits, the wider pattern is the class: ``/*.html``, ``""`` for the root.
    """
    rule = rules.find(url) if rules else None
    return rule.template if rule is not None else pattern_of(url)


def url_kind(url: str, rules: UrlRules | None = None) -> UrlKind:
    """Returns the kind of a URL in normal form: by extension, host's rules, common rules."""
    if is_asset(url):
        return UrlKind.ASSET
    rule = rules.find(url) if rules else None
    return rule.kind if rule is not None else kind_by_words(url)


def kind_by_words(url: str) -> UrlKind:
    """Returns the kind of a URL by the common rules alone."""
    start = url.find("/", url.find("//") + 2)
    target = (url[start:] if start >= 0 else "/").lower()
    for kind, pattern in COMMON_RULES:
        if _compiled(pattern).search(target):
            return kind
    return UrlKind.OTHER


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def rank_of(rule: UrlRule) -> int | None:
    """Returns the rank of a rule's URLs in the queue, 0..99, lower is sooner; None for no rank."""
    is_variant = rule.kind is UrlKind.INDEX and max(rule.named, rule.numbered) < MOST_NAMED
    # The same list in another order: anchor texts name the order (查看, 回复), not the list.
    return VARIANT_RANK if is_variant else _RANKS.get(rule.kind)


def with_pins(rules: UrlRules, pins: Mapping[str, str]) -> UrlRules:
    """Puts the pins of operators before the rules; a pinned class keeps what was learned of it.

    Args:
        rules: The learned rules of the host.
        pins: Template -> kind or ``"forbid"``: ``{"/tag/{w}": "index"}``.
    """
    if not pins:
        return rules
    learned = {rule.template: rule for rule in rules}
    pinned = [
        msgspec.structs.replace(
            learned.get(template) or UrlRule(kind=UrlKind.OTHER, template=template),
            kind=UrlKind.OTHER if word == FORBID else UrlKind(word),
            twin="",
        )
        for template, word in sorted(pins.items())
    ]
    return UrlRules([*pinned, *(rule for rule in rules if rule.template not in pins)])


LEADS_TO_DUPLICATES = f"leads to {UrlKind.DUPLICATE} pages"
"""The reason of ``refused_templates`` for a class of other forms of pages begins so."""


def refused_templates(rules: UrlRules, pins: Mapping[str, str]) -> dict[str, str]:
    """Returns template -> reason for the classes that are not fetched.

    ``{"/login.php?ref={s}": "leads to login pages, judged by 2 pages"}``.
    """
    refused: dict[str, str] = {}
    for rule in rules:
        word = pins.get(rule.template)
        if word == FORBID:
            refused[rule.template] = Message("by_operator")
        elif word is None and _is_refused(rule):
            key = "leads_to" if rule.pages else "urls_lead_to"
            refused[rule.template] = Message(key, rule.kind.value, rule.pages or rule.urls)
    return refused


def followed_inside(rules: UrlRules, refused: Mapping[str, str]) -> list[str]:
    """Returns the followed templates whose URLs a refused one of fewer words may fit, too."""
    keys = {read_template(template)[0] for template in refused}
    return [
        rule.template
        for rule in rules
        if rule.template not in refused and read_template(rule.template)[0] in keys
    ]


def _is_refused(rule: UrlRule) -> bool:
    """Whether a class is not fetched by the evidence of its rule."""
    if rule.kind is UrlKind.DUPLICATE:
        return rule.pages >= LEAST_PAGES
    if rule.kind not in _NEVER:
        return False
    if rule.pages >= LEAST_PAGES:
        return True
    # Words such as register and passport name sections of articles, too.
    has_names = _NAMED_PAGE.search(rule.template.partition("?")[0]) is not None
    is_sure = rule.kind is not UrlKind.LOGIN and rule.named < MOST_NAMED and not has_names
    return is_sure and rule.urls >= LEAST_URLS
