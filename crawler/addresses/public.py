"""Classifies IP addresses as public or private; imports no Scrapy."""

from __future__ import annotations

import ipaddress

NAT64 = ipaddress.ip_network("64:ff9b::/96")  # as public as the IPv4 address inside it
UNICAST6 = ipaddress.ip_network("2000::/3")  # all else of IPv6 is local, reserved or multicast
DOCUMENTATION6 = ipaddress.ip_network("3fff::/20")  # RFC 9637, younger than our oldest Python
ISATAP = frozenset({0x00005EFE, 0x02005EFE})  # RFC 5214: before an IPv4 address in the last half


def is_public(address: str) -> bool:
    """Whether an IP address is global unicast, itself and any IPv4 address inside it."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        last = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if ip.ipv4_mapped or ip in NAT64:
            return is_public(str(last))
        if ip not in UNICAST6 or ip in DOCUMENTATION6:
            return False
        inner: list[ipaddress.IPv4Address] = list(ip.teredo or ())
        if ip.sixtofour:
            inner.append(ip.sixtofour)
        if int(ip) >> 32 & 0xFFFFFFFF in ISATAP:
            inner.append(last)
        if any(not is_public(str(address)) for address in inner):
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)
