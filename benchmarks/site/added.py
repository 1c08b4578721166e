"""The gain of m1 and m3 (paper 3) on top of the verdicts of ``clean``: a part of ``noise.py``.

A model is added in two ways:

- Links that ``clean`` keeps are noise where the model has a score above its threshold.
- Links that ``clean`` calls noise only because they look like a list are kept, unless the model
  agrees.

m1's vector is learned without labels: from the verdicts of m2 on the host's other pages, or of
``clean`` on the other hosts. The threshold of a host is the one with the greatest recall minus
false positives on all other hosts; None: the model is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from crawlclean.cleaning.papers.noise import (
    DescribedLink,
    EntropyBase,
    entropy_of,
    learn_vector,
    n_precision,
    n_recall,
    n_sigma,
    redundancy_of,
    score_words,
)

_SHARE = 0.2  # least m2 of an address that is a noise example


@dataclass(frozen=True, slots=True)
class Judged:
    """A link or picture, its label, and the verdict of ``clean``.

    Attributes:
        link: Address and words.
        is_noise: The label: noise (True), clean (False), or not counted (None).
        by_default: The verdict of ``clean``.
        is_weak: That verdict has no evidence, or only the look of a list.
    """

    link: DescribedLink
    is_noise: bool | None
    by_default: bool
    is_weak: bool


Scores = dict[str, list[float | None]]
"""The scores of the links of each host."""


def rates(removed: Sequence[bool], truth: Sequence[bool | None]) -> dict[str, float]:
    """Returns NPrecision, NRecall and the share of clean links that were removed."""
    pairs = [(r, t) for r, t in zip(removed, truth, strict=True) if t is not None]
    gone, noise = [r for r, _ in pairs], [t for _, t in pairs]
    kept = [r for r, t in pairs if not t]
    return {
        "nprecision": round(n_precision(gone, noise), 4),
        "nrecall": round(n_recall(gone, noise), 4),
        "false_positives": round(sum(kept) / len(kept), 4) if kept else 0.0,
    }


def vector_of_host(judged: Sequence[Judged]) -> list[float | None]:
    """Returns m1 in N-sigma, with a vector learned from m2 on the host; None without words."""
    shares = redundancy_of([each.link for each in judged], counts_itself=False)
    by_page: dict[str, list[int]] = {}
    for i, each in enumerate(judged):
        by_page.setdefault(each.link.page, []).append(i)
    found: list[float | None] = [None] * len(judged)
    for page, own in by_page.items():
        others = [i for other, rows in by_page.items() if other != page for i in rows]
        noise, kept = taught_by_m2([judged[i].link for i in others], [shares[i] for i in others])
        for i, score in zip(own, _by_vector([judged[i] for i in own], noise, kept), strict=True):
            found[i] = score
    return found


def taught_by_m2(
    links: Sequence[DescribedLink], shares: Sequence[float | None]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Returns the words of links that m2 calls noise, and of links on one page only."""
    pairs = list(zip(links, shares, strict=True))
    noise = [link.words for link, share in pairs if (share or 0.0) > _SHARE]
    return noise, [link.words for link, share in pairs if not share]


def measure_added(
    hosts: dict[str, list[Judged]], factors: Sequence[float], bits: Sequence[float]
) -> list[dict[str, Any]]:
    """Returns the rates of ``clean`` alone, and with each model in both ways.

    Args:
        hosts: The links of each host.
        factors: Thresholds of m1, in N-sigma.
        bits: Thresholds of m3.
    """
    models: dict[str, tuple[Scores, Sequence[float]]] = {
        "m1, from m2 on the host": ({h: vector_of_host(j) for h, j in hosts.items()}, factors),
        "m1, from clean on other hosts": ({h: _of_others(hosts, h) for h in hosts}, factors),
        "m3, log2": (
            {h: entropy_of([e.link for e in j], EntropyBase.TWO) for h, j in hosts.items()},
            bits,
        ),
    }
    rows = [{"model": "none", "way": "", **_held_out(hosts, {}, (), _more)[0]}]
    for name, (scores, bars) in models.items():
        for way, apply in (("kept and above: noise", _more), ("weak and not above: kept", _less)):
            figures, chosen, best = _held_out(hosts, scores, bars, apply)
            row = {"model": name, "way": way, **figures, "thresholds": chosen}
            rows.append({**row, "best_in_hindsight": best})
    return rows


def _held_out(
    hosts: dict[str, list[Judged]],
    scores: Scores,
    bars: Sequence[float],
    apply: Callable[[Judged, float | None, float], bool],
) -> tuple[dict[str, float], list[float | None], dict[str, Any]]:
    """Returns rates by held-out thresholds, these thresholds, and rates by one common threshold.

    The threshold of each host is chosen on the others; the common threshold is the best on all
    hosts, None excluded.
    """
    by_bar: dict[float | None, dict[str, list[bool]]] = {
        None: {h: [e.by_default for e in judged] for h, judged in hosts.items()}
    }
    for bar in bars:
        by_bar[bar] = {
            h: [apply(e, s, bar) for e, s in zip(judged, scores[h], strict=True)]
            for h, judged in hosts.items()
        }
    truth = {h: [e.is_noise for e in judged] for h, judged in hosts.items()}

    def worth(bar: float | None, left_out: str) -> float:
        others = [h for h in hosts if h != left_out]
        row = rates(
            [r for h in others for r in by_bar[bar][h]], [t for h in others for t in truth[h]]
        )
        return row["nrecall"] - row["false_positives"]

    chosen = [max(by_bar, key=lambda bar, h=h: worth(bar, h)) for h in hosts]  # type: ignore[misc]
    removed = [r for h, bar in zip(hosts, chosen, strict=True) for r in by_bar[bar][h]]
    labels = [t for h in hosts for t in truth[h]]
    best = max(bars, key=lambda bar: worth(bar, ""), default=None)
    in_hindsight = rates([r for h in hosts for r in by_bar[best][h]], labels)
    return rates(removed, labels), chosen, {"threshold": best, **in_hindsight}


def _more(each: Judged, score: float | None, bar: float) -> bool:
    return each.by_default or (score is not None and score > bar)


def _less(each: Judged, score: float | None, bar: float) -> bool:
    return each.by_default and not (each.is_weak and score is not None and score <= bar)


def _of_others(hosts: dict[str, list[Judged]], host: str) -> list[float | None]:
    others = [each for name, judged in hosts.items() if name != host for each in judged]
    return _by_vector(
        hosts[host],
        [each.link.words for each in others if each.by_default],
        [each.link.words for each in others if not each.by_default],
    )


def _by_vector(
    judged: Sequence[Judged], noise: Sequence[Sequence[str]], others: Sequence[Sequence[str]]
) -> list[float | None]:
    vector = learn_vector(noise, others)
    if not vector:
        return [None] * len(judged)
    bar = n_sigma(vector)
    return [score_words(each.link.words, vector) / bar for each in judged]
