"""Images of topics: refused before the request, kept, and copies found after the download.

    make bench-images [ARGS="labelled sites topics copies --quick"]

``labelled``: pages with a label for each image (``links``); each URL counts once a page, and images
without a URL that can be requested (``data:``, filled in by a script) do not count. Kept are
content images; reduction is the share of images that are refused, retention the share of content
images that are kept. By the page alone, as at a host that was not learned. Host means, the least
hosts, and the least figure of all hosts but one. The rules for images were chosen on these pages.

``sites``: whole sites, with a model of other pages; content images are those in the gold body.

``topics``: the images of the relevant pages of each topic (``CRAWLCLEAN_BENCH_TOPIC``), and as the
paper counts: the images of all pages of the hosts that have relevant pages.

``copies``: ``picture_copies.py``.
"""

from __future__ import annotations

import base64
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from benchmarks.kit.parts import Part, choose_parts
from benchmarks.kit.results import keep, kept, require_data, show
from benchmarks.kit.sources import rows_of
from benchmarks.site.pages import whole_sites
from benchmarks.topic.picture_copies import copies
from benchmarks.topic.relevance import page_sources
from benchmarks.topic.web import folder, read_web
from crawlclean import ImageKind, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.errors import PageError

LEARNED = 30  # pages of a host, of which its model is made
TESTED = 40  # pages of a site


class Counts(NamedTuple):
    """Images shown, kept, content, content kept."""

    shown: int = 0
    kept: int = 0
    content: int = 0
    retained: int = 0

    @property
    def figures(self) -> dict[str, float]:
        """Reduction and retention."""
        found = {"shown": self.shown, "kept": self.kept, "reduction": 1 - _share(self[:2][::-1])}
        if self.content:
            found |= {"content": self.content, "retention": self.retained / self.content}
        return {name: round(value, 4) for name, value in found.items()}


def _share(pair: Sequence[int]) -> float:
    return pair[0] / pair[1] if pair[1] else 0.0


def main() -> None:
    """Measures the parts that are named; prints and keeps their figures."""
    parts = {"labelled": labelled, "sites": sites, "topics": topics, "copies": copies}
    choice = choose_parts(__doc__.splitlines()[0], parts, "keeps nothing")
    result = choice.measure({name: _named(name, part) for name, part in parts.items()})
    if choice.quick:
        show(result)
    else:
        keep("images", kept("images") | result)


def _named(name: str, part: Part) -> Part:
    return lambda: {name: part()}


def labelled() -> dict[str, Any]:
    """Returns the figures of each labelled file."""
    found = {}
    for name in ("pages", "pages2"):
        hosts: dict[str, list[Counts]] = defaultdict(list)
        for row in rows_of(require_data("links") / f"{name}.jsonl.gz"):
            page = RawPage.from_bytes(row["url"], base64.b64decode(row["html_base64"]))
            images = clean(page).images
            if len(images) == len(row["images"]):
                labels = [label["label"] == "content" for label in row["images"]]
                hosts[row["host"]].append(_counted(_by_url(images, labels)))
        found[name] = _by_host(hosts)
    return found


def _by_url(images: Sequence[Any], labels: Sequence[bool]) -> dict[str, tuple[bool, bool]]:
    """(is kept, is content) of each URL that can be requested; the first image of a URL counts."""
    found: dict[str, tuple[bool, bool]] = {}
    for image, is_content in zip(images, labels, strict=True):
        if image.url:
            found.setdefault(image.url, (image.kind is ImageKind.CONTENT, is_content))
    return found


def _counted(images: Mapping[str, tuple[bool, bool]]) -> Counts:
    values = images.values()
    return Counts(
        len(values),
        sum(is_kept for is_kept, _ in values),
        sum(is_content for _, is_content in values),
        sum(is_kept and is_content for is_kept, is_content in values),
    )


def _sum(counts: Iterable[Counts]) -> Counts:
    return Counts(*map(sum, zip(*counts, strict=True)))


