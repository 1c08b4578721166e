"""Calls link filters and record steps: an error of one costs a warning, never the page.

- A link that a filter fails to judge is kept. A record that a step fails on goes on as it was
  before this step, with the warning ``hook_failed``.
- A hook's error is reported to ``report`` once for each name in one job; every error is counted.
- A call of ``SLOW_S`` or more is reported, too. A hook that never returns ends as a cleaner that
  never returns: the job's time runs out, and after three times its page is a failure.
"""

from __future__ import annotations

import time
from collections import Counter as Tally
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import CleanRecord, Outlink
from crawlclean.storage.queue.counters import Counter
from crawlclean.workers.hooks.loading import NO_HOOKS, Hooks, LinkFilter, RecordStep

SLOW_S = 1.0  # a page is cleaned in 20 ms: such a hook takes as long as fifty pages
REASON_CHARS = 200  # of an exception, on one line of the log: it may quote a whole page
KEPT_FIELDS = ("page_id", "url", "host", "fetched_at", "model_version", "outlinks")
"""What queue and store know the page by; a step that changes one has failed."""


Report = Callable[[str, str, str, BaseException | None], None]
"""Receives the name of a hook that failed or was slow, the page, the reason, and what it raised.

The reason is ``ValueError: no price``, or ``took 2.4 s``; a slow hook has raised None.
"""


class HookCalls:
    """The calls of hooks in one job.

    Attributes:
        tally: Errors, slow calls, milliseconds, dropped records; refused links are the URL
            filter's to count.
    """

    def __init__(
        self,
        hooks: Hooks = NO_HOOKS,
        report: Report = lambda *_: None,
        fatal: tuple[type[BaseException], ...] = (),
    ) -> None:
        """Calls nothing yet.

        Args:
            hooks: Filters and steps.
            report: Receives the first failure of each hook and its first slow call.
            fatal: Errors that end the job and are not the hook's: that of its time limit.
        """
        self._hooks = hooks
        self._report = report
        self._fatal = fatal
        self._reported: set[tuple[str, bool]] = set()
        self._seconds = 0.0
        self.tally: Tally[Counter] = Tally()

    def refusal(self, outlink: Outlink, page_url: str) -> str | None:
        """Why a link filter refuses a link: ``no_tags: a list of tags``; None: none does."""
        for name, judge in self._hooks.link_filters.items():
            reason, _ = self._call(name, page_url, partial(_judged, judge, outlink, page_url))
            if reason:
                return f"{name}: {_one_line(reason)}"
        return None

    def finish(self, record: CleanRecord) -> tuple[CleanRecord | None, str]:
        """The record after all steps and ``""``; (None, name of the step) when one drops it."""
        for name, step in self._hooks.record_steps.items():
            found, error = self._call(name, record.url, partial(_stepped, step, record))
            if error:
                detail = f"{name}: {_text(error)}"
                warning = PageWarning(kind=WarningKind.HOOK_FAILED, detail=detail)
                record = replace(record, warnings=(*record.warnings, warning))
            elif found is None:
                self.tally[Counter.RECORDS_DROPPED] += 1
                return None, name
            else:
                record = found
        return record, ""

    def _call(
        self, name: str, url: str, work: Callable[[], Any]
    ) -> tuple[Any, BaseException | None]:
        """(what the hook returns, what it raised)."""
        begun = time.monotonic()
        found, error = attempt(work, self._fatal)
        took = time.monotonic() - begun
        self._seconds += took
        self.tally[Counter.HOOKS_MS] = int(self._seconds * 1000)
        if error:
            self.tally[Counter.HOOKS_FAILED] += 1
            self._tell(name, url, _text(error), error)
        if took >= SLOW_S:
            self.tally[Counter.HOOKS_SLOW] += 1
            self._tell(name, url, f"took {took:.1f} s", None)
        return found, error

    def _tell(self, name: str, url: str, reason: str, error: BaseException | None) -> None:
        key = (name, error is None)
        if key not in self._reported:
            self._reported.add(key)
            self._report(name, url, reason, error)


def attempt(
    work: Callable[[], Any], fatal: tuple[type[BaseException], ...] = ()
) -> tuple[Any, BaseException | None]:
    """(result, None) of code that is not ours, or (None, what it raised)."""
    try:
        return work(), None
    except fatal:
        raise
    except (Exception, SystemExit) as error:  # whatever it is, the page is not to blame
        return None, error


def _judged(judge: LinkFilter, outlink: Outlink, page_url: str) -> str | None:
    """What a filter answers.

    Raises:
        TypeError: It is neither None nor a reason.
    """
    reason: object = judge(outlink, page_url)
    if reason is None or (isinstance(reason, str) and reason):
        return reason
    raise TypeError(f"it returns {reason!r:.40}: return None or the reason as text")


def _stepped(step: RecordStep, record: CleanRecord) -> CleanRecord | None:
    """What a step makes of a copy of a record, as the store will give it back.

    Raises:
        TypeError: It is neither a record nor None.
        ValueError: It cannot be stored.
    """
    found: object = step(replace(record, extra=dict(record.extra)))
    if found is None:
        return None
    if not isinstance(found, CleanRecord):
        raise TypeError(f"it returns {type(found).__name__}: return a CleanRecord or None")
    changed = [name for name in KEPT_FIELDS if getattr(found, name) != getattr(record, name)]
    if changed:
        raise ValueError(f"it changes {', '.join(changed)}")
    return CleanRecord.from_json(found.to_json())


def _text(error: BaseException) -> str:
    return _one_line(f"{type(error).__name__}: {error}")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:REASON_CHARS]
