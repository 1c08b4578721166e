"""TLS connections: what is wrong with a host's certificate, and whether a wrong one is refused.

Every certificate is checked: its signature up to a known authority, its dates, its name. A request
for verified hosts only (``meta["verify_tls"]``) fails on a wrong certificate. For all others the
fault is noted and the connection is used (ADR 29).

All connections of a process share one OpenSSL context with the authorities of the system and those
of ``ca_file``: loading them takes as long as several requests.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from cryptography.x509 import (
    Certificate,
    DNSName,
    ExtensionNotFound,
    IPAddress,
    SubjectAlternativeName,
)
from OpenSSL import SSL
from OpenSSL.crypto import X509
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.internet.ssl import AcceptableCiphers, CertificateOptions
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from crawlclean.cleaning.errors import ConfigError
from crawlclean.crawler.addresses.public import read_address
from crawlclean.storage.crawl_types import CertificateFault

MAX_HOSTS = 10_000  # hosts whose fault is remembered, for answers over an older connection
OLD_SERVERS = 0x4  # SSL_OP_LEGACY_SERVER_CONNECT, as Scrapy: servers without secure renegotiation
NAMES_SHOWN = 3  # a certificate may be for hundreds of hosts

# X509_V_ERR_... of OpenSSL. An incomplete chain (20, 21) is the most frequent: browsers fetch the
# missing certificate.
FAULTS = {
    9: CertificateFault.NOT_YET_VALID,
    10: CertificateFault.EXPIRED,
    18: CertificateFault.SELF_SIGNED,
    19: CertificateFault.UNKNOWN_ISSUER,
    20: CertificateFault.UNKNOWN_ISSUER,
    21: CertificateFault.UNKNOWN_ISSUER,
}
# Of several faults the first is counted: without a known signer the dates and names mean little.
ORDER = (
    CertificateFault.SELF_SIGNED,
    CertificateFault.UNKNOWN_ISSUER,
    CertificateFault.EXPIRED,
    CertificateFault.NOT_YET_VALID,
    CertificateFault.WRONG_NAME,
    CertificateFault.INVALID,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongCertificate:
    """What is wrong with the certificate of a host.

    Attributes:
        fault: The fault that is counted.
        detail: All faults, ``it expired on 2026-01-31, it is for other.example``.
    """

    fault: CertificateFault
    detail: str


class CertificateFaults:
    """The certificate faults of the hosts connected to last, at most ``MAX_HOSTS``."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[tuple[str, int], WrongCertificate] = OrderedDict()

    def of(self, hostname: str, port: int) -> WrongCertificate | None:
        """Returns what was wrong at the newest connection to a host; None: nothing."""
        return self._hosts.get((hostname, port))

    def note(self, hostname: str, port: int, faults: dict[CertificateFault, str]) -> None:
        """Notes the faults of a new connection with their details; none ends an older fault."""
        key = (hostname, port)
        self._hosts.pop(key, None)
        if not faults:
            return
        first = next(fault for fault in ORDER if fault in faults)
        self._hosts[key] = WrongCertificate(fault=first, detail=", ".join(faults.values()))
        if len(self._hosts) > MAX_HOSTS:
            self._hosts.popitem(last=False)


def tls_context(ca_file: str = "") -> SSL.Context:
    """Returns a context with the system's authorities and those of a PEM file (``""``: none).

    Raises:
        ConfigError: The file cannot be read, or holds no certificate.
    """
    known: Any = AcceptableCiphers  # without types
    ciphers = known.fromOpenSSLCipherString("DEFAULT")
    options: Any = CertificateOptions(fixBrokenPeers=True, acceptableCiphers=ciphers)
    context: SSL.Context = options.getContext()
    context.set_options(OLD_SERVERS)
    context.set_default_verify_paths()
    if ca_file:
        try:
            context.load_verify_locations(ca_file)
        except SSL.Error:
            raise ConfigError(f"ca_file: {ca_file} holds no PEM certificates") from None
    return context


