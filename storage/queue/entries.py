"""Formats of crawls, URLs and pages in the queue: Python values <-> bytes of the server.

Each reader names the format it reads, with an example; the keys and fields of the hashes are listed
at the head of ``lua/shared/lib.lua``.
"""

from __future__ import annotations

import json
import os
import re
import socket
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from crawlclean.cleaning.errors import InvalidUrl, StoreDamaged
from crawlclean.cleaning.messages import read_line, shortened, stored
from crawlclean.cleaning.records import Provenance, Via
from crawlclean.cleaning.urls.normal_form import host_of
from crawlclean.storage.crawl_types import (
    CertificateFault,
    CrawlCounts,
    CrawlSpec,
    CrawlState,
    Discovery,
    Failure,
    FailureReason,
    FetchResult,
    HostPoliteness,
    Lease,
    PageRole,
    QueuedPage,
    Step,
    StoredCookie,
    UrlState,
)
from crawlclean.storage.store.hosts import Pause
from crawlclean.storage.store.pictures import IMAGE_RANK, id_of
from crawlclean.storage.store.rows import compress, decompress, from_microseconds, spec_to_json

if TYPE_CHECKING:
    from crawlclean.storage.queue.clients import Arg


# Numbers of link features in a pending entry and in a page hash: two characters each.
#
# A topic crawl ranks a waiting URL by the features of the link that found it. The queue keeps their
# numbers with the URL, ``AAB_`` for 0 and 127, so that the URL can be ranked again.

MOST_FEATURES = 16  # of a link: each takes two bytes of memory for every waiting URL
MOST_IDS = 4096
"""Numbers are 0..4095: two of 64 characters."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_PAIRS = tuple((a + b).encode() for a in _LETTERS for b in _LETTERS)
_SHAPES = tuple(struct.Struct(f">{n}H").unpack for n in range(MOST_FEATURES + 1))
_ID_OF = {int.from_bytes(pair, "big"): number for number, pair in enumerate(_PAIRS)}.__getitem__


def pack_features(features: Sequence[int]) -> bytes:
    """Encodes numbers of features, ``b"AAB_"`` for (0, 127); ``b""`` for none.

    Raises:
        ValueError: More than ``MOST_FEATURES``, or a number that is not 0..4095.
    """
    if len(features) > MOST_FEATURES or not all(0 <= each < MOST_IDS for each in features):
        raise ValueError(f"{len(features)} features of a link: at most {MOST_FEATURES} of 0..4095")
    return b"".join([_PAIRS[each] for each in features])


def unpack_features(packed: bytes) -> tuple[int, ...]:
    """Decodes the numbers that ``pack_features`` packed.

    Raises:
        ValueError: The bytes are no packed features.
    """
    try:
        return tuple(map(_ID_OF, _SHAPES[len(packed) // 2](packed)))
    except (LookupError, struct.error) as error:
        raise ValueError(f"no features: {packed!r:.80}") from error


T = TypeVar("T")

MAX_URL_CHARS = 4096  # servers refuse heads of 8 KB; whatever is longer repeats itself
NESTED_SITEMAP_RANK = 70  # after the pages of the sitemaps before it
LINK_TEXT_CHARS = 80  # kept with every waiting URL: longer texts cost memory of the server
LOG_DETAIL_CHARS = 200  # of a step: the log is in memory as long as its URL is under way
# Four times the largest response by default; a damaged frame's header may say any size.
MAX_PAGE_BYTES = 256 << 20
LONGEST_MS = 1 << 40  # 35 years: no request takes so long, the bytes are damaged
# Exceptions of reading bytes that another program wrote.
DAMAGES = (
    ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, OSError,
)  # fmt: skip
BODY_LEVEL = 1  # of zstd: a body waits for seconds, and the spider is one process


def process_name(pid: int | None = None) -> str:
    """The name of a process in the queue, ``machine.4711``; ``pid``: default this process."""
    machine = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
    return f"{machine}.{pid or os.getpid()}"


def from_ms(ms: int) -> datetime:
    """The aware UTC datetime of the queue's milliseconds since 1970."""
    return datetime.fromtimestamp(ms / 1000, UTC)


def fingerprint(pid: str) -> str:
    """The seen set's member for a page id: its first 64 bits, ``-6571205712940157437``.

    A signed decimal, because the server keeps larger numbers as text and Lua rounds above 2^53.
    """
    return str(int.from_bytes(bytes.fromhex(pid[:16]), "big", signed=True))


