"""What search by words costs: processor time and bytes a record, and the time of a query.

Records of some 1,200 characters, half of them Chinese, are saved and then indexed. Letters and
words are drawn by Zipf's law, which is close to texts as far as the index is concerned. Reported:
processor milliseconds a record of saving and of indexing (with reading the records), bytes of the
index a record, and processor milliseconds of queries of two to six letters, drawn from the texts,
with the check of their hits.

``make bench-search``, ``make bench-search ARGS="--records 100000 --keep"``
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles

from benchmarks.kit.results import keep, show
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.search import Asked, SearchFile
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.jobs.search import SearchFiller
from crawlclean.workers.operations.searching import search_in
from tests.kit.outcomes import later, make_outcome

CHARS = 1200
QUERIES = 300
SAVED_AT_ONCE = 20
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
WORDS = [f"w{n:x}" for n in range(5000)]
LIMIT = 50
GOAL_P95_MS = 100.0


def main() -> int:
    """Measures and keeps the result; 1 when queries miss their goal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/search.json")
    asked = parser.parse_args()
    draw = random.Random(14)  # noqa: S311 - repeatable
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        store = SqliteStore(data / DATABASE)
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.FINISHED)
        with closing(store), closing(SearchFile(data)) as index:
            texts = [text_of(draw) for _ in range(asked.records)]
            outcomes = [outcome_of(n, text) for n, text in enumerate(texts)]
            saving = time.process_time()
            for start in range(0, asked.records, SAVED_AT_ONCE):
                store.save(outcomes[start : start + SAVED_AT_ONCE])
            saving = time.process_time() - saving
            filling = time.process_time()
            added = SearchFiller(store, index, may_be_late=False).fill(1e9)
            filling = time.process_time() - filling
            costs = [query(store, index, phrase_of(draw, texts)) for _ in range(QUERIES)]
            index.close()
            size = sum(path.stat().st_size for path in data.glob("search.sqlite*"))
            stored = sum(path.stat().st_size for path in data.glob("records.sqlite*"))
    if added != asked.records:
        sys.exit(f"{added} of {asked.records} records were indexed")
    result = {
        "records": asked.records,
        "chars": CHARS,
        "save_cpu_ms": round(1000 * saving / asked.records, 2),
        "index_cpu_ms": round(1000 * filling / asked.records, 2),
        "index_of_save": round(filling / saving, 2),
        "index_bytes": round(size / asked.records),
        "store_bytes": round(stored / asked.records),
        "query_cpu_ms": round(median(costs), 1),
        "query_cpu_p95_ms": round(quantiles(costs, n=20)[-1], 1),
    }
    if asked.keep:
        keep("search", result)
    else:
        show(result)
    return 1 if result["query_cpu_p95_ms"] > GOAL_P95_MS else 0


def text_of(draw: random.Random) -> str:
    """Sentences, half of the letters Chinese."""
    parts: list[str] = []
    while sum(map(len, parts)) < CHARS:
        parts.append("".join(zipf(draw, HAN, draw.randrange(6, 30))) + "，")
        parts.append(" ".join(zipf(draw, WORDS, draw.randrange(2, 9))) + ". ")
    return "".join(parts)


def zipf(draw: random.Random, of: list[str], n: int) -> list[str]:
    """Letters or words, the k-th as often as 1/k."""
    return [of[int(len(of) ** draw.random()) - 1] for _ in range(n)]


def outcome_of(n: int, text: str) -> Outcome:
    """A page with a record of this text and the links of a page of a forum."""
    outcome = make_outcome(f"/{n}", at=later(n % 1000))
    record = outcome.record
    if record is None:
        sys.exit("a page without a record")
    return replace(outcome, record=replace(record, body=text, markdown=text, posts=()))


def phrase_of(draw: random.Random, texts: list[str]) -> str:
    """Two to six letters of some text, which are mostly in one run."""
    text = draw.choice(texts)
    at = draw.randrange(len(text) - 6)
    part = text[at : at + draw.randrange(2, 7)]
    return f'"{part}"' if sum(each.isalnum() for each in part) > 1 else phrase_of(draw, texts)


def query(store: SqliteStore, index: SearchFile, text: str) -> float:
    """Processor milliseconds of a query, with its first 50 records."""
    began = time.process_time()
    search_in(store, index, Asked(text=text), None, LIMIT)
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    sys.exit(main())
