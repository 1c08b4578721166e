"""Everything that a store must do, in one class: subclass beside ``store`` and ``where``."""

from __future__ import annotations

from tests.storage.store.drifts_contract import DriftsContract
from tests.storage.store.failures_contract import FailuresContract
from tests.storage.store.frontier_contract import FrontierContract
from tests.storage.store.images_contract import ImagesContract
from tests.storage.store.journal_contract import JournalContract
from tests.storage.store.models_contract import ModelsContract
from tests.storage.store.pauses_contract import PausesContract
from tests.storage.store.pictures_contract import PicturesContract
from tests.storage.store.queues_contract import QueuesContract
from tests.storage.store.receivers_contract import ReceiversContract
from tests.storage.store.revisits_contract import RevisitsContract
from tests.storage.store.rules_contract import RulesContract
from tests.storage.store.search_contract import SearchContract
from tests.storage.store.space_contract import SpaceContract
from tests.storage.store.store_contract import StoreContract
from tests.storage.store.stories_contract import StoriesContract
from tests.storage.store.topics_contract import TopicsContract
from tests.storage.store.values_contract import ValuesContract


class EveryContract(
    StoreContract,
    ValuesContract,
    FrontierContract,
    ModelsContract,
    DriftsContract,
    ImagesContract,
    FailuresContract,
    JournalContract,
    SearchContract,
    SpaceContract,
    PausesContract,
    PicturesContract,
    QueuesContract,
    ReceiversContract,
    RevisitsContract,
    RulesContract,
    StoriesContract,
    TopicsContract,
):
    """A new port's contract is named here once, and holds for both stores."""
