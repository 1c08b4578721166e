"""Actions on what a person says of a page's texts: this is body, this is not.

The text of a stored page is found again on other pages by a selector of its element; the override
is of the page's URL class, and names who made it. Where both were said, the last word counts.
"""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from crawlclean.cleaning.document.outline import Outline
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.model.overrides import HOME, Override, selector_of_line
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.cleaning.urls.normal_form import host_of, normalize, page_id
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.learning import keep_overrides
from crawlclean.workers.jobs.recleaning import reclean_all
from crawlclean.workers.operations.acting.action import (
    Asked,
    Effect,
    Fact,
    Safety,
    Steps,
    Subject,
    action,
    written,
)
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.hosts.override_checks import finds, stored_pages

HOST, REVERSIBLE = Subject.HOST, Safety.REVERSIBLE
VALUES = ("url", "line", "template", "selector")
COUNTED_PAGES = 30  # on which the selector is tried: half a second before the page is shown
NAMES = {"keep": "keep_text", "drop": "drop_text"}


@action(REVERSIBLE, HOST, name="keep_text", values=VALUES, field="keep")
@action(REVERSIBLE, HOST, name="drop_text", values=VALUES, field="drop")
@action(REVERSIBLE, HOST, name="forget_override", values=("template", "selector"), field="")
def _say(backends: Backends, asked: Asked, field: str) -> Steps:
    """Says that a text is body or is not, or takes such a word of the console back."""
    host, template, text = asked.target, asked.get("template"), asked.get("selector")
    with backends.store() as store:
        if not text:
            template, text = _found(store, asked)
        said = Override(pattern=template, by=asked.who or "console")
        if field:
            said = replace(said, **{field: (text,)})
        pages = stored_pages(store, host, COUNTED_PAGES, said)
        counts = {
            Fact.PAGES: sum(finds(page, text) for page in pages),
            Fact.MODEL_VERSION: store.models.newest(host),
        }
    yield Effect(counts, chosen={"template": template, "selector": text})
    undo = written("forget_override", host, template=template, selector=text)

    def change(before: tuple[Override, ...]) -> tuple[Override, ...]:
        nonlocal undo
        rest = []
        for each in before:
            known = [x for x in NAMES if text in getattr(each, x)]
            if not (each.by and each.pattern == template and known):
                rest.append(each)
            elif known[0] != field:
                undo = written(NAMES[known[0]], host, template=template, selector=text)
        return (said, *rest) if field else tuple(rest)

    with backends.store() as store:
        about = keep_overrides(store, host, change, text)
    if about is None:
        return Effect({Fact.MODEL_VERSION: counts[Fact.MODEL_VERSION]})
    with backends.queue_side() as side, suppress(ServiceError):  # away: `model reclean` does it
        if side.frontier is not None:
            reclean_all(side.frontier.learning, host, about.version)
    return Effect({Fact.MODEL_VERSION: about.version}, undo=undo)


def _found(store: Store, asked: Asked) -> tuple[str, str]:
    """The URL class of a stored page, and a selector of the text on a line of it."""
    url = normalize(asked.get("url"))
    page = store.answers.page(page_id(url))
    if page is None or host_of(url) != asked.target:
        raise NotFound(f"the archive has no page of {asked.target} at {url}")
    outline = Outline()
    parse(page.html, follow=outline.follow)
    text = selector_of_line(outline, asked.number("line"))
    if not text:
        raise ConfigError("the text has no element of its own: write a selector in the crawl file")
    return class_of(url) or HOME, text
