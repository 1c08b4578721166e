"""Classifies IP addresses as public or private by a table of its own; imports no Scrapy.

The tables of ``ipaddress`` change between patch releases of Python (2002::/16 with 3.13.0), and an
address must not become public by an update. Sources: the IANA registries of special-purpose
addresses of IPv4 and of IPv6, with the registries of multicast and of reserved ranges.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# Not globally reachable.
PRIVATE4 = (
    "0.0.0.0/8",  # this network, RFC 791
    "10.0.0.0/8",  # private use, RFC 1918
    "100.64.0.0/10",  # carrier-grade NAT, RFC 6598
    "127.0.0.0/8",  # loopback, RFC 1122
    "169.254.0.0/16",  # link-local, RFC 3927: the metadata services of clouds
    "172.16.0.0/12",  # private use, RFC 1918
    "192.0.0.0/24",  # protocol assignments, RFC 6890, but for PUBLIC4
    "192.0.2.0/24",  # documentation, RFC 5737
    "192.168.0.0/16",  # private use, RFC 1918
    "192.88.99.0/24",  # relay anycast of 6to4, RFC 7526: no web site has such an address
    "198.18.0.0/15",  # benchmarking, RFC 2544
    "198.51.100.0/24",  # documentation, RFC 5737
    "203.0.113.0/24",  # documentation, RFC 5737
    "224.0.0.0/4",  # multicast, RFC 5771
    "240.0.0.0/4",  # reserved, RFC 1112, with the broadcast address
)
PUBLIC4 = (
    "192.0.0.9/32",  # port control anycast, RFC 7723
    "192.0.0.10/32",  # TURN anycast, RFC 8155
)
# Within 2000::/3; all else of IPv6 is local, reserved or multicast, but for NAT64.
PRIVATE6 = (
    "2001::/23",  # protocol assignments, RFC 2928, but for PUBLIC6: with Teredo, benchmarking
    "2001:db8::/32",  # documentation, RFC 3849
    "3fff::/20",  # documentation, RFC 9637
)
PUBLIC6 = (
    "2001:1::1/128",  # port control anycast, RFC 7723
    "2001:1::2/128",  # TURN anycast, RFC 8155
    "2001:3::/32",  # AMT, RFC 7450
    "2001:4:112::/48",  # AS112, RFC 7535
    "2001:20::/28",  # ORCHIDv2, RFC 7343
    "2001:30::/28",  # remote identification of drones, RFC 9374
)
UNICAST6 = "2000::/3"
SIX_TO_FOUR = "2002::/16"  # as public as the IPv4 address inside it, RFC 3056
NAT64 = "64:ff9b::/96"  # as public as the IPv4 address inside it, RFC 6052
MAPPED = "::ffff:0:0/96"  # as public as the IPv4 address inside it, RFC 4291
ISATAP = frozenset({0x00005EFE, 0x02005EFE})  # RFC 5214: before an IPv4 address in the last half

_PRIVATE4, _PUBLIC4 = (tuple(map(IPv4Network, table)) for table in (PRIVATE4, PUBLIC4))
_PRIVATE6, _PUBLIC6 = (tuple(map(IPv6Network, table)) for table in (PRIVATE6, PUBLIC6))
_UNICAST6, _SIX_TO_FOUR, _NAT64, _MAPPED = map(IPv6Network, (UNICAST6, SIX_TO_FOUR, NAT64, MAPPED))


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """Reads an IP address, without the interface behind a ``%``; None for any other text."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def is_public(address: str) -> bool:
    """Whether an IP address is global unicast, itself and any IPv4 address inside it."""
    ip = read_address(address)
    if ip is None:
        return False
    return _is_public4(ip) if isinstance(ip, IPv4Address) else _is_public6(ip)


def _is_public4(ip: IPv4Address) -> bool:
    return any(ip in net for net in _PUBLIC4) or not any(ip in net for net in _PRIVATE4)


def _is_public6(ip: IPv6Address) -> bool:
    number = int(ip)
    last = IPv4Address(number & 0xFFFFFFFF)
    if ip in _MAPPED or ip in _NAT64:
        return _is_public4(last)
    if ip not in _UNICAST6:
        return False
    if ip in _SIX_TO_FOUR and not _is_public4(IPv4Address(number >> 80 & 0xFFFFFFFF)):
        return False
    if number >> 32 & 0xFFFFFFFF in ISATAP and not _is_public4(last):
        return False
    return any(ip in net for net in _PUBLIC6) or not any(ip in net for net in _PRIVATE6)
