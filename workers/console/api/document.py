"""The page ``docs/api.md``: every address of the API, what it takes and gives, from the code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from flask import Flask

from crawlclean import __dist__
from crawlclean.storage.config import StorageConfig
from crawlclean.workers.answers.document import object_markdown, type_markdown, values_markdown
from crawlclean.workers.answers.schema import ANSWERS, all_types, field_meanings, field_types
from crawlclean.workers.config import Settings
from crawlclean.workers.console.access import Access
from crawlclean.workers.console.api.problems import Problem
from crawlclean.workers.console.api.registry import Address
from crawlclean.workers.console.api.serving import add_api
from crawlclean.workers.console.routes import Console
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

# Examples of ``docs/api.md``; tests ask each of them over an import of eighteen
# pages, those below "While a crawl runs" over a crawl.

EXAMPLES = """\
## Examples

The host with the name, in the figures of lists:

```console
$ curl -s -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8484/api/v1/hosts?q=a.example'
{"items": [{"host": "a.example", "crawls": 1, "records": 9, "failed": 0, "excluded": 0, "other": 0,
  "body_chars": 2529, "fetched_bytes": 9423, "noise_share": 0.0, "near_duplicates": 0,
  "model_version": 1, "first_seen": "2026-03-01T12:00:00Z", "last_seen": "2026-03-01T12:00:08Z",
  "updated_at": "2026-11-23T09:12:45.026154Z"}], "next": null, "as_of": null}
```

What fails, most URLs first:

```console
$ curl -s -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8484/api/v1/failures/causes
{"items": [{"crawl": "import", "reason": "timeout", "status": 0, "urls": 5, "hosts": 1,
  "first_at": "2026-03-01T12:00:00.123456Z", "newest_at": "2026-03-01T12:00:00.123456Z",
  "as_of": null}], "next": null, "as_of": null}
```

Two events, and where the list goes on:

```console
$ curl -s -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8484/api/v1/events?kind=died&limit=2'
{"items": [{"kind": "died", "text": "process 6", "host": "", "crawl_id": "", "link": "machine.1",
  "at": "2026-11-23T09:34:33.434039Z", "seq": 11}, {"kind": "died", "text": "process 5",
  "host": "", "crawl_id": "", "link": "machine.1", "at": "2026-11-23T09:34:33.429436Z",
  "seq": 10}], "next": "WyJldmVudHMiLDEwLCIiXQ", "as_of": null}
```

A wrong parameter:

```console
$ curl -s -H "Authorization: Bearer $TOKEN" 'http://127.0.0.1:8484/api/v1/hosts?limit=1000'
{"type": "about:blank", "title": "Bad Request", "status": 400,
  "detail": "limit: Expected `int` <= 200"}
```

While a crawl runs, who works, on what, and since when:

```console
$ curl -s -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8484/api/v1/processes
{"items": [{"process": {"name": "web1.4711", "role": "worker", "machine": "web1", "pid": 4711,
  "since": "2026-11-23T09:12:45.026154Z", "silent_s": 1.204, "work": ""},
  "is_silent": false, "is_lost": false, "jobs": [{"job_id": "j261",
  "worker": "web1.4711.21510851", "crawl_id": "news", "host": "a.example", "pages": 20,
  "page_id": "5f1b4c9f0a3d4f6b8c7e2d1a90b3c4d5", "age_s": 2.25, "is_alive": true}],
  "leases": 0}], "next": null, "as_of": null}
```

"""


INTRODUCTION = f"""\
# The API of the console

Made by `make docs` from `workers/console/api/`; a test asks every example. `{__dist__} console`
answers programs below `/api/v1`, in JSON (UTF-8): what its pages show, and what commands print
with `--json`. `/api/openapi.json` describes it in OpenAPI 3.1.

## Tokens

```console
$ {__dist__} console tokens --new grafana --days 365
cc_4ef5c0b0_d4e14d9eb9ff5c740a86bf4c1d99552959882599
```

A program sends its token with every request, also to a console without a password:
`Authorization: Bearer cc_...`. It is shown once; the data folder keeps its SHA-256. `{__dist__}
console tokens` and the page `/tokens` list the tokens, `{__dist__} console tokens --revoke ID`
ends one at once.
A login of the pages does not count here, and no page of another site may read an answer (no
CORS).

