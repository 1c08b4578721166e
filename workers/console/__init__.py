"""The operators' console: pages that answer what an operator on call asks.

Entry: ``app.py`` makes the Flask application, ``serving.py`` serves it. Nothing imports this room
but ``workers/commands/console.py``, inside its function.

A screen is one file of ``screens/`` (``pages/`` about pages, ``acting/`` of actions, ``frame/``
around them: login, help), with its templates in ``templates/`` and its words in
``workers/words.toml``. To add one, named ``queues``:

1. ``screens/queues.py``: views take the ``Console`` and what the address names, and return
   ``render("queues.html", ...)``::

       def show_queues(console: Console) -> Page:
           return render("queues.html", queues=list_queues(console.backends))

   Values come from ``workers/operations/`` only: no SQL and no command of Redis is written here. An
   operation takes ``console.backends``, as a command gives it its own (``Backends``), and asks with
   ``with backends.store() as store`` and ``with backends.queue() as frontier``; what is dear to
   ask and may be seconds old goes through ``backends.remembered``. Errors of ``cleaning.errors``
   become an error page (404 for ``NotFound``, 503 where ``retryable``). A screen with several
   sources catches them in the operation and shows ``ui.away(...)`` in place of the panel.
2. ``templates/queues.html`` extends ``base.html`` and imports the macros of ``ui.html``; rows are
   drawn by ``ui.listed``, links to other parts of their list by ``ui.pager``. No letter
   stands in a template outside ``_()``; no ``style=``, ``on...=``, inline script, or ``|safe``.
   A text of strangers (title, address, anchor text, host, robots.txt) goes through the filter
   ``shown`` in HTML, and ``plain`` in ``<title>`` and attributes.
3. ``workers/words.toml``: ``"queues.title" = ["Queues", "队列"]``: English and Chinese, or
   singular, plural and Chinese, chosen by ``n``.
4. Name its addresses in ``app.py`` (``add_screens``); if the frame leads to it, in ``NAVIGATION``::

       routes.page("/queues", queues.show_queues)
       routes.live("/queues/live", queues.live_queues)

The URL is the whole state of a screen: filters, order, place. Lists page by keyset
(``after=<value>~<key>``), at most 200 rows, without totals of filters. A live part is
``<section data-live="/queues/live" data-every="2000">`` whose children with an ``id`` are replaced
when they changed; the same template part is included by the page and by the live view, and holds no
form. A screen that only reads is registered by ``page``; what changes something is a POST,
registered by ``action``, whose form has ``{{ ui.token("name of the form") }}``.

Tests: ``tests/workers/console/`` asks the application, ``tests/browser/`` a real browser; its
``PAGES`` lists every address that is checked in all widths and themes.
"""
