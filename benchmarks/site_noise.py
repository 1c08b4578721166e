"""Figure 4 of paper 3: precision and recall of m1, m2 and m3 against their thresholds.

On the labelled hosts with three pages or more, each host judged by its own pages, for links and for
pictures. Noise links are labelled nav, function, ad, hot or legal, others related, inbody or tag;
noise pictures ad or chrome, others content; what has another label is judged, not counted. m1's
vector is learned from the links of all other hosts by their labels, as a user's training file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.page_links import Labelled, aligned, labelled_pages
from benchmarks.site_links import CLEAN_LABELS, NOISE_LABELS, with_hosts
from cleaning import RawPage, clean
from cleaning.papers.noise import (
    DescribedLink,
    EntropyBase,
    Params,
    entropy_of,
    judge_links,
    learn_vector,
    n_precision,
    n_recall,
    n_sigma,
    redundancy_of,
    score_words,
)
from cleaning.source.words import default_segmenter

SHARES = tuple(round(0.05 * n, 2) for n in range(20))
FACTORS = tuple(round(0.1 * n, 1) for n in range(16))
BITS = tuple(round(0.25 * n, 2) for n in range(25))
CHOSEN_WORDS = 4
_PART = re.compile(r"[a-z]{2,}|\d{5,}", re.I)
_NOISE_IMAGES = frozenset(("ad", "chrome"))


@dataclass(frozen=True, slots=True)
class Judged:
    """A link or picture with its label: noise (True), not (False), or not counted (None)."""

    link: DescribedLink
    is_noise: bool | None


def measure_noise() -> dict[str, Any]:
    """The curves of every model and form, and the cascade at the paper's settings and ours."""
    hosts = with_hosts(labelled_pages())
    result: dict[str, Any] = {}
    for kind, describe in (("links", _links), ("images", _images)):
        of_hosts = {
            host: [each for one, page in found for each in describe(host, one, page)]
            for host, found in hosts.items()
        }
        result[kind] = {
            "counted": sum(e.is_noise is not None for each in of_hosts.values() for e in each),
            "noise": sum(bool(e.is_noise) for each in of_hosts.values() for e in each),
            "models": _curves(of_hosts),
            "cascade": _cascade(of_hosts),
        }
    return result


def _curves(hosts: dict[str, list[Judged]]) -> dict[str, list[dict[str, float]]]:
    scored: dict[str, tuple[Sequence[float], list[float | None]]] = {
        "m1, P in N-sigma": (FACTORS, []),
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
        columns[1] += redundancy_of(links)
        columns[2] += redundancy_of(links, counts_itself=False)
        columns[3] += entropy_of(links)
        columns[4] += entropy_of(links, EntropyBase.TWO)
        columns[5] += entropy_of(links, EntropyBase.TWO, CHOSEN_WORDS)
        truth += [each.is_noise for each in judged]
    return {
        name: [
            {"threshold": bar, **_rates([s is not None and s > bar for s in scores], truth)}
            for bar in bars
        ]
        for name, (bars, scores) in scored.items()
    }


def _cascade(hosts: dict[str, list[Judged]]) -> dict[str, dict[str, float]]:
    forms: dict[str, Callable[[str], Params]] = {
        "paper, printed": lambda host: Params(vector=_vector(hosts, host)),
        "paper, m2 without the page itself, m3 log2 above 2": lambda host: Params(
            vector=_vector(hosts, host),
            counts_itself=False,
            base=EntropyBase.TWO,
            least_entropy=2.0,
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
        found[name] = _rates(removed, truth)
    return found


def _vector(hosts: dict[str, list[Judged]], host: str) -> dict[str, float]:
    """The noise vector that all other hosts teach."""
    others = [each for name, judged in hosts.items() if name != host for each in judged]
    return learn_vector(
        [each.link.words for each in others if each.is_noise],
        [each.link.words for each in others if each.is_noise is False],
    )


def _rates(removed: Sequence[bool], truth: Sequence[bool | None]) -> dict[str, float]:
    pairs = [(r, t) for r, t in zip(removed, truth, strict=True) if t is not None]
    gone, noise = [r for r, _ in pairs], [t for _, t in pairs]
    return {
        "nprecision": round(n_precision(gone, noise), 4),
        "nrecall": round(n_recall(gone, noise), 4),
    }


def _links(host: str, one: Labelled, page: RawPage) -> list[Judged]:
    judged = []
    for place, link in aligned(one.links, clean(page).links):
        label = one.links[place]["label"]
        is_noise = True if label in NOISE_LABELS else False if label in CLEAN_LABELS else None
        words = (*_parts(link.url), *_words(link.text), *_words(link.title))
        judged.append(Judged(_described(page, host, link.url or link.href, words), is_noise))
    return judged


def _images(host: str, one: Labelled, page: RawPage) -> list[Judged]:
    images = clean(page).images
    if len(images) != len(one.images):
        return []
    judged = []
    for row, image in zip(one.images, images, strict=True):
        label = row["label"]
        is_noise = True if label in _NOISE_IMAGES else False if label == "content" else None
        words = (*_parts(image.url), *_parts(image.link or ""), *_words(image.alt))
        judged.append(Judged(_described(page, host, image.url or image.src, words), is_noise))
    return judged


def _described(page: RawPage, host: str, address: str, words: tuple[str, ...]) -> DescribedLink:
    return DescribedLink(page=page.url, host=host, address=address, words=words)


def _parts(url: str) -> list[str]:
    return [part.lower() for part in _PART.findall(url.partition("//")[2])]


def _words(text: str) -> list[str]:
    return [word for word in default_segmenter().words(text) if len(word) > 1] if text else []
