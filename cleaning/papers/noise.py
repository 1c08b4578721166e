"""Noise links and advertising images: by their words, by their redundancy, by their words' entropy.

Source: Li Jiayou, Jia Ziyan, He Qing, Shi Zhongzhi: 基于 Web 挖掘的网页清洗技术 (Web page cleaning
technology based on Web mining). Computer Engineering and Applications (计算机工程与应用),
2006 (25), pages 98-101, article 1002-8331-(2006)25-0098-04.

Of the paper                                                         Function
eq. 1    m1: mean weight of the words shared with the noise vector   ``score_words``
eq. 2    N-sigma: mean weight of the noise vector                    ``n_sigma``
eq. 3    m2: share of the host's pages that have the address         ``score_redundancy``
eq. 4    entropy of a word over the links it occurs in               ``word_entropies``
eq. 5    m3: mean entropy of a link's words                          ``score_entropy``
3.1      m1 first, what it does not settle goes to m2, then m3       ``judge_links``
4        NPrecision, NRecall                                         ``n_precision``, ``n_recall``

Readings:

* A link is described by its address and its words (of addresses, anchor text, title, alt); for a
  picture the address is that of the picture. The same functions judge both.
* Words shared with no noise vector give P = 0. "Above N-sigma" is strict: words of equal weights
  can never be above their mean, so weights are given, or learned from links that m2 or m3 judged
  (``learn_vector``).
* Host(p) = Host(u) in eq. 3 is the host of the page that links; most pictures live on others. The
  printed form counts the page itself, so that one page alone makes everything noise.
  ``counts_itself=False`` leaves it out, (df - 1) / (N - 1), and is silent (None) for one page.
* The threshold of m2 is missing in the copy we have; .2 is where the default starts.
* Eq. 4 prints log2, the worked value 0.3562 is a logarithm to the base n = 7, the number of links
  (``EntropyBase.LINKS``). For one link that base is undefined: silent. To base n the same k
  occurrences give less the more links there are; ``EntropyBase.TWO`` does not shrink.
* A link of k >= 1 words has their mean entropy; one without words is silent. Which words describe a
  link is chosen by TF*IDF over the links (``most_words``; None takes all, as the example does).
* The printed NPrecision divides noise links removed by all noise links removed; meant is: by links
  removed. 1 where nothing was removed, and NRecall 1 where there is no noise.

Cost: linear in the words of the links.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class EntropyBase(StrEnum):
    """To which base eq. 4 is taken."""

    LINKS = "links"  # the number of links, as in the worked example
    TWO = "two"  # as printed


class Model(StrEnum):
    """The three models, in the paper's order."""

    M1 = "m1"
    M2 = "m2"
    M3 = "m3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The paper's settings; each model runs where it has a threshold.

    Attributes:
        vector: Noise_m, weights of words (3.1.1); without words m1 settles nothing.
        sigma_factor: m1's threshold in N-sigma (3.1.1: 1).
        least_share: m2's threshold (3.1.2, missing in our copy); None leaves m2 out.
        counts_itself: Eq. 3 as printed, with the page itself.
        least_entropy: m3's threshold (3.1.3, none given); None leaves m3 out.
        base: To which base eq. 4 is taken.
        most_words: Words that describe a link, chosen by TF*IDF; None is all.
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
        page: The page it stands on.
        host: That page's host.
        address: Where it leads, or the picture.
        words: What describes it, with repeats.
    """

    page: str
    host: str
    address: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Verdict of the cascade on a link: noise or not, by which model, and that model's score.

    A link that no model calls noise has ``model`` None.
    """

    is_noise: bool
    model: Model | None = None
    score: float = 0.0


def score_words(words: Iterable[str], vector: Mapping[str, float]) -> float:
    """Eq. 1: mean weight of the words a description shares with the noise vector; 0 for none."""
    shared = set(words) & vector.keys()
    return sum(vector[word] for word in shared) / len(shared) if shared else 0.0


def n_sigma(vector: Mapping[str, float]) -> float:
    """Eq. 2: mean weight of the noise vector; infinite for one without words."""
    return sum(vector.values()) / len(vector) if vector else math.inf


def learn_vector(
    noise: Iterable[Sequence[str]], others: Iterable[Sequence[str]]
) -> dict[str, float]:
    """A noise vector from links that other models judged: of each word the share of noise, 0..1.

    Only words of two noise links or more, so that no word of one link alone decides.
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
    """Eq. 3: the share of a host's pages that have an address.

    Args:
        pages_with: Pages that have it, >= 1.
        pages: Pages of the host, >= ``pages_with``.
        counts_itself: As printed; otherwise the page itself is left out on both sides.

    Returns:
        0..1; None where the other pages are none.
    """
    if counts_itself:
        return pages_with / pages
    return (pages_with - 1) / (pages - 1) if pages > 1 else None


def word_entropies(
    links: Sequence[Iterable[str]], base: EntropyBase = EntropyBase.LINKS
) -> dict[str, float]:
    """Eq. 4: the entropy of each word over the links it occurs in; {} where the base is undefined.

    Args:
        links: The words of each link, with repeats; n is their number.
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
    """Eq. 5: mean entropy of a link's words; None for a link without words."""
    known = [entropies[word] for word in dict.fromkeys(words) if word in entropies]
    return sum(known) / len(known) if known else None


def choose_words(links: Sequence[Sequence[str]], most: int | None) -> list[tuple[str, ...]]:
    """3.1.3: for each link its words of the greatest TF*IDF over the links; all when None."""
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
    """m2 of each link, by the pages of its page's host."""
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
    """m3 of each link."""
    words = choose_words([link.words for link in links], most_words)
    entropies = word_entropies(words, base)
    return [score_entropy(each, entropies) for each in words]


def n_precision(removed: Sequence[bool], is_noise: Sequence[bool]) -> float:
    """Section 4: noise links removed / links removed; 1 where nothing was."""
    right = [noise for gone, noise in zip(removed, is_noise, strict=True) if gone]
    return sum(right) / len(right) if right else 1.0


def n_recall(removed: Sequence[bool], is_noise: Sequence[bool]) -> float:
    """Section 4: noise links removed / all noise links; 1 where there are none."""
    found = [gone for gone, noise in zip(removed, is_noise, strict=True) if noise]
    return sum(found) / len(found) if found else 1.0


def judge_links(links: Sequence[DescribedLink], params: Params | None = None) -> list[Verdict]:
    """The verdict on each link by the paper's cascade.

    m1 is cheapest and settles what it calls noise; m2 gets the rest, and m3 what is left then. A
    silent model settles nothing.

    Args:
        links: Links or pictures of any number of pages and hosts.
        params: The paper's when None.
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
