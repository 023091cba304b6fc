"""What nodes ask for over the network: each DNS question and each attempt to connect by TCP, as a line.

`python packets.py` in a hub's network namespace listens on its bridge until its standard input closes. What a node asks of
itself does not pass there.
"""

import ctypes
import selectors
import socket
import struct
import sys
import time
from collections.abc import Iterable
from typing import NamedTuple

BRIDGE = "vpc"
_ETH_P_IP = 0x0800
_SO_ATTACH_FILTER = 26
_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, _PACKET_MR_PROMISC = 263, 1, 1
_TCP, _UDP, _DNS = 6, 17, 53
# The kernel's packet filter: UDP to port 53, and TCP with SYN and without ACK; of all else this process never hears.
_LOAD_BYTE, _LOAD_BYTE_X, _LOAD_HALF_X, _HEADER_TO_X, _IF_EQUAL, _AND, _RETURN = 0x30, 0x50, 0x48, 0xB1, 0x15, 0x54, 0x06
_FILTER = (
    (_LOAD_BYTE, 0, 0, 9),  # the protocol
    (_IF_EQUAL, 0, 3, _UDP),
    (_HEADER_TO_X, 0, 0, 0),
    (_LOAD_HALF_X, 0, 0, 2),  # the port it goes to
    (_IF_EQUAL, 6, 5, _DNS),
    (_IF_EQUAL, 0, 4, _TCP),
    (_HEADER_TO_X, 0, 0, 0),
    (_LOAD_BYTE_X, 0, 0, 13),  # the flags
    (_AND, 0, 0, 0x12),
    (_IF_EQUAL, 1, 0, 0x02),
    (_RETURN, 0, 0, 0),
    (_RETURN, 0, 0, 128),
)


class Asked(NamedTuple):
    """A question or an attempt to connect."""

    moment: float
    source: str
    target: str
    protocol: int
    port: int

    @property
    def is_dns(self) -> bool:
        """Whether it is a DNS question."""
        return (self.protocol, self.port) == (_UDP, _DNS)


def read(moment: float, packet: bytes) -> Asked:
    """What an IP packet asks."""
    start = (packet[0] & 0x0F) * 4
    (port,) = struct.unpack_from(">H", packet, start + 2)
    return Asked(moment, socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20]), packet[9], port)


def from_lines(lines: Iterable[str]) -> list[Asked]:
    """Return what the lines say was asked."""
    fields = (line.split() for line in lines)
    return [Asked(float(moment), source, target, int(proto), int(port)) for moment, source, target, proto, port in fields]


def listen(device: str) -> socket.socket:
    """A socket that gets what passes over a bridge and goes through the filter."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)  # hears nothing before it is bound
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in _FILTER))
    tap.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HL", len(_FILTER), ctypes.addressof(code)))
    tap.bind((device, _ETH_P_IP))
    member = struct.pack("iHH8s", socket.if_nametoindex(device), _PACKET_MR_PROMISC, 0, b"")
    tap.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, member)
    return tap


def main() -> None:
    """Print what is asked."""
    with listen(BRIDGE) as tap, selectors.DefaultSelector() as selector:
        selector.register(tap, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while not any(key.fileobj is sys.stdin for key, _ in selector.select()):
            print(*read(time.time(), tap.recv(2048)))


if __name__ == "__main__":
    main()
