"""What holds of every page, whatever was done to it."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime

from crawlclean import CleanRecord, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.silent_html import silent_html
from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.why import explain
from tests.kit.timing import timed

URL = "http://www.a.example/news/1.html"
FETCHED_AT = datetime(2026, 3, 9, tzinfo=UTC)
FIXED_S = 0.05
S_PER_CHAR = 10e-6  # a page of text costs 0.1 of it, one of nothing but tags half
_NAMES_SOURCES = re.compile(
    r"<(?:script|link|meta|iframe)\b|<[a-z][\w-]*(?: [\w-]+=\"[^\"]*\")* (?:src|href|on\w+)="
)
_OTHER = RawPage.from_bytes(
    "http://www.a.example/2", "<title>题</title><p>别的正文。<a href=/x>链接</a>".encode()
)


def check_page(body: bytes, content_type: str | None = None) -> CleanRecord | None:
    """Cleans a page in every way there is; None when it was refused by an error of ours.

    Raises:
        AssertionError: Something does not hold.
        Exception: Any error that is not ours.
    """
    try:
        page = RawPage.from_bytes(URL, body, content_type, FETCHED_AT)
        for attempt in range(3):
            with timed() as took:
                record = clean(page)
            allowed = FIXED_S + S_PER_CHAR * len(page.html)
            if took.seconds <= allowed:
                break
            assert attempt < 2, f"{took.seconds:.2f} s for {len(page.html)} characters"
    except ServiceError:
        return None
    _check_record(page, record)
    clean(_OTHER)
    assert clean(page) == record, "another page in between changed the record"
    assert clean(page, blocks=True).body == record.body
    model = learn_site([page, _OTHER])
    assert SiteModel.from_json(model.to_json()) == model
    with_model = clean(page, model)
    if record.body_source is not BodySource.LIST:  # a list is the body of a page alone
        assert bool(with_model.body) >= bool(record.body), "the model lost the body"
    _check_verdicts(page, record, None)
    _check_verdicts(page, with_model, model)
    return record


def _check_verdicts(page: RawPage, record: CleanRecord, model: SiteModel | None) -> None:
    again, found = explain(page, model)
    assert again == record, "asking for reasons changed the record"
    shown = [each for each in found if each.block >= 0]
    body = "".join("".join(each.text.split()) for each in shown if each.in_body)
    assert body == "".join(record.body.split()), "the kept texts are not the body"
    visible = Counter("".join(parse(page.html).text().split()))
    assert Counter("".join("".join(each.text.split()) for each in shown)) == visible
    silent = silent_html(page.html).lower()
    assert not _NAMES_SOURCES.search(silent), "the silent page has an address or a script"


def _check_record(page: RawPage, record: CleanRecord) -> None:
    stored = record.to_json()
    back = CleanRecord.from_json(stored)
    assert back.to_json() == stored
    assert back == record
    addresses = sum(len(link.url) for link in record.links)
    addresses += sum(len(image.url) for image in record.images)
    assert len(record.markdown) < 100_000 + 100 * len(record.body) + 4 * addresses
    tree = parse(page.html)
    assert len(record.links) == min(len(tree.anchors), 20_000)
    assert len(record.images) == min(len(tree.pictures), 20_000)
    for link in record.links:
        assert not link.url or link.url.startswith(("http://", "https://")), link.url
        assert 0 <= link.score <= 1, link
        assert link.text == " ".join(link.text.split())
    for image in record.images:
        assert 0 <= image.score <= 1, image
    targets = [outlink.url for outlink in record.outlinks]
    assert len(targets) == len(set(targets))
    visible = " ".join(tree.text().split())
    for line in record.body.split("\n") if record.body else ():
        assert line.strip(), "an empty line in the body"
    assert len("".join(record.body.split())) <= len("".join(visible.split()))
    assert bool(record.signature) == bool(record.body.strip())
    if record.published_at is not None:
        assert record.published_at.tzinfo is not None
        assert record.published_at.year <= FETCHED_AT.year + 1
