"""Makes a golden folder of a page, with a person's word where its record is wrong.

The page is an archived one, with the model that cleaned it, or a file::

    python -m tests.pages.make_golden NAME example.com/a.html --data DIR --not-body 分享到微博
    python -m tests.pages.make_golden NAME a.html --url https://example.com/a.html --field author=

`why URL --text TEXT` prints how a text was judged. ``tests/kit/golden_folders.py`` has the format.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.records import ImageKind, LinkKind, PageKind, Verdict, Via
from crawlclean.cleaning.why import explain
from crawlclean.workers.config import load_settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.reading import find_page
from tests.kit import golden_folders as golden


def main(argv: Sequence[str]) -> Path:
    """Makes the folder that the arguments ask for, and returns its path; after an error none."""
    parser = argparse.ArgumentParser("make_golden", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", help="name of the folder")
    parser.add_argument("page", help="URL of an archived page, or a file with the page's bytes")
    parser.add_argument("--url", help="URL of the page of the file")
    parser.add_argument("--data", type=Path, help="data folder of the archived page")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, metavar="FOLDER")
    parser.add_argument("--kills", action="store_true", help="cleaning it kills: do not clean it")
    for name, about in (
        ("body", "a text that belongs to the body"), ("not-body", "a text that does not"),
        ("field", "what a field should be, title=...; author=: the page names none"),
        ("link", "of what kind a link is, URL=ad"), ("image", "of what kind an image is, URL=ad"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", action="append", default=[], help=about)
    asked = parser.parse_args(argv)
    with TemporaryDirectory() as base:
        made = Path(base) / asked.name
        made.mkdir()
        for name, data in _of_file(asked) if asked.url else _of_archive(asked):
            (made / name).write_bytes(data)
        if not asked.kills:
            (made / golden.EXPECTED).write_text(_expected(made, asked), "utf-8")
        return Path(shutil.copytree(made, asked.into / asked.name))


def _of_file(asked: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    file = Path(asked.page)
    saved_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    yield golden.URL, f"{asked.url}\n".encode()
    yield golden.PAGE, file.read_bytes()
    yield golden.FETCHED_AT, f"{saved_at.isoformat()}\n".encode()


def _of_archive(asked: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    settings = load_settings(os.environ, {"data": asked.data} if asked.data else {})
    with existing_store(settings) as store:
        page_id = find_page(store, asked.page)
        found = store.answers._newest(page_id, None)  # as it came: a page may kill who decodes it
        record = store.records.get(page_id)
        model = store.models.get(record.host, record.model_version) if record else None
    if found is None:
        raise NotFound(f"no answer of {asked.page} is archived")
    answer = found[0]
    yield golden.PAGE, answer.body
    yield golden.URL, f"{answer.url}\n".encode()
    yield golden.FETCHED_AT, f"{answer.fetched_at.isoformat()}\n".encode()
    if model is not None:
        yield golden.MODEL, model.text.encode()
    types = (value for name, value in answer.headers if name.lower() == "content-type")
    yield from ((golden.CONTENT_TYPE, f"{each}\n".encode()) for each in types)


def _expected(folder: Path, asked: argparse.Namespace) -> str:
    """What the cleaner finds, with what the person says instead, as ``expected.json``."""
    record, verdicts = explain(*golden.raw_of(folder))
    found = golden.shown(record)
    for name, _, value in (each.partition("=") for each in asked.field):
        if name not in found or isinstance(found[name], list):
            raise ConfigError(f"{name} is no field such as title or published_at")
        value = PageKind(value) if name == "kind" else value
        if value and name == "published_at":
            value = datetime.fromisoformat(value).isoformat()
        found[name] = value or ("" if name == "title" else None)
    for of, said, kinds in (("links", asked.link, LinkKind), ("images", asked.image, ImageKind)):
        for url, _, kind in (each.rpartition("=") for each in said):
            if url not in (row[0] for row in found[of]):
                raise NotFound(f"{url} is none of the {of} of the page")
            for row in found[of]:
                row[golden.KIND :] = (kinds(kind), None) if row[0] == url else row[golden.KIND :]
            for row in found["outlinks"]:
                if of == "links" and row[:2] == [url, Via.LINK]:
                    row[golden.KIND] = kind
    found["body"] = _body(record.body, verdicts, asked).split("\n")
    return golden.as_text(found)


def _body(body: str, verdicts: Sequence[Verdict], asked: argparse.Namespace) -> str:
    """The body without texts that are none, and with those that are.

    The texts with ``in_body`` are the body, white space apart: a line of the body may join them.
    """
    said = {_place(verdicts, text): "" for text in asked.not_body}
    said |= {place: verdicts[place].text for place in (_place(verdicts, t) for t in asked.body)}
    for place, right in sorted(said.items(), reverse=True):
        start, end = (
            sum(len("".join(each.text.split())) for each in verdicts[:n] if each.in_body)
            for n in (place, place + 1)
        )
        if (start < end) == bool(right):
            raise ConfigError(f"the cleaner finds so, too: {verdicts[place].text[:40]}")
        head, tail = body[: _behind(body, start)].rstrip(), body[_behind(body, end) :]
        body = "\n".join(filter(None, (head, right, tail)))
    return body


def _place(verdicts: Sequence[Verdict], text: str) -> int:
    """The place of the one text of the page that holds this, or of the one that is this."""
    found = {n: each for n, each in enumerate(verdicts) if each.block >= 0 and text in each.text}
    found = {n: each for n, each in found.items() if each.text == text} or found
    if len(found) != 1:
        raise NotFound(f"{len(found)} texts of the page have this: {text[:40]}")
    return next(iter(found))


def _behind(body: str, chars: int) -> int:
    """The place behind so many characters that are no white space, before a line's indent."""
    places = [place for place, character in enumerate(body) if not character.isspace()]
    place = places[chars] if chars < len(places) else len(body)
    line = body.rfind("\n", 0, place) + 1
    return place if body[line:place].strip() else line


if __name__ == "__main__":
    try:
        print(main(sys.argv[1:]))
    except (ServiceError, OSError, ValueError) as error:
        sys.exit(str(error))