def offer_args(discovery: Discovery) -> list[Arg]:
    """The six script arguments of one offered URL.

    Host, fingerprint, page id (32 hex digits), role, rank, packed entry.
    """
    pid = id_of(discovery.url, discovery.role)
    host = host_of(discovery.url)
    # No other URL has the rank of images: scripts find images by it when a budget is spent.
    is_image = discovery.role is PageRole.IMAGE
    rank = IMAGE_RANK if is_image else discovery.rank + (discovery.rank == IMAGE_RANK)
    return [
        host,
        fingerprint(pid),
        pid,
        str(discovery.role),
        rank,
        _pack_entry(discovery, host),
    ]


def _pack_entry(discovery: Discovery, host: str) -> bytes:
    """Packs a pending URL in few bytes, for ``lua/shared/serve.lua``.

    ``link 3 0 s/news/7.html<TAB>24:index.html<TAB>Title``; in a topic crawl with features
    ``link 3 0=AAB_ s/news/7.html<TAB>...``:

    - how it was found, depth, hops; an equals sign and the features (``topics/links.py``);
    - the form of the URL (``h``: http, ``s``: https, both without the host; ``x``: the whole URL),
      then the URL in this form;
    - how many bytes the referrer shares with the URL, a colon, the referrer's other bytes;
    - the text of the link.

    Text, because the sitemaps of robots.txt wait as JSON. URLs lose their tabs, as in browsers.
    """
    url = _without_tabs(discovery.url)
    form, rest = b"x", url
    for letter, scheme in ((b"h", "http://"), (b"s", "https://")):
        head = (scheme + host).encode()
        if url.startswith(head + b"/"):
            form, rest = letter, url[len(head) :]
    if discovery.referrer:
        referrer = _without_tabs(discovery.referrer)
        same = len(os.path.commonprefix((url, referrer)))  # noqa: RUF071 - of bytes, no paths
        origin = b"%d:%b" % (same, referrer[same:])
    else:
        origin = b":"
    text = discovery.text[:LINK_TEXT_CHARS].encode("utf-8", "replace")
    numbers = f"{discovery.via} {discovery.depth} {discovery.hops}".encode()
    features = b"=" + pack_features(discovery.features) if discovery.features else b""
    return b"%b%b %b%b\t%b\t%b" % (numbers, features, form, rest, origin, text)


def _without_tabs(url: str) -> bytes:
    return url.replace("\t", "").encode("utf-8", "replace")


_PENDING = re.compile(
    rb"([a-z_]+) (\d+) (\d+)(?:=([\w-]*))? ([a-z])([^\t]*)\t(\d*):([^\t]*)\t(.*)", re.DOTALL
)
RANK_SCORE = 10**12
"""Factor of the rank in a score: rank 50, discovered as number 7, scores 50000000000007."""

ROLES = {b"p": PageRole.PAGE, b"s": PageRole.SITEMAP, b"i": PageRole.IMAGE}


def read_pending(host: str, score: int, entry: bytes) -> Discovery:
    """Decodes a pending entry: 16 bytes of page id, ``p``, ``s`` or ``i``, 6 of time, packed URL.

    Args:
        host: The host whose queue holds the entry.
        score: Its score in that queue.
        entry: The entry.

    Raises:
        ValueError: The bytes are no pending entry.
    """
    match = _PENDING.fullmatch(entry[23:])
    if not match:
        raise ValueError("no pending entry")
    via, depth, hops, features, form, rest, same, other, text = match.groups()
    head = {b"h": "http://" + host, b"s": "https://" + host}.get(form, "").encode()
    url = head + rest
    referrer = url[: int(same)] + other if same else b""
    return Discovery(
        url=url.decode(),
        depth=int(depth),
        role=ROLES[entry[16:17]],
        via=Via(via.decode()),
        referrer=referrer.decode("utf-8", "replace") or None,
        text=text.decode("utf-8", "replace"),
        rank=score // RANK_SCORE,
        hops=int(hops),
        features=unpack_features(features or b""),
    )


def is_pending(entry: bytes) -> bool:
    """Whether bytes begin like a pending entry: page id, role, time."""
    return len(entry) > 23 and entry[16:17] in ROLES


def pending_pattern(pid: str) -> bytes:
    """The server's glob pattern that the pending entry of a page matches."""
    return re.sub(rb"([*?\[\]\\])", rb"\\\1", bytes.fromhex(pid)) + b"*"


def pending_since(entry: bytes) -> int:
    """The time at which a pending entry was discovered, ms since 1970."""
    return int.from_bytes(entry[17:23], "big")


