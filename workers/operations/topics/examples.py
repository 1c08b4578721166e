"""Reads the files of a topic: example pages, synonyms.

An example is an HTML file, a text file whose first line is the title, a folder of such files, or
the URL of a stored page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Sized
from pathlib import Path

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, PageError
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.topics.relevance import text_of
from crawlclean.cleaning.topics.topic import ExampleText
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.crawl_file.text_files import MAX_LIST_BYTES, read_text

MAX_EXAMPLE_BYTES = 16 << 20
MAX_EXAMPLES = 200
"""Example pages of a topic; three or four name a topic, each one costs 3 KB in every job."""
HTML = frozenset({".html", ".htm", ".xhtml"})
TEXT = frozenset({".txt", ".md"})
_SEPARATOR = re.compile(r"\s*[|,，、\t]\s*")


def read_examples(store: Store, given: Sequence[str]) -> list[ExampleText]:
    """Returns the example pages that a command names.

    Args:
        store: Holds the pages that are given by URL.
        given: Files, folders, URLs.

    Raises:
        ConfigError: One cannot be read, has no text, or there are too many; one line.
    """
    found: dict[str, ExampleText] = {}
    for each in given:
        for example in _examples(store, each):
            found[example.url] = example
            check_number(found)
    return list(found.values())


def check_number(examples: Sized) -> None:
    """Checks that a topic may have so many examples.

    Raises:
        ConfigError: It may not.
    """
    if len(examples) > MAX_EXAMPLES:
        raise ConfigError(f"more than {MAX_EXAMPLES} examples: a topic needs three or four")


def _examples(store: Store, given: str) -> Iterator[ExampleText]:
    if "://" in given:
        yield _stored(store, given)
        return
    path = Path(given)
    if not path.is_dir():
        yield _from_file(path)
        return
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in HTML | TEXT)
    if not files:
        raise ConfigError(f"{path} has no .html and no .txt file")
    yield from map(_from_file, files)


def _stored(store: Store, url: str) -> ExampleText:
    record = store.records.get(page_id(url))
    if record is None:
        raise ConfigError(f"{url} is not stored: give the page as a file")
    return _with_text(record.title, text_of(record), record.url, url)


def _from_file(path: Path) -> ExampleText:
    if path.suffix.lower() in HTML:
        return _from_html(path)
    title, _, text = read_text(path, MAX_EXAMPLE_BYTES).strip().partition("\n")
    return _with_text(title.strip(), text.strip() or title, str(path), str(path))


def _from_html(path: Path) -> ExampleText:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_EXAMPLE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    if len(body) > MAX_EXAMPLE_BYTES:
        raise ConfigError(f"{path} is over {MAX_EXAMPLE_BYTES >> 20} MB")
    try:
        record = clean(RawPage.from_bytes("http://localhost/", body))
    except PageError as error:
        raise ConfigError(f"{path}: {error}") from None
    return _with_text(record.title, text_of(record), str(path), str(path))


def _with_text(title: str, text: str, url: str, given: str) -> ExampleText:
    if not (title + text).strip():
        raise ConfigError(f"{given} has no text: an example needs a title or a body")
    return ExampleText(title=title, text=text, url=url)


def read_synonyms(path: Path) -> tuple[tuple[str, ...], ...]:
    """Returns the groups of a file of synonyms: one a line, ``电动车 | 新能源汽车``, # comments.

    Raises:
        ConfigError: The file cannot be read, or a line has one word alone.
    """
    groups = []
    for number, line in enumerate(read_text(path, MAX_LIST_BYTES).splitlines(), 1):
        text = line.partition("#")[0].strip()
        words = tuple(dict.fromkeys(filter(None, _SEPARATOR.split(text))))
        if text and len(words) < 2:
            raise ConfigError(
                f"{path}:{number}: one word alone: write a | b, words that mean the same"
            )
        if words:
            groups.append(words)
    return tuple(groups)
