"""Pages with labelled links, read once, and the figures of verdicts on them.

The score of related links on a page is the F1 of the links that have a text and lead to a page;
a page without related links where some are found is a false alarm. The score of kinds is the share
of a page's links with the kind of their label. Both are means of hosts, of the means of a host's
pages.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.kit.results import require_data
from benchmarks.kit.sources import rows_of
from benchmarks.page.links import LABELS, aligned
from benchmarks.robust.figures import host_interval, host_means
from crawlclean import LinkKind, RawPage
from crawlclean.cleaning.body.body import read_body
from crawlclean.cleaning.body.page_body import Body, without_lines
from crawlclean.cleaning.document.document import Document, read_document
from crawlclean.cleaning.links.evidence import OwnValues
from crawlclean.cleaning.links.kinds import judge_links
from crawlclean.cleaning.links.links import read_anchors
from crawlclean.cleaning.links.lists import LinkLists
from crawlclean.cleaning.metadata.title import read_title
from crawlclean.cleaning.records import BodySource

FILES = ("pages", "pages2")
_NO_HREF = ("", "#", "javascript")


class WithLabels(Protocol):
    """A page with the labels of its links."""

    @property
    def labels(self) -> list[dict[str, Any]]:
        """The labels, in the order of the document."""


@dataclass(frozen=True, slots=True)
class LinkPage:
    """A labelled page: its host, language and labels, and what the links are read from."""

    host: str
    lang: str
    labels: list[dict[str, Any]]
    document: Document
    body: Body
    title: str
    url: str
    places: tuple[tuple[int, int], ...]
    """Number of each label with a link, and the number of that link."""


def rows() -> Iterator[dict[str, Any]]:
    """Yields the labelled rows of all files, with their source decoded as ``page``."""
    for name in FILES:
        for row in rows_of(require_data("links") / f"{name}.jsonl.gz"):
            row["page"] = RawPage.from_bytes(row["url"], base64.b64decode(row["html_base64"]))
            yield row


def read_pages() -> list[LinkPage]:
    """Returns every labelled page, parsed."""
    return [read_page(row, row["page"]) for row in rows()]


def read_page(row: dict[str, Any], page: RawPage) -> LinkPage:
    """Returns a page or a copy of it with the labels of its row."""
    document = read_document(page)
    body = read_body(document, None, None, None)
    if body.source is BodySource.LIST:  # as the product reads links
        body = without_lines(body)
    lang = "zh" if row["lang"] == "zh" else "en"
    title = read_title(document, body, None)
    numbers = {id(anchor): i for i, anchor in enumerate(document.tree.anchors)}
    places = tuple(
        (number, numbers[id(anchor)])
        for number, anchor in aligned(row["links"], document.tree.anchors)
    )
    return LinkPage(row["host"], lang, row["links"], document, body, title, row["url"], places)


def lists_of(page: LinkPage, own: OwnValues | None = None) -> tuple[OwnValues, LinkLists]:
    """Returns what the links of a page say by themselves, and their lists."""
    own = read_anchors(page.document) if own is None else own
    return own, LinkLists(page.document, page.body, page.title, own)


def kinds_of(
    page: LinkPage, read: tuple[OwnValues, LinkLists] | None = None
) -> dict[int, LinkKind]:
    """Returns the kind of each labelled link that the product lists, by its number.

    Args:
        page: The page.
        read: The result of ``lists_of``, where it is known.
    """
    own, lists = lists_of(page) if read is None else read
    verdicts = judge_links(lists, own.known)
    return {number: verdicts[i][0] for number, i in page.places if i < len(verdicts)}


def counts(page: WithLabels, kinds: dict[int, LinkKind]) -> tuple[int, int, int]:
    """Returns (right, wrong, missed) related links."""
    right = wrong = missed = 0
    for i, link in enumerate(page.labels):
        href = (link["href"] or "").strip().lower()
        if not link["text"].strip() or href in _NO_HREF or href.startswith("javascript:"):
            continue
        is_related, is_found = link["label"] == "related", kinds.get(i) is LinkKind.RELATED
        right += is_related and is_found
        wrong += is_found and not is_related
        missed += is_related and not is_found
    return right, wrong, missed


def share_right(page: LinkPage, kinds: dict[int, LinkKind]) -> float:
    """Returns the share of listed links with the kind of their label, 0..1."""
    right = sum(page.labels[i]["label"] == LABELS[kind] for i, kind in kinds.items())
    return right / len(kinds) if kinds else 1.0


def related_f1(page: LinkPage, kinds: dict[int, LinkKind]) -> float | None:
    """Returns the F1 of related links; None on a page without any."""
    right, wrong, missed = counts(page, kinds)
    return 2 * right / (2 * right + wrong + missed) if right + missed else None


def errors(page: LinkPage, kinds: dict[int, LinkKind]) -> int:
    """Counts wrong kinds, and wrong or missed related links once more."""
    _, wrong, missed = counts(page, kinds)
    wrong_kinds = sum(page.labels[i]["label"] != LABELS[kind] for i, kind in kinds.items())
    return int(wrong_kinds + wrong + missed)


def figures(answers: Iterable[tuple[LinkPage, dict[int, LinkKind]]]) -> dict[str, Any]:
    """Returns the figures of related links by language, and of kinds."""
    related: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    kinds: dict[str, list[float]] = defaultdict(list)
    for page, found in answers:
        f1 = related_f1(page, found)
        if f1 is None:
            sums[page.lang][3] += counts(page, found)[1] > 0
            sums[page.lang][4] += 1
        else:
            related[page.lang][page.host].append(f1)
        for n, count in enumerate(counts(page, found)):
            sums[page.lang][n] += count
        kinds[page.host].append(share_right(page, found))
    result: dict[str, Any] = {"kinds": _mean(kinds)}
    for lang, by_host in related.items():
        right, wrong, missed, alarms, without = sums[lang]
        result[f"related {lang}"] = {
            **_mean(by_host),
            "micro": round(2 * right / (2 * right + wrong + missed), 4),
            "precision": round(right / (right + wrong), 4) if right + wrong else 0.0,
            "recall": round(right / (right + missed), 4),
            "false alarms": f"{alarms} of {without}",
        }
    return result


def _mean(by_host: dict[str, list[float]]) -> dict[str, Any]:
    means = host_means(by_host)
    low, high = host_interval(list(means.values()))
    least = sorted(means.items(), key=lambda item: item[1])[:3]
    return {
        "host mean": round(sum(means.values()) / len(means), 4),
        "90": [round(low, 4), round(high, 4)],
        "least hosts": {host: round(value, 3) for host, value in least},
    }
