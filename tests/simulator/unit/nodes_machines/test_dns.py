import socket
import struct
from pathlib import Path

import pytest

from local_aws.host_names import domain
from local_aws.nodes.machines.dns import Names, reply
from local_aws.nodes.specs import FileSystem, Vpc

LUSTRE = "fs-0123.fsx.us-west-2.amazonaws.com"
VPC = Vpc("us-west-2", ("10.1.0.0/16", "100.64.0.0/24"), "10.1.0.2", {LUSTRE: FileSystem("10.1.0.9", "abc", Path("/x"))})
A, PTR, AAAA = 1, 12, 28
NXDOMAIN = 3


def question(name: str, kind: int) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">HHHHHH", 0x1234, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


@pytest.mark.parametrize(
    ("name", "kind", "found"),
    [
        ("ip-10-1-4-190.us-west-2.compute.internal", A, "10.1.4.190"),
        ("ip-100-64-0-7.us-west-2.compute.internal", A, "100.64.0.7"),
        ("ip-10-9-4-190.us-west-2.compute.internal", A, None),
        ("ip-10-1-4-999.us-west-2.compute.internal", A, None),
        ("ip-10-1-4-190", A, None),
        ("ip-10-1-4-190.ec2.internal", A, None),
        (LUSTRE, A, "10.1.0.9"),
        ("fs-9999.fsx.us-west-2.amazonaws.com", A, None),
        ("190.4.1.10.in-addr.arpa", PTR, "ip-10-1-4-190.us-west-2.compute.internal"),
        ("1.0.168.192.in-addr.arpa", PTR, None),
        ("www.example.com", A, None),
    ],
)
def test_a_vpcs_names_are_those_of_its_nodes_and_file_systems(name: str, kind: int, found: str | None) -> None:
    assert Names(VPC).look_up(name, kind) == found


def test_a_node_may_have_no_name_yet() -> None:
    names = Names(VPC)
    names.unknown.add("10.1.4.190")
    assert names.look_up("ip-10-1-4-190.us-west-2.compute.internal", A) is None
    assert names.look_up("190.4.1.10.in-addr.arpa", PTR) is None
    assert names.look_up("ip-10-1-4-191.us-west-2.compute.internal", A) == "10.1.4.191"


def test_an_answer_repeats_the_question_and_has_one_record() -> None:
    asked = question(LUSTRE.upper(), A)

    answer = reply(asked, Names(VPC))

    assert answer[:2] == asked[:2]
    assert struct.unpack(">HHHHH", answer[2:12]) == (0x8580, 1, 1, 0, 0)
    assert answer[12 : len(asked)] == asked[12:]
    assert answer.endswith(struct.pack(">H", 4) + socket.inet_aton("10.1.0.9"))


def test_a_known_name_without_such_a_record_is_not_denied() -> None:
    assert struct.unpack(">HHH", reply(question(LUSTRE, AAAA), Names(VPC))[2:8]) == (0x8580, 1, 0)


def test_an_unknown_name_is_denied_at_once() -> None:
    flags, _, answers = struct.unpack(">HHH", reply(question("www.example.com", A), Names(VPC))[2:8])

    assert (flags & 0xF, answers) == (NXDOMAIN, 0)


def test_a_name_comes_back_as_labels() -> None:
    answer = reply(question("190.4.1.10.in-addr.arpa", PTR), Names(VPC))

    assert answer.endswith(b"\x0dip-10-1-4-190\x09us-west-2\x07compute\x08internal\x00")


@pytest.mark.parametrize("packet", [b"", b"\x12\x34", question("a.b", A)[:-3]])
def test_what_is_no_question_raises_an_error_that_the_server_expects(packet: bytes) -> None:
    with pytest.raises((IndexError, ValueError, struct.error)):
        reply(packet, Names(VPC))


def test_the_oldest_region_has_a_domain_of_its_own() -> None:
    assert (domain("us-east-1"), domain("eu-west-1")) == ("ec2.internal", "eu-west-1.compute.internal")
