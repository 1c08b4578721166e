"""Figure 4 of paper 3: precision and recall of m1, m2 and m3 against their thresholds.

Data: labelled hosts with three pages or more, links and images. Noise links have the labels nav,
function, ad, hot, legal; clean links related, inbody, tag. Noise images have ad, chrome; clean
images content. Other labels are judged, but not counted.

Forms of each model, the paper's and ours:

- m1: the vector learned from the labels of all other hosts, as from a user's training file; the
  vector learned from m2's verdicts on the host.
- m2: with the page itself, without.
- m3: with the number of links as base; in bits; in bits with the four words of greatest TF*IDF.

For comparison: the verdicts of ``clean`` with a model of the host's other pages, and the gain of m1
and m3 on top (``added.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.page.links import Labelled, aligned, labelled_pages
from benchmarks.site.added import Judged, measure_added, rates, taught_by_m2, vector_of_host
from benchmarks.site.links import CLEAN_LABELS, NOISE, NOISE_LABELS, with_hosts
from crawlclean import CleanRecord, ImageKind, clean, learn_site
from crawlclean.cleaning.papers.noise import (
    DescribedLink,
    EntropyBase,
    Params,
    entropy_of,
    judge_links,
    learn_vector,
    n_sigma,
    redundancy_of,
    score_words,
)
from crawlclean.cleaning.records import ImageReason, LinkReason
from crawlclean.cleaning.words import default_segmenter

SHARES = tuple(round(0.05 * n, 2) for n in range(20))
FACTORS = tuple(round(0.1 * n, 1) for n in range(16))
BITS = tuple(round(0.25 * n, 2) for n in range(25))
CHOSEN_WORDS = 4
_PART = re.compile(r"[a-z]{2,}|\d{5,}", re.I)
_NOISE_IMAGES = frozenset(("ad", "chrome"))


# Reasons without evidence, or with only the look of a list.
_WEAK_LINKS = frozenset((LinkReason.LINK_LIST, LinkReason.HEADLINES, LinkReason.NO_EVIDENCE))
_WEAK_IMAGES = frozenset((ImageReason.LINKED_PAGE, ImageReason.IN_BODY, ImageReason.NO_EVIDENCE))


def measure_noise() -> dict[str, Any]:
    """Returns the curves of every model and form, and the cascade by the paper and by us."""
    hosts = with_hosts(labelled_pages())
    found: dict[str, dict[str, list[Judged]]] = {"links": {}, "images": {}}
    for host, pages in hosts.items():
        for one, page in pages:
            record = clean(page, learn_site([raw for other, raw in pages if other is not one]))
            found["links"].setdefault(host, []).extend(_links(one, record))
            found["images"].setdefault(host, []).extend(_images(one, record))
    return {
        kind: {
            "counted": sum(e.is_noise is not None for each in of_hosts.values() for e in each),
            "noise": sum(bool(e.is_noise) for each in of_hosts.values() for e in each),
            "models": _curves(of_hosts),
            "cascade": _cascade(of_hosts),
            "added": measure_added(of_hosts, FACTORS, BITS),
        }
        for kind, of_hosts in found.items()
    }


def _curves(hosts: dict[str, list[Judged]]) -> dict[str, list[dict[str, float]]]:
    scored: dict[str, tuple[Sequence[float], list[float | None]]] = {
        "m1, P in N-sigma": (FACTORS, []),
        "m1, learned from m2": (FACTORS, []),
        "m2, printed": (SHARES, []),
        "m2, without the page itself": (SHARES, []),
        "m3, base n": (SHARES, []),
        "m3, log2": (BITS, []),
        f"m3, log2, {CHOSEN_WORDS} words by TF*IDF": (BITS, []),
    }
    columns = [scores for _, scores in scored.values()]
    truth: list[bool | None] = []
    for host, judged in hosts.items():
        links = [each.link for each in judged]
        vector = _vector(hosts, host)
        bar = n_sigma(vector)
        columns[0] += [score_words(link.words, vector) / bar for link in links]
        columns[1] += vector_of_host(judged)
        columns[2] += redundancy_of(links)
        columns[3] += redundancy_of(links, counts_itself=False)
        columns[4] += entropy_of(links)
        columns[5] += entropy_of(links, EntropyBase.TWO)
        columns[6] += entropy_of(links, EntropyBase.TWO, CHOSEN_WORDS)
        truth += [each.is_noise for each in judged]
    return {
        name: [
            {"threshold": bar, **rates([s is not None and s > bar for s in scores], truth)}
            for bar in bars
        ]
        for name, (bars, scores) in scored.items()
    }


def _cascade(hosts: dict[str, list[Judged]]) -> dict[str, dict[str, float]]:
    forms: dict[str, Callable[[str], Params]] = {
        "paper, printed": lambda host: Params(vector=_vector(hosts, host)),
        f"ours: m1 learned from m2, m2 without the page itself, m3 of {CHOSEN_WORDS} words": (
            lambda host: Params(
                vector=_own_vector(hosts[host]),
                sigma_factor=0.5,
                counts_itself=False,
                base=EntropyBase.TWO,
                least_entropy=6.0,
                most_words=CHOSEN_WORDS,
            )
        ),
    }
    found = {}
    for name, params in forms.items():
        removed: list[bool] = []
        truth: list[bool | None] = []
        for host, judged in hosts.items():
            verdicts = judge_links([each.link for each in judged], params(host))
            removed += [verdict.is_noise for verdict in verdicts]
            truth += [each.is_noise for each in judged]
        found[name] = rates(removed, truth)
    everything = [each for judged in hosts.values() for each in judged]
    found["default: what clean does with the host's other pages"] = rates(
        [each.by_default for each in everything], [each.is_noise for each in everything]
    )
    return found


def _vector(hosts: dict[str, list[Judged]], host: str) -> dict[str, float]:
    """Learns the noise vector of all other hosts."""
    others = [each for name, judged in hosts.items() if name != host for each in judged]
    return learn_vector(
        [each.link.words for each in others if each.is_noise],
        [each.link.words for each in others if each.is_noise is False],
    )


def _own_vector(judged: Sequence[Judged]) -> dict[str, float]:
    """Learns the noise vector of a host from m2, without labels."""
    links = [each.link for each in judged]
    return learn_vector(*taught_by_m2(links, redundancy_of(links, counts_itself=False)))


def _links(one: Labelled, record: CleanRecord) -> list[Judged]:
    judged = []
    for place, link in aligned(one.links, record.links):
        label = one.links[place]["label"]
        is_noise = True if label in NOISE_LABELS else False if label in CLEAN_LABELS else None
        words = (*_parts(link.url), *_words(link.text), *_words(link.title))
        described = _described(record, link.url or link.href, words)
        judged.append(Judged(described, is_noise, link.kind in NOISE, link.reason in _WEAK_LINKS))
    return judged


def _images(one: Labelled, record: CleanRecord) -> list[Judged]:
    images = record.images
    if len(images) != len(one.images):
        return []
    judged = []
    for row, image in zip(one.images, images, strict=True):
        label = row["label"]
        is_noise = True if label in _NOISE_IMAGES else False if label == "content" else None
        words = (*_parts(image.url), *_parts(image.link or ""), *_words(image.alt))
        described = _described(record, image.url or image.src, words)
        removed = image.kind is not ImageKind.CONTENT
        judged.append(Judged(described, is_noise, removed, image.reason in _WEAK_IMAGES))
    return judged


def _described(record: CleanRecord, address: str, words: tuple[str, ...]) -> DescribedLink:
    return DescribedLink(page=record.url, host=record.host, address=address, words=words)


def _parts(url: str) -> list[str]:
    return [part.lower() for part in _PART.findall(url.partition("//")[2])]


def _words(text: str) -> list[str]:
    return [word for word in default_segmenter().words(text) if len(word) > 1] if text else []
