"""The backends of a process, opened once: settings, queue, store, site models."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cache

from storage.opening import join_queue, open_store, working_queue
from storage.queue.frontier import Frontier
from storage.store.protocol import Store
from workers.config import Settings, load_settings
from workers.hooks.loading import NO_HOOKS, Hooks, load_hooks
from workers.site_models import SiteModels


@dataclass(frozen=True, slots=True)
class Context:
    """The backends of one process; after a fork each side opens its own connections.

    Attributes:
        settings: Settings of the process.
        frontier: The queue; of several servers the one on which the process works, or all.
        store: The store.
        models: Site models of the store.
        hooks: Hooks in use.
        servers: All queue servers as one queue, opened where it is needed; None: ``frontier`` is
            the whole queue.
    """

    settings: Settings
    frontier: Frontier
    store: Store
    models: SiteModels
    hooks: Hooks = NO_HOOKS
    servers: list[Frontier] | None = None

    def whole_queue(self) -> Frontier:
        """The queue for what concerns a whole crawl: all servers as one.

        Raises:
            QueueUnavailable: One of several servers does not answer.
        """
        if self.servers is None:
            return self.frontier
        if not self.servers:
            self.servers.append(join_queue(replace(self.settings.storage, queue_server=None)))
        return self.servers[0]


@cache
def process_context() -> Context:
    """Returns the context of this process; the first call reads the environment.

    A job has no other way to its backends: RQ calls a job by name, in a fork of the worker.
    """
    settings = load_settings(os.environ)
    store = open_store(settings.storage, create=True)
    works_on_one = settings.storage.has_servers and settings.storage.queue_server is not None
    return Context(
        settings=settings,
        frontier=working_queue(settings.storage),
        store=store,
        models=SiteModels(store),
        hooks=load_hooks(settings),
        servers=[] if works_on_one else None,
    )
