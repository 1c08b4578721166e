"""Whether yes-or-no observations have changed: Page's cumulative sums.

Source: E. S. Page, "Continuous inspection schemes", Biometrika 41 (1954), 100-115. The bound on
false alarms: G. Lorden, "Procedures for reacting to a change in distribution", Annals of
Mathematical Statistics 42 (1971), 1897-1908, theorem 2.

| there | here |
|---|---|
| z = ln f1(x) / f0(x) | ``log_ratio`` |
| S = max(0, S + z), alarm when S >= h | ``next_score``, ``THRESHOLD`` |
| where S was last 0, the change began (maximum likelihood) | the caller's to remember |
| mean observations to a false alarm >= e^h | 10^8, the reason of ``THRESHOLD`` |

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

THRESHOLD = math.log(1e8)  # Page's h
REMAINING = 0.5  # share of the pages that fitted that still do after a change
MOST_EXPECTED = 0.95  # see the readings
LEAST_EXPECTED = 0.5  # of what fits less often than this, nothing can be said


def log_ratio(expected: float, *, fits: bool) -> float:
    """How much one observation speaks for a change, natural logarithm; 0 where it says nothing.

    Args:
        expected: Probability that it fits as long as nothing has changed, 0..1.
        fits: Whether it does.
    """
    if expected < LEAST_EXPECTED:
        return 0.0
    before = min(expected, MOST_EXPECTED)
    after = REMAINING * before
    return math.log(after / before) if fits else math.log((1 - after) / (1 - before))


def next_score(score: float, expected: float, *, fits: bool) -> float:
    """Page's sum after one more observation, >= 0."""
    return max(0.0, score + log_ratio(expected, fits=fits))