def read_lease(row: Sequence[Any]) -> Lease:
    """Decodes a lease from a row of ``lease.lua``, which lists the fields.

    Raises:
        ValueError: The page hash lacks a field, or a field is damaged.
    """
    if None in row:
        raise ValueError("a leased page lacks a field")
    marks = row[10].decode().split()
    return Lease(
        crawl_id=row[0].decode(),
        page_id=row[1].decode(),
        url=row[2].decode(),
        host=row[3].decode(),
        token=int(row[4]),
        attempt=int(row[5]),
        role=PageRole(row[6].decode()),
        depth=int(row[7]),
        allow_private=row[8] == b"1",
        robots_version=int(row[9]),
        is_known="known" in marks,
        is_gone="gone" in marks,
        is_nameless="nameless" in marks,
        needs_address="locate" in marks,
        pause_ms=int(row[11]),
        traps_version=int(row[12]),
        referrer=row[13].decode("utf-8", "replace"),
        verify_tls="verify" in marks,
        patterns=row[14].decode(),
        via=Via(row[15].decode()),
        is_revisit="again" in marks,
        etag=row[16].decode("utf-8", "replace"),
        last_modified=row[17].decode("utf-8", "replace"),
        cookies=tuple(map(read_cookie, row[18].splitlines())),
    )


def pack_cookie(cookie: StoredCookie) -> tuple[str, str]:
    """Encodes a cookie as field and value: ``["sid", "/"]``, ``["sid", "3f9a", "/", false, 0]``."""
    value = [cookie.name, cookie.value, cookie.path, cookie.is_secure, cookie.expires_s]
    return json.dumps([cookie.name, cookie.path]), json.dumps(value)


def read_cookie(packed: bytes) -> StoredCookie:
    """Decodes a cookie that ``pack_cookie`` encoded.

    Raises:
        ValueError: The bytes are no cookie.
    """
    name, value, path, is_secure, expires_s = json.loads(packed)
    return StoredCookie(
        name=str(name),
        value=str(value),
        path=str(path),
        is_secure=bool(is_secure),
        expires_s=int(expires_s),
    )


