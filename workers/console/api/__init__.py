"""The JSON API ``/api/v1`` of the console, for programs.

``registry.py`` is the whole mechanism: an address is registered once, and both the route and its
part of ``/api/openapi.json`` come from that. What reads is a question of ``workers/operations/``,
the same function that serves the command and the screen, and one line of ``addresses.py``::

    ("get_failures", "/failures", failure_groups),

    def failure_groups(
        backends: Backends, crawl: str = "", after: Place | None = None, limit: int = 50
    ) -> Part[FailureGroup]:
        '''Failures of each host by cause, the largest groups first.

        Args:
            backends: Queue and store.
            crawl: Only of this crawl.
            ...
        '''

The arguments behind the backends are the path's values and the query, their types its checks, and
the docstring is the documentation of both. An answer of type ``Part`` is a list, whose ``after``
and ``limit`` are the same everywhere. An unknown field, a value of another type, and one out of
range are answered by 400 before anything is asked.

A view that changes something is registered by ``api.post``; its token needs the scope ``act``, and
the request the header ``Idempotency-Key``: the second one with a key gets the first one's answer.

``tokens.py`` says who may ask, ``problems.py`` what an error looks like, ``registry.py`` what a
cursor is, ``openapi.py`` and ``document.py`` make the description and ``docs/api.md``.
"""
