"""A message is its English words, and is stored as key and values."""

from __future__ import annotations

import copy
import pickle

import msgspec
import pytest

from crawlclean import clean_html
from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.json_values import dump
from crawlclean.cleaning.messages import Message, joined, read_line, shortened, stored

NESTED = Message("reason", "http_status", Message("status", 404))
STORED = '["reason","http_status",["status",404]]'


def test_a_message_is_its_english_words() -> None:
    assert NESTED == "http_status: status 404"
    assert Message("killed", 1) == "cleaning it killed 1 worker"
    assert Message("killed", 1204) == "cleaning it killed 1,204 workers"
    assert msgspec.json.decode(dump({"detail": NESTED})) == {"detail": "http_status: status 404"}


def test_key_and_values_are_stored() -> None:
    assert stored(NESTED) == STORED
    found = read_line(STORED)
    assert isinstance(found, Message)
    assert (found, found.key, found.values) == (NESTED, NESTED.key, NESTED.values)
    assert isinstance(found.values[1], Message)


@pytest.mark.parametrize(
    "text",
    [
        "cleaning it killed 3 workers",  # of an older version
        "too slow, after lunch",
        "",
        '["unknown",3]',
        '["of",null,"x"]',
        '["killed"]',
        '["killed",3,4]',
        '["killed","x"]',
        '["killed",[["a"]]]',
        '["killed",{"n":3}]',
        '["killed",3',
        '["' * 5000,
    ],
)
def test_any_other_text_stays(text: str) -> None:
    assert read_line(text) == text
    assert stored(text) == text
    assert not isinstance(read_line(text), Message)


def test_a_message_survives_copies_errors_and_pickle() -> None:
    for each in (
        copy.deepcopy(NESTED),
        pickle.loads(pickle.dumps(NESTED)),  # noqa: S301 - our own
        str(NotFound(NESTED)),
    ):
        assert isinstance(each, Message)
        assert stored(each) == STORED


def test_what_was_cut_is_no_message() -> None:
    assert shortened(NESTED, 100) is NESTED
    assert shortened(NESTED, 11) == "http_status"
    assert stored(shortened(Message("dropped", "a\nb"), 100)) == "by the record step a b"


def test_several_lines_are_one() -> None:
    asks, empty = Message("asks_script"), Message("empty_element", "root")
    assert joined([asks]) is asks
    assert joined([asks, empty, asks]) == f"{asks}; {empty}; {asks}"


def test_values_must_fill_the_places() -> None:
    with pytest.raises(ValueError, match="zip"):
        Message("killed")
    with pytest.raises(KeyError):
        Message("unknown")


def test_warnings_of_the_library_s_records_are_plain_text_for_every_encoder() -> None:
    page = '<div id="root"></div><script src="a.js"></script>'
    record = clean_html(page, "http://a.example/")
    assert record.warnings
    assert {type(each.detail) for each in record.warnings} == {str}
    assert msgspec.json.encode(record)