def pack_result(result: FetchResult) -> tuple[bytes, bytes]:
    """Encodes a fetch result as (meta, body): JSON and zstd.

    Meta: ``{"status":200,"headers":[["Server","nginx"]],"elapsed_ms":80,"failure":null}``.
    """
    meta: dict[str, Any] = {
        "status": result.status,
        "headers": result.headers,
        "elapsed_ms": result.elapsed_ms,
    }
    if result.failure:
        meta["failure"] = [str(result.failure.reason), stored(result.failure.detail)]
    if result.certificate:
        meta["certificate"] = str(result.certificate)
    packed = json.dumps(meta, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return packed, compress(result.body, BODY_LEVEL) if result.body else b""


def unpack_result(meta: bytes, body: bytes) -> FetchResult:
    """Decodes the fetch result that ``pack_result`` encoded.

    Raises:
        StoreDamaged: The bytes are no fetch result.
    """
    try:
        m: Any = json.loads(meta)
        failure, certificate = m.get("failure"), m.get("certificate")
        status, elapsed_ms = int(m["status"]), int(m["elapsed_ms"])
        if not 0 <= status < 1000 or not 0 <= elapsed_ms < LONGEST_MS:
            raise ValueError(f"status {status} after {elapsed_ms} ms")
        return FetchResult(
            status=status,
            headers=tuple((str(k), str(v)) for k, v in m["headers"]),
            body=decompress(body, MAX_PAGE_BYTES) if body else b"",
            elapsed_ms=elapsed_ms,
            failure=Failure(reason=FailureReason(failure[0]), detail=read_line(str(failure[1])))
            if failure
            else None,
            certificate=CertificateFault(certificate) if certificate else None,
        )
    except DAMAGES as error:
        raise StoreDamaged(f"a queued page is damaged: {error!r:.200}") from error


def read_log(lines: bytes) -> tuple[Step, ...]:
    """Decodes a page's decision log: a line for each step, ``1700000000000<TAB>leased<TAB>...``."""
    steps = []
    for line in lines.decode("utf-8", "replace").splitlines():
        at, _, rest = line.partition("\t")
        step, _, detail = rest.partition("\t")
        if at.isdigit():
            steps.append(Step(at=from_ms(int(at)), step=step, detail=read_line(detail)))
    return tuple(steps)


def log_detail(text: str) -> str:
    """What is stored of a text as the detail of a log line: no tabs and newlines, and cut."""
    return stored(shortened(text, LOG_DETAIL_CHARS))


def read_page(crawl_id: str, pid: str, token: int, p: Mapping[bytes, bytes]) -> QueuedPage:
    """Decodes a claimed page from its hash; a damaged page becomes a failure, not an error.

    One damaged page must not fail the other pages of its job, nor keep the crawl from its end.
    """
    try:
        return QueuedPage(
            crawl_id=crawl_id,
            page_id=pid,
            token=token,
            url=p[b"url"].decode(),
            host=p[b"host"].decode(),
            role=PageRole(p[b"role"].decode()),
            depth=int(p[b"depth"]),
            provenance=Provenance(
                crawl_id=crawl_id,
                referrer=p[b"referrer"].decode() or None,
                via=Via(p[b"via"].decode()),
                link_text=p[b"text"].decode("utf-8", "replace"),
                discovered_at=from_ms(int(p[b"found_ms"])) if int(p[b"found_ms"]) else None,
            ),
            attempt=int(p[b"attempt"]),
            crashes=int(float(p.get(b"crashes", b"0"))),
            poison=b"poison" in p,
            fetched_at=from_ms(int(p[b"fetched_ms"])),
            result=_result_or_failure(p[b"meta"], p[b"body"]),
            hops=int(p.get(b"hops", b"0")),
            was=UrlState(p[b"rv"].decode()) if b"rv" in p else None,
            log=read_log(p.get(b"log", b"")),
            features=unpack_features(p.get(b"ft", b"")),
        )
    except DAMAGES as error:
        detail = f"the page in the queue is damaged: {error!r:.200}"
        return QueuedPage(
            crawl_id=crawl_id,
            page_id=pid,
            token=token,
            url=p.get(b"url", b"").decode("utf-8", "replace"),
            host=p.get(b"host", b"").decode("utf-8", "replace"),
            provenance=Provenance(crawl_id=crawl_id),
            fetched_at=from_ms(0),
            result=FetchResult(failure=Failure(reason=FailureReason.INTERNAL, detail=detail)),
        )


def _result_or_failure(meta: bytes, body: bytes) -> FetchResult:
    """The decoded result; a damaged one becomes a failure of its page, not of the whole job."""
    try:
        return unpack_result(meta, body)
    except StoreDamaged as error:
        return FetchResult(failure=Failure(reason=FailureReason.INTERNAL, detail=str(error)))


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yields the items in lists of at most ``size``."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def crawl_fields(spec: CrawlSpec, state: CrawlState) -> dict[str, Arg]:
    """The fields of ``cc:c:<crawl>`` that an order sets, ``{"state": "running", "slots": 8, ...}``.

    Sitemaps are read unless the crawl is limited to its seeds.
    """
    return {
        "spec": spec_to_json(spec),
        "state": str(state),
        "delay": -1 if spec.delay_ms is None else spec.delay_ms,
        "slots": spec.slots,
        "max": "" if spec.max_pages is None else spec.max_pages,
        "private": int(spec.allow_private),
        "verify_tls": int(spec.verify_tls),
        "traps": spec.trap_pages,
        "patterns": spec.patterns_digest,
        "sitemaps": int(spec.max_depth is None or spec.max_depth > 0),
        "politeness": str(spec.policy.politeness),
        "factor": str(spec.policy.delay_factor),
        "hosts": _host_lines(spec.policy.hosts),
        "fresh": int(spec.keep_fresh),
    }


def _host_lines(hosts: Sequence[HostPoliteness]) -> str:
    """The hosts' exceptions for ``politeness.lua``, ``\\n*.example.org 2500 -\\n``."""
    lines = [
        " ".join(
            [host.pattern, *("-" if n is None else str(n) for n in (host.delay_ms, host.slots))]
        )
        for host in hosts
    ]
    return "\n".join(["", *lines, ""]) if lines else ""


def read_pause(host: bytes, noted: bytes) -> Pause:
    """Decodes a field of ``cc:paused``, ``[1772366400123456, "root@machine", "too slow"]``.

    Raises:
        ValueError: The field is damaged.
    """
    since, who, why = json.loads(noted)
    return Pause(host=host.decode(), since=from_microseconds(int(since)), who=who, why=why)


def read_counts(crawl: Mapping[bytes, bytes], hosts: int) -> CrawlCounts:
    """Decodes the counters of a crawl's hash; ``hosts`` is the size of ``cc:h:<crawl>``.

    Raises:
        ValueError: A field is damaged.
    """

    def number(name: bytes) -> int:
        return int(crawl.get(name, b"0"))

    most = crawl.get(b"max")
    return CrawlCounts(
        state=CrawlState(crawl.get(b"state", b"").decode()),
        pending=number(b"pending"),
        leased=number(b"leased"),
        queued=number(b"queued"),
        done=number(b"done"),
        stored=number(b"stored"),
        failed=number(b"failed"),
        fetched=number(b"fetched"),
        hosts=hosts,
        budget_left=max(0, int(most) - number(b"used")) if most else None,
        spilled=number(b"spilled"),
        images=number(b"images"),
        revisits=number(b"revisits"),
        revisited=number(b"revisited"),
    )


# Packed form of a spill: a block of one host's pending URLs in the store.
#
# Zstd over these parts, in this order:
#
# - the marker ``cp1``, the number of entries n, the number of kept page ids (4 bytes each);
# - columns of n values: scores and times of discovery (differences, 8 bytes each), lengths of the
#   texts (4 bytes each), role letters (``p``, ``s`` or ``i``);
# - the kept page ids, each as 4 bytes of entry number and 16 bytes of id;
# - the texts: the packed URLs of ``entries.py``.
#
# A page id is the hash of its URL and would not compress: only ids that are no such hash are kept.

LEVEL = 9  # of zstd: spills stay long, so their size counts more than the time
_HEAD = struct.Struct("<3sII")
_MAGIC = b"cp1"
_PID_BYTES, _STAMP_BYTES = 16, 6  # of page id and time of discovery, as `read_pending` lists them
_TEXT = _PID_BYTES + 1 + _STAMP_BYTES


Entry = tuple[int, bytes]
"""A pending entry with its score: ``(50000000000007, b"\\x4f\\x11...")`` (``entries.py``)."""


def pack_entries(host: str, entries: Sequence[Entry]) -> bytes:
    """Packs entries of a host, sorted by score; the reverse of ``unpack_entries``."""
    scores = [score for score, _ in entries]
    stamps = [int.from_bytes(entry[_PID_BYTES + 1 : _TEXT], "big") for _, entry in entries]
    texts = [entry[_TEXT:] for _, entry in entries]
    kept = [
        number.to_bytes(4, "little") + entry[:_PID_BYTES]
        for number, (_, entry) in enumerate(entries)
        if _hashed(host, entry) != entry[:_PID_BYTES]
    ]
    n = len(entries)
    parts = [
        _HEAD.pack(_MAGIC, n, len(kept)),
        struct.pack(f"<{n}q", *_differences(scores)),
        struct.pack(f"<{n}q", *_differences(stamps)),
        struct.pack(f"<{n}I", *map(len, texts)),
        b"".join(entry[_PID_BYTES : _PID_BYTES + 1] for _, entry in entries),
        *kept,
        *texts,
    ]
    return compress(b"".join(parts), LEVEL)


def unpack_entries(host: str, packed: bytes) -> list[Entry]:
    """Decodes the entries that ``pack_entries`` packed.

    Raises:
        StoreDamaged: The bytes are no spill.
    """
    data = decompress(packed)
    try:
        magic, n, kept = _HEAD.unpack_from(data)
        if magic != _MAGIC:
            raise StoreDamaged("a stored spill is of another kind")
        at = _HEAD.size
        scores = list(accumulate(struct.unpack_from(f"<{n}q", data, at)))
        stamps = list(accumulate(struct.unpack_from(f"<{n}q", data, at + 8 * n)))
        lengths = struct.unpack_from(f"<{n}I", data, at + 16 * n)
        at += 20 * n
        roles = data[at : at + n]
        at += n
        other: dict[int, bytes] = {}
        for _ in range(kept):
            other[int.from_bytes(data[at : at + 4], "little")] = data[at + 4 : at + 4 + _PID_BYTES]
            at += 4 + _PID_BYTES
        entries = []
        for number in range(n):
            tail = roles[number : number + 1] + stamps[number].to_bytes(_STAMP_BYTES, "big")
            tail += data[at : at + lengths[number]]
            at += lengths[number]
            pid = other.get(number) or _hashed(host, bytes(_PID_BYTES) + tail)
            entries.append((scores[number], pid + tail))
        return entries
    except (struct.error, ValueError, OverflowError, IndexError) as error:
        raise StoreDamaged(f"a stored spill cannot be read: {error}") from error


def _hashed(host: str, entry: bytes) -> bytes:
    """The 16 bytes of the id of the entry's URL; empty when the URL cannot be read."""
    try:
        found = read_pending(host, 0, entry)
        return bytes.fromhex(id_of(found.url, found.role))
    except (InvalidUrl, ValueError):
        return b""


def _differences(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise((0, *numbers)))
