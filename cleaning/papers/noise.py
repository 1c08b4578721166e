"""Paper 3, noise links and advertising images: by words, by redundancy, by the entropy of words.

Source: Li Jiayou, Jia Ziyan, He Qing, Shi Zhongzhi: 基于 Web 挖掘的网页清洗技术 (Web page cleaning
technology based on Web mining). Computer Engineering and Applications (计算机工程与应用),
2006 (25), pages 98-101, article 1002-8331-(2006)25-0098-04.

Of the paper                                                         Function
eq. 1    m1: mean weight of the words shared with the noise vector   ``score_words``
eq. 2    N-sigma: mean weight of the noise vector                    ``n_sigma``
eq. 3    m2: share of the host's pages that have the address         ``score_redundancy``
eq. 4    entropy of a word over the links it occurs in               ``word_entropies``
eq. 5    m3: mean entropy of a link's words                          ``score_entropy``
4        NPrecision, NRecall                                         ``n_precision``, ``n_recall``
3.1      the cascade: m1, then m2, then m3                           ``judge_links``

Readings:

* A link is described by its URL and its words (of URL, anchor text, title, alt); a picture by its
  own URL and words. One set of functions judges both.
* m1 of a link without a word of the noise vector is 0. "Above N-sigma" is strict: words of equal
  weights can never be above their mean, so weights are given, or learned from links that m2 or m3
  judged (``learn_vector``).
* Host(p) = Host(u) in eq. 3 is the host of the linking page; most pictures are on other hosts. The
  printed form counts the page itself, so that on a host of one page everything is noise.
  ``counts_itself=False`` leaves the page out, (df - 1) / (N - 1), and is undefined (None) for one
  page.
* The threshold of m2 is missing in our copy; the default is .2.
* Eq. 4 prints log2, but the worked value 0.3562 is to the base n = 7, the number of links
  (``EntropyBase.LINKS``), which is undefined (None) for one link. To the base n, k occurrences give
  a lower entropy the more links there are; ``EntropyBase.TWO`` does not shrink.
* m3 of a link of k >= 1 words is their mean entropy; without words it is undefined (None). The
  words that describe a link are chosen by TF*IDF over the links (``most_words``; None takes all, as
  in the example).
* The printed NPrecision divides the removed noise links by all removed noise links; the denominator
  is read as all removed links. NPrecision is 1 if no link is removed, NRecall 1 without noise.

Cost: linear in the words of the links.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class EntropyBase(StrEnum):
    """The base of the logarithm in eq. 4."""

    LINKS = "links"  # the number of links, as in the worked example
    TWO = "two"  # as printed


class Model(StrEnum):
    """The three models, in the paper's order."""

    M1 = "m1"
    M2 = "m2"
    M3 = "m3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The paper's settings; a model without a threshold does not run.

    Attributes:
        vector: Noise_m, weights of words (3.1.1): ``{"广告": 0.9}``; {} leaves m1 out.
        sigma_factor: m1's threshold in N-sigma (3.1.1: 1).
        least_share: m2's threshold (3.1.2, missing in our copy); None leaves m2 out.
        counts_itself: Whether eq. 3 counts the page itself, as printed.
        least_entropy: m3's threshold (3.1.3, none given); None leaves m3 out.
        base: The base of the logarithm in eq. 4.
        most_words: Number of words that describe a link, by TF*IDF; None takes all.
    """

    vector: Mapping[str, float] = field(default_factory=dict)
    sigma_factor: float = 1.0
    least_share: float | None = 0.2
    counts_itself: bool = True
    least_entropy: float | None = 0.3
    base: EntropyBase = EntropyBase.LINKS
    most_words: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedLink:
    """One link or picture of one page.

    Attributes:
        page: URL of the page with the link.
        host: Host of the page.
        address: URL of the link's target, or of the picture.
        words: The describing words, with repeats.
    """

    page: str
    host: str
    address: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of the cascade on a link: noise by a model with its score, or no noise (None)."""

    is_noise: bool
    model: Model | None = None
    score: float = 0.0


def score_words(words: Iterable[str], vector: Mapping[str, float]) -> float:
    """Returns m1 (eq. 1): mean weight of the words in the noise vector; 0 without such words."""
    shared = set(words) & vector.keys()
    return sum(vector[word] for word in shared) / len(shared) if shared else 0.0


def n_sigma(vector: Mapping[str, float]) -> float:
    """Returns N-sigma (eq. 2): mean weight of the noise vector; infinite for an empty vector."""
    return sum(vector.values()) / len(vector) if vector else math.inf


def learn_vector(
    noise: Iterable[Sequence[str]], others: Iterable[Sequence[str]]
) -> dict[str, float]:
    """Returns a noise vector from judged links: word -> share of its links that are noise, 0..1.

    A word of a single noise link is left out, so that no link alone decides.
    """
    in_noise: Counter[str] = Counter()
    in_others: Counter[str] = Counter()
    for words in noise:
        in_noise.update(set(words))
    for words in others:
        in_others.update(set(words))
    return {
        word: count / (count + in_others[word]) for word, count in in_noise.items() if count > 1
    }


