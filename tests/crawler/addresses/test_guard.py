"""The address guard: every range, every spelling, and names that change their mind."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import pytest

from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.crawler.addresses.guard import AddressGuard, is_web_port
from crawlclean.crawler.addresses.public import is_public
from tests.kit.crawls import ROOT, environment
from tests.kit.timing import LIMIT_S

NO_PUBLIC = [
    "::127.0.0.1",  # IPv4-compatible
    "::8.8.8.8",
    "::ffff:0:127.0.0.1",  # IPv4-translated
    "2001:0:808:808::80ff:fffe",  # Teredo
    "2606:4700::5efe:7f00:1",  # ISATAP
    "2606:4700::200:5efe:c0a8:1",
    "fe80::1%eth0",
    "fe80::5efe:8.8.8.8",
    "fec0::1",  # site-local
    "4000::1",  # not assigned
    "",
    "localhost",
    "256.1.1.1",
    "8.8.8.8.8",
    "8.8.8.8:80",
]


@pytest.mark.parametrize("address", NO_PUBLIC)
def test_what_hides_an_address_or_is_none_may_not_be_fetched(address: str) -> None:
    assert not is_public(address)


def look_up(guard: AddressGuard, hostname: str, *addresses: str) -> None:
    """What one lookup of a name tells the guard."""
    kept = sum(map(is_public, addresses))
    guard.end_lookup(hostname, kept=kept, refused=len(addresses) - kept)


@pytest.mark.parametrize("literal", ["10.0.0.1", "127.0.0.1", "::1", "::ffff:127.0.0.1", "fe80::1"])
def test_a_private_literal_needs_no_lookup_to_be_refused(literal: str) -> None:
    guard = AddressGuard()
    assert not guard.admits(literal, allow_private=False)
    assert guard.admits(literal, allow_private=True)
    assert not guard.admits(literal, allow_private=False)


def test_a_host_is_refused_only_while_none_of_its_addresses_may_be_used() -> None:
    guard = AddressGuard()
    look_up(guard, "mixed.example", "10.0.0.1", "8.8.8.8")
    assert not guard.refused("mixed.example"), "one address may be asked"
    look_up(guard, "mixed.example", "10.0.0.1")
    assert guard.refused("mixed.example")
    look_up(guard, "mixed.example", "8.8.8.8")
    assert not guard.refused("mixed.example"), "the last lookup counts"
    look_up(guard, "mixed.example", "10.0.0.1")
    look_up(guard, "mixed.example")
    assert not guard.refused("mixed.example"), "without an address it is no refusal"


def test_the_memory_of_hosts_is_bounded_and_keeps_those_used_last() -> None:
    guard = AddressGuard(max_hosts=3)
    for i in range(4):
        look_up(guard, f"no{i}.example", "10.0.0.1")
    assert not guard.refused("no0.example")
    assert guard.refused("no1.example")
    assert guard.refused("no3.example")


# The real reactor and the system's resolver; names are only looked up, nothing is connected to.
LOOK_UP = """
import json, sys
from twisted.internet import reactor
from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer
from crawlclean.crawler.addresses.guard import GuardedResolver, installed_guard, installed_resolver

try:
    installed_guard()
except RuntimeError as error:
    assert "not installed" in str(error)
else:
    raise AssertionError("no guard was installed yet")
GuardedResolver.from_crawler(None, reactor).install_on_reactor()
guard = installed_guard()
names, found = json.loads(sys.argv[1]), {}

@implementer(IResolutionReceiver)
class Receiver:
    def __init__(self, name):
        self.name, self.addresses = name, []
    def resolutionBegan(self, resolution):
        pass
    def addressResolved(self, address):
        self.addresses.append(address.host)
    def resolutionComplete(self):
        found[self.name] = [self.addresses, guard.refused(self.name)]
        if self.name == "localhost" and "permitted" not in found:
            with installed_resolver().permitting():
                reactor.nameResolver.resolveHostName(Permitted("permitted"), "localhost")
        if len(found) == len(names) + 1:
            reactor.stop()

class Permitted(Receiver):
    pass

for name in names:
    reactor.callWhenRunning(reactor.nameResolver.resolveHostName, Receiver(name), name)
reactor.run()
print(json.dumps(found))
"""
SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "0",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1\x00.example",
]


def resolve_in_a_process(script: str, names: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(names)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=ROOT,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# A name server of our own in front of the guard; the connection is a real one to a real port.
REBINDING = """
import json, socket, sys
from twisted.internet import reactor
from twisted.internet.address import IPv4Address
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IHostnameResolver, IResolutionReceiver
from twisted.internet.protocol import Factory, Protocol
from zope.interface import implementer
from crawlclean.crawler.addresses.guard import GuardedResolver, installed_guard

listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
answers = [["93.184.216.34"], ["127.0.0.1"], ["127.0.0.1", "93.184.216.34"]]

@implementer(IHostnameResolver)
class ChangingNames:
    def resolveHostName(self, receiver, name, port=0, types=None, semantics="TCP"):
        receiver.resolutionBegan(None)
        for address in answers.pop(0):
            receiver.addressResolved(IPv4Address("TCP", address, port))
        receiver.resolutionComplete()

@implementer(IResolutionReceiver)
class Receiver:
    def __init__(self):
        self.addresses = []
    def resolutionBegan(self, resolution):
        pass
    def addressResolved(self, address):
        self.addresses.append(address.host)
    def resolutionComplete(self):
        pass

reactor.installNameResolver(ChangingNames())
GuardedResolver(reactor).install_on_reactor()
guard, out = installed_guard(), {}

def look_up():
    receiver = Receiver()
    reactor.nameResolver.resolveHostName(receiver, "rebind.example", port)
    return receiver.addresses

def end(failure):
    out["failure"] = failure.type.__name__
    out["refused"] = guard.refused("rebind.example")
    out["mixed"] = look_up()
    out["still_refused"] = guard.refused("rebind.example")
    listener.setblocking(False)
    try:
        listener.accept()
        out["connected"] = True
    except BlockingIOError:
        out["connected"] = False
    reactor.stop()

def begin():
    out["first"] = look_up()
    endpoint = HostnameEndpoint(reactor, "rebind.example", port)
    endpoint.connect(Factory.forProtocol(Protocol)).addErrback(end)

reactor.callWhenRunning(begin)
reactor.run()
print(json.dumps(out))
"""


def test_a_name_that_turns_private_is_never_connected_to() -> None:
    told = resolve_in_a_process(REBINDING, [])
    assert told == {
        "first": ["93.184.216.34"],
        "failure": "DNSLookupError",
        "refused": True,
        "mixed": ["93.184.216.34"],
        "still_refused": False,
        "connected": False,
    }


# What a page or a Location may say, as it is after the normal form; nothing of it is public.
TRICKS = [
    "http://user:pw@127.0.0.1/",
    "http://8.8.8.8@127.0.0.1/",
    "http://8.8.8.8:80@127.0.0.1:80/",
    "http://127.0.0.1\\@8.8.8.8/",
    "http:127.0.0.1/",
    "http:\\\\127.0.0.1/",
    "http:///127.0.0.1/",
    "http://127.0.0.1./",
    "http://１２７.０.０.１/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://%31%32%37.0.0.1/",
    "http://127.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0/",
    "http://[::1]/",
    "http://[::1%25lo]/",
    "http://[fe80::1%25eth0]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[0:0:0:0:0:ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://ｌｏｃａｌｈｏｓｔ/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/",
    "http://2852039166/",
    "http://127.0.0.1\t/",
    "http://127.0.0.1#@8.8.8.8/",
    "http://127.0.0.1?@8.8.8.8/",
]


def test_no_way_of_writing_a_private_address_passes_the_real_resolver() -> None:
    hosts = {urlsplit(normalize(trick)).hostname or "" for trick in TRICKS}
    assert "" not in hosts
    # No literal as we know it: the resolver has the last word.
    hosts = {each for each in hosts if AddressGuard().admits(each, allow_private=False)}
    assert "127.0.0.1" not in hosts
    private = sorted(hosts.union(SPELLINGS))
    found = resolve_in_a_process(LOOK_UP, [*private, "8.8.8.8", "2606:4700::1", "134744072"])
    for name in private:
        assert found[name][0] == [], name
    assert found["127.0.0.1"] == [[], True]
    assert set(found["permitted"][0]) & {"127.0.0.1", "::1"}, "to a crawl that may"
    assert found["0x7f.1"] == [[], True]
    assert found["8.8.8.8"] == [["8.8.8.8"], False]
    assert found["134744072"] == [["8.8.8.8"], False], "an odd spelling alone is no reason"


@pytest.mark.parametrize("port", [0, 22, 25, 53, 110, 143, 445, 587, 3306, 5432, 6379, 6667, 27017])
def test_ports_of_other_services_are_no_web_ports(port: int) -> None:
    assert not is_web_port(port)


@pytest.mark.parametrize("port", [None, 80, 81, 443, 3000, 5000, 8000, 8080, 8443, 9200, 65535])
def test_ports_where_sites_are_served(port: int | None) -> None:
    assert is_web_port(port)