@implementer(IPolicyForHTTPS)
class CertificatePolicy:
    """Makes the TLS connections of one download handler."""

    def __init__(
        self, context: SSL.Context, faults: CertificateFaults, *, refuses_wrong: bool
    ) -> None:
        """Notes faults in ``faults``; ``refuses_wrong``: and ends connections that have one."""
        self._context = context
        self._faults = faults
        self._refuses_wrong = refuses_wrong

    def creatorForNetloc(self, hostname: bytes, port: int) -> _Connections:  # noqa: N802 - the interface's name
        """Returns the maker of connections to one host."""
        name = hostname.decode("ascii").strip("[]").lower()
        return _Connections(self._context, self._faults, name, port, self._refuses_wrong)


@implementer(IOpenSSLClientConnectionCreator)
@dataclass(frozen=True, slots=True)
class _Connections:
    """Makes connections to one host that check its certificate."""

    context: SSL.Context
    faults: CertificateFaults
    hostname: str
    port: int
    refuses_wrong: bool

    def clientConnectionForTLS(self, _protocol: Any) -> SSL.Connection:  # noqa: N802 - the interface's name
        """Returns a connection before its handshake."""
        connection = SSL.Connection(self.context, None)
        if read_address(self.hostname) is None:
            connection.set_tlsext_host_name(self.hostname.encode("ascii"))
        found: dict[CertificateFault, str] = {}

        def check(_: Any, certificate: X509, error: int, depth: int, ok: int) -> bool:
            if not ok:
                fault = FAULTS.get(error, CertificateFault.INVALID)
                found.setdefault(fault, _detail(fault, certificate, error))
            if depth == 0:  # the host's own certificate; the last call is for it
                wrong_name = _wrong_name(certificate, self.hostname)
                if wrong_name:
                    found[CertificateFault.WRONG_NAME] = wrong_name
                self.faults.note(self.hostname, self.port, found)
                return not (found and self.refuses_wrong)
            return True

        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, check)
        return connection


def _wrong_name(certificate: X509, hostname: str) -> str:
    """Returns a detail when a certificate is for other hosts, else ``""``."""
    try:
        names = certificate.to_cryptography().extensions
        found = names.get_extension_for_class(SubjectAlternativeName).value
    except (ExtensionNotFound, ValueError):  # ValueError: a damaged extension
        return "it names no host"
    domains = [name.lower() for name in found.get_values_for_type(DNSName)]
    addresses = [str(address) for address in found.get_values_for_type(IPAddress)]
    if hostname in addresses or any(_is_for(name, hostname) for name in domains):
        return ""
    shown = " ".join((domains + addresses)[:NAMES_SHOWN])
    return f"it is for {shown}"


def _is_for(name: str, hostname: str) -> bool:
    """Whether a name of a certificate, ``*.example.com``, is for a host (RFC 9525, 6.3)."""
    wildcard, _, domain = name.partition(".")
    if wildcard == "*":
        return "." in domain and hostname.partition(".")[2] == domain
    return name == hostname


def _detail(fault: CertificateFault, certificate: X509, error: int) -> str:
    if fault is CertificateFault.SELF_SIGNED:
        return "it is self-signed"
    if fault is CertificateFault.UNKNOWN_ISSUER:
        return "no known authority signed it, or its chain is incomplete"
    valid = _dates(certificate)
    if fault is CertificateFault.EXPIRED and valid:
        return f"it expired on {valid.not_valid_after_utc:%Y-%m-%d}"
    if fault is CertificateFault.NOT_YET_VALID and valid:
        return f"it is valid from {valid.not_valid_before_utc:%Y-%m-%d}"
    return f"it is not valid (error {error} of OpenSSL)"


def _dates(certificate: X509) -> Certificate | None:
    """Returns a certificate whose dates can be read, else None."""
    try:
        return certificate.to_cryptography()
    except ValueError:
        return None
