"""What the console asks again and again, over queue and store that are kept open.

``kept_backends.py`` keeps them open. ``queues.py`` and ``space.py`` are screens, ``now/`` this
moment and the hours before it, ``signs/`` what somebody should look at.
Nothing here starts a server, refreshes figures, or writes: asking costs a crawl next to nothing.
"""
