"""URL normal form, resolution of hrefs, hosts and registered domains.

The normal form follows the WHATWG URL standard (https://url.spec.whatwg.org/) with four additions
that make it a key: escapes of unreserved characters are undone (RFC 3986, 6.2.2.2), a ``%`` that
starts no escape becomes ``%25``, user information is dropped (a crawl never signs in), and so is
the dot that may end a host name. The order of a query is kept: servers may depend on it.

A page has 156 links on average, so the usual forms are matched by one regular expression each and
never split; the slow path gives equal results (tested).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from ipaddress import AddressValueError, IPv6Address
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote_to_bytes

from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.cleaning.lexicon import word_list

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_DEFAULT_PORTS = {"http": "80", "https": "443"}

# Characters the normal form leaves as they are, and escapes it leaves: in capitals, of no
# unreserved character. Runs of characters are possessive: a loop over single ones costs double.
# Groups are not: Python before 3.11.5 matches those wrongly, and each begins with a character that
# nothing else there begins with.
_SAFE = r"A-Za-z0-9\-._~!$&'()*+,;=@|\[\]^"  # in a segment of the path, beside the colon
_QUERY_SAFE = r"[A-Za-z0-9\-._~!$&()*+,;=:@/|\[\]^?`{}\\]*+"
_KEPT_ESCAPE = r"%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF])"
_QUERY = rf"(?:\?{_QUERY_SAFE}(?:{_KEPT_ESCAPE}{_QUERY_SAFE})*)?"
# ``/.`` may start a dot segment and ``xn--`` a label that has to be checked: both are left to the
# slow path.
_SEGMENT = rf"(?!\.)[:{_SAFE}]*+(?:{_KEPT_ESCAPE}[:{_SAFE}]*+)*"
_FIRST_SEGMENT = rf"(?![/.?])[{_SAFE}]*+(?:{_KEPT_ESCAPE}[{_SAFE}]*+)*"
_LABEL = r"(?!xn--|-)[a-z0-9-]{1,63}+(?<!-)"
_NORMAL = re.compile(rf"https?://{_LABEL}(?:\.{_LABEL}){{1,8}}(?:/{_SEGMENT})+{_QUERY}")
_ROOTED = re.compile(rf"/(?!/){_SEGMENT}(?:/{_SEGMENT})*{_QUERY}")
_RELATIVE = re.compile(rf"{_FIRST_SEGMENT}(?:/{_SEGMENT})*{_QUERY}")

# What path and query may both hold; with it alone, and no ``/.``, both are in normal form.
_PLAIN = re.compile(r"[A-Za-z0-9\-._~!$&()*+,;=:@/|\[\]^?]*+")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_TAB_OR_NEWLINE = re.compile(r"[\t\n\r]")
_STRIPPED = "".join(map(chr, range(0x21)))  # C0 controls and space, at both ends
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_PATH_UNSAFE = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/|\[\]^%]+")
_QUERY_UNSAFE = re.compile(r"[^A-Za-z0-9\-._~!$&()*+,;=:@/|\[\]^?`{}\\%]+")
# No name system knows the marks, but the standard allows them and some hosts have such names.
_HOST = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_~!$&'()*+,;=-]{1,63}\.)*[a-z0-9_~!$&'()*+,;=-]{1,63}", re.ASCII
)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BYTES = tuple(chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}" for byte in range(256))
_MAX_EXTENSION_CHARS = 8  # the dot not counted
_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII)


class _Parts(NamedTuple):
    """A split URL; every field is in normal form, ``query`` with its question mark."""

    scheme: str
    host: str
    path: str
    query: str


def normalize(url: str) -> str:
    """Returns the normal form of an absolute http(s) URL, without fragment.

    ``HTTP://Example.com:80/a/../%7Eb#c`` gives ``http://example.com/~b``.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    if len(url) < 2048 and _NORMAL.fullmatch(url):
        return url
    return _join(_split(_tidy(url), "utf-8"))


def normal_form(text: str) -> str:
    """Returns an absolute http(s) URL in normal form; ``""`` for any other text."""
    try:
        return normalize(text)
    except InvalidUrl:
        return ""


def resolve(base: str, href: str, encoding: str = "utf-8") -> str | None:
    """Resolves an href of a page: returns a URL in normal form without fragment.

    Args:
        base: Absolute http(s) URL of the page, or of its ``<base>``.
        href: The raw attribute, such as ``../list.php?id=1``.
        encoding: Python's name of the page's charset: raw characters in the query are escaped in
            it, as browsers do; those of the path always in UTF-8.

    Returns:
        None when the href is no http(s) URL (``javascript:``, ``mailto:``, broken).

    Raises:
        InvalidUrl: ``base`` is no absolute http(s) URL.
    """
    return resolver(base, encoding)(href)


