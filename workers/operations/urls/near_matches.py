"""Near matches of a URL or a host that the store does not know: `did you mean`.

Every near form of the text is made and looked up by key, so the time does not grow with the store:
another scheme, port, `www`, slash or query, and every text that is one letter away (3,000 for a
path of 40 characters, 30 ms). Only the list of hosts is also compared by likeness, and at most
``MOST_HOSTS`` of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import product
from string import ascii_lowercase, ascii_uppercase, digits
from urllib.parse import urlsplit

from crawlclean.cleaning.errors import InvalidUrl, NotFound
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.cleaning.urls.patterns import without_session
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.spoken import say

MOST_SHOWN = 5  # names in one line of a message
MOST_HOSTS = 5000
"""Hosts that are compared by likeness: 30 ms. A store of more hosts is a list of sites."""

MOST_ALTERED_CHARS = 200
"""Longer paths are not altered letter by letter: 200 characters give 17,000 texts, 0.2 s."""

MOST_PORTS = 20  # of a host: more are no guess any more
_LETTERS = ascii_lowercase + digits
_TRACKING = re.compile(r"utm_\w+|gclid|fbclid|msclkid|spm|share_?\w*|from|ref", re.ASCII)
_INDEX = re.compile(r"/(?:index|default)\.\w{2,5}$")
_OWN_PORT = re.compile(r"[^/?#]*:(?!443\b)\d")
_HOST_LIKE = re.compile(
    r"(?:localhost|[^\s/:?#]+\.[^\s/:?#]+|[^\s/?#:]+(?=:\d))(?::\d+)?(?:[/?#].*)?"
)


def did_you_mean(names: Sequence[str]) -> str:
    """The end of a message: ``; did you mean a.example or b.example?``; ``""`` without names."""
    if not names:
        return ""
    *first, last = names[:MOST_SHOWN]
    named = say("{names} or {last}", names=say(", ").join(first), last=last) if first else last
    return say("; did you mean {names}?", names=named)


def unknown_name(store: Store, name: str) -> NotFound:
    """Returns the error that neither a crawl nor a host has a name; it names those like it."""
    crawls = sorted(row.spec.crawl_id for row in store.crawls.all())
    near = did_you_mean([*near_hosts(store, name), *get_close_matches(name, crawls)])
    return NotFound(f"no crawl and no host is named {name}; `crawls` and `hosts` list them{near}")


def near_hosts(store: Store, text: str, others: Iterable[str] = ()) -> list[str]:
    """Returns known hosts that are like a text, the most likely first.

    Args:
        store: Of the hosts.
        text: A host as typed, or a URL of it: ``127.0.2.1``, ``http://Example.com/``.
        others: Hosts that are known although nothing of them is stored.
    """
    host = _authority(text)
    name, port = _split_port(host)
    plain = name.removeprefix("www.")
    names = dict.fromkeys((plain, f"www.{plain}"))
    first = [host, *names, *(f"{each}:{port}" for each in names if port)]
    crawls = store.statistics.crawls_of(first)
    known = dict.fromkeys(each for each in first if each in crawls)
    for each in names:
        known.update(dict.fromkeys(store.statistics.names(f"{each}:", MOST_PORTS)))
    if not known:
        known.update(dict.fromkeys(store.statistics.crawls_of(list(_altered(host, ":.-")))))
    if not known:
        some = dict.fromkeys((*store.statistics.names(limit=MOST_HOSTS), *others))
        known.update(dict.fromkeys(each for each in some if _split_port(each)[0] in names))
        known.update(dict.fromkeys(each for each in some if each.endswith(f".{plain}")))
        known.update(dict.fromkeys(get_close_matches(host, some, MOST_SHOWN, 0.8)))
    known.pop(text, None)
    return list(known)[:MOST_SHOWN]


def near_urls(store: Store, url: str, others: Iterable[str] = ()) -> list[str]:
    """Returns known URLs that are like an unknown one, the most likely first.

    Args:
        store: Of the URLs.
        url: In normal form.
        others: Hosts that are known although nothing of them is stored.
    """
    parts = urlsplit(url)
    crawls = store.statistics.crawls_of([parts.netloc])
    hosts = [parts.netloc] if crawls else []
    hosts += near_hosts(store, parts.netloc, others)
    crawls = store.statistics.crawls_of(hosts)
    names = sorted({crawl for found in crawls.values() for crawl in found})
    targets = _target_forms(parts.path + (f"?{parts.query}" if parts.query else ""))
    schemes = (parts.scheme, "https" if parts.scheme == "http" else "http")
    forms = product(targets, hosts, schemes)  # those of the first path first
    urls = (f"{scheme}://{host}{target}" for target, host, scheme in forms)
    found = known_urls(store, urls, names)
    if not found and hosts:
        start = f"{parts.scheme}://{hosts[0]}"
        target = url[len(f"{parts.scheme}://{parts.netloc}") :]
        altered = (f"{start}/{each}" for each in _altered(target[1:], "-_./%=&?"))
        found = known_urls(store, altered, crawls.get(hosts[0], ()))
    return [each for each in found if each != url][:MOST_SHOWN]


def known_urls(store: Store, urls: Iterable[str], crawls: Collection[str]) -> list[str]:
    """Returns those URLs that some of the crawls know, in their order."""
    ids: dict[str, str] = {}
    for url in urls:
        try:
            ids.setdefault(page_id(url), url)
        except InvalidUrl:
            continue
    known = store.urls.known(list(ids), crawls)
    return list(dict.fromkeys(known[each] for each in ids if each in known))


def with_scheme(store: Store, text: str) -> str:
    """Returns a text as a URL in normal form; without a scheme, the one that the store knows.

    ``example.com/a`` becomes ``http://example.com/a`` when a crawl knows this URL, or other pages
    of the host by http; else ``https://example.com/a``.

    Raises:
        InvalidUrl: The text is not an http(s) URL.
    """
    if "://" in text or not _HOST_LIKE.fullmatch(text):
        return normalize(text)
    schemes = ("http", "https") if _OWN_PORT.match(text) else ("https", "http")
    forms = [normalize(f"{scheme}://{text}") for scheme in schemes]
    hosts = [urlsplit(form).netloc for form in forms]
    crawls = {crawl for found in store.statistics.crawls_of(hosts).values() for crawl in found}
    known = known_urls(store, forms, crawls)
    if known:
        return known[0]
    roots = ("/".join([*form.split("/", 3)[:3], ""]) for form in forms)
    is_known = (known_urls(store, [root], crawls) for root in roots)
    return next((form for form, known in zip(forms, is_known, strict=True) if known), forms[0])


def _authority(text: str) -> str:
    """The host of a host or URL as typed: ``example.com:8080`` of ``HTTP://Example.com:8080/a``."""
    try:
        return urlsplit(normalize(text if "://" in text else f"http://{text}/")).netloc
    except InvalidUrl:
        return text.lower()


