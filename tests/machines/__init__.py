"""Machines in network namespaces: a crawl over a slow, lossy network, with cut cables.

``make machines`` runs ``python -m tests.machines``. Needs Linux, root and ``ip`` of iproute2.
"""
