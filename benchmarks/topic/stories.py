"""Near-duplicates: copies found, false pairs, CPU of a signature, one search among a million.

    make bench-stories [ARGS="copies pairs cost search mongo --quick"]

Texts are bodies that our own ``clean`` finds, without a site model. Those of the folder that
``CRAWLCLEAN_BENCH_BODY`` names (default: ``body`` of the labelled data) and of ``sites`` were used
to choose the grams and the bins that must agree; those of ``sites2``, ``forum`` and ``links`` were
not, but the rule for pages of one host was chosen on them. Index pages are left out.

``copies``: articles of at least ``LEAST_LETTERS`` letters, changed in six ways; a copy is found
when it has a key in common and is the same story. Beside it SimHash of 64 bits over bigrams, within
3 bits, and Jaccard over 5-grams from ``JACCARD`` on. ``pairs``: all pairs of texts; those that are
called one story are written to ``build/story-pairs.json``, to be read. ``search``: synthetic
signatures of hosts whose pages share a tenth of their minima; ``mongo``: fewer of them in the
stand-in server of the tests, which is no MongoDB.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import random
import re
import tarfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.kit.parts import choose_parts
from benchmarks.kit.results import keep, kept, list_failures, require_data, show
from benchmarks.kit.sources import NO_URL, rows_of
from benchmarks.topic.story_search import mongo, search
from crawlclean import RawPage, clean
from crawlclean.cleaning.errors import PageError
from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.topics.stories import (
    BINS,
    agreeing,
    is_same_story,
    story_keys,
    story_signature,
)

VARIABLE = "CRAWLCLEAN_BENCH_BODY"
LEAST_LETTERS = 400
ARTICLES = 120  # of each script and set
JACCARD = 0.25
PAGES, MONGO_PAGES, QUICK_PAGES = 1_000_000, 20_000, 4_000
SITE_PAGES = 250  # of each site
QUICK = False
_LANE = 20
_SPREAD = [sum(1 << _LANE * bit for bit in range(8) if byte >> bit & 1) for byte in range(256)]
_HTML = re.compile(r"(\.html?|/|\.php.*)$|^[^.]*$")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")


class Text(NamedTuple):
    """A page's body, and where it is from."""

    part: str
    host: str
    url: str
    title: str
    body: str
    is_article: bool

    @property
    def script(self) -> str:
        """``zh`` or ``other``, by a third of the characters."""
        return "zh" if len(_WIDE.findall(self.body)) * 3 > len(self.body) else "other"


def main() -> None:
    """Measures the chosen parts; keeps the result when none was left out."""
    global QUICK
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "copies": copies,
        "pairs": pairs,
        "cost": cost,
        "search": lambda: search(QUICK_PAGES if QUICK else PAGES),
        "mongo": lambda: mongo(QUICK_PAGES if QUICK else MONGO_PAGES),
    }
    choice = choose_parts(__doc__.splitlines()[0], parts, "few pages; nothing is kept")
    QUICK = choice.quick
    result = choice.measure(parts)
    if choice.quick:
        show(result)
    else:
        keep("stories", kept("stories") | result)


# --- texts ---------------------------------------------------------------------------------------


@cache
def texts() -> tuple[Text, ...]:
    """Every text of the data with a signature, equal ones once."""
    found: dict[str, Text] = {}
    for part, host, url, body in _pages():
        try:
            record = clean(RawPage.from_bytes(url, body))
        except PageError:
            continue
        if record.kind is not PageKind.INDEX and story_signature(record.body):
            letters = "".join(filter(str.isalnum, record.body))
            is_article = record.kind is PageKind.ARTICLE and len(letters) >= LEAST_LETTERS
            text = Text(part, host, url, record.title, record.body, is_article)
            found.setdefault(letters, text)
    return tuple(found.values())


def _pages() -> Iterator[tuple[str, str, str, bytes]]:
    """Yields (part, host, URL, bytes)."""
    folder = Path(os.environ.get(VARIABLE) or require_data("body"))
    named = [("used", file) for file in sorted(folder.glob("*.jsonl.gz"))]
    named += [("unused", file) for file in sorted(require_data("links").glob("*.jsonl.gz"))]
    for part, file in named:
        for number, row in enumerate(rows_of(file)):
            url = row["url"] or f"{NO_URL}{file.name}/{number}"
            host = row.get("host") or urlsplit(url).netloc
            yield part, host, url, base64.b64decode(row["html_base64"])
    for file in sorted(require_data("forum").glob("*.jsonl.gz")):
        for row in rows_of(file):
            if row.get("html") and row["type"] in ("thread", "thread_alt"):
                yield "unused", file.name, row.get("final_url") or row["url"], row["html"].encode()
    yield from _site_pages("sites", "used")
    yield from _site_pages("sites2", "unused")


