"""The VPC's resolver: only names and addresses of nodes, file systems, and services and pods of an EKS cluster. UDP only."""

import ipaddress
import re
import socket
import struct
import threading
from collections.abc import Mapping

from local_aws.host_names import domain
from local_aws.nodes.specs import Vpc

ADDRESS = "169.254.169.253"
_A, _PTR = 1, 12
_KNOWN, _NO_SUCH_NAME = 0x8580, 0x8583  # an authoritative answer with recursion, and NXDOMAIN
_TTL_S = 60


class Names:
    """The names in a VPC."""

    def __init__(self, vpc: Vpc) -> None:
        self._domain = domain(vpc.region)
        self._networks = [ipaddress.ip_network(cidr) for cidr in vpc.cidrs]
        self.unknown: set[str] = set()  # addresses of nodes whose names do not resolve yet
        self.of_pods: Mapping[str, str] = {}  # the names of services and pods of an EKS cluster, with their addresses
        self._file_systems = {name.lower(): system.address for name, system in vpc.file_systems.items()}

    def look_up(self, name: str, kind: int) -> str | None:
        """Return the answer to a question for an address (1) or a name (12), or None."""
        if kind == _A:
            return self._file_systems.get(name) or self.of_pods.get(name) or self._node(name)
        if kind == _PTR:
            return self._name(name)
        return None

    def _node(self, name: str) -> str | None:
        host = re.fullmatch(rf"ip-(\d+)-(\d+)-(\d+)-(\d+)\.{re.escape(self._domain)}", name)
        address = ".".join(host.groups()) if host else ""
        return address if self._is_ours(address) else None

    def _name(self, question: str) -> str | None:
        back = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa", question)
        parts = back.groups()[::-1] if back else ()
        return f"ip-{'-'.join(parts)}.{self._domain}" if self._is_ours(".".join(parts)) else None

    def _is_ours(self, address: str) -> bool:
        try:
            is_here = any(ipaddress.ip_address(address) in network for network in self._networks)
        except ValueError:
            return False
        return is_here and address not in self.unknown


def reply(packet: bytes, names: Names) -> bytes:
    """Return the response to a question: one record, none if the name has no such record, or NXDOMAIN."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1 : at + 1 + packet[at]].decode("ascii"))
        at += 1 + packet[at]
    (kind,) = struct.unpack(">H", packet[at + 1 : at + 3])
    name = ".".join(labels).lower()
    found = names.look_up(name, kind)
    is_known = found or names.look_up(name, _A) or names.look_up(name, _PTR)
    data = _data(found, kind) if found else b""
    head = packet[:2] + struct.pack(">HHHHH", _KNOWN if is_known else _NO_SUCH_NAME, 1, 1 if data else 0, 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, _TTL_S, len(data)) + data if data else b""
    return head + packet[12 : at + 5] + record


def _data(found: str, kind: int) -> bytes:
    if kind == _A:
        return socket.inet_aton(found)
    return b"".join(bytes([len(label)]) + label.encode() for label in found.split(".")) + b"\0"


def serve(names: Names, *addresses: str) -> None:
    """Answer on port 53 of ``addresses`` from now on, in the background."""
    for address in addresses:
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((address, 53))
        threading.Thread(target=_answer, args=(server, names), daemon=True).start()


def _answer(server: socket.socket, names: Names) -> None:
    while True:
        packet, peer = server.recvfrom(1500)
        try:
            answer = reply(packet, names)
        except (IndexError, ValueError, struct.error):
            continue  # not a DNS question: AWS's resolver also drops it
        server.sendto(answer, peer)
