"""Every action by its name."""

from __future__ import annotations

from types import MappingProxyType

from workers.operations.acting.archive import ARCHIVE_ACTIONS
from workers.operations.acting.cases import CASE_ACTIONS
from workers.operations.acting.crawls import CRAWL_ACTIONS
from workers.operations.acting.hosts import HOST_ACTIONS
from workers.operations.acting.others import OTHER_ACTIONS
from workers.operations.acting.poison import POISON_ACTIONS
from workers.operations.acting.topics import TOPIC_ACTIONS
from workers.operations.acting.trials import TRIAL_ACTIONS

ACTIONS = MappingProxyType(
    {
        each.name: each
        for each in (
            *HOST_ACTIONS,
            *CRAWL_ACTIONS,
            *ARCHIVE_ACTIONS,
            *TRIAL_ACTIONS,
            *POISON_ACTIONS,
            *TOPIC_ACTIONS,
            *OTHER_ACTIONS,
            *CASE_ACTIONS,
        )
    }
)
