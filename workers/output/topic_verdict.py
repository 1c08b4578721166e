"""What a topic holds of a page, as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from crawlclean.workers.answers.topics import FoundConcept, TopicVerdict


def verdict_lines(found: TopicVerdict) -> Iterator[str]:
    """Yields relevance, words, examples, mark and link of a judged page."""
    verdict = "relevant" if found.is_relevant else "not relevant"
    by_user = ", by your mark" if found.mark is not None else ""
    yield (
        f"  topic {found.topic}: {verdict}{by_user}; relevance {found.relevance:.2f} "
        f"(from {found.threshold:g} on), version {found.version}"
    )
    if found.excluded:
        yield f"    excluded by {', '.join(found.excluded)}"
    if found.is_list:
        yield "    an index page: its relevance counts half"
    words = "; ".join(map(_concept, found.concepts))
    yield f"    query {found.query:.2f}: {words}"
    if found.examples is not None:
        nearest = f", nearest {found.nearest}" if found.nearest else ""
        like = f": {' '.join(found.terms)}" if found.terms else ""
        yield f"    examples {found.examples:.2f}{like}{nearest}"
    if found.marks is not None:
        yield f"    your marks {found.marks:+.2f}"
    if found.link is not None:
        parts = ", ".join(f"{part.name} {part.weight:+.2f}" for part in found.link_parts)
        learned = f"; learned in batch {found.learned_in}" if found.learned_in else ""
        yield f"    link {found.link:.2f} by today's weights: {parts}{learned}"


def _concept(concept: FoundConcept) -> str:
    if not concept.share:
        return f"{concept.name} not found"
    where = [f"{concept.name}"]
    where += ["in the title"] if concept.in_title else []
    where += [f"{concept.count} in the body"] if concept.count else []
    return " ".join((where[0], ", ".join(where[1:]))) + f" ({concept.share:.2f})"