def _site_pages(folder: str, part: str) -> Iterator[tuple[str, str, str, bytes]]:
    labels = json.loads((require_data(folder) / "sites.json").read_text("utf-8"))
    counts: Counter[str] = Counter()
    with tarfile.open(require_data(folder) / "www.tar.xz", "r|xz") as archive:
        for member in archive:
            site, _, path = member.name.partition("www/")[2].partition("/")
            file = archive.extractfile(member) if site in labels and _HTML.search(path) else None
            if file is not None and counts[site] < (20 if QUICK else SITE_PAGES):
                counts[site] += 1
                yield part, site, f"http://{site}/{path}", file.read()


# --- copies --------------------------------------------------------------------------------------


def copies() -> dict[str, Any]:
    """Recall by way of change, part of the data and script; of hosts, the mean and the least."""
    chance = random.Random(5)  # noqa: S311 - the same copies in each run
    result: dict[str, Any] = {}
    for part in ("used", "unused"):
        for script in ("zh", "other"):
            mine = [each for each in texts() if each.part == part and each.script == script]
            articles = [each for each in mine if each.is_article]
            chosen = chance.sample(articles, min(ARTICLES, len(articles)))
            result[f"{part} {script}"] = _recall(chosen, mine, chance)
    return {"copies": result}


def _recall(chosen: Sequence[Text], mine: Sequence[Text], chance: random.Random) -> dict[str, Any]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    hosts: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    alphabet = "".join(each.body for each in mine)[:200_000]
    strangers = list(mine)
    for text in chosen:
        other = chance.choice(strangers)
        while other.host == text.host:
            other = chance.choice(strangers)
        for way, copy in _changed(text.body, other.body, alphabet, chance):
            tools = _found_by(text.body, copy)
            found[way].update(copies=1, **tools)
            hosts[way][text.host].append(tools["ours"])
    result: dict[str, Any] = {}
    for way, counts in found.items():
        number = counts.pop("copies")
        by_host = [sum(each) / len(each) for each in hosts[way].values()]
        shares = {tool: round(count / number, 4) for tool, count in counts.items()}
        by_hosts = {"host_mean": round(sum(by_host) / len(by_host), 4), "least": min(by_host)}
        result[way] = {**shares, **by_hosts, "copies": number, "hosts": len(by_host)}
    return result


def _found_by(text: str, copy: str) -> dict[str, bool]:
    first, second = story_signature(text), story_signature(copy)
    same = is_same_story(first, len(text), second, len(copy))
    by_key = bool(set(story_keys(first)) & set(story_keys(second)))
    own, theirs = _grams(text), _grams(copy)
    return {
        "ours": same and by_key,
        "without keys": same,
        "on one host": by_key
        and is_same_story(first, len(text), second, len(copy), same_host=True),
        "simhash": (_simhash(text) ^ _simhash(copy)).bit_count() <= 3,
        "jaccard": len(own & theirs) / max(1, len(own | theirs)) >= JACCARD,
    }


