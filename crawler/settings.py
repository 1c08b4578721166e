"""Scrapy's settings, derived from ``CrawlConfig``.

The queue decides what is fetched, when, how often and by whom, so Scrapy's filters, delays,
retries, redirects, cookies and robots handling are not loaded (ADR 24). Content encodings are
decoded by ``transfer/content_encoding.py``, which reports broken bodies.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from crawlclean import __dist__
from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.transfer.content_encoding import ACCEPT_ENCODING
from crawlclean.storage.config import StorageConfig

LOOKUP_SLOTS = 32
"""For first requests to hosts, as many as pages have by default: a look-up of a name that no server
knows takes up to 30 s.
"""


def user_agent(config: CrawlConfig) -> str:
    """Returns our user agent: ``crawler/1.0 (+https://example.com/about)``, or ``crawler/1.0``."""
    try:
        name = f"{__dist__}/{version(__dist__)}"
    except PackageNotFoundError:
        name = __dist__
    return f"{name} (+{config.contact})" if config.contact else name


def _fetch_log(storage: StorageConfig) -> str:
    """The path of the fetch log; ``""`` on a machine with neither a queue nor a data folder."""
    has_folder = storage.is_embedded or storage.data.is_dir()
    return str(storage.data / "logs" / "fetch.log") if has_folder else ""


def scrapy_settings(redis_url: str, config: CrawlConfig, storage: StorageConfig) -> dict[str, Any]:
    """Returns Scrapy's settings; plain values only, because Scrapy copies them deeply."""
    return {
        "QUEUE_URL": redis_url,
        "QUEUE_LIMITS": [storage.max_pages_in_flight, storage.max_bytes_in_flight],
        "EMBEDDED_DATA": str(storage.data) if storage.is_embedded else "",
        "FETCH_LOG": _fetch_log(storage),
        "FETCH_LOG_BYTES": config.fetch_log_bytes,
        "MAX_ATTEMPTS": config.max_attempts,
        "HOST_PATIENCE": config.host_patience_s,
        "HOSTS_FILE": str(config.hosts_file.resolve()) if config.hosts_file else "",
        "VERIFY_TLS": config.verify_tls,
        "CA_FILE": str(config.ca_file.resolve()) if config.ca_file else "",
        "USER_AGENT": user_agent(config),
        "DEFAULT_REQUEST_HEADERS": {
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
            "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.6,*;q=0.4",
            "Accept-Encoding": ACCEPT_ENCODING,
        },
        "TWISTED_DNS_RESOLVER": "crawlclean.crawler.addresses.guard.GuardedResolver",
        # A look-up of a name that no server knows holds a thread for seconds.
        "REACTOR_THREADPOOL_MAXSIZE": 2 * LOOKUP_SLOTS,
        "CONCURRENT_REQUESTS": config.concurrency + LOOKUP_SLOTS,
        "CONCURRENT_REQUESTS_PER_DOMAIN": config.concurrency,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_TIMEOUT": config.timeout_s,
        "DOWNLOAD_MAXSIZE": config.max_page_bytes,
        "IMAGE_MAXSIZE": config.max_image_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_HANDLERS": dict.fromkeys(
            ("http", "https"), "crawlclean.crawler.transfer.downloading.BoundedDownloadHandler"
        )
        | dict.fromkeys(("data", "file", "ftp", "s3")),
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        # Empty, instead of switching components off one by one: those would still be loaded at
        # every start, and components of later versions would be on.
        "EXTENSIONS_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES_BASE": {
            "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
            "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
        },
        "LOG_ENABLED": False,  # our own logging is set up by the process
        "LOG_INSTALL_ROOT_HANDLER": False,
        "STATS_DUMP": False,
    }
