"""The networks from which functions call, told by loopback addresses: each network has an address of its own.

A service of this machine thus knows whether a function outside of VPCs calls, or one in which subnets and security groups. People
and nodes call from other addresses.
"""

import ipaddress
import itertools
import threading

from local_aws.network_interfaces import Place

Network = tuple[Place, ...]
"""The subnets and security groups of a function; none outside of VPCs."""

_FIRST = ipaddress.IPv4Address("127.16.0.1")
_addresses: dict[Network, str] = {}
_numbers = itertools.count()
_lock = threading.Lock()


def address_of(network: Network) -> str:
    """Return the address from which functions in ``network`` call."""
    with _lock:
        if network not in _addresses:
            _addresses[network] = str(_FIRST + next(_numbers))
        return _addresses[network]


def network_of(address: str) -> Network | None:
    """Return the network of the function that calls from ``address``; None for other callers."""
    with _lock:
        return next((network for network, own in _addresses.items() if own == address), None)
