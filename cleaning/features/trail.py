"""The trail of a body's search: which rule cut which line.

The rules note here what they decide, only where somebody asks for the reasons: ``Lines.trail`` is
None otherwise. A search may be tried several times, for an article and for posts; each try is an
``Attempt``, and the one whose lines became the body is known by its list of lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlclean.cleaning.verdict import VerdictReason

if TYPE_CHECKING:
    from crawlclean.cleaning.features.lines import Lines


@dataclass(slots=True)
class Attempt:
    """One try to find the lines of a body.

    Attributes:
        kept: The lines it found.
        cut: Line -> the rule that cut it.
        by: Line -> the line of the marker that cut it.
        noise: The outermost parts that are noise, each with the rule.
        link_lists: The outermost parts cut as lists of links.
        container: The part the body lies in; -1 where posts were looked for.
        weights: Worth of each part in words.
        worth: Worth of each line in words.
        first_post: Lines of an article that joined the posts.
    """

    noise: list[tuple[int, VerdictReason]]
    kept: list[int] = field(default_factory=list)
    cut: dict[int, VerdictReason] = field(default_factory=dict)
    by: dict[int, int] = field(default_factory=dict)
    link_lists: list[int] = field(default_factory=list)
    container: int = -1
    weights: list[float] = field(default_factory=list)
    worth: list[float] = field(default_factory=list)
    first_post: frozenset[int] = frozenset()


@dataclass(slots=True)
class Trail:
    """The notes of one page.

    Attributes:
        lines: The lines of the page, as weighed.
        all_attempts: Line -> the rule that made it worthless in every attempt.
        attempts: The attempts in order.
        chosen: The attempt whose lines became the page's own body; None before.
    """

    lines: Lines | None = None
    all_attempts: dict[int, VerdictReason] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    chosen: Attempt | None = None

    def begin(self, noise: Iterable[tuple[int, VerdictReason]]) -> None:
        """Starts an attempt with the parts that are noise in it."""
        self.attempts.append(Attempt(noise=list(noise)))

    def cut(self, lines: Iterable[int], reason: VerdictReason) -> None:
        """Notes that a rule cut lines in the present attempt."""
        cut = self.attempts[-1].cut
        for line in lines:
            cut[line] = reason

    def end(self, kept: list[int]) -> None:
        """Notes the lines that the present attempt found."""
        self.attempts[-1].kept = kept

    def choose(self, kept: list[int]) -> None:
        """Notes that the attempt with this list of lines gave the body."""
        self.chosen = next((one for one in self.attempts if one.kept is kept), None)