@lru_cache(maxsize=64)
def resolver(base: str, encoding: str = "utf-8") -> Callable[[str], str | None]:
    """Returns the function that resolves the hrefs of one page, as ``resolve`` does.

    Raises:
        InvalidUrl: ``base`` is no absolute http(s) URL.
    """
    parts = _split(_tidy(base), "utf-8")
    own = _join(parts)
    scheme = f"{parts.scheme}:"
    origin = f"{scheme}//{parts.host}"
    folder = origin + parts.path[: parts.path.rfind("/") + 1]
    is_normal, is_rooted, is_relative = _NORMAL.fullmatch, _ROOTED.fullmatch, _RELATIVE.fullmatch
    is_plain = _PLAIN.fullmatch
    is_origin: dict[str, bool] = {}

    def resolve_href(href: str) -> str | None:
        if len(href) < 2048:
            target = href.partition("#")[0] if "#" in href else href
            if target.startswith("http"):
                slash = target.find("/", 8)
                if slash > 0 and "/." not in target and is_plain(target, slash):
                    other = target[:slash]
                    is_known = is_origin.get(other)
                    if is_known is None:
                        is_known = is_origin[other] = is_normal(other + "/") is not None
                    if is_known:
                        return target
                if is_normal(target):
                    return target
                if target.count("/") == 2 and is_normal(target + "/"):
                    return target + "/"
            elif target.startswith("/"):
                if ("/." not in target and target[1:2] != "/" and is_plain(target)) or is_rooted(
                    target
                ):
                    return origin + target
                if target.startswith("//") and is_normal(scheme + target):
                    return scheme + target
            elif target.startswith("../"):
                above = folder
                while target.startswith("../"):
                    target = target[3:]
                    above = _parent_of(above)
                if not target or is_relative(target):
                    return above + target
            elif not target:
                return own
            elif is_relative(target):
                return folder + target
            elif target.startswith("javascript:"):
                return None
        try:
            return _resolve_slowly(parts, _tidy(href), encoding)
        except InvalidUrl:
            return None

    return resolve_href


def host_of(url: str) -> str:
    """Returns the lower-case authority of a URL without default port: ``example.com:8080``.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    if len(url) < 2048 and _NORMAL.fullmatch(url):
        return url.split("/", 3)[2]
    return _split(_tidy(url), "utf-8").host


def page_id(url: str) -> str:
    """Returns the key of a page: 32 hex digits (128 bits) of the hash of its URL's normal form.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    return normal_page_id(normalize(url))


def normal_page_id(url: str) -> str:
    """Returns the ``page_id`` of a URL that is in normal form, as outlinks are."""
    return blake2b(url.encode(), digest_size=16).hexdigest()


def domain_of(host: str, *, of_tenant: bool = True) -> str:
    """Returns the registered domain of a host: ``example.com.cn`` of ``news.example.com.cn``.

    The rules are those of the public suffix list, as packaged with ``publicsuffixlist``; nothing is
    fetched. An IP address, a host with a port and a suffix are returned unchanged; an unknown
    top-level name counts as a suffix (the list's default rule).

    Args:
        host: A host in normal form.
        of_tenant: Whether the names that hosters give away are domains of their own, as in the
            list's private section: ``a.github.io``; else the hoster's is meant, ``github.io``.
    """
    if ":" in host or host.startswith("[") or _IPV4.fullmatch(host):
        return host
    return _suffixes(only_registries=not of_tenant).privatesuffix(host) or host


@lru_cache(maxsize=2)
def _suffixes(*, only_registries: bool) -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # many commands need no domain

    return PublicSuffixList(only_icann=only_registries)


@lru_cache(maxsize=256)
def _parent_of(folder: str) -> str:
    """The folder above a folder: ``http://a.example/x/`` of ``http://a.example/x/y/``."""
    above = folder.rfind("/", 0, -1) + 1
    return folder[:above] if folder.count("/") > 3 else folder


def _tidy(url: str) -> str:
    """Removes the characters that URL parsers ignore, the fragment and lone surrogates."""
    url = url.strip(_STRIPPED)
    if not url.isascii():
        url = url.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _TAB_OR_NEWLINE.sub("", url).partition("#")[0]


def _join(parts: _Parts) -> str:
    return f"{parts.scheme}://{parts.host}{parts.path}{parts.query}"


def _split(url: str, encoding: str) -> _Parts:
    scheme_match = _SCHEME.match(url)
    scheme = scheme_match[1].lower() if scheme_match else ""
    if scheme_match is None or scheme not in _DEFAULT_PORTS:
        raise InvalidUrl(f"no http(s) address: {url[:100]!r}")
    rest, mark, query = url[scheme_match.end() :].partition("?")
    rest = rest.replace("\\", "/").lstrip("/")
    authority, slash, path = rest.partition("/")
    return _Parts(
        scheme,
        _authority(authority, scheme, url),
        _path(slash + path),
        mark + _query(query, encoding),
    )


