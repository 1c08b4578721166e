"""What changed between two records of one page, and older versions as differences of lines.

**Change** is told from the cleaned content, not from bytes. Of an article or a thread the title,
the lines of the body and the posts are compared. Three differences do not count:

- of lines that the site model calls template;
- of digits in a short line with a date, a count or a time (``阅读 1,024 次``, ``3 minutes ago``);
- of white space and empty lines.

Of a list, which has no text of its own, the addresses of its links to content are compared, without
their order: a list has changed when it has an address more.

**Versions.** What is kept of an old record is a list of lines (``kept_lines``): its head, its body,
its posts, its outlinks. An older version is a difference, read backwards: it makes the older lines
from the newer ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from functools import lru_cache

import msgspec
from msgspec import structs

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, dump, replace_surrogates
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.records import (
    BodySource,
    CleanRecord,
    LinkKind,
    Outlink,
    PageKind,
    Post,
    Via,
)
from crawlclean.cleaning.urls.normal_form import host_of

MOST_VOLATILE_CHARS = 60
"""Longest line whose digits may differ; longer lines with a date are sentences."""
MOST_COMPARED_LINES = 4_000
"""Lines that are compared one by one; of longer differences the whole block is kept."""

CONTENT_KINDS = frozenset((LinkKind.BODY, LinkKind.RELATED, LinkKind.OTHER))
"""Kinds of the links of a list that lead to content."""

_SPACES = re.compile(r"\s+")
_DIGITS = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
_DATE = re.compile(
    r"[0-9]{4}[-/.年][0-9]{1,2}|\b[0-9]{2}[-/][0-9]{2}\b|\b[0-9]{1,2}:[0-9]{2}\b|[0-9]月"
)
_AGO = re.compile(
    r"(?:[0-9]+|an?|one) ?(?:sec(?:ond)?|min(?:ute)?|hour|day|week|month|year)s? ago"
    r"|[0-9]+ ?(?:秒|分钟|分|小时|天|周|个月|月|年)(?:之)?前|刚刚|just now|yesterday|昨天|前天",
    re.IGNORECASE,
)


class Change(msgspec.Struct, frozen=True):
    """How a newer record of a page differs from an older one.

    Attributes:
        is_changed: Whether the content differs.
        is_list: Whether both are lists, which are compared by their links.
        new_urls: Addresses that a list has more, in the order of the page.
    """

    is_changed: bool
    is_list: bool = False
    new_urls: tuple[str, ...] = ()


class Edit(msgspec.Struct, frozen=True, array_like=True):
    """Newer lines ``start`` to ``end`` (exclusive) become ``lines``: ``[3,4,["bold text"]]``."""

    start: int
    end: int
    lines: tuple[str, ...]


def compare(old: CleanRecord, new: CleanRecord, template: Collection[str] = frozenset()) -> Change:
    """Returns how a newer record of a page differs from the older one.

    Args:
        old: The older record.
        new: The newer record.
        template: Keys of the lines on most pages of the host: ``SiteIndex.often``.
    """
    if _is_list(old) and _is_list(new):
        before = set(list_urls(old))
        added = tuple(url for url in list_urls(new) if url not in before)
        return Change(bool(added), True, added)
    return Change(_content(old, template) != _content(new, template))


def list_urls(record: CleanRecord) -> list[str]:
    """Returns the addresses of a list's links to content on its host, each once.

    Of a list without one, those to other hosts.
    """
    found = [
        link.url for link in record.outlinks if link.kind in CONTENT_KINDS and link.via is Via.LINK
    ]
    here = [url for url in found if host_of(url) == record.host]
    return list(dict.fromkeys(here or found))


def _is_list(record: CleanRecord) -> bool:
    has_text = bool(record.body or record.posts)
    if record.kind is PageKind.INDEX or record.body_source is BodySource.LIST:
        return True
    return not (has_text or record.kind is PageKind.ARTICLE)


def _content(record: CleanRecord, template: Collection[str]) -> tuple[object, ...]:
    posts = tuple((post.author, _lines(post.body, template)) for post in record.posts)
    body = () if record.body_source is BodySource.POSTS else _lines(record.body, template)
    return " ".join(record.title.split()), body, posts


def _lines(text: str, template: Collection[str]) -> tuple[str, ...]:
    from crawlclean.cleaning.model.paths import (
        line_key,  # stores that are only read need no cleaner
    )

    found = []
    for line in text.split("\n"):
        plain = _SPACES.sub(" ", line).strip()
        if plain and not (template and line_key(plain) in template):
            found.append(stable(plain))
    return tuple(found)


def stable(line: str) -> str:
    """Returns a line with ``#`` for numbers that change by themselves: ``阅读 # 次``."""
    if len(line) > MOST_VOLATILE_CHARS:
        return line
    plain = _AGO.sub("#", line)
    if plain == line and not (
        _DIGITS.search(line) and (_DATE.search(line) or _count_words().search(line))
    ):
        return line
    return _DIGITS.sub("#", plain)


