"""Examples of ``docs/api.md``; tests ask each of them over an import of eighteen
pages, those below "While a crawl runs" over a crawl."""

from __future__ import annotations

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
