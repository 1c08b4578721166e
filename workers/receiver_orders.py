"""What somebody asks of a receiver, from a crawl file, a command or the console, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

import msgspec

from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.addresses.public import is_public
from crawlclean.storage.receiver_types import ReceiverKind, ReceiverOrder

NAME = re.compile(r"[\w.-]{1,64}")
HOUR = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
QUIET = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
ADDRESS = re.compile(r"[^\s<>\"@,]+@[^\s<>\"@,]+")
HIDDEN_CHARS = 16
"""A part of a path this long is the secret of a chat service: ``/services/T1/B2/x8Qf...``."""


def read_order(name: str, values: Mapping[str, Any]) -> ReceiverOrder:
    """Returns what is asked of a receiver, checked.

    Args:
        name: Its name.
        values: By the names of ``ReceiverOrder``: ``{"kind": "slack", "target": "https://..."}``.

    Raises:
        ConfigError: The name or a value cannot be; a message about a value begins with its name.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(f"{name} is not a name of a receiver: letters, digits, _ . -")
    try:
        order = msgspec.convert(values, ReceiverOrder)
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `$.")
        key = re.split(r"[`\[]", where)[0]
        raise ConfigError(f"{key}: {text}" if key else text) from None
    check_target(order.kind, order.target)
    for key, pattern, example in (("digest_at", HOUR, "08:00"), ("quiet", QUIET, "22:00-07:00")):
        text = getattr(order, key)
        if text and not pattern.fullmatch(text):
            raise ConfigError(f"{key} is {text}: expected a time of the day, such as {example}")
    if order.zone not in available_timezones():
        raise ConfigError(f"zone is {order.zone}: expected a time zone, such as Asia/Shanghai")
    if order.most_an_hour < 0:
        raise ConfigError(f"most_an_hour is {order.most_an_hour}: a number from 0 on is needed")
    if order.kind is not ReceiverKind.MAIL and is_plainly_private(order.target):
        return msgspec.structs.replace(order, private=True)
    return order


def check_target(kind: ReceiverKind, target: str) -> None:
    """Checks where a receiver is.

    Raises:
        ConfigError: It is no URL, or no mail address.
    """
    if kind is ReceiverKind.COMMAND:
        raise ConfigError("a command is not run any more: use a webhook")
    if kind is not ReceiverKind.MAIL:
        check_url(target)
        return
    for address in (each.strip() for each in target.split(",")):
        if not (ADDRESS.fullmatch(address) and address.isascii() and address.isprintable()):
            raise ConfigError(f"{address} is not a mail address, such as ops@example.com")


def check_url(url: str) -> None:
    """Checks the URL of a webhook.

    Raises:
        ConfigError: It is no http or https URL with a host, or has a user's name in it.
    """
    try:
        parts = urlsplit(url)
        port_is_right = parts.port != 0
    except ValueError:
        raise ConfigError("a receiver's URL is none") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_right:
        raise ConfigError("a receiver's URL begins with http:// or https://")
    if not url.isascii() or re.search(r"[\x00-\x20\x7f]", url):
        raise ConfigError("a receiver's URL is written in ASCII, other characters as %XX")
    if "@" in parts.netloc:
        raise ConfigError("a receiver's URL has no user or password; receivers check signatures")


def is_plainly_private(url: str) -> bool:
    """Whether a URL names a private address as such: ``http://127.0.0.1:8000/``, ``localhost``."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ip_address(host)
    except ValueError:  # a name
        return False
    return not is_public(host)


def hidden(url: str) -> str:
    """Returns a URL for people and logs: long parts of the path and the query are ``***``."""
    parts = urlsplit(url)
    path = "/".join("***" if len(p) >= HIDDEN_CHARS else p for p in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc}{path}{'?***' if parts.query else ''}"
