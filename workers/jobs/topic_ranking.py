"""Ranking anew: when a topic's link model has changed enough, all waiting URLs get its ranks.

The worker that learned does it, in its job: ranking stops for no page of other workers, and a
killed ranking is taken up at its cursor by the next one (``storage/queue/topic_ranks.py``).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from crawlclean.cleaning.topics.learner import FIRST_RANK, LAST_RANK, LinkModel, rank_line
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.storage.crawl_types import CrawlSpec
from crawlclean.storage.queue.entries import unpack_features
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.overflow import TopicModel
from crawlclean.storage.queue.topic_ranks import Score, TopicRanks
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import TopicRow
from crawlclean.workers.jobs.topic_learning import Learned, learn_batch
from crawlclean.workers.jobs.topic_rows import order_of

log = logging.getLogger(__name__)

LEAST_CHANGE = 0.3
"""Mean change of scores, in logits, from which the order is worth a ranking: 15 ranks."""
EVERY_PAGES = 2_000
"""Learned pages after which the waiting URLs are ranked anew in any case, because they age."""
CHEAP_URLS = 50
"""Waiting URLs for each page learned that are always ranked: .6 ms a page, 3 % of cleaning."""
COMPARED_PAGES = 200
KNOWN_FEATURES = 50_000  # sets of features whose ranks are kept: 10 MB
LONGEST_S = 60.0
"""Of a job, which RQ ends after 180 s; a million URLs take 33 s of CPU time, half of it the
server's, and the next job goes on at the cursor."""


def score_of(model: LinkModel) -> Score:
    """Returns what ranks links by a model, as ``rank_of`` does; links often share all features."""
    known: dict[bytes, tuple[float, float]] = {}

    def score(links: Sequence[tuple[bytes, bytes]]) -> list[int]:
        ranks = []
        for page, packed in links:
            line = known.get(packed)
            if line is None:
                if len(known) >= KNOWN_FEATURES:
                    known.clear()
                line = known[packed] = rank_line(*model.score(unpack_features(packed)))
            rank = round(line[0] + line[1] * (page[0] << 8 | page[1]))
            ranks.append(min(LAST_RANK, max(FIRST_RANK, rank)))
        return ranks

    return score


class TopicModels:
    """Ranks of links by the newest published models, for the URLs that wait in the store."""

    def __init__(self, ranks: TopicRanks) -> None:
        """Keeps the model of a crawl until a newer one is published."""
        self._ranks = ranks
        self._known: dict[str, TopicModel] = {}

    def of(self, crawl_id: str) -> TopicModel | None:
        """Returns the (version, ranks) of a crawl's newest model; None: there is none."""
        packed, version = self._ranks.weights(crawl_id)
        if not packed:
            return None
        known = self._known.get(crawl_id)
        if known is None or known[0] != version:
            known = self._known[crawl_id] = version, score_of(LinkModel.from_bytes(packed))
        return known


def steer(store: Store, frontier: Frontier, spec: CrawlSpec) -> None:
    """Moves the floor of a topic crawl towards the pages an hour of its order, if it has any."""
    row = store.topics.get(spec.topic) if spec.topic else None
    wanted = order_of(row).pages_per_hour if row else None
    if wanted is not None:
        frontier.topics.steer(spec.crawl_id, wanted)


def rank_anew(store: Store, frontier: Frontier, crawl_id: str, learned: Learned) -> int:
    """Ranks the waiting URLs of a topic crawl if the model has changed enough; returns how many.

    Args:
        store: Holds the model of the last ranking.
        frontier: The queue.
        crawl_id: The topic's crawl.
        learned: The batch that was learned.
    """
    if not _is_due(store, frontier, crawl_id, learned):
        return 0
    end = time.monotonic() + LONGEST_S
    done = frontier.topics.rerank(
        crawl_id, score_of(learned.after), learned.version, lambda: time.monotonic() > end
    )
    extra = {"crawl": crawl_id, "version": learned.version, "urls": done.urls, "moved": done.moved}
    log.info("topic ranked", extra=extra)
    return done.urls


def reach_queue(store: Store, frontier: Frontier, row: TopicRow) -> None:
    """Lets a mark or an edit of a topic change what waits: learns from it, ranks anew.

    Repeating it changes nothing; a run does it for what was changed while the queue was at rest.

    Args:
        store: The store.
        frontier: The queue.
        row: The topic; its stored pages are judged by this version.
    """
    ranks, crawl_id = frontier.topics, row.crawl_id
    if ranks.reached_by(crawl_id) >= row.version:
        return
    topic = Topic.from_bytes(row.packed)
    while learn_batch(store, ranks, topic, crawl_id, at_once=True):
        pass
    newest = store.topics.model(row.name)
    if newest is not None:
        ranks.publish_weights(crawl_id, newest.packed, newest.version)
        model = LinkModel.from_bytes(newest.packed)
        ranks.rerank(crawl_id, score_of(model), newest.version)
    ranks.note_reached(crawl_id, row.version)


def _is_due(store: Store, frontier: Frontier, crawl_id: str, learned: Learned) -> bool:
    waiting = frontier.topics.waiting(crawl_id)
    if waiting <= CHEAP_URLS * len(learned.links):
        return waiting > 0
    ranked = frontier.topics.ranked_version(crawl_id)
    stored = store.topics.model(learned.topic, ranked) if ranked else None
    if stored is None:
        return True  # never ranked, or so long ago that the model is gone
    before = LinkModel.from_bytes(stored.packed)
    if learned.after.examples - before.examples >= EVERY_PAGES:
        return True
    newest = store.topics.newest(learned.topic, COMPARED_PAGES)
    links = [page.judgement.features for page in newest if page.judgement.features]
    return learned.after.change_since(before, links) > LEAST_CHANGE
