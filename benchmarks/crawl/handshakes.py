"""What checking a certificate costs: CPU of the client for each TLS connection.

Client and server talk in memory, without sockets. Compared with the connections of plain Scrapy,
which checks the name alone and makes an OpenSSL context for each: ``make bench-handshakes``.
"""

from __future__ import annotations

import argparse
import logging
import ssl
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from OpenSSL import SSL
from scrapy.core.downloader.contextfactory import _ScrapyClientContextFactory

from crawlclean.crawler.transfer.certificates import (
    CertificateFaults,
    CertificatePolicy,
    tls_context,
)
from tests.kit.certificates import Authority

NAME = "host.test"


class _Protocol:
    """As much of a TLS protocol as Scrapy's connections look at."""

    class factory:  # noqa: N801 - the attribute's name
        wrappedFactory = None  # noqa: N815 - Twisted's name


def client_cpu_s(connect: Callable[[], Any], server: ssl.SSLContext) -> float:
    """Returns the CPU seconds of the client in one handshake, with the making of its connection."""
    begun = time.thread_time()
    client = connect().clientConnectionForTLS(_Protocol)
    client.set_connect_state()
    spent = time.thread_time() - begun
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    peer = server.wrap_bio(to_server, to_client, server_side=True)
    waiting = {"client", "server"}
    while waiting:
        begun = time.thread_time()
        try:
            client.do_handshake()
            waiting.discard("client")
        except SSL.WantReadError:
            pass
        with suppress(SSL.WantReadError):
            to_server.write(client.bio_read(1 << 16))
        spent += time.thread_time() - begun
        try:
            peer.do_handshake()
            waiting.discard("server")
        except ssl.SSLWantReadError:
            pass
        if data := to_client.read():
            client.bio_write(data)
    return spent


def main(arguments: list[str] | None = None) -> int:
    """Prints milliseconds for each kind of connection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=1000)
    count = parser.parse_args(arguments).connections
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        right = authority.server_context(NAME)
        wrong = authority.server_context(NAME, is_self_signed=True)
        begun = time.thread_time()
        context = tls_context(str(authority.ca_file))
        print(f"context with all authorities, once: {(time.thread_time() - begun) * 1000:.1f} ms")
    policy = CertificatePolicy(context, CertificateFaults(), refuses_wrong=False)
    plain = _ScrapyClientContextFactory()
    for label, factory, server in (
        ("plain Scrapy", plain, right),
        ("checked, right", policy, right),
        ("checked, self-signed", policy, wrong),
    ):
        connect = lambda made=factory: made.creatorForNetloc(NAME.encode(), 443)  # noqa: E731
        cpu_s = sum(client_cpu_s(connect, server) for _ in range(count))
        print(f"{label}: {cpu_s / count * 1000:.2f} ms a connection")
    return 0


if __name__ == "__main__":
    sys.exit(main())
