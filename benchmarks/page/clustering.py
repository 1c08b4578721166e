"""Paper 2's clustering experiment: do cleaned pages cluster better by topic?

``make bench-clustering``. Five topics of at least 30 pages and three hosts each
(``topics.txt``: judged by a reader from title and text, never taken from the site). Features are
TF-IDF weights of words (jieba), from three texts of a page: all visible text, the text kept by
paper 2's rule, our body. As in the paper, a genetic algorithm (pygad) searches for the pages from
which k-means (scikit-learn) ends best as starting centres; k-means with random centres is shown for
comparison.

Recall and precision are means over topics, for the best one-to-one matching of clusters and topics,
and for pairs of pages (same cluster, same topic). Figures are means of ``SEEDS`` runs with the 95 %
bootstrap interval over runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.kit.environments import EXPERIMENTS, move_to
from benchmarks.kit.results import keep
from benchmarks.kit.scoring import interval
from benchmarks.kit.sources import every_source
from crawlclean import RawPage, clean
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.papers.hyperlink_body import hyperlink_body
from crawlclean.cleaning.words import default_segmenter

TOPICS = Path(__file__).with_name("topics.txt")
SEEDS = range(12)
GENERATIONS = 15
POPULATION = 12
ROUNDS_WITHIN = 5  # of k-means, to judge starting centres
MAX_WORDS = 5000


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its topic."""

    topic: str
    host: str
    page: RawPage


TEXTS: dict[str, Callable[[RawPage], str]] = {
    "raw": lambda page: parse(page.html).text(),
    "paper 2": lambda page: hyperlink_body(page.html).text,
    "ours": lambda page: clean(page).body,
}


def main() -> int:
    """Clusters the pages by each text and keeps the result."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # none but --help
    move_to("experiments", EXPERIMENTS, "benchmarks.page.clustering", "pygad")
    pages = list(topic_pages())
    names = sorted({page.topic for page in pages})
    topics = [names.index(page.topic) for page in pages]
    result: dict[str, Any] = {
        "topics": {
            name: {
                "pages": topics.count(number),
                "hosts": len({page.host for page in pages if page.topic == name}),
            }
            for number, name in enumerate(names)
        },
        "seeds": len(SEEDS),
    }
    for name, text_of in TEXTS.items():
        weights = _weights([text_of(page.page) for page in pages])
        for method, cluster in (("genetic + k-means", _genetic), ("k-means", _random)):
            runs = []
            for seed in SEEDS:
                runs.append(_measures(topics, cluster(weights, len(names), seed), len(names)))
                sys.stderr.write(f"\r{name}, {method}: run {len(runs)} of {len(SEEDS)} ")
            sys.stderr.write("\n")
            result.setdefault(method, {})[name] = _summary(runs)
    keep("clustering", result)
    return 0


def topic_pages() -> Iterator[Page]:
    """Yields the pages that have a topic."""
    rows = [line.split() for line in TOPICS.read_text("utf-8").splitlines() if line[:1] != "#"]
    topics = dict(rows)
    for source in every_source():
        topic = topics.pop(blake2b(source.body, digest_size=8).hexdigest(), None)
        if topic is not None:
            page = RawPage.from_bytes(source.url, source.body)
            yield Page(topic, source.host, page)
    if topics:
        sys.exit(f"{len(topics)} pages of {TOPICS.name} are not in the labelled data")


def _weights(texts: Sequence[str]) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = default_segmenter().words
    vectorizer = TfidfVectorizer(
        analyzer=lambda text: [word for word in words(text) if len(word) > 1],
        min_df=2,
        max_df=0.9,
        max_features=MAX_WORDS,
        sublinear_tf=True,
    )
    return vectorizer.fit_transform(texts).toarray()


def _k_means(weights: Any, count: int, seed: int, start: Any, rounds: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(count, init=start, n_init=1, max_iter=rounds, random_state=seed).fit(weights)


def _random(weights: Any, count: int, seed: int) -> Sequence[int]:
    return list(_k_means(weights, count, seed, "random", 100).labels_)


def _genetic(weights: Any, count: int, seed: int) -> Sequence[int]:
    """Clusters from starting pages of a genetic algorithm; fitness is negative inertia."""
    import pygad

    def fitness(_search: Any, solution: Any, _index: int) -> float:
        if len(set(solution)) < count:
            return -float(len(weights))
        start = weights[solution.astype(int)]
        return -float(_k_means(weights, count, seed, start, ROUNDS_WITHIN).inertia_)

    search = pygad.GA(
        num_generations=GENERATIONS,
        num_parents_mating=POPULATION // 2,
        sol_per_pop=POPULATION,
        num_genes=count,
        gene_type=int,
        gene_space=range(len(weights)),
        fitness_func=fitness,
        mutation_num_genes=1,
        random_seed=seed,
        suppress_warnings=True,
    )
    search.run()
    best, _, _ = search.best_solution()
    return list(_k_means(weights, count, seed, weights[best.astype(int)], 100).labels_)


def _measures(topics: Sequence[int], clusters: Sequence[int], count: int) -> dict[str, float]:
    from scipy.optimize import linear_sum_assignment

    table = [[0] * count for _ in range(count)]
    for topic, cluster in zip(topics, clusters, strict=True):
        table[topic][cluster] += 1
    of_topic, of_cluster = _matched(table, linear_sum_assignment)
    together = sum(_pairs(n) for row in table for n in row)
    columns = zip(*table, strict=True)
    return {
        "recall": statistics.fmean(of_topic),
        "precision": statistics.fmean(of_cluster),
        "pair_recall": together / sum(_pairs(sum(row)) for row in table),
        "pair_precision": together / sum(_pairs(sum(column)) for column in columns),
    }


def _matched(table: list[list[int]], assign: Any) -> tuple[list[float], list[float]]:
    rows, columns = assign(table, maximize=True)
    matched = list(zip(rows, columns, strict=True))
    recalls = [table[i][j] / sum(table[i]) for i, j in matched]
    sizes = [sum(column) for column in zip(*table, strict=True)]
    return recalls, [table[i][j] / max(1, sizes[j]) for i, j in matched]


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _summary(runs: Sequence[dict[str, float]]) -> dict[str, Any]:
    return {
        name: {
            "value": round(statistics.fmean(run[name] for run in runs), 4),
            "95": [round(x, 4) for x in interval([run[name] for run in runs])],
        }
        for name in runs[0]
    }


if __name__ == "__main__":
    sys.exit(main())
