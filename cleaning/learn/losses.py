"""The URL classes that a model reads worse than each page alone, measured on its own sample.

A line of the page's own body that the model leaves out is rightly removed if it repeats over pages,
has links, or is about the body; else it is lost, and its text with it. A class loses when more text
is lost than is rightly removed and won together: there the places are given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crawlclean.cleaning.body.page_body import Body
from crawlclean.cleaning.features.lines import is_meta
from crawlclean.cleaning.learn.views import Sample
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.url_classes.rules import class_of

# Share of the text of a class's own bodies from which a loss is one, in all its pages together.
LEAST_LOST = 0.05


@dataclass(slots=True)
class _Change:
    """What a model changes in the bodies of some pages.

    Attributes:
        alone: Characters outside links of the bodies by the pages alone.
        lost: Characters of their lines that the model leaves out, and that no other page has.
        removed: Characters of the other lines that it leaves out.
        won: Characters outside links of lines that no other page has, and that it adds.
    """

    alone: int = 0
    lost: int = 0
    removed: int = 0
    won: int = 0

    @property
    def is_loss(self) -> bool:
        """Whether the pages are read better without the model."""
        return self.lost > max(self.removed + self.won, LEAST_LOST * self.alone)


def losing_classes(sample: Sample, bodies: Sequence[Body]) -> tuple[str, ...]:
    """Returns the URL classes whose bodies lose by the model, sorted.

    Args:
        sample: The pages, with their bodies by the page alone.
        bodies: The body of each page by the model.
    """
    changes: dict[str, _Change] = {}
    for number, body in enumerate(bodies):
        page = sample.views[number].page
        if body.source is BodySource.SITE:
            _add(changes.setdefault(class_of(page.url), _Change()), sample, number, body)
    return tuple(sorted(pattern for pattern, change in changes.items() if change.is_loss))


def _add(change: _Change, sample: Sample, number: int, body: Body) -> None:
    """Adds the change of one page's body."""
    one = sample.views[number]
    before, now = set(one.body.lines), set(body.lines)
    change.alone += sum(one.own[i] for i in before)
    for i in before ^ now:
        path = one.paths[one.tree.line_blocks[i]]
        is_own = sample.repeats.count(path, one.texts[i]) <= 1 and not one.linked[i]
        if i in now:
            change.won += one.own[i] if is_own else 0
        elif is_own and not is_meta(one.tree.line_text(i)):
            change.lost += one.own[i]
        else:
            change.removed += one.own[i] + one.linked[i]