def _changed(
    text: str, other: str, alphabet: str, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Yields (way, copy)."""
    yield "2 % edited", _edited(text, 0.02, alphabet, chance)
    yield "5 % edited", _edited(text, 0.05, alphabet, chance)
    yield "cut by a third", _cut(text, chance)
    yield "framed", _framed(text, other, chance)
    yield "5 %, cut", _edited(_cut(text, chance), 0.05, alphabet, chance)
    all_three = _edited(_cut(text, chance), 0.05, alphabet, chance)
    yield "5 %, cut, framed", _framed(all_three, other, chance)


def _edited(text: str, share: float, alphabet: str, chance: random.Random) -> str:
    """The text with a share of its characters replaced, removed, or followed by another."""
    changed = []
    for char in text:
        if chance.random() < share:
            other = chance.choice(alphabet)
            changed.append(chance.choice((other, "", char + other)))
        else:
            changed.append(char)
    return "".join(changed)


def _cut(text: str, chance: random.Random) -> str:
    third = len(text) // 3
    return text[third:] if chance.random() < 0.5 else text[:-third]


def _framed(text: str, other: str, chance: random.Random) -> str:
    """The text between 60 to 150 characters of another host's page, and as many after it."""
    start = chance.randrange(max(1, len(other) - 300))
    middle = start + chance.randint(60, 150)
    return f"{other[start:middle]}\n{text}\n{other[middle : middle + chance.randint(60, 150)]}"


def _grams(text: str) -> set[str]:
    letters = "".join(filter(str.isalnum, text.lower()))
    return {letters[at : at + 5] for at in range(len(letters) - 4)}


def _simhash(text: str) -> int:
    """SimHash of bigrams; the bits of a hash are spread over lanes of 20 bits, which are added."""
    letters = "".join(filter(str.isalnum, text.lower()))
    lanes = 0
    counts = Counter(map(str.__add__, letters, letters[1:]))
    for gram, count in counts.items():
        digest = blake2b(gram.encode("utf-8", "replace"), digest_size=8).digest()
        spread = 0
        for byte in digest:
            spread = spread << 8 * _LANE | _SPREAD[byte]
        lanes += spread * count
    half = sum(counts.values()) / 2
    ones = (lanes >> _LANE * place & (1 << _LANE) - 1 for place in range(64))
    return sum(1 << place for place, count in enumerate(ones) if count > half)


# --- pairs ---------------------------------------------------------------------------------------


def pairs() -> dict[str, Any]:
    """Pairs of different texts that are called one story, of two hosts and of one."""
    every = texts()
    signatures = [story_signature(each.body) for each in every]
    by_byte: dict[tuple[int, int], list[int]] = defaultdict(list)
    rows = []
    for number, signature in enumerate(signatures):
        near: Counter[int] = Counter()
        for place in range(BINS):
            near.update(by_byte[place, signature[place]])
            by_byte[place, signature[place]].append(number)
        for other, bins in near.items():
            if bins >= 10:
                rows.append((bins, other, number))
    called = [row for row in rows if _is_called_one(every, signatures, row)]
    list_failures("story-pairs", [_pair_row(every, row) for row in sorted(called, reverse=True)])
    by_host = Counter(each.host for each in every)
    of_one_host = sum(count * (count - 1) // 2 for count in by_host.values())
    of_two_hosts = len(every) * (len(every) - 1) // 2 - of_one_host
    crossing = [row for row in called if every[row[1]].host != every[row[2]].host]
    body = [each for each in crossing if every[each[1]].part == every[each[2]].part == "used"]
    inside = Counter(every[row[1]].host for row in called if row not in crossing)
    keys = [set(story_keys(each)) for each in signatures]
    return {
        "pairs": {
            "texts": len(every),
            "of two hosts": {"pairs": of_two_hosts, "called one": len(crossing), "used": len(body)},
            "of one host": {
                "pairs": of_one_host,
                "called one": len(called) - len(crossing),
                "by host": dict(inside.most_common()),
            },
            "candidates by a key": _candidates(keys),
            "bins of pairs of two hosts": _bins(every, rows),
        }
    }


def _is_called_one(
    every: Sequence[Text], signatures: Sequence[bytes], row: tuple[int, int, int]
) -> bool:
    first, second = every[row[1]], every[row[2]]
    return is_same_story(
        signatures[row[1]],
        len(first.body),
        signatures[row[2]],
        len(second.body),
        same_host=first.host == second.host,
    )


def _pair_row(every: Sequence[Text], row: tuple[int, int, int]) -> dict[str, Any]:
    first, second = every[row[1]], every[row[2]]
    own, theirs = _grams(first.body), _grams(second.body)
    shared = len(own & theirs)
    return {
        "bins": row[0],
        "jaccard": round(shared / len(own | theirs), 3),
        "contained": round(shared / min(len(own), len(theirs)), 3),
        "urls": [first.url, second.url],
        "titles": [first.title, second.title],
        "texts": [first.body[:200], second.body[:200]],
    }


def _candidates(keys: Sequence[set[int]]) -> int:
    by_key: dict[int, list[int]] = defaultdict(list)
    found: set[tuple[int, int]] = set()
    for number, mine in enumerate(keys):
        for key in mine:
            found.update((other, number) for other in by_key[key])
            by_key[key].append(number)
    return len(found)


def _bins(every: Sequence[Text], rows: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    crossing = (bins for bins, one, two in rows if every[one].host != every[two].host)
    return dict(sorted(Counter(crossing).items()))


# --- cost ----------------------------------------------------------------------------------------


def cost() -> dict[str, Any]:
    """CPU of a signature, its keys and a comparison; the share of cleaning."""
    bodies = [each.body for each in texts() if 1_600 <= len(each.body) <= 1_800][:60]
    signatures = [story_signature(body) for body in bodies]
    by_script = {
        script: [body for body in bodies if bool(_WIDE.search(body)) == (script == "zh")]
        for script in ("zh", "other")
    }
    return {
        "cost": {
            **{
                f"signature_ms {script}": _cpu_ms(story_signature, chosen)
                for script, chosen in by_script.items()
                if chosen
            },
            "mean_chars": round(sum(map(len, bodies)) / len(bodies)),
            "keys_ms": _cpu_ms(story_keys, signatures),
            "compare_ms": _cpu_ms(lambda each: agreeing(each, signatures[0]), signatures),
        }
    }


def _cpu_ms(work: Callable[[Any], object], values: Sequence[Any]) -> float:
    """CPU of one call; the least of nine rounds, because the machine is shared."""
    rounds = []
    gc.disable()
    for _ in range(9):
        begun = time.process_time()
        for value in values:
            work(value)
        rounds.append((time.process_time() - begun) / len(values))
    gc.enable()
    return round(min(rounds) * 1000, 4)


if __name__ == "__main__":
    main()
