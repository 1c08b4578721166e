"""`why`: what became of a URL, step by step, in every crawl."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import product

from cleaning.errors import ServiceError
from cleaning.urls.assets import is_asset
from cleaning.urls.normal_form import host_of, normalize
from crawler.robots import RobotsRules
from crawler.settings import user_agent
from storage.crawl_types import CrawlState, Step
from storage.opening import join_queue
from storage.queue.frontier import Frontier
from storage.store.images import image_id
from storage.store.protocol import Store
from workers.commands.reading import PAGE_ID, find_page, reading
from workers.config import Settings
from workers.jobs.url_classes import host_rules
from workers.jobs.url_filter import Admission, Refusal
from workers.output.printing import print_json, printable

MOST_CRAWLS_TOLD = 5
NOT_CONTENT = (
    "no page that was read shows it as content (`model HOST --why URL` tells what it is on pages)"
)
REFUSALS = {
    Refusal.OUT_OF_SCOPE: "out of the crawl's scope",
    Refusal.TOO_DEEP: "deeper than --depth",
    Refusal.FORBIDDEN: "forbidden by robots.txt",
    Refusal.SAME_PAGE: "another address of a page that was read",
    Refusal.TOO_MANY_HOPS: "behind too many redirects or frames in a row",
    Refusal.TOO_LONG: "longer than 4,096 characters",
    Refusal.REPEATED_SEGMENTS: "a trap by its look: folders repeat",
    Refusal.TOO_MANY_SEGMENTS: "a trap by its look: more than 20 folders",
    Refusal.NESTED_ADDRESS: "a trap by its look: a parameter is nested in itself",
    Refusal.TOO_MANY_PARAMETERS: "a trap by its look: more than 30 parameters",
    Refusal.STOPPED_CLASS: "of a class of URLs that is not fetched (`traps` and `classes` say why)",
    Refusal.NOT_AN_ADDRESS: "no http(s) address",
}


def why(settings: Settings, url: str, *, as_json: bool) -> int:
    """Prints every step of a URL from discovery to store, in every crawl that knows it.

    Raises:
        NotFound: No crawl knows it and none would take it.
    """
    with reading(settings) as store:
        ids = [find_page(store, url)]
        if not PAGE_ID.fullmatch(url):
            ids.append(image_id(url))  # the same address may be a page's and a picture's
        found = [(pid, {row.crawl_id: row for row in store.urls.rows(pid)}) for pid in ids]
        try:
            frontier = join_queue(settings.storage)
        except ServiceError:
            frontier = None
        try:
            told = False
            for crawl, (pid, rows) in product(store.crawls.all(), found):
                crawl_id = crawl.spec.crawl_id
                row = rows.get(crawl_id)
                live = _live_trace(frontier, crawl_id, pid, url, is_done=row is not None)
                if row is None and live is None:
                    continue
                told = True
                state, log = live or (str(row.state) if row else "", row.log if row else ())
                origin = row.referrer if row else None
                _tell(url, crawl_id, state, log, origin, row.link_text if row else "", as_json)
            if not told:
                _tell_why_not(store, settings, frontier, url, as_json=as_json)
                return 1
        finally:
            if frontier:
                frontier.close()
    return 0


def _live_trace(
    frontier: Frontier | None, crawl_id: str, pid: str, url: str, *, is_done: bool
) -> tuple[str, tuple[Step, ...]] | None:
    if frontier is None or PAGE_ID.fullmatch(url):
        return None
    host = host_of(url)
    found = frontier.trace(crawl_id, pid, host)
    if found or is_done or not frontier.has_overflow(crawl_id, host):
        return found
    return ("pending, in the store", ()) if frontier.has_seen(crawl_id, pid) else None


def _tell(
    url: str,
    crawl_id: str,
    state: str,
    log: tuple[Step, ...],
    referrer: str | None,
    text: str,
    as_json: bool,
) -> None:
    if as_json:
        steps = [{"at": s.at.isoformat(), "step": s.step, "detail": s.detail} for s in log]
        print_json(
            {"url": url, "crawl": crawl_id, "state": state, "referrer": referrer, "steps": steps}
        )
        return
    lines = [f"{url} in {crawl_id}: {state}"]
    if referrer:
        lines.append(f"  found on {referrer}" + (f' by "{text}"' if text else ""))
    for step in log:
        at = f"{step.at:%Y-%m-%d %H:%M:%S.%f}"[:-3]
        lines.append(f"  {at}  {step.step}" + (f"  {step.detail}" if step.detail else ""))
    sys.stdout.write("".join(printable(line) + "\n" for line in lines))


def _tell_why_not(
    store: Store, settings: Settings, frontier: Frontier | None, url: str, *, as_json: bool
) -> None:
    """Says for each crawl why a URL it does not know was not taken."""
    address = normalize(url)
    rules = RobotsRules(user_agent(settings.crawl))

    def allows(host: str, candidate: str) -> bool:
        if frontier and not rules.known(host, 0):
            rules.learn(host, 0, frontier.robots(host) or "")
        return rules.allow(host, 0, candidate)

    def stopped(crawl_id: str) -> Callable[[str], Collection[str]]:
        return lambda host: frontier.classes.stopped(crawl_id, host) if frontier else ()

    said = []
    for crawl in store.crawls.all():
        spec = replace(crawl.spec, max_depth=None)
        more = frontier.more_hosts(spec.crawl_id) if frontier else ()
        host = host_of(address)
        classes = host_rules(frontier, spec.crawl_id, host) if frontier else None
        judge = Admission(spec, more, allows, stopped(spec.crawl_id), host, classes)
        refusal = judge.refusal(address, 0)
        if spec.images and is_asset(address):
            refusal, reason = None, NOT_CONTENT
        elif refusal:
            reason = REFUSALS[refusal]
        elif is_asset(address):
            reason = "not followed: its name is that of a file, not of a page"
        elif address in spec.seeds:
            reason = "it begins there and has not fetched it yet"
        elif frontier is None and crawl.state is not CrawlState.FINISHED:
            reason = "no page that was read links to it, or it waits in the queue, which is at rest"
        else:
            reason = "no page that was read links to it"
        said.append((refusal, spec.crawl_id, reason))
    # A list of sites makes hundreds of crawls; those that have the address in their scope tell.
    told = [each for each in said if each[0] is not Refusal.OUT_OF_SCOPE] or said
    if as_json:
        for _, crawl_id, reason in told:
            print_json({"url": address, "crawl": crawl_id, "state": "unknown", "reason": reason})
        return
    for _, crawl_id, reason in told[:MOST_CRAWLS_TOLD]:
        sys.stdout.write(printable(f"{address} is unknown to {crawl_id}: {reason}") + "\n")
    if len(told) > MOST_CRAWLS_TOLD:
        sys.stdout.write(f"and to {len(told) - MOST_CRAWLS_TOLD} more crawls\n")