def _resolve_slowly(base: _Parts, href: str, encoding: str) -> str | None:
    """Resolves an href that no regular expression matches; None for other schemes."""
    scheme_match = _SCHEME.match(href)
    if scheme_match:
        scheme = scheme_match[1].lower()
        if scheme not in _DEFAULT_PORTS:
            return None
        rest = href[scheme_match.end() :]
        if scheme != base.scheme or rest[:2].replace("\\", "/") == "//":
            return _join(_split(href, encoding))
        href = rest  # ``http:page.html`` and ``http:/x`` are relative when the schemes agree
    if not href:
        return _join(base)
    path, mark, query = href.partition("?")
    path = path.replace("\\", "/")
    if path.startswith("//"):
        return _join(_split(f"{base.scheme}:{path}{mark}{query}", encoding))
    if not path:
        path = base.path
    elif not path.startswith("/"):
        path = base.path[: base.path.rfind("/") + 1] + path
    return _join(_Parts(base.scheme, base.host, _path(path), mark + _query(query, encoding)))


def _authority(text: str, scheme: str, url: str) -> str:
    host = text.rpartition("@")[2]
    port = ""
    colon = host.rfind(":")
    if colon > host.rfind("]"):
        host, port = host[:colon], host[colon + 1 :]
    if port:
        if not (port.isascii() and port.isdigit()) or len(port) > 20 or int(port) > 65535:
            raise InvalidUrl(f"the port of {url[:100]!r} is no number up to 65535")
        port = str(int(port))
    host = _host(host, url)
    return f"{host}:{port}" if port and port != _DEFAULT_PORTS[scheme] else host


def _host(text: str, url: str) -> str:
    if text.startswith("[") and text.endswith("]"):
        try:
            return f"[{IPv6Address(text[1:-1].partition('%')[0]).compressed}]"
        except AddressValueError:
            raise InvalidUrl(f"the host of {url[:100]!r} is no IPv6 address") from None
    if "%" in text:
        text = unquote_to_bytes(text).decode("utf-8", "replace")
    host = text.lower()
    if not host.isascii():
        import idna  # its tables take 10 ms, and few hosts need them

        try:
            host = idna.uts46_remap(host, std3_rules=False, transitional=False).lower()
            # Label by label without the registries' rules: browsers reach such names as well.
            host = ".".join(
                label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
                for label in host.split(".")
            )
        except (idna.IDNAError, UnicodeError):
            raise InvalidUrl(f"the host of {url[:100]!r} is no domain name") from None
    host = host.removesuffix(".")
    if not _HOST.fullmatch(host):
        raise InvalidUrl(f"the host of {url[:100]!r} is no domain name")
    return host


def _path(text: str) -> str:
    text = _escape(text, _PATH_UNSAFE, "utf-8")
    if "/." in text:
        text = _without_dot_segments(text)
    return text or "/"


def _without_dot_segments(path: str) -> str:
    segments = path.split("/")[1:]
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _query(text: str, encoding: str) -> str:
    # Browsers escape in UTF-8 where the page itself is in UTF-16.
    return _escape(text, _QUERY_UNSAFE, "utf-8" if encoding.startswith("utf") else encoding)


def _escape(text: str, unsafe: re.Pattern[str], encoding: str) -> str:
    if "%" in text:
        text = _ESCAPE.sub(_normal_escape, text)
    if not unsafe.search(text):
        return text
    return unsafe.sub(lambda match: _escaped(match[0], encoding), text)


def _normal_escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return "%25"
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _escaped(text: str, encoding: str) -> str:
    """Escapes the bytes of ``text`` in ``encoding``, but for unreserved ones.

    The second byte of a GBK or Big5 character may be a letter: browsers do not escape it either.
    """
    try:
        raw = text.encode(encoding)
    except LookupError:
        raw = text.encode()
    except UnicodeEncodeError:
        # Browsers put a character reference where the page's charset has no such character.
        raw = text.encode(encoding, "xmlcharrefreplace")
    return "".join(_BYTES[byte] for byte in raw)


def is_asset(url: str) -> bool:
    """Whether a URL names a file that is no page, by its extension: ``/logo.png``, ``/app.js``."""
    path = url.partition("?")[0] if "?" in url else url
    dot = path.rfind(".", -_MAX_EXTENSION_CHARS - 1)
    return dot >= 0 and path[dot + 1 :].lower() in word_list("asset_extensions")