| scope | permits |
|---|---|
| `read` | reading |
| `act` | also actions, but those that nothing brings back; the console needs `--allow-actions` |
| `admin` | also those |

A token may ask 1,200 times a minute; then the status is 429, and `Retry-After` has the seconds to
wait.

## Rules

- **Lists** come in parts: `items`, and `next`, the cursor of the next part or null. Pass it as
  `after`, with the other parameters as they were. `limit` is 1 to 200 (50 without it). A cursor
  is opaque. There are no totals of filters.
- **Figures** are read as they are kept, and never computed for a question: `as_of` has their
  time, null when they are of this moment.
- **ETag:** send it as `If-None-Match`; the answer is 304 without a body while nothing has
  changed.
- **Errors** are problem details (RFC 9457, `application/problem+json`): `status`, `title`, and
  `detail`, one line that names the field. An unknown parameter, a parameter given twice, text
  that is no UTF-8 are 400. 503 means that queue or store is away: `Retry-After`.
- **Actions** are POST and need the header `Idempotency-Key`, a name that the program chooses (1
  to 128 visible ASCII characters). The answer is kept for a day: the same request with the same
  key gets it again, with `Idempotency-Replayed: true`, and does nothing. Another request with the
  key is 422; 409 means that the first one has not ended, or that its console died: look into
  `/audit`.
- **Compatible** within `/api/v1`, as [the JSON of commands](json.md#what-stays-as-it-is): fields
  and values may be added. Ignore what you do not know. The description of a version is strict, so
  that a test against it finds every mistake.

"""


def api_markdown() -> str:
    """Returns the page."""
    console = Console(settings := Settings(storage=StorageConfig(data=Path())),
                      KeptBackends(settings), Access(None))  # fmt: skip
    return INTRODUCTION + EXAMPLES + _reference(add_api(Flask("document"), console).addresses)


def _reference(addresses: Sequence[Address]) -> str:
    lines = ["## Addresses\n", "| address | answer | |", "|---|---|---|"]
    for each in addresses:
        lines.append(
            f"| [`{each.method} {_shown(each)}`](#{_anchor(each)}) | {_answer(each)} "
            f"| {_summary(each)} |"
        )
    for each in addresses:
        lines += ["", f"### {each.method} {_shown(each)}\n", _meaning(each), *_fields(each)]
    named = [each.answer for each in addresses]
    elsewhere = set(all_types([kind for kinds in ANSWERS.values() for kind in kinds]))
    own = [each for each in all_types([*named, Problem]) if each not in elsewhere]
    lines += ["\n## Objects\n", "What is not here is in [json.md](json.md#objects).\n"]
    lines += [object_markdown(each) for each in own if not issubclass(each, Enum)]
    lines.append("## Values\n")
    lines += [values_markdown(each) for each in own if issubclass(each, Enum)]
    return _linked("\n".join(lines), {each.__name__.lower() for each in elsewhere})


def _linked(text: str, elsewhere: set[str]) -> str:
    """The text, whose links to types of commands lead to their page."""

    def link(found: re.Match[str]) -> str:
        return f"](json.md#{found[1]})" if found[1] in elsewhere else found[0]

    return re.sub(r"\]\(#(\w+)\)", link, text)


def _shown(address: Address) -> str:
    return address.template.removeprefix("/api/v1")


def _anchor(address: Address) -> str:
    heading = f"{address.method} {_shown(address)}".lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def _answer(address: Address) -> str:
    name = address.answer.__name__
    link = f"[{name}](#{name.lower()})"
    return f"list of {link}" if address.is_page else link


def _summary(address: Address) -> str:
    return address.about.partition("\n")[0]


def _meaning(address: Address) -> str:
    return f"{address.about} Scope `{address.scope}`. Gives {_answer(address)}.\n"


def _fields(address: Address) -> list[str]:
    """The table of the query or the body."""
    if address.takes is None:
        return []
    of: type[Any] = address.takes
    meanings = field_meanings(of)
    kind = "parameter" if address.method == "GET" else "field of the body"
    lines = [f"| {kind} | value | meaning |", "|---|---|---|"]
    for name, schema in field_types(of).items():
        lines.append(f"| `{name}` | {type_markdown(schema)} | {_escaped(meanings[name])} |")
    return lines


def _escaped(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|").replace("<", "&lt;")
