import socket
import struct

from tests.bench.nodes.packets import Asked, from_lines, read, to_line


def packet(protocol: int, port: int, options: bytes = b"") -> bytes:
    """An IPv4 packet from 10.1.0.7 to 10.1.0.2."""
    length = 5 + len(options) // 4
    addresses = socket.inet_aton("10.1.0.7") + socket.inet_aton("10.1.0.2")
    header = bytes([0x40 | length, 0]) + b"\0" * 7 + bytes([protocol]) + b"\0\0" + addresses + options
    return header + struct.pack(">HH", 40000, port) + b"\0" * 16


def test_a_packet_names_client_and_server() -> None:
    assert read(12.5, packet(17, 53)) == Asked(12.5, "10.1.0.7", "10.1.0.2", 17, 53)


def test_the_port_is_found_behind_options() -> None:
    assert read(0.0, packet(6, 6817, options=b"\1" * 8)).port == 6817


def test_dns_is_udp_to_port_53() -> None:
    assert [read(0.0, packet(*kind)).is_dns for kind in ((17, 53), (6, 53), (6, 6817))] == [True, False, False]


def test_a_line_stands_for_what_was_asked() -> None:
    asked = Asked(1700000000.123456, "10.1.0.7", "169.254.169.254", 6, 80)
    assert from_lines([to_line(asked)]) == [asked]
