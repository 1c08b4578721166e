"""Names of the process counters, which ``cc:metrics`` in the queue sums for Prometheus.

Example: the field ``pages_put`` of ``cc:metrics`` is the metric ``<prefix>_pages_put_total``.
"""

from __future__ import annotations

from crawlclean.storage.store.journal import Figure


class Counter(Figure):
    """A process counter; the value is its metric's name without prefix and ``_total``."""

    LEASES = "leases", "URLs leased to spiders"
    LEASE_WAITS = "lease_waits", "times a spider found nothing to lease"
    BACKPRESSURE_WAITS = (
        "backpressure_waits",
        "times leasing was held back because too much is in flight",
    )
    PAGES_PUT = "pages_put", "answers and final failures handed to the workers"
    NACKS = "nacks", "attempts that failed and may be repeated"
    EXCUSED = "excused", "attempts not counted because the host or our network was away"
    ADDRESS_WAITS = "address_waits", "leases given back because the host's address was being asked"
    WRONG_CERTIFICATES = "wrong_certificates", "attempts at https hosts whose certificate is wrong"
    STALE_TOKENS = "stale_tokens", "results that came too late and changed nothing"
    ROBOTS_READ = "robots_read", "robots.txt answers read"
    JOBS_DONE = "jobs_done", "jobs finished by workers"
    CLAIMS_REFUSED = "claims_refused", "jobs whose pages somebody else had"
    CLAIMS_ABANDONED = "claims_abandoned", "jobs given back because the store or the queue was away"
    RECORDS = "records", "URLs that ended with a record"
    REDIRECTS = "redirects", "URLs that ended with a redirect"
    SITEMAPS = "sitemaps", "sitemaps read"
    EXCLUDED = "excluded", "URLs left out: by robots.txt, a pattern, as a trap, or by a hook"
    FAILED = "failed", "URLs that ended with a failure"
    REVISITS_DUE = "revisits_due", "ended URLs that were queued to be visited again"
    UNCHANGED = "unchanged", "revisits that were answered 304: the stored version is the newest"
    REVISITS_MISSED = (
        "revisits_missed",
        "revisits without an answer about the page: its record stays",
    )
    FIELDS_LOST = (
        "fields_lost",
        "fields of records lost by a defect of the program: report the page",
    )
    CLEANING_MS = "cleaning_ms", "worker time spent on pages"
    RECORDS_DROPPED = "records_dropped", "pages whose record a record step dropped"
    HOOKS_FAILED = "hooks_failed", "calls of link filters and record steps that failed"
    HOOKS_SLOW = "hooks_slow", "calls of link filters and record steps that took a second or more"
    HOOKS_MS = "hooks_ms", "time spent in link filters and record steps"
    OUTLINKS_OFFERED = "outlinks_offered", "outlinks offered to the frontier"
    OUTLINKS_NEW = "outlinks_new", "outlinks that were new to their crawl"
    OUTLINKS_OUT_OF_SCOPE = "outlinks_out_of_scope", "outlinks dropped: out of scope"
    OUTLINKS_TOO_DEEP = "outlinks_too_deep", "outlinks dropped: too deep"
    OUTLINKS_EXCLUDED = "outlinks_excluded", "outlinks dropped: an exclude pattern matches"
    OUTLINKS_NOT_INCLUDED = "outlinks_not_included", "outlinks dropped: no include pattern matches"
    OUTLINKS_FORBIDDEN = "outlinks_forbidden", "outlinks dropped: robots.txt forbids them"
    OUTLINKS_SAME_PAGE = (
        "outlinks_same_page",
        "outlinks dropped: another address of the page they are on",
    )
    OUTLINKS_TOO_MANY_HOPS = (
        "outlinks_too_many_hops",
        "outlinks dropped: too many redirects or frames in a row",
    )
    OUTLINKS_TOO_LONG = "outlinks_too_long", "outlinks dropped: the address is too long"
    OUTLINKS_REPEATED_SEGMENTS = (
        "outlinks_repeated_segments",
        "outlinks dropped: folders repeat in the address",
    )
    OUTLINKS_TOO_MANY_SEGMENTS = (
        "outlinks_too_many_segments",
        "outlinks dropped: too many folders in the address",
    )
    OUTLINKS_NESTED_ADDRESS = (
        "outlinks_nested_address",
        "outlinks dropped: a parameter is nested in itself",
    )
    OUTLINKS_TOO_MANY_PARAMETERS = (
        "outlinks_too_many_parameters",
        "outlinks dropped: too many parameters",
    )
    OUTLINKS_STOPPED_CLASS = (
        "outlinks_stopped_class",
        "outlinks dropped: pages like them brought nothing new",
    )
    OUTLINKS_LINK_FILTER = (
        "outlinks_link_filter",
        "outlinks dropped: a link filter of another package refused them",
    )
    IMAGES = "images", "images stored"
    IMAGES_OFFERED = "images_offered", "content images of pages offered to the frontier"
    IMAGES_NEW = "images_new", "content images that were new to their crawl"
    IMAGES_FORBIDDEN = "images_forbidden", "content images dropped: robots.txt forbids them"
    IMAGES_TOO_LONG = "images_too_long", "content images dropped: the address is too long"
    IMAGES_HELD_BACK_AD = "images_held_back_ad", "images on pages held back: advertising"
    IMAGES_HELD_BACK_CHROME = (
        "images_held_back_chrome",
        "images on pages held back: parts of the site's frame",
    )
    IMAGES_HELD_BACK_THUMB = (
        "images_held_back_thumb",
        "images on pages held back: they show other pages",
    )
    IMAGES_HELD_BACK_OTHER = "images_held_back_other", "images on pages held back: no verdict"
    IMAGES_HELD_BACK_TOPIC = (
        "images_held_back_topic",
        "images on pages held back: their page is not on the topic",
    )
    SESSION_IDS_LEFT_OUT = (
        "session_ids_left_out",
        "outlinks taken without a session id or a mark of advertising",
    )
    TRAPS = "traps", "classes of URLs stopped because their pages brought nothing new"
    DRIFTS_BODIES = "drifts_bodies", "hosts whose bodies left the places of their model"
    DRIFTS_FRAME = "drifts_frame", "hosts that lost the links of their frame"
    DRIFTS_NEW_CLASSES = (
        "drifts_new_classes",
        "hosts with pages of a kind met later that do not fit their model",
    )
    MODELS_RENEWED = "models_renewed", "hosts learned anew because their model was old"
    TOPIC_PAGES = "topic_pages", "pages judged for the topic of their crawl"
    TOPIC_RELEVANT = "topic_relevant", "of these pages, relevant ones"
    TOPIC_PAGES_ADOPTED = (
        "topic_pages_adopted",
        "pages judged for topics of other crawls, and not fetched there",
    )
    TOPIC_BATCHES = "topic_batches", "batches of judged pages that learners of links learned"
    TOPIC_URLS_RANKED = "topic_urls_ranked", "waiting URLs ranked anew by what was learned of links"
    LEASES_LOST = "leases_lost", "leases of dead spiders given to others"
    CLAIMS_LOST = "claims_lost", "jobs of dead workers given to others"
    POISON_PAGES = "poison_pages", "pages set aside because they kill workers"
    JOBS_ENQUEUED_AGAIN = "jobs_enqueued_again", "jobs that RQ had lost"
    SWEEPS = "sweeps", "rounds of the housekeepers"
    URLS_SPILLED = "urls_spilled", "waiting URLs moved from the queue's memory to the store"
    URLS_REFILLED = "urls_refilled", "waiting URLs that came back from the store"
    URLS_LOST = "urls_lost", "waiting URLs that the store should have had and has not"
