"""Public and private addresses: the edges of every special-purpose range of the IANA registries."""

import ipaddress

import pytest

from crawlclean.crawler.addresses.public import is_public

# Range, whether its addresses are public, whether those directly before and behind it are.
# None: there is no such address.
RANGES = [
    ("0.0.0.0/8", False, None, True),
    ("10.0.0.0/8", False, True, True),
    ("100.64.0.0/10", False, True, True),
    ("127.0.0.0/8", False, True, True),
    ("169.254.0.0/16", False, True, True),
    ("172.16.0.0/12", False, True, True),
    ("192.0.0.0/29", False, True, False),
    ("192.0.0.9/32", True, False, True),
    ("192.0.0.10/32", True, True, False),
    ("192.0.0.170/31", False, False, False),
    ("192.0.2.0/24", False, True, True),
    ("192.31.196.0/24", True, True, True),
    ("192.52.193.0/24", True, True, True),
    ("192.88.99.0/24", False, True, True),
    ("192.168.0.0/16", False, True, True),
    ("192.175.48.0/24", True, True, True),
    ("198.18.0.0/15", False, True, True),
    ("198.51.100.0/24", False, True, True),
    ("203.0.113.0/24", False, True, True),
    ("224.0.0.0/4", False, True, False),
    ("240.0.0.0/4", False, False, None),
    ("255.255.255.255/32", False, False, None),
    ("::/128", False, None, False),
    ("::1/128", False, False, False),
    ("::ffff:10.0.0.0/104", False, True, True),
    ("::ffff:8.8.8.8/128", True, True, True),
    ("64:ff9b::10.0.0.0/104", False, True, True),
    ("64:ff9b::8.8.8.8/128", True, True, True),
    ("64:ff9b:1::/48", False, False, False),
    ("100::/64", False, False, False),
    ("100:0:0:1::/64", False, False, False),
    ("2001::/32", False, True, False),
    ("2001:1::1/128", True, False, True),
    ("2001:1::2/128", True, True, False),
    ("2001:2::/48", False, False, False),
    ("2001:3::/32", True, False, False),
    ("2001:4:112::/48", True, False, False),
    ("2001:10::/28", False, False, True),
    ("2001:20::/28", True, False, True),
    ("2001:30::/28", True, True, False),
    ("2001:db8::/32", False, True, True),
    ("2002:a00::/24", False, True, True),
    ("2002:808:808::/48", True, True, True),
    ("2620:4f:8000::/48", True, True, True),
    ("3fff::/20", False, True, True),
    ("5f00::/16", False, False, False),
    ("fc00::/7", False, False, False),
    ("fe80::/10", False, False, False),
    ("ff00::/8", False, False, None),
]


@pytest.mark.parametrize(("network", "inside", "before", "behind"), RANGES)
def test_each_special_range_ends_at_its_edges(
    network: str, inside: bool, before: bool | None, behind: bool | None
) -> None:
    net = ipaddress.ip_network(network)
    assert [is_public(str(net[0])), is_public(str(net[-1]))] == [inside, inside]
    if before is not None:
        assert is_public(str(net[0] - 1)) is before
    if behind is not None:
        assert is_public(str(net[-1] + 1)) is behind


def test_the_interpreters_tables_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for version in (ipaddress.IPv4Address, ipaddress.IPv6Address):
        monkeypatch.setattr(version, "is_global", property(lambda _: True))
        monkeypatch.setattr(version, "is_private", property(lambda _: False))
    assert not is_public("10.0.0.1")
    assert not is_public("fc00::1")
