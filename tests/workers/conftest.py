"""The private server of the queue's tests, for what workers and commands do with it."""

from tests.kit.fixtures import bench, client, frontier, new_spider, queue_url, spider

__all__ = ["bench", "client", "frontier", "new_spider", "queue_url", "spider"]
