"""What drift events say of older pages, and rows that nobody wrote."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.store.models import DriftOutcome, _drift, redesign_after
from tests.kit.outcomes import HOST, later
from tests.storage.store.drifts_contract import make_drift


def test_redesigns_tell_which_pages_are_older() -> None:
    host = make_drift(2, outcome=DriftOutcome.LEARNED, new_version=3)
    host = replace(host, alarm=replace(host.alarm, url_class="", since=later(5)))
    of_class = make_drift(1, outcome=DriftOutcome.LEARNED, new_version=2)
    events = [host, of_class, make_drift(7)]
    assert redesign_after(events, "/新闻/*.html", later(-1)) == of_class
    assert redesign_after(events, "/新闻/*.html", later(1)) == host
    assert redesign_after(events, "/other", later(-1)) == host
    assert redesign_after(events, "/other", later(5)) is None
    assert redesign_after([make_drift(7)], "/新闻/*.html", later(-1)) is None


def test_what_nobody_wrote_is_damage() -> None:
    with pytest.raises(StoreDamaged, match="drift event cannot be read"):
        _drift((1, HOST, 2, "waits", 0, "{}"))