@lru_cache(maxsize=1)
def _count_words() -> re.Pattern[str]:
    """A pattern for the words of counts and times; Latin ones whole."""
    words = sorted(word_list("count_words"))
    latin = "|".join(word for word in words if word.isascii())
    others = "|".join(word for word in words if not word.isascii())
    return re.compile(rf"\b(?:{latin})\b|{others}", re.IGNORECASE)


class _Head(msgspec.Struct, omit_defaults=True):
    """What is kept of a record beside its lines."""

    url: str
    canonical_url: str
    host: str
    kind: PageKind
    title: str = ""
    author: str | None = None
    published_at: datetime | None = None
    language: str | None = None
    encoding: str = "utf-8"
    signature: str = ""
    body_source: BodySource = BodySource.NONE
    model_version: int = 0


class _PostHead(msgspec.Struct, omit_defaults=True):
    """What is kept of a post beside its lines."""

    floor: int
    author: str | None = None
    published_at: datetime | None = None


_HEAD = msgspec.json.Decoder(_Head)
_POST = msgspec.json.Decoder(_PostHead)
_OUTLINK = msgspec.json.Decoder(Outlink)


def kept_lines(record: CleanRecord) -> tuple[str, ...]:
    """Returns what is kept of an old record, as lines.

    The first character of a line names its part: ``h`` the head as JSON, ``b`` a line of the body,
    ``p`` a post's head, ``t`` a line of this post, ``o`` an outlink. Markdown, links, images,
    warnings and the values of record steps are not kept.
    """
    record = record.in_utc()
    head = msgspec.convert(record, _Head, from_attributes=True)
    lines = ["h" + dump(head).decode()]
    lines += ["b" + line for line in replace_surrogates(record.body).split("\n")]
    for post in record.posts:
        about = msgspec.convert(post, _PostHead, from_attributes=True)
        lines.append("p" + dump(about).decode())
        lines += ["t" + line for line in replace_surrogates(post.body).split("\n")]
    lines += ["o" + dump(outlink).decode() for outlink in record.outlinks]
    return tuple(lines)


def record_of(lines: Sequence[str], page_id: str, fetched_at: datetime) -> CleanRecord:
    """Returns the record of kept lines, without what is not kept.

    Raises:
        StoreDamaged: The lines are not those of ``kept_lines``.
    """
    body: list[str] = []
    posts: list[tuple[_PostHead, list[str]]] = []
    outlinks: list[Outlink] = []
    try:
        head = _HEAD.decode(lines[0][1:])
        for line in lines[1:]:
            part, text = line[0], line[1:]
            if part == "b":
                body.append(text)
            elif part == "p":
                posts.append((_POST.decode(text), []))
            elif part == "t":
                posts[-1][1].append(text)
            else:
                outlinks.append(_OUTLINK.decode(text))
    except DAMAGE as error:
        raise StoreDamaged(f"a stored version cannot be read: {error}") from error
    return CleanRecord(
        page_id=page_id,
        fetched_at=fetched_at,
        body="\n".join(body),
        posts=tuple(Post(body="\n".join(text), **structs.asdict(about)) for about, text in posts),
        outlinks=tuple(outlinks),
        **structs.asdict(head),
    )


def edits_back(new: Sequence[str], old: Sequence[str]) -> tuple[Edit, ...]:
    """Returns the edits that make the older lines from the newer ones, in order.

    Lines that many others equal, and differences longer than 4,000 lines, are not matched line by
    line: the time stays linear in a page of any kind, and the edits stay exact.
    """
    start = 0
    shortest = min(len(new), len(old))
    while start < shortest and new[start] == old[start]:
        start += 1
    end = 0
    while end < shortest - start and new[-1 - end] == old[-1 - end]:
        end += 1
    ours, theirs = new[start : len(new) - end], old[start : len(old) - end]
    if len(ours) + len(theirs) > MOST_COMPARED_LINES:
        return (Edit(start, start + len(ours), tuple(theirs)),)
    matcher = SequenceMatcher(None, ours, theirs)
    return tuple(
        Edit(start + i1, start + i2, tuple(theirs[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    )


def go_back(new: Sequence[str], edits: Iterable[Edit]) -> tuple[str, ...]:
    """Returns the older lines, from the newer ones and the edits of ``edits_back``.

    Raises:
        StoreDamaged: The edits are of other lines.
    """
    lines: list[str] = []
    at = 0
    for edit in edits:
        if not at <= edit.start <= edit.end <= len(new):
            raise StoreDamaged("a stored version is no difference to the version after it")
        lines += new[at : edit.start]
        lines += edit.lines
        at = edit.end
    return (*lines, *new[at:])


def shown_lines(record: CleanRecord) -> list[str]:
    """Returns a record as lines for a person: title, body, posts, the links of a list."""
    lines = [record.title, "", *record.body.split("\n")] if record.body else [record.title]
    if record.body_source is not BodySource.POSTS or not record.body:
        for post in record.posts:
            lines += ["", f"#{post.floor} {post.author or ''}".rstrip(), *post.body.split("\n")]
    if _is_list(record):
        texts = {link.url: link.text for link in record.outlinks}
        lines += [f"{url} {texts[url]}".rstrip() for url in list_urls(record)]
    return lines
