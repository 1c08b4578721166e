"""Parts of the list of failure groups: whatever changes meanwhile, none is left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.operations.failures import failure_groups
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from tests.kit.console import settings_of

Key = tuple[int, str, str]
"""(number of the page and its host, crawl, reason)."""

PAGES = st.integers(0, 3)
KEYS = st.tuples(PAGES, st.sampled_from("abc"), st.sampled_from(("timeout", "dns")))
GROUPS = st.dictionaries(KEYS, st.integers(1, 4), max_size=12)
CHANGES = st.lists(st.dictionaries(KEYS, st.integers(0, 6), max_size=3), max_size=12)


@pytest.fixture(scope="module")
def backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptBackends]:
    data = Path(tmp_path_factory.mktemp("parts"))
    with closing(SqliteStore(data / "records.sqlite")) as store:
        store.crawls.all()
    with closing(KeptBackends(settings_of(data))) as opened:
        yield opened


def put(backends: KeptBackends, key: Key, count: int) -> None:
    """Stores a group; one without failures is no more."""
    page, crawl, reason = key
    row = {"host": f"h{page}", "crawl_id": crawl, "reason": reason, "status": 0}
    with backends.store() as store:
        tables = store.overview._tables
        if not count:
            tables.delete("failure_groups", row)
            return
        # A page has one outcome in a crawl, so two groups of a crawl have other samples.
        sample = sha256(f"{page} {crawl if reason == 'dns' else ''}".encode()).hexdigest()[:32]
        times = {"first_at": 1, "newest_at": 2, "sample": sample}
        tables.put("failure_groups", {**row, "n": count, **times})


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(groups=GROUPS, changes=CHANGES, limit=st.integers(1, 4))
def test_no_group_is_left_out(
    backends: KeptBackends,
    groups: dict[Key, int],
    changes: list[dict[Key, int]],
    limit: int,
) -> None:
    """A group that stays as it is comes once; one that shrinks, at least once."""
    with backends.store() as store:
        store.overview._tables.delete("failure_groups", {})
    for key, count in groups.items():
        put(backends, key, count)
    now, least = dict(groups), dict(groups)
    grown: set[Key] = set()
    seen: list[tuple[str, str, str]] = []
    after = ""
    waiting = iter(changes)
    while True:
        backends.forget_all()
        value, _, rest = after.partition("~")
        place = (int(value), rest) if after else None
        page = failure_groups(backends, after=place, limit=limit)
        seen += [(each.host, each.crawl_id, each.reason.value) for each in page.items]
        after = page.after
        if not after:
            break
        for key, count in next(waiting, {}).items():
            put(backends, key, count)
            if count > now.get(key, 0):
                grown.add(key)
            now[key] = count
            least[key] = min(least.get(key, 0), count)
    for key, count in groups.items():
        times = seen.count((f"h{key[0]}", key[1], key[2]))
        if least[key] == now[key] == count and key not in grown:
            assert times == 1, key
        elif least[key] and key not in grown:
            assert times >= 1, key
