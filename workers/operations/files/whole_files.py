"""Files that are whole or absent, with names that are safe in every folder."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.normal_form import host_of, page_id

MAX_NAME_BYTES = 120  # with suffixes below the 255 of file systems, and paths stay readable
_ID_DIGITS = 16  # 64 bits: the files of a folder have different names
_UNSAFE = re.compile(r"[^\w.-]+")


@contextmanager
def open_whole(path: Path, *, is_durable: bool = False) -> Iterator[BinaryIO]:
    """Opens a file under another name, renamed to ``path`` at the end: a kill leaves no half file.

    A link is followed. An error deletes what was written; a kill leaves ``.NAME.part``, which the
    next writer of this file replaces.

    Args:
        path: Folders above it are made.
        is_durable: Whether the bytes are on the disk before the file has its name.

    Raises:
        ConfigError: The file cannot be written.
        OSError: No space is left.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ConfigError(f"cannot write {path}: it is not a regular file")
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = part.open("wb")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise  # wrong use is something else
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    try:
        with stream:
            yield stream
            stream.flush()
            if is_durable:
                os.fsync(stream.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file as ``open_whole`` does."""
    with open_whole(path) as stream:
        stream.write(data)


def host_name(host: str) -> str:
    """Returns a file name for a host: ``127.0.0.1%3A8000``."""
    name = quote(host, safe="").lstrip(".") or "_"
    return (
        name if len(name) <= MAX_NAME_BYTES and name == quote(host, safe="") else _cut(name, host)
    )


def page_name(url: str) -> str:
    """Returns a path for a page: ``a.example/news_3.html-0f3c5a6b7d8e9f01``.

    The path and query of the URL are shortened to word characters; the end is the beginning of the
    page's id, so that different pages have different names.
    """
    parts = urlsplit(url)
    readable = unquote(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    text = _UNSAFE.sub("_", readable).strip("._-") or "index"
    short = text.encode(errors="ignore")[:MAX_NAME_BYTES].decode(errors="ignore")
    return f"{host_name(host_of(url))}/{short}-{page_id(url)[:_ID_DIGITS]}"


def _cut(name: str, whole: str) -> str:
    digest = blake2b(whole.encode(), digest_size=8).hexdigest()
    return f"{name[:MAX_NAME_BYTES]}-{digest}"
