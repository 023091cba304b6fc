"""The pointer: its form, and the nodes that it reaches."""

from __future__ import annotations

import json
import zlib

import pytest

from hyperpod_node.follow.pointer import Pointer, PointerError

SHA256 = "a1" * 32
REACH = {"roles": ["controller", "login"], "compute_percent": 25}
CONTENT = {
    "version": 1,
    "generation": 7,
    "bucket": "my-bucket",
    "prefix": "lifecycle/0a1b/fs-1",
    "sha256": SHA256,
    "reach": REACH,
}


def test_a_pointer_is_read() -> None:
    pointer = Pointer.parse(json.dumps(CONTENT, separators=(",", ":")))
    assert pointer == Pointer(7, "my-bucket", "lifecycle/0a1b/fs-1", SHA256, ("controller", "login"), 25)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": 2}, "version 2; this agent supports version 1"),
        ({"version": None}, "version None"),
        ({"generation": 0}, "rollout number is 0"),
        ({"generation": "7"}, "rollout number is '7'"),
        ({"generation": True}, "rollout number is True"),
        ({"generation": -1}, "rollout number is -1"),
        ({"bucket": "UPPER"}, "bucket is 'UPPER'"),
        ({"bucket": "evil.example/x"}, "bucket is"),
        ({"prefix": "other/0a1b"}, "prefix is 'other/0a1b'"),
        ({"prefix": "lifecycle"}, "prefix is"),
        ({"prefix": "lifecycle/../secrets"}, "prefix is"),
        ({"prefix": "lifecycle/a?b"}, "prefix is"),
        ({"prefix": "lifecycle/a\n"}, "prefix is"),
        ({"sha256": SHA256.upper()}, "sha256 is"),
        ({"sha256": SHA256[:-1]}, "sha256 is"),
        ({"sha256": None}, "sha256 is None"),
        ({"reach": None}, "roles are None"),
        ({"reach": REACH | {"roles": "controller"}}, "roles are 'controller'"),
        ({"reach": REACH | {"roles": [1]}}, r"roles are \[1\]"),
        ({"reach": REACH | {"instances": "i-1"}}, "instances are 'i-1'"),
        ({"reach": REACH | {"compute_percent": 101}}, "compute_percent is 101, not a number from 0 to 100"),
        ({"reach": REACH | {"compute_percent": 2.5}}, "compute_percent is 2.5"),
    ],
)
def test_a_malformed_pointer_is_refused(change: dict[str, object], problem: str) -> None:
    with pytest.raises(PointerError, match=problem):
        Pointer.parse(json.dumps(CONTENT | change))


@pytest.mark.parametrize("text", ["", "lifecycle/0a1b", "[]", "7", '{"version":1', "[" * 4096])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(PointerError, match="the bundle parameter is not"):
        Pointer.parse(text)


def test_compute_nodes_come_in_the_order_of_a_checksum() -> None:
    ids = [f"i-{number:017x}" for number in range(400)]
    for percent in (0, 10, 100):
        pointer = Pointer(1, "b", "lifecycle/1", SHA256, ("controller", "compute"), percent)
        reached = [each for each in ids if pointer.reaches("compute", each)]
        assert reached == [each for each in ids if zlib.crc32(each.encode()) % 100 < percent]
        assert abs(len(reached) - 4 * percent) <= 20


def test_other_nodes_come_by_their_role() -> None:
    pointer = Pointer(1, "b", "lifecycle/1", SHA256, ("controller",), 100)
    assert pointer.reaches("controller", "i-1")
    assert not pointer.reaches("login", "i-1")


def test_a_controller_comes_by_its_instance_id() -> None:
    text = json.dumps(CONTENT | {"reach": {"roles": [], "compute_percent": 0, "instances": ["i-1"]}})
    pointer = Pointer.parse(text)
    assert pointer.reaches("controller", "i-1")
    assert not pointer.reaches("controller", "i-2")
