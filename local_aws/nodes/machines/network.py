"""A cluster's VPC: a bridge in the hub's network namespace, and one network namespace with an `eth0` per node.

Nodes have a default route, because scripts find their own address by it. It leads to the bridge and ends there, as on a private
subnet without a NAT gateway; but connections fail within a second instead of hanging.
"""

import ipaddress
import itertools
import time
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.builds.programs import run, succeeds
from local_aws.nodes.machines import dns, imds
from local_aws.nodes.specs import Vpc

_BRIDGE = "vpc"
_LINK_LOCAL = "169.254.0.0/16"
PODS = "100.64.0.0/10"  # as with the Amazon VPC CNI's custom networking
# Otherwise a bridge takes the lowest address of its ports, which changes as nodes come and go, and neighbours lose it.
_FIXED_MAC = "02:00:00:00:00:01"
OFF_S = 3.0
"""How long a machine is off before it boots again: minutes on AWS, and slurmctld compares times of boots in whole seconds."""
_IPV4 = Path("/proc/sys/net/ipv4")
# These settings are the namespace's own and end with it. Packets without a route get an ICMP error, each time.
_REFUSING = {"ip_forward": "1", "icmp_ratelimit": "0"}


class Network:
    """The network of a cluster's nodes."""

    def __init__(self, vpc: Vpc) -> None:
        self._vpc = vpc
        self._numbers = itertools.count()
        self._addresses: dict[str, str] = {}
        self._free_at: dict[str, float] = {}  # by address, on the monotonic clock
        self._networks = [ipaddress.ip_network(cidr) for cidr in vpc.cidrs]

    def build(self) -> None:
        """Create the bridge with the addresses of the resolver, the metadata service and the file systems."""
        systems = (system.address for system in self._vpc.file_systems.values())
        addresses = dict.fromkeys((self._vpc.resolver, dns.ADDRESS, imds.ADDRESS, imds.PROXY, *systems))
        lines = ["link set lo up", f"link add {_BRIDGE} address {_FIXED_MAC} type bridge"]
        lines += [f"addr add {address}/32 dev {_BRIDGE}" for address in addresses]
        lines += [f"addr add {self._vpc.api_server}/32 dev {_BRIDGE}"] if self._vpc.api_server else []
        lines += [f"link set {_BRIDGE} up", *(f"route add {cidr} dev {_BRIDGE}" for cidr in self._cidrs())]
        run("ip", "-batch", "-", stdin="\n".join(lines))
        for setting, value in _REFUSING.items():
            (_IPV4 / setting).write_text(value)

    def plug(self, node_id: str, address: str) -> None:
        """Create a node's network namespace, with its address on `eth0`."""
        self._check(address)
        self._addresses[node_id] = address
        time.sleep(max(0.0, self._free_at.get(address, 0.0) - time.monotonic()))
        run("ip", "netns", "add", node_id)
        wire = f"node{next(self._numbers)}"
        mac = "02:00:" + ":".join(f"{int(part):02x}" for part in address.split("."))  # of another node with the address, too
        run("ip", "link", "add", wire, "type", "veth", "peer", "name", "eth0", "address", mac, "netns", node_id)
        run("ip", "link", "set", wire, "master", _BRIDGE, "up")
        routes = [f"route add {cidr} dev eth0 src {address}" for cidr in (*self._cidrs(), _LINK_LOCAL)]
        way_out = f"route add default via {self._vpc.resolver} dev eth0 onlink src {address}"
        lines = ["link set lo up", f"addr add {address}/32 dev eth0", "link set eth0 up", *routes, way_out]
        run("ip", "-n", node_id, "-batch", "-", stdin="\n".join(lines))

    def unplug(self, node_id: str) -> None:
        """Remove a node's network namespace, if it exists."""
        succeeds("ip", "netns", "del", node_id)
        self._free_at[self._addresses.pop(node_id, "")] = time.monotonic() + OFF_S

    def _cidrs(self) -> list[str]:
        return [*self._vpc.cidrs, *([PODS] if self._vpc.api_server else [])]

    def _check(self, address: str) -> None:
        if not any(ipaddress.ip_address(address) in network for network in self._networks):
            raise HostError(f"address {address} is in none of the VPC's blocks {', '.join(self._vpc.cidrs)}")