def score_redundancy(pages_with: int, pages: int, counts_itself: bool = True) -> float | None:
    """Returns m2 (eq. 3): the share of a host's pages that have a URL.

    Args:
        pages_with: Number of pages with the URL, >= 1.
        pages: Number of pages of the host, >= ``pages_with``.
        counts_itself: As printed; otherwise the page itself is left out of both numbers.

    Returns:
        0..1; None if no other page is left.
    """
    if counts_itself:
        return pages_with / pages
    return (pages_with - 1) / (pages - 1) if pages > 1 else None


def word_entropies(
    links: Sequence[Iterable[str]], base: EntropyBase = EntropyBase.LINKS
) -> dict[str, float]:
    """Returns the entropy of each word over its links (eq. 4); {} where the base is undefined.

    Args:
        links: The words of each link, with repeats; n is the number of links.
        base: The logarithm's base.
    """
    if base is EntropyBase.LINKS and len(links) < 2:
        return {}
    unit = math.log(len(links)) if base is EntropyBase.LINKS else math.log(2)
    counts: dict[str, list[int]] = {}
    for words in links:
        for word, count in Counter(words).items():
            counts.setdefault(word, []).append(count)
    return {
        word: -sum(tf / sum(tfs) * math.log(tf / sum(tfs)) for tf in tfs) / unit + 0.0
        for word, tfs in counts.items()
    }


def score_entropy(words: Iterable[str], entropies: Mapping[str, float]) -> float | None:
    """Returns m3 (eq. 5): mean entropy of a link's words; None for a link without words."""
    known = [entropies[word] for word in dict.fromkeys(words) if word in entropies]
    return sum(known) / len(known) if known else None


def choose_words(links: Sequence[Sequence[str]], most: int | None) -> list[tuple[str, ...]]:
    """Returns for each link its ``most`` words of greatest TF*IDF, None for all (3.1.3)."""
    if most is None:
        return [tuple(words) for words in links]
    with_word: Counter[str] = Counter()
    for words in links:
        with_word.update(set(words))
    chosen = []
    for words in links:
        weights = {
            word: count * math.log(len(links) / with_word[word])
            for word, count in Counter(words).items()
        }
        best = set(sorted(weights, key=lambda word: (-weights[word], word))[:most])
        chosen.append(tuple(word for word in words if word in best))
    return chosen


def redundancy_of(links: Sequence[DescribedLink], counts_itself: bool = True) -> list[float | None]:
    """Returns m2 of each link over the pages of the linking page's host."""
    pages: dict[str, set[str]] = {}
    with_address: dict[tuple[str, str], set[str]] = {}
    for link in links:
        pages.setdefault(link.host, set()).add(link.page)
        with_address.setdefault((link.host, link.address), set()).add(link.page)
    return [
        score_redundancy(
            len(with_address[link.host, link.address]), len(pages[link.host]), counts_itself
        )
        for link in links
    ]


def entropy_of(
    links: Sequence[DescribedLink],
    base: EntropyBase = EntropyBase.LINKS,
    most_words: int | None = None,
) -> list[float | None]:
    """Returns m3 of each link."""
    words = choose_words([link.words for link in links], most_words)
    entropies = word_entropies(words, base)
    return [score_entropy(each, entropies) for each in words]


def n_precision(removed: Sequence[bool], is_noise: Sequence[bool]) -> float:
    """Returns NPrecision (section 4): removed noise links / removed links; 1 for none removed."""
    right = [noise for gone, noise in zip(removed, is_noise, strict=True) if gone]
    return sum(right) / len(right) if right else 1.0


def n_recall(removed: Sequence[bool], is_noise: Sequence[bool]) -> float:
    """Returns NRecall (section 4): removed noise links / noise links; 1 without noise links."""
    found = [gone for gone, noise in zip(removed, is_noise, strict=True) if noise]
    return sum(found) / len(found) if found else 1.0


def judge_links(links: Sequence[DescribedLink], params: Params | None = None) -> list[Verdict]:
    """Returns the verdict on each link by the paper's cascade (3.1).

    m1, the cheapest model, runs first; m2 judges the links that m1 does not reject, m3 the rest.

    Args:
        links: Links or pictures of any number of pages and hosts.
        params: None takes the paper's settings.
    """
    params = params or Params()
    bar = params.sigma_factor * n_sigma(params.vector)
    scores: list[tuple[Model, list[float | None], float]] = [
        (Model.M1, [score_words(link.words, params.vector) for link in links], bar)
    ]
    if params.least_share is not None:
        shares = redundancy_of(links, params.counts_itself)
        scores.append((Model.M2, shares, params.least_share))
    if params.least_entropy is not None:
        entropies = entropy_of(links, params.base, params.most_words)
        scores.append((Model.M3, entropies, params.least_entropy))
    verdicts = []
    for i in range(len(links)):
        verdict = Verdict(is_noise=False)
        for model, of_links, threshold in scores:
            score = of_links[i]
            if score is not None and score > threshold:
                verdict = Verdict(is_noise=True, model=model, score=score)
                break
        verdicts.append(verdict)
    return verdicts
