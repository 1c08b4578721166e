"""Names of the process counters, which ``cc:metrics`` in the queue sums for Prometheus.

Example: the field ``pages_put`` of ``cc:metrics`` is the metric ``<prefix>_pages_put_total``.
"""

from __future__ import annotations

from enum import StrEnum


class Counter(StrEnum):
    """A process counter; the value is its metric's name without prefix and ``_total``."""

    LEASES = "leases"
    LEASE_WAITS = "lease_waits"
    BACKPRESSURE_WAITS = "backpressure_waits"
    PAGES_PUT = "pages_put"
    NACKS = "nacks"
    EXCUSED = "excused"
    ADDRESS_WAITS = "address_waits"
    WRONG_CERTIFICATES = "wrong_certificates"
    STALE_TOKENS = "stale_tokens"
    ROBOTS_READ = "robots_read"
    JOBS_DONE = "jobs_done"
    CLAIMS_REFUSED = "claims_refused"
    CLAIMS_ABANDONED = "claims_abandoned"
    RECORDS = "records"
    REDIRECTS = "redirects"
    SITEMAPS = "sitemaps"
    EXCLUDED = "excluded"
    FAILED = "failed"
    REVISITS_DUE = "revisits_due"
    UNCHANGED = "unchanged"
    REVISITS_MISSED = "revisits_missed"
    FIELDS_LOST = "fields_lost"
    CLEANING_MS = "cleaning_ms"
    RECORDS_DROPPED = "records_dropped"
    HOOKS_FAILED = "hooks_failed"
    HOOKS_SLOW = "hooks_slow"
    HOOKS_MS = "hooks_ms"
    OUTLINKS_OFFERED = "outlinks_offered"
    OUTLINKS_NEW = "outlinks_new"
    OUTLINKS_OUT_OF_SCOPE = "outlinks_out_of_scope"
    OUTLINKS_TOO_DEEP = "outlinks_too_deep"
    OUTLINKS_EXCLUDED = "outlinks_excluded"
    OUTLINKS_NOT_INCLUDED = "outlinks_not_included"
    OUTLINKS_FORBIDDEN = "outlinks_forbidden"
    OUTLINKS_SAME_PAGE = "outlinks_same_page"
    OUTLINKS_TOO_MANY_HOPS = "outlinks_too_many_hops"
    OUTLINKS_TOO_LONG = "outlinks_too_long"
    OUTLINKS_REPEATED_SEGMENTS = "outlinks_repeated_segments"
    OUTLINKS_TOO_MANY_SEGMENTS = "outlinks_too_many_segments"
    OUTLINKS_NESTED_ADDRESS = "outlinks_nested_address"
    OUTLINKS_TOO_MANY_PARAMETERS = "outlinks_too_many_parameters"
    OUTLINKS_STOPPED_CLASS = "outlinks_stopped_class"
    OUTLINKS_LINK_FILTER = "outlinks_link_filter"
    IMAGES = "images"
    IMAGES_OFFERED = "images_offered"
    IMAGES_NEW = "images_new"
    IMAGES_FORBIDDEN = "images_forbidden"
    IMAGES_TOO_LONG = "images_too_long"
    IMAGES_HELD_BACK_AD = "images_held_back_ad"
    IMAGES_HELD_BACK_CHROME = "images_held_back_chrome"
    IMAGES_HELD_BACK_THUMB = "images_held_back_thumb"
    IMAGES_HELD_BACK_OTHER = "images_held_back_other"
    IMAGES_HELD_BACK_TOPIC = "images_held_back_topic"
    SESSION_IDS_LEFT_OUT = "session_ids_left_out"
    TRAPS = "traps"
    DRIFTS_BODIES = "drifts_bodies"
    DRIFTS_FRAME = "drifts_frame"
    DRIFTS_NEW_CLASSES = "drifts_new_classes"
    MODELS_RENEWED = "models_renewed"
    TOPIC_PAGES = "topic_pages"
    TOPIC_RELEVANT = "topic_relevant"
    TOPIC_PAGES_ADOPTED = "topic_pages_adopted"
    TOPIC_BATCHES = "topic_batches"
    TOPIC_URLS_RANKED = "topic_urls_ranked"
    LEASES_LOST = "leases_lost"
    CLAIMS_LOST = "claims_lost"
    POISON_PAGES = "poison_pages"
    JOBS_ENQUEUED_AGAIN = "jobs_enqueued_again"
    SWEEPS = "sweeps"
    URLS_SPILLED = "urls_spilled"
    URLS_REFILLED = "urls_refilled"
    URLS_LOST = "urls_lost"


