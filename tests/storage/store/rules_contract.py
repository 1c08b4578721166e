"""What every store must do with the rules of a host; see ``store_contract.py``."""

from __future__ import annotations

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.store.hosts import KeptRules
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST

OTHER = "other.example"
RULES = KeptRules(
    robots="User-agent: *\nDisallow: /私/\n",
    rules='[{"template":"/t/{n}"}]',
    pins={"/tag/{w}": "forbid"},
    stopped={"/cal/*": "no novelty", "=/tag/{w}": "forbidden by an operator"},
)


class RulesContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_rules_come_back_equal(self, store: Store) -> None:
        assert store.rules.get("c1", HOST) is None
        assert store.rules.put("c1", HOST, RULES)
        assert not store.rules.put("c1", HOST, RULES), "nothing has changed"
        assert store.rules.get("c1", HOST) == RULES
        assert store.rules.get("c2", HOST) is None
        assert store.rules.put("c1", HOST, KeptRules())
        assert store.rules.get("c1", HOST) == KeptRules()

    def test_rules_go_with_their_host_and_crawl(self, store: Store) -> None:
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.RUNNING)
        for crawl, host in (("c1", HOST), ("c1", OTHER), ("c2", HOST)):
            store.rules.put(crawl, host, RULES)
        store.delete_host("c1", OTHER)
        assert store.rules.get("c1", OTHER) is None
        assert store.rules.get("c1", HOST) == RULES
        store.delete_crawl("c1")
        assert store.rules.get("c1", HOST) is None
        assert store.rules.get("c2", HOST) == RULES
