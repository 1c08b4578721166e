"""Whether yes-or-no observations have changed: Page's cumulative sums.

Source: E. S. Page, "Continuous inspection schemes", Biometrika 41 (1954), 100-115. The bound on
false alarms: G. Lorden, "Procedures for reacting to a change in distribution", Annals of
Mathematical Statistics 42 (1971), 1897-1908, theorem 2.

| there | here |
|---|---|
| z = ln f1(x) / f0(x) | ``log_ratio`` |
| S = max(0, S + z), alarm when S >= h | ``next_score``, ``Params.threshold`` |
| where S was last 0, the change began (maximum likelihood) | the caller's to remember |
| mean observations to a false alarm >= e^h | ``observations_to_false_alarm`` |

Readings. x is whether a page fits; it does with ``expected`` before a change (f0), and with
``remaining`` times that after it (f1). The expectation differs from page to page, which neither
argument minds. An expectation above ``most_expected`` is taken for that: a few samples cannot
promise more, and one page would weigh too much. The bound is for independent pages that fit at
least as often as expected; those of a crawl come in runs, so the threshold is measured, too
(``benchmarks/site/drift.py``).

Cost: O(1) an observation, one number to keep.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """When something has changed.

    Attributes:
        threshold: Page's h.
        remaining: Share of the pages that fitted that still do after a change.
        most_expected: See the readings.
        least_expected: Of what fits less often than this, nothing can be said.
    """

    threshold: float = math.log(1e8)
    remaining: float = 0.5
    most_expected: float = 0.95
    least_expected: float = 0.5


DEFAULT = Params()


def log_ratio(expected: float, *, fits: bool, params: Params = DEFAULT) -> float:
    """How much one observation speaks for a change, natural logarithm; 0 where it says nothing.

    Args:
        expected: Probability that it fits as long as nothing has changed, 0..1.
        fits: Whether it does.
        params: The thresholds.
    """
    if expected < params.least_expected:
        return 0.0
    before = min(expected, params.most_expected)
    after = params.remaining * before
    return math.log(after / before) if fits else math.log((1 - after) / (1 - before))


def next_score(score: float, expected: float, *, fits: bool, params: Params = DEFAULT) -> float:
    """Page's sum after one more observation, >= 0."""
    return max(0.0, score + log_ratio(expected, fits=fits, params=params))


def observations_to_false_alarm(params: Params = DEFAULT) -> float:
    """How many observations pass on average, at least, before one sum gives a false alarm."""
    return math.exp(params.threshold)
