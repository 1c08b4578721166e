"""Crawls, hosts, failures, room, URLs, records and search: questions, each at its address."""

from __future__ import annotations

from crawlclean.workers.console.api.registry import Api
from crawlclean.workers.operations.controlling.crawls import get_crawl, get_crawls
from crawlclean.workers.operations.failures import failed_urls, failure_causes, failure_groups
from crawlclean.workers.operations.hosts.classes import url_classes
from crawlclean.workers.operations.hosts.host_models import model_answer, model_versions
from crawlclean.workers.operations.hosts.hosts import host_answer, hosts_by_figure
from crawlclean.workers.operations.pages.page_versions import page_difference, page_history
from crawlclean.workers.operations.reading import find_record
from crawlclean.workers.operations.searching import search_records
from crawlclean.workers.operations.urls.explaining import url_history
from crawlclean.workers.operations.watching.views.space import hosts_room, room_of

# Crawls.


def register_crawls(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_crawls", "/crawls", get_crawls)
    api.ask("get_crawl", "/crawls/<crawl>", get_crawl)


# Failures: groups of a host and a cause, their URLs, causes of crawls.


def register_failures(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_failures", "/failures", failure_groups)
    api.ask("get_failed_urls", "/failures/urls", failed_urls)
    api.ask("get_failure_causes", "/failures/causes", failure_causes)


# Hosts, their URL classes and models.


def register_hosts(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_hosts", "/hosts", hosts_by_figure)
    api.ask("get_host", "/hosts/<host>", host_answer)
    api.ask("get_classes", "/hosts/<host>/classes", url_classes)
    api.ask("get_models", "/hosts/<host>/models", model_versions)
    api.ask("get_model", "/hosts/<host>/models/<int:version>", model_answer)


# What takes the room.


def register_space(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_space", "/space", room_of)
    api.ask("get_host_space", "/space/hosts", hosts_room)


# Pages: what became of a URL, records, versions, search by words.


def register_pages(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_versions", "/versions", page_history)
    api.ask("get_difference", "/versions/difference", page_difference)
    api.ask("get_url", "/urls", url_history)
    api.ask("get_record", "/records", find_record)


def register_search(api: Api) -> None:
    """Adds the address."""
    api.ask("get_search", "/search", search_records)