HELP = {
    Counter.LEASES: "URLs leased to spiders",
    Counter.LEASE_WAITS: "times a spider found nothing to lease",
    Counter.BACKPRESSURE_WAITS: "times leasing was held back because too much is in flight",
    Counter.PAGES_PUT: "answers and final failures handed to the workers",
    Counter.NACKS: "attempts that failed and may be repeated",
    Counter.EXCUSED: "attempts not counted because the host or our network was away",
    Counter.ADDRESS_WAITS: "leases given back because the host's address was being asked",
    Counter.WRONG_CERTIFICATES: "attempts at https hosts whose certificate is wrong",
    Counter.STALE_TOKENS: "results that came too late and changed nothing",
    Counter.ROBOTS_READ: "robots.txt answers read",
    Counter.JOBS_DONE: "jobs finished by workers",
    Counter.CLAIMS_REFUSED: "jobs whose pages somebody else had",
    Counter.CLAIMS_ABANDONED: "jobs given back because the store or the queue was away",
    Counter.RECORDS: "URLs that ended with a record",
    Counter.REDIRECTS: "URLs that ended with a redirect",
    Counter.SITEMAPS: "sitemaps read",
    Counter.EXCLUDED: "URLs left out: by robots.txt, a pattern, as a trap, or by a hook",
    Counter.FAILED: "URLs that ended with a failure",
    Counter.REVISITS_DUE: "ended URLs that were queued to be visited again",
    Counter.UNCHANGED: "revisits that were answered 304: the stored version is the newest",
    Counter.REVISITS_MISSED: "revisits without an answer about the page: its record stays",
    Counter.FIELDS_LOST: "fields of records lost by a defect of the program: report the page",
    Counter.CLEANING_MS: "milliseconds of worker time spent on pages",
    Counter.RECORDS_DROPPED: "pages whose record a record step dropped",
    Counter.HOOKS_FAILED: "calls of link filters and record steps that failed",
    Counter.HOOKS_SLOW: "calls of link filters and record steps that took a second or more",
    Counter.HOOKS_MS: "milliseconds spent in link filters and record steps",
    Counter.OUTLINKS_OFFERED: "outlinks offered to the frontier",
    Counter.OUTLINKS_NEW: "outlinks that were new to their crawl",
    Counter.OUTLINKS_OUT_OF_SCOPE: "outlinks dropped: out of scope",
    Counter.OUTLINKS_TOO_DEEP: "outlinks dropped: too deep",
    Counter.OUTLINKS_EXCLUDED: "outlinks dropped: an exclude pattern matches",
    Counter.OUTLINKS_NOT_INCLUDED: "outlinks dropped: no include pattern matches",
    Counter.OUTLINKS_FORBIDDEN: "outlinks dropped: robots.txt forbids them",
    Counter.OUTLINKS_SAME_PAGE: "outlinks dropped: another address of the page they are on",
    Counter.OUTLINKS_TOO_MANY_HOPS: "outlinks dropped: too many redirects or frames in a row",
    Counter.OUTLINKS_TOO_LONG: "outlinks dropped: the address is too long",
    Counter.OUTLINKS_REPEATED_SEGMENTS: "outlinks dropped: folders repeat in the address",
    Counter.OUTLINKS_TOO_MANY_SEGMENTS: "outlinks dropped: too many folders in the address",
    Counter.OUTLINKS_NESTED_ADDRESS: "outlinks dropped: a parameter is nested in itself",
    Counter.OUTLINKS_TOO_MANY_PARAMETERS: "outlinks dropped: too many parameters",
    Counter.OUTLINKS_STOPPED_CLASS: "outlinks dropped: pages like them brought nothing new",
    Counter.OUTLINKS_LINK_FILTER: "outlinks dropped: a link filter of another package refused them",
    Counter.IMAGES: "images stored",
    Counter.IMAGES_OFFERED: "content images of pages offered to the frontier",
    Counter.IMAGES_NEW: "content images that were new to their crawl",
    Counter.IMAGES_FORBIDDEN: "content images dropped: robots.txt forbids them",
    Counter.IMAGES_TOO_LONG: "content images dropped: the address is too long",
    Counter.IMAGES_HELD_BACK_AD: "images on pages held back: advertising",
    Counter.IMAGES_HELD_BACK_CHROME: "images on pages held back: parts of the site's frame",
    Counter.IMAGES_HELD_BACK_THUMB: "images on pages held back: they show other pages",
    Counter.IMAGES_HELD_BACK_OTHER: "images on pages held back: no verdict",
    Counter.IMAGES_HELD_BACK_TOPIC: "images on pages held back: their page is not on the topic",
    Counter.SESSION_IDS_LEFT_OUT: "outlinks taken without a session id or a mark of advertising",
    Counter.TRAPS: "classes of URLs stopped because their pages brought nothing new",
    Counter.DRIFTS_BODIES: "hosts whose bodies left the places of their model",
    Counter.DRIFTS_FRAME: "hosts that lost the links of their frame",
    Counter.DRIFTS_NEW_CLASSES: "hosts with pages of a kind met later that do not fit their model",
    Counter.MODELS_RENEWED: "hosts learned anew because their model was old",
    Counter.TOPIC_PAGES: "pages judged for the topic of their crawl",
    Counter.TOPIC_RELEVANT: "of these pages, relevant ones",
    Counter.TOPIC_PAGES_ADOPTED: "pages judged for topics of other crawls, and not fetched there",
    Counter.TOPIC_BATCHES: "batches of judged pages that learners of links learned",
    Counter.TOPIC_URLS_RANKED: "waiting URLs ranked anew by what was learned of links",
    Counter.LEASES_LOST: "leases of dead spiders given to others",
    Counter.CLAIMS_LOST: "jobs of dead workers given to others",
    Counter.POISON_PAGES: "pages set aside because they kill workers",
    Counter.JOBS_ENQUEUED_AGAIN: "jobs that RQ had lost",
    Counter.SWEEPS: "rounds of the housekeepers",
    Counter.URLS_SPILLED: "waiting URLs moved from the queue's memory to the store",
    Counter.URLS_REFILLED: "waiting URLs that came back from the store",
    Counter.URLS_LOST: "waiting URLs that the store should have had and has not",
}
