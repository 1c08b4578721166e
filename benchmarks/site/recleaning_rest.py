"""Checks the store of a crawl that learned: is each record equal to a cleaning by its model?

Every archived page is cleaned by the model version of its record and by the newest; every statistic
is recounted from URL rows, records and archived pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from benchmarks.kit.serving import path_of
from crawlclean import CleanRecord, SiteModel, clean
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.jobs.recleaning import verdict_changes
from crawlclean.workers.site_models import read_model
from tests.kit.recount import recount_all


@dataclass
class Verdicts:
    """The records of a host that the newest model would change.

    Attributes:
        records: Number of records.
        by_version: Records by model version; 0: no model.
        other: Records that the newest model would change.
        by_field: These records by changed field.
    """

    records: int = 0
    by_version: Counter[int] = field(default_factory=Counter)
    other: int = 0
    by_field: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """Returns the verdicts for the result file."""
        return {
            "records": self.records,
            "by_version": {str(k): n for k, n in sorted(self.by_version.items())},
            "other": self.other,
            "by_field": dict(sorted(self.by_field.items())),
        }


def left_over(
    store: Store, wanted: Mapping[str, set[str]]
) -> tuple[list[str], dict[str, Verdicts]]:
    """Returns (complaints, verdicts of each wanted host).

    Args:
        store: Of a finished crawl.
        wanted: The paths that must be stored, by host.
    """
    complaints = list(_of_statistics(store))
    verdicts: dict[str, Verdicts] = defaultdict(Verdicts)
    models: dict[str, dict[int, SiteModel | None]] = {}
    for row in store.crawls.all():
        stored: dict[str, Counter[str]] = defaultdict(Counter)
        for record in store.records.scan(row.spec.crawl_id):
            host = record.host
            stored[host][path_of(record.url)] += 1
            if host not in models:
                models[host] = _models(store, host)
            complaints += _of_record(store, row.spec.crawl_id, record, models[host], verdicts[host])
        for host, counts in stored.items():
            if twice := [path for path, n in counts.items() if n > 1]:
                complaints.append(f"{len(twice)} of {host} stored twice: {twice[:3]}")
            if lost := wanted.get(host, set()) - set(counts):
                complaints.append(f"{len(lost)} of {host} lost: {sorted(lost)[:3]}")
    complaints += [f"nothing of {host} is stored" for host in wanted if host not in verdicts]
    return complaints, {host: verdicts[host] for host in wanted if host in verdicts}


def _of_statistics(store: Store) -> Iterator[str]:
    counted = recount_all(store)
    for row in store.crawls.all():
        for stats in store.statistics.all(row.spec.crawl_id):
            key = (row.spec.crawl_id, stats.host)
            recount = counted.pop(key, HostStats(host=stats.host))
            for name in (each.name for each in fields(HostStats)):
                kept, right = getattr(stats, name), getattr(recount, name)
                if kept != right:
                    yield f"statistics of {stats.host} in {key[0]}: {name} is {kept}, not {right}"
    for crawl_id, host in counted:
        yield f"no statistics of {host} in {crawl_id}"


def _models(store: Store, host: str) -> dict[int, SiteModel | None]:
    found: dict[int, SiteModel | None] = {0: None}
    for about in store.models.versions(host):
        stored = store.models.get(host, about.version)
        if stored:
            found[about.version] = read_model(stored)
    return found


def _of_record(
    store: Store,
    crawl_id: str,
    record: CleanRecord,
    models: Mapping[int, SiteModel | None],
    verdicts: Verdicts,
) -> Iterator[str]:
    verdicts.records += 1
    verdicts.by_version[record.model_version] += 1
    raw = store.answers.page(record.page_id, crawl_id)
    if raw is None:
        yield f"{record.url} is not archived"
        return
    if record.model_version not in models:
        yield f"{record.url} was made by version {record.model_version}, which is not there"
        return
    if clean(raw, models[record.model_version]) != record:
        yield f"{record.url} is not what version {record.model_version} makes of it"
    newest = max(models)
    if record.model_version != newest:
        changed = verdict_changes(record, clean(raw, models[newest]))
        verdicts.other += bool(changed)
        verdicts.by_field.update(changed)
