"""Certificates for TLS servers of tests: signed by an authority of the test, or by themselves."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

DAY = timedelta(days=1)


class Authority:
    """An authority with files of its own; ``ca_file`` is for those who trust it."""

    def __init__(self, folder: Path) -> None:
        """Makes the key and the certificate of the authority."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named("authority of a test")
        now = datetime.now(UTC)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        self._certificate = (
            x509.CertificateBuilder()
            .subject_name(self._name)
            .issuer_name(self._name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - 9 * DAY)
            .not_valid_after(now + 9 * DAY)
            .add_extension(constraints, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.ca_file = folder / "authority.pem"
        self.ca_file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def server_context(
        self,
        *names: str,
        ends_in: timedelta = DAY,
        is_self_signed: bool = False,
    ) -> ssl.SSLContext:
        """What a TLS server needs; the arguments are those of ``server_file``."""
        file = self.server_file(*names, ends_in=ends_in, is_self_signed=is_self_signed)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def server_file(
        self,
        *names: str,
        ends_in: timedelta = DAY,
        is_self_signed: bool = False,
    ) -> Path:
        """A PEM file with the key and the certificate of a TLS server.

        Args:
            names: Host names, also ``*.example.test``, and addresses that the certificate is for.
            ends_in: Time to the end of its validity; negative: it has expired.
            is_self_signed: Whether the server has signed its certificate itself.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        own = _named(names[0])
        signer, signed_by = (key, own) if is_self_signed else (self._key, self._name)
        end = datetime.now(UTC) + ends_in
        certificate = (
            x509.CertificateBuilder()
            .subject_name(own)
            .issuer_name(signed_by)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(end - 3 * DAY)
            .not_valid_after(end)
            .add_extension(_alternative_names(names), critical=False)
            .sign(signer, hashes.SHA256())
        )
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        both = self._folder / f"{certificate.serial_number:x}.pem"
        both.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
        return both


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _alternative_names(names: Sequence[str]) -> x509.SubjectAlternativeName:
    found: list[x509.GeneralName] = []
    for name in names:
        try:
            found.append(x509.IPAddress(ip_address(name)))
        except ValueError:
            found.append(x509.DNSName(name))
    return x509.SubjectAlternativeName(found)
