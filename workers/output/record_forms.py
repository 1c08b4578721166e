"""A record as JSON, Markdown or text."""

from __future__ import annotations

from cleaning.records import CleanRecord

SUFFIXES = {"jsonl": ".json", "markdown": ".md", "text": ".txt"}
FORMATS = tuple(SUFFIXES)
END = {"jsonl": b"\n", "markdown": b"\n\n---\n\n", "text": b"\n\f\n"}
"""What follows a record in one file of many."""


def record_as(record: CleanRecord, form: str) -> bytes:
    """Returns a record in UTF-8, as ``jsonl``, ``markdown`` or ``text``; without a line end."""
    if form == "jsonl":
        return record.to_json()
    if form == "text":
        text = f"{record.url}\n{record.title}\n{record.body}"
    else:
        body = record.markdown or record.body.replace("\n", "\n\n")
        text = f"# {_escaped(record.title) or record.url}\n\n<{record.url}>\n\n{body}"
    return text.replace("\f", " ").encode(errors="replace")


def _escaped(title: str) -> str:
    """A title as Markdown that shows it as it is."""
    return "".join("\\" + c if c in "\\`*_[]<>#|~&!" else c for c in " ".join(title.split()))