def _by_host(hosts: Mapping[str, Sequence[Counts]]) -> dict[str, Any]:
    sums = {host: _sum(counts) for host, counts in hosts.items()}
    shown = {host: each for host, each in sums.items() if each.shown}
    without = [_sum(o for name, o in shown.items() if name != host).figures for host in shown]
    reductions = {host: each.figures["reduction"] for host, each in shown.items()}
    retentions = {host: each.figures["retention"] for host, each in shown.items() if each.content}
    return {
        **_sum(shown.values()).figures,
        "hosts": len(shown),
        "host_mean_reduction": round(sum(reductions.values()) / len(reductions), 4),
        "host_mean_retention": round(sum(retentions.values()) / len(retentions), 4),
        "least_retention": [
            {"host": host, "content": shown[host].content, "retention": retentions[host]}
            for host in sorted(retentions, key=lambda host: retentions[host])[:4]
        ],
        "all_but_one_host": {
            name: min(each[name] for each in without) for name in ("reduction", "retention")
        },
    }


def sites() -> dict[str, Any]:
    """Returns the figures of whole sites, each with a model of pages that are not tested."""
    found: dict[str, list[Counts]] = {}
    with whole_sites() as known:
        for site in known:
            numbers = [n for n, is_content in enumerate(site.is_content) if is_content]
            random.Random(1).shuffle(numbers)  # noqa: S311 - a sample
            tested = set(numbers[:TESTED])
            others = [page for n, page in enumerate(site.pages) if n not in tested]
            random.Random(1).shuffle(others)  # noqa: S311 - a sample
            model = learn_site(others[:LEARNED])
            rows = []
            for n in tested:
                gold, images = site.gold(n).images, clean(site.pages[n], model).images
                if len(gold) == len(images):
                    rows.append(_counted(_by_url(images, [kind == "content" for _, kind in gold])))
            found[site.name] = rows
    return _by_host(found)


def topics() -> dict[str, Any]:
    """Returns for each topic how many images its relevant pages show, and how many are kept."""
    place = folder()
    web = read_web(place)
    wanted = {name for topic in web.topics for name in topic.relevant}
    hosts = {name.partition("/")[0] for name in wanted}
    names = {name for name in web.texts if name.partition("/")[0] in hosts}
    of_host: dict[str, list[tuple[str, RawPage]]] = defaultdict(list)
    for name, source in page_sources(place, names):
        host, _, path = name.partition("/")
        page = RawPage.from_bytes(f"http://{host}/{quote(path)}", source, "text/html")
        of_host[host].append((name, page))
    images: dict[str, dict[str, tuple[bool, bool]]] = {}
    for pages in of_host.values():
        sample = random.Random(1).sample(pages, min(LEARNED, len(pages)))  # noqa: S311 - a sample
        model = learn_site([page for _, page in sample])
        images |= {name: _images_of(page, model) for name, page in pages}
    rows = {topic.name: _of_topic(topic.relevant, images) for topic in web.topics}
    reductions = [row["reduction"] for row in rows.values()]
    return {
        "topics": rows,
        "mean_reduction": round(sum(reductions) / len(reductions), 4),
        "least_reduction": min(reductions),
    }


def _images_of(page: RawPage, model: SiteModel) -> dict[str, tuple[bool, bool]]:
    try:
        images = clean(page, model).images
    except PageError:
        return {}
    return _by_url(images, [False] * len(images))


def _of_topic(
    relevant: Iterable[str], images: Mapping[str, Mapping[str, tuple[bool, bool]]]
) -> dict[str, Any]:
    pages = [name for name in relevant if name in images]
    hosts = {name.partition("/")[0] for name in pages}
    shown = _merged(images[name] for name in pages)
    every = _merged(page for name, page in images.items() if name.partition("/")[0] in hosts)
    counts = _counted(shown)
    return {
        "pages": len(pages),
        **counts.figures,
        "paper": {
            "shown": len(every),
            "kept": counts.kept,
            "reduction": round(1 - counts.kept / len(every), 4) if every else 0.0,
        },
    }


def _merged(pages: Iterable[Mapping[str, tuple[bool, bool]]]) -> dict[str, tuple[bool, bool]]:
    """The images of pages, each URL once: kept if one page shows it as content."""
    found: dict[str, tuple[bool, bool]] = {}
    for page in pages:
        for url, (is_kept, _) in page.items():
            found[url] = (is_kept or found.get(url, (False, False))[0], False)
    return found


if __name__ == "__main__":
    main()
