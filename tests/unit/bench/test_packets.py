import socket
import struct

from tests.bench.nodes.packets import Asked, read


def test_a_packet_names_client_server_and_the_port_behind_its_options() -> None:
    addresses = socket.inet_aton("10.1.0.7") + socket.inet_aton("10.1.0.2")
    packet = b"\x47" + b"\0" * 8 + b"\x11\0\0" + addresses + b"\1" * 8 + struct.pack(">HH", 40000, 53)
    asked = read(12.5, packet)
    assert asked == Asked(12.5, "10.1.0.7", "10.1.0.2", 17, 53)
    assert asked.is_dns