def _split_port(host: str) -> tuple[str, str]:
    """(name, port) of a host; the port is ``""`` without one."""
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and port.isdigit() else (host, "")


def _target_forms(target: str) -> list[str]:
    """Forms of a path with its query that often lead to the same page, itself first."""
    path, _, query = target.partition("?")
    kept = "&".join(p for p in query.split("&") if not _TRACKING.fullmatch(p.partition("=")[0]))
    queries = dict.fromkeys((query, kept, ""))
    other = path.rstrip("/") if path.endswith("/") and path != "/" else f"{path}/"
    paths = dict.fromkeys((path, other, _INDEX.sub("/", path), path.lower()))
    forms = [f"{p}?{q}" if q else p for q, p in product(queries, paths)]
    return list(dict.fromkeys(form for each in forms for form in (each, without_session(each))))


def _altered(text: str, marks: str) -> Iterator[str]:
    """Yields every text that is one letter away: one left out, exchanged, replaced or added."""
    if len(text) > MOST_ALTERED_CHARS:
        return
    letters = _LETTERS + marks + (ascii_uppercase if text.lower() != text else "")
    for at in range(len(text) + 1):
        head, tail = text[:at], text[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in letters:
            if tail:
                yield head + letter + tail[1:]
            yield head + letter + tail
