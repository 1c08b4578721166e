"""The rule of posts that pages of threads teach, without the rest of a model."""

from __future__ import annotations

from collections.abc import Iterable

from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.learn.post_rules import post_rule_of
from crawlclean.cleaning.model.rules import PostRule


def learn_post_rule(pages: Iterable[RawPage]) -> PostRule | None:
    """Returns the rule of the most votes, for pages in any order; None if too few have posts.

    Args:
        pages: Thread pages of one host; a few other pages do no harm.
    """
    trees = [
        (page.page_id, tree := parse(page.html), extract_body(tree, page.url).thread)
        for page in pages
    ]
    trees.sort(key=lambda row: row[0])
    return post_rule_of([(tree, thread) for _, tree, thread in trees])
