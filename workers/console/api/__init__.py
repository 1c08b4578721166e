"""The JSON API ``/api/v1`` of the console, for programs.

``registry.py`` is the whole mechanism: an address is registered once, with the types of its query
and its answer, and both the route and its part of ``/api/openapi.json`` come from that. To add one,
write a view in a file of ``resources/``::

    def register(api: Api) -> None:
        api.get("/hosts", get_hosts, query=HostsQuery, page_of=HostRow)

    def get_hosts(call: Call, query: HostsQuery) -> PageOf[HostRow]:
        '''Hosts by a figure, largest first.'''

The docstring of the view is its documentation. Types of queries and bodies are frozen dataclasses,
whose docstrings name every field; an unknown field, a value of another type, and one out of range
are answered by 400 before the view is called. Types of answers are those of ``workers/answers/``,
or of ``storage/`` where a command prints no such line. Values come from ``workers/operations/``.

A view that changes something is registered by ``api.post``; its token needs the scope ``act``, and
the request the header ``Idempotency-Key``: the second one with a key gets the first one's answer.

``tokens.py`` says who may ask, ``problems.py`` what an error looks like, ``paging.py`` what a
cursor is, ``openapi.py`` and ``document.py`` make the description and ``docs/api.md``.
"""
