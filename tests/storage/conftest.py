"""The private server of the queue's tests, and a MongoDB-protocol server."""

from tests.kit.fixtures import client, frontier, new_spider, queue_url, server, spider

__all__ = ["client", "frontier", "new_spider", "queue_url", "server", "spider"]
