"""The backends of a process, opened once: settings, queue, store, site models."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from crawlclean.storage.opening import open_store, queue_url
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings, load_settings
from crawlclean.workers.hooks.loading import NO_HOOKS, Hooks, load_hooks
from crawlclean.workers.site_models import SiteModels


@dataclass(frozen=True, slots=True)
class Context:
    """What a process keeps from job to job; after a fork each side opens its own connections.

    Attributes:
        settings: Settings of the process.
        frontier: The queue.
        store: The store.
        models: Site models of the store.
        hooks: Hooks in use.
    """

    settings: Settings
    frontier: Frontier
    store: Store
    models: SiteModels
    hooks: Hooks = NO_HOOKS


@cache
def process_context() -> Context:
    """Returns the context of this process; the first call reads the environment.

    A job has no other way to its backends: RQ calls a job by name.
    """
    settings = load_settings(os.environ)
    store = open_store(settings.storage, create=True)
    return Context(
        settings=settings,
        frontier=Frontier(queue_url(settings.storage)),
        store=store,
        models=SiteModels(store),
        hooks=load_hooks(settings),
    )
