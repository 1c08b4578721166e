"""What the kinds of links are worth to who uses them: ``make bench-link_use`` prints three tables.

*Related links* are measured over all pages, lists and home pages included: precision and recall of
all links, the mean F1 of the pages that have some, and on how many of the others some were found.
*Kinds* are right as labelled, and by use: content to read (related, hot, in the body), index pages
that lead on (menus, keywords, others), what a crawl skips (functions, legal pages, advertising).
Their figures are means of sites, with 90 % intervals from sites drawn anew and the least site; all
domains of an organisation are one site.

Rows are the files of labels, English pages, and two halves of the sites by their names: rules are
made by the pages of ``seen``; those of ``kept`` are only scored. The second table has hosts with
two pages or more, each page alone and with a model of the others. The third has pages without
labels of which the kind is known: on lists, boards and pages of users every related link is wrong.
"""

from __future__ import annotations

import base64
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.kit.results import require_data
from benchmarks.kit.sources import rows_of, site_pages
from benchmarks.page.links import LABELS, aligned
from benchmarks.robust.figures import host_interval, host_means
from benchmarks.robust.link_pages import counts
from crawlclean import LinkKind, RawPage, clean, learn_site
from crawlclean.cleaning.links.evidence import site_of

FILES = ("pages", "pages2", "pages3")
_USES = {
    **dict.fromkeys(("related", "hot", "inbody"), "content"),
    **dict.fromkeys(("nav", "tag", "other"), "index"),
    **dict.fromkeys(("function", "legal", "ad"), "skip"),
}
_NO_RELATED = frozenset(("board", "index", "user", "search"))
_TEXTS = frozenset(("apache.test",))  # whose index pages are chapters, with related ones
_EVERY = 12  # of the pages of a whole site


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled page, or one known to have no related links, with the kinds of its links."""

    labels: list[dict[str, Any]]
    site: str
    kinds: dict[int, LinkKind]

    def right(self, by_use: bool) -> float:
        """Returns the share of links with the kind, or the use, of their label."""
        pairs = [(self.labels[i]["label"], LABELS[kind]) for i, kind in self.kinds.items()]
        same = sum(_USES[a] == _USES[b] if by_use else a == b for a, b in pairs)
        return same / len(pairs) if pairs else 1.0


def main() -> int:
    """Prints the tables."""
    sources = [(name, row) for name in FILES for row in _rows(name)]
    pages = [(name, row, _page(row)) for name, row in sources]
    found = [(name, row["lang"], _answer(row, page, None)) for name, row, page in pages]
    _print_head("the page alone")
    zh = [(name, answer) for name, lang, answer in found if lang == "zh"]
    for name in FILES:
        _print_row(name, [answer for file, answer in zh if file == name])
    for name in ("seen", "kept"):
        _print_row(name, [answer for _, answer in zh if _half(answer.site) == name])
    _print_row("zh", [answer for _, answer in zh])
    _print_row("other", [answer for _, lang, answer in found if lang != "zh"])
    alone, known = _with_models([(row, page) for _, row, page in pages])
    _print_head("hosts with two pages or more")
    _print_row("alone", alone)
    _print_row("model", known)
    worse = _worse(alone, known)
    sys.stdout.write(f"worse with a model: {worse or 'none'}\n\npages without related links\n")
    for kind, results in sorted(_without_related().items()):
        some = sum(count > 0 for count in results)
        sys.stdout.write(f"{kind:8} {some:4} of {len(results)} have some: {sum(results)} links\n")
    return 0


def _rows(name: str) -> Iterator[dict[str, Any]]:
    for row in rows_of(require_data("links") / f"{name}.jsonl.gz"):
        if not (name == "pages3" and "feiju" in row["host"]):  # a blog whose labels are in doubt
            yield row


def _page(row: dict[str, Any]) -> RawPage:
    return RawPage.from_bytes(row["url"], base64.b64decode(row["html_base64"]))


def _half(site: str) -> str:
    return "seen" if zlib.crc32(site.encode()) & 1 else "kept"


def _answer(row: dict[str, Any], page: RawPage, others: Sequence[RawPage] | None) -> Answer:
    links = clean(page, None if others is None else learn_site(others)).links
    kinds = {i: link.kind for i, link in aligned(row["links"], links)}
    return Answer(row["links"], site_of(row["host"]), kinds)


def _with_models(
    pages: Sequence[tuple[dict[str, Any], RawPage]],
) -> tuple[list[Answer], list[Answer]]:
    """Answers of each page of a host with two or more, alone and with a model of the others."""
    by_host: dict[str, list[tuple[dict[str, Any], RawPage]]] = defaultdict(list)
    for number, (row, page) in enumerate(pages):
        mark = "&" if "?" in page.url else "?"
        url = f"{page.url.partition('#')[0]}{mark}page={number}"
        by_host[row["host"]].append((row, replace(page, host=row["host"], url=url)))
    alone, known = [], []
    for of_host in by_host.values():
        if len(of_host) > 1:
            for row, page in of_host:
                others = [other for _, other in of_host if other is not page]
                alone.append(_answer(row, page, None))
                known.append(_answer(row, page, others))
    return alone, known


def _worse(alone: Sequence[Answer], known: Sequence[Answer]) -> str:
    """The sites whose kinds are right less often with a model: ``a.cn .93 -> .91``."""
    before, after = _of_sites(alone, False), _of_sites(known, False)
    lost = [site for site in before if after[site] < before[site]]
    return ", ".join(f"{site} {before[site]:.3f} -> {after[site]:.3f}" for site in sorted(lost))


def _of_sites(answers: Sequence[Answer], by_use: bool) -> dict[str, float]:
    shares: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        shares[answer.site].append(answer.right(by_use))
    return host_means(shares)


def _print_head(title: str) -> None:
    sys.stdout.write(
        f"\n{title:28} related P     R   page F1  without | kinds  (90 %)"
        "          by use | sites, least\n"
    )


def _print_row(name: str, answers: Sequence[Answer]) -> None:
    total: Counter[str] = Counter()
    scores = []
    for answer in answers:
        right, wrong, missed = counts(answer, answer.kinds)
        total.update(right=right, wrong=wrong, missed=missed)
        if right + missed:
            scores.append(2 * right / (2 * right + wrong + missed))
        else:
            total.update(without=1, alarms=wrong > 0)
    kinds, uses = _of_sites(answers, False), _of_sites(answers, True)
    low, high = host_interval([*kinds.values()])
    least = min(kinds, key=kinds.__getitem__)
    right = total["right"]
    sys.stdout.write(
        f"{name:32} {right / max(1, right + total['wrong']):9.3f}"
        f" {right / max(1, right + total['missed']):.3f} {sum(scores) / max(1, len(scores)):8.3f}"
        f"  {total['alarms']:3} of {total['without']:3} |"
        f" {sum(kinds.values()) / len(kinds):.3f} ({low:.3f}-{high:.3f})"
        f" {sum(uses.values()) / len(uses):9.3f} | {len(kinds)}, {least} {kinds[least]:.2f}\n"
    )


def _without_related() -> dict[str, list[int]]:
    """Numbers of related links by kind of page, on pages that have none."""
    found: dict[str, list[int]] = defaultdict(list)
    pages = [
        ("site", RawPage.from_bytes(f"http://{page.site}/{number}", page.body))
        for number, page in enumerate(site_pages())
        if page.kind == "index"
        and page.site not in _TEXTS
        and not zlib.crc32(page.path.encode()) % _EVERY
    ]
    for file in sorted(require_data("forum").glob("*.jsonl.gz")):
        pages += [
            (row["type"], RawPage.from_bytes(row["url"], row["html"].encode(), "text/html;utf-8"))
            for row in rows_of(file)
            if row["type"] in _NO_RELATED and row.get("html")
        ]
    for kind, page in pages:
        links = clean(page).links
        found[kind].append(sum(link.kind is LinkKind.RELATED for link in links))
    return found


if __name__ == "__main__":
    sys.exit(main())
