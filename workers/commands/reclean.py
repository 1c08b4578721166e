"""`reclean`: a host's stored pages are cleaned again from the archive, with its model."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from cleaning.errors import NotFound
from cleaning.model.site_model import SiteModel
from storage.opening import open_store
from storage.store.host_pages import RecordVersion
from workers.commands.clean_pool import BATCH, batches, in_order
from workers.commands.models import find_version, host_named
from workers.commands.reading import reading
from workers.config import Settings
from workers.jobs.recleaning import CleanedAgain, Round, clean_round, older_records
from workers.jobs.site_models import read_model
from workers.output.printing import print_json, printable
from workers.output.progress import Tally

EXAMPLES = 5
SHOWN_CHARS = 60
IN_PARALLEL = 4 * BATCH  # fewer are done before other processes have started


def reclean(settings: Settings, host: str, *, dry_run: bool, again: bool, as_json: bool) -> int:
    """Cleans the records of a host that an older version of its model made; 1 when some failed.

    Args:
        settings: Where the store is.
        host: A name or an address.
        dry_run: Store nothing, print what would differ.
        again: Also records that the version in use made; then the host needs no model.
        as_json: Print one JSON object.

    Raises:
        NotFound: Nothing of the host is stored, or it has no model.
        ConfigError: Its model is of a format this program cannot read.
    """
    host = host_named(host)
    with reading(settings) as store:
        model = None
        if not again or store.models.newest(host):
            model = read_model(find_version(store, host, None))
        elif store.statistics.get(host) is None:
            raise NotFound(f"nothing of {host} is stored")
        version = model.version if model else 0
        tally = Tally("compared" if dry_run else "cleaned again", 0)
        total = Round()
        records = older_records(store, host, version, again=again)
        is_whole = False
        try:
            for part in _rounds(settings, records, model, save=not dry_run):
                total.add(part, EXAMPLES)
                for each in part.failed:
                    tally.say(printable(each))
                tally.done, tally.failed = total.cleaned, len(total.failed)
                tally.show()
            is_whole = True
        except KeyboardInterrupt:
            left = "begins anew" if again else "does the rest"
            tally.say(
                "interrupted; " + ("nothing changed" if dry_run else f"the same command {left}")
            )
        if not dry_run:
            store.statistics.refresh()
        fetches_images = any(row.spec.images for row in store.crawls.all())
    tally.show(last=True)
    if as_json:
        print_json(_as_json(host, version, total, dry_run=dry_run) | {"interrupted": not is_whole})
    elif is_whole or total.cleaned:
        sys.stdout.write(_as_text(host, version, total, dry_run=dry_run))
        if total.pictured and fetches_images:
            sys.stdout.write(_pictured_text(total.pictured, dry_run=dry_run))
    return 1 if total.failed or not is_whole else 0


def _rounds(
    settings: Settings, records: Iterator[RecordVersion], model: SiteModel | None, *, save: bool
) -> Iterator[Round]:
    """What became of the records, some at a time; by several processes when there are many."""
    work = partial(_clean_some, settings=settings, model=model, save=save)
    lots = batches(records, lambda _: 0)
    first = [lot for _, lot in zip(range(IN_PARALLEL // BATCH), lots, strict=False)]
    cores = os.cpu_count() or 1
    if len(first) < IN_PARALLEL // BATCH or cores == 1:
        for lot in chain(first, lots):
            yield from work(lot)
    else:
        yield from in_order(work, chain(first, lots), cores, _lost)


def _clean_some(
    versions: Sequence[RecordVersion], settings: Settings, model: SiteModel | None, *, save: bool
) -> list[Round]:
    store = open_store(settings.storage)
    try:
        examples = 0 if save else EXAMPLES
        return [clean_round(store, list(versions), model, save=save, examples=examples)]
    finally:
        store.close()


def _lost(version: RecordVersion) -> Round:
    said = f"{version.page_id}: the process that cleaned it died (out of memory?)"
    return Round(failed=[said])


def _as_json(host: str, version: int, total: Round, *, dry_run: bool) -> dict[str, Any]:
    return {
        "host": host,
        "model_version": version,
        "dry_run": dry_run,
        "cleaned": total.cleaned,
        "changed": total.changed,
        "with_new_content_images": total.pictured,
        "by_field": total.by_field,
        "not_archived": total.unarchived,
        "older_layout": total.outdated,
        "failed": len(total.failed),
        "examples": [
            {
                "url": each.before.url,
                "changes": {name: list(values) for name, *values in _changes(each)},
            }
            for each in total.examples
        ],
    }


def _as_text(host: str, version: int, total: Round, *, dry_run: bool) -> str:
    verb = "would be cleaned again" if dry_run else "cleaned again"
    using = f"with version {version} of its model" if version else "without a model"
    fields = sorted(total.by_field.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{total.cleaned} records of {host} {verb} {using}"]
    if total.cleaned:
        differ = ": " + ", ".join(f"{name} {count}" for name, count in fields) if fields else ""
        said = "would say something else" if dry_run else "say something else"
        lines.append(f"{total.changed} of them {said}{differ}")
    elif not (total.unarchived or total.outdated or total.failed):
        lines.append("nothing is left to do")
    if total.unarchived:
        lines.append(f"{total.unarchived} are not in the archive and stay as they are")
    if total.outdated:
        lines.append(
            f"{total.outdated} are of an older layout and keep the model they were made by"
        )
    if total.failed:
        lines.append(f"{len(total.failed)} could not be cleaned and stay as they are")
    for each in total.examples:
        lines.append(each.before.url)
        lines += [f"  {name:<12} {old}  ->  {new}" for name, old, new in _changes(each)]
    return "".join(printable(line) + "\n" for line in lines)


def _pictured_text(pages: int, *, dry_run: bool) -> str:
    if dry_run:
        return f"{pages} pages would have images that are no content now\n"
    fetched = "their crawl fetches them, or its next `run --images`"
    return f"{pages} pages have images that are content now: {fetched}\n"


def _changes(each: CleanedAgain) -> Iterator[tuple[str, str, str]]:
    """(field, before, after) in few words."""
    for name in each.changed:
        before, after = getattr(each.before, name), getattr(each.after, name)
        if name in ("links", "images", "outlinks", "warnings"):
            old, new = _kinds(before), _kinds(after)
            yield name, old, new if new != old else "the same kinds, others or with other scores"
        elif isinstance(before, str) and isinstance(after, str):
            yield name, *_where_they_differ(before, after)
        elif isinstance(before, tuple):
            yield name, str(len(before)), str(len(after))
        else:
            yield name, str(before), str(after)


def _kinds(found: Sequence[Any]) -> str:
    counts = Counter(str(each.kind) for each in found).most_common()
    return ", ".join(f"{kind} {count}" for kind, count in counts) or "none"


def _where_they_differ(before: str, after: str) -> tuple[str, str]:
    """Both texts from a little before their first difference, with their lengths when long."""
    at = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(0, at - 10)
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    shown = " ".join(text[start : start + SHOWN_CHARS].split())
    if start or len(text) > SHOWN_CHARS:
        before = "..." if start else ""
        after = "..." if start + SHOWN_CHARS < len(text) else ""
        return f"{before}{shown}{after} ({len(text)} characters)"
    return shown or "none"
