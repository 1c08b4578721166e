"""The thresholds of the default extractors, each with its reason.

A *unit* is a Chinese, Japanese or Korean character or a word of another script. Every value stands
in the middle of a wide plateau of scores on labelled pages; none was chosen for one page.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How lines are weighed, how the body's container is chosen, what counts as a thread.

    Attributes:
        min_units: Shortest line that can be running text.
        units_per_mark: Running text has a punctuation mark for every so many units at least; lists
            of words and tables have none.
        plain_worth: Worth of a line that is neither running text nor links. A little below zero: it
            never makes a container larger by itself; a list of such lines is no body of its own.
        child_cost: Most that one part without worth takes from what is around it. Without a bound a
            long list of links beside a short body would push the body's own container out.
        near_share: A part that holds this share of its parent's worth is taken instead of it: what
            it lacks is more often beside the text than of it.
        text_share: And this share of its running text: links beside it may cost as much as text is
            worth.
        weak_share: Parts of a weak noise name are body when they hold this share of the page's
            own text together: layouts are named for their columns too.
        noise_share: The same for the stronger names; comments are never the body of an article.
        card_units: Largest part that can be a teaser for another page.
        min_cards: Fewest like parts side by side that are a list of teasers.
        title_units: Longest line that can be the title.
        disclaimer_units: Longest line that a site's disclaimer takes.
        meta_units: Longest line about the body (source, time, buttons).
        marker_units: Longest heading of what is not the body.
        after_marker_share: Text behind such a heading is cut unless it is more than this share of
            the page's worth: then the words were the body's own.
        head_lines: Plain lines kept before the first line of running text: headings, places.
        tail_lines: Plain lines kept behind the last line of running text: signatures, dates.
        list_units: With less running text than this, plain lines are weighed as text: the body is
            a list, a table, verse or a few words.
        promotion_units: Longest line, and largest box, that asks to follow, scan or download.
        paragraph_units: Shortest line that is surely a paragraph: behind the last one a promotion
            ends the body.
        repeat_units: Shortest text that is cut where it repeats in another part (a second layout
            for small screens, a summary).
        min_posts: Fewest parts with a date that are the posts of a thread.
        post_share: Share of the posts that must have text, and that the class of their contents
            must cover.
        list_share: Share of a part's text that several posts inside it hold when it is their list.
        post_junk_cost: Cost of a unit of links, dates and buttons in a candidate for that class.
    """

    min_units: int = 8
    units_per_mark: int = 60
    plain_worth: float = -0.3
    child_cost: float = 30
    near_share: float = 0.87
    text_share: float = 0.65
    weak_share: float = 0.5
    noise_share: float = 0.8
    card_units: float = 250
    min_cards: int = 3
    title_units: float = 60
    disclaimer_units: float = 60
    meta_units: float = 30
    marker_units: float = 14
    after_marker_share: float = 0.3
    head_lines: int = 8
    tail_lines: int = 6
    list_units: float = 75
    promotion_units: float = 40
    paragraph_units: float = 30
    repeat_units: float = 15
    min_posts: int = 2
    post_share: float = 0.6
    list_share: float = 0.6
    post_junk_cost: float = 3
