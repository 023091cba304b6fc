"""Signatures of the pointer: openssl signs as KMS does, and each tampering is refused before anything runs."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from hyperpod_node.follow import rsa
from hyperpod_node.follow.memory import Memory
from tests.unit.hyperpod_node.follow.test_agent import FOLLOW, SHA256, Node, pointer

OTHER = "0b" * 32
Change = Callable[[dict[str, Any]], object]


@dataclass(frozen=True)
class Key:
    """A key pair of openssl."""

    file: Path
    public: bytes

    @property
    def text(self) -> str:
        return base64.b64encode(self.public).decode()

    def sign(self, message: bytes, *options: str, digest: str = "-sha256") -> str:
        command = ["openssl", "dgst", digest, "-sign", str(self.file), *options]
        return base64.b64encode(subprocess.run(command, input=message, check=True, stdout=subprocess.PIPE).stdout).decode()


@cache
def key(name: str, bits: int = 3072, exponent: int = 65537) -> Key:
    file = Path(mkdtemp()) / name
    made = ["-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-pkeyopt", f"rsa_keygen_pubexp:{exponent}"]
    subprocess.run(["openssl", "genpkey", *made, "-out", str(file)], check=True, stderr=subprocess.DEVNULL)
    public = ["openssl", "pkey", "-in", str(file), "-pubout", "-outform", "DER"]
    return Key(file, subprocess.run(public, check=True, stdout=subprocess.PIPE).stdout)


def message(generation: int = 2, sha256: str = SHA256, percent: int = 100, parameter: str = FOLLOW.parameter) -> bytes:
    return f"{parameter}\n{json.dumps(json.loads(pointer(generation, sha256, percent)), sort_keys=True)}".encode()


def signed(generation: int = 2, signer: str = "own", sha256: str = SHA256, percent: int = 100, **more: Any) -> str:
    found = {"signature": key(signer).sign(message(generation, sha256, percent)), "public_key": key(signer).text}
    return pointer(generation, sha256, percent, **(found | more))


@pytest.mark.parametrize("exponent", [65537, 3])
def test_a_signature_of_openssl_is_valid_for_its_message_and_key_only(exponent: int) -> None:
    own = key("own", exponent=exponent)
    assert rsa.is_signed(b"text", own.sign(b"text"), own.text)
    assert not rsa.is_signed(b"test", own.sign(b"text"), own.text)
    assert not rsa.is_signed(b"text", own.sign(b"text"), key("foreign").text)
    assert rsa.is_signed(message(), raw(padded(330, INFO + digest(message()))), key("own").text)


def raw(block: bytes) -> str:
    """The private key's power of any block, as a signer with other padding computes it."""
    command = ["openssl", "pkeyutl", "-decrypt", "-inkey", str(key("own").file), "-pkeyopt", "rsa_padding_mode:none"]
    return base64.b64encode(subprocess.run(command, input=block, check=True, stdout=subprocess.PIPE).stdout).decode()


def padded(ones: int, end: bytes) -> bytes:
    return (b"\x00\x01" + b"\xff" * ones + b"\x00" + end).ljust(384, b"\x00")


INFO = bytes.fromhex("3031300d060960864801650304020105000420")  # RFC 8017, 9.2, note 1
WITHOUT_NULL = bytes.fromhex("302f300b0609608648016503040201") + b"\x04\x20"


def digest(text: bytes) -> bytes:
    command = ["openssl", "dgst", "-sha256", "-binary"]
    return subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE).stdout


def more_than_the_modulus(signature: str) -> str:
    modulus = int.from_bytes(key("own").public[33:417], "big")
    number = int.from_bytes(base64.b64decode(signature), "big") + modulus
    return base64.b64encode(number.to_bytes(385, "big")).decode()


TAMPERINGS: dict[str, Change] = {
    "another bundle": lambda it: it.update(sha256=OTHER),
    "a signature of another bundle": lambda it: it.update(signature=key("own").sign(message(2, OTHER))),
    "an old signature with a new rollout number": lambda it: it.update(generation=3),
    "more nodes": lambda it: it["reach"].update(roles=["controller", "login"]),
    "fewer nodes": lambda it: it["reach"].update(compute_percent=99),
    "another folder": lambda it: it.update(prefix="lifecycle/2"),
    "a new member": lambda it: it.update(more=1),
    "another cluster's bundle": lambda it: it.update(signature=key("own").sign(message(parameter="/hyperpod-cdk/other/bundle"))),
    "no signature": lambda it: it.pop("signature"),
    "neither signature nor key": lambda it: (it.pop("signature"), it.pop("public_key")),
    "an empty signature": lambda it: it.update(signature=""),
    "a foreign signature": lambda it: it.update(signature=key("foreign").sign(message())),
    "a foreign signature with its key": lambda it: it.update(json.loads(signed(signer="foreign"))),
    "a short key": lambda it: it.update(signature=key("short", 2048).sign(message()), public_key=key("short", 2048).text),
    "a truncated signature": lambda it: it.update(signature=it["signature"][:-4]),
    "a longer signature": lambda it: it.update(signature="AAAA" + it["signature"]),
    "a signature plus the modulus": lambda it: it.update(signature=more_than_the_modulus(it["signature"])),
    "a changed bit": lambda it: it.update(signature=("B" if it["signature"][0] == "A" else "A") + it["signature"][1:]),
    "zeros": lambda it: it.update(signature=base64.b64encode(bytes(384)).decode()),
    "one": lambda it: it.update(signature=base64.b64encode(bytes(383) + b"\x01").decode()),
    "other Base64": lambda it: it.update(signature="=" + it["signature"]),
    "another hash": lambda it: it.update(signature=key("own").sign(message(), digest="-sha384")),
    "PSS": lambda it: it.update(signature=key("own").sign(message(), "-sigopt", "rsa_padding_mode:pss")),
    "short padding and rubbish behind": lambda it: it.update(signature=raw(padded(8, INFO + digest(message())))),
    "no hash name": lambda it: it.update(signature=raw(padded(349, digest(message())))),
    "a hash name without parameters": lambda it: it.update(signature=raw(padded(332, WITHOUT_NULL + digest(message())))),
    "the text in place of its hash": lambda it: it.update(signature=raw(padded(330, INFO + message()[:32]))),
}


def keeps_a_key(folder: Path) -> Node:
    """A node that applied a signed bundle which reached all nodes, and that has lost it: the next pointer would run."""
    node = Node(folder)
    node.aws.parameter = signed(1)
    assert node.outcomes() == [("applied", 1, None, "")]
    assert Memory.load(node.system).public_key == ""
    node.tick()
    memory = Memory.load(node.system)
    assert memory.public_key == key("own").text
    memory.sha256 = ""
    memory.save(node.system)
    return node


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_a_tampering_is_refused_before_anything_runs(tmp_path: Path, tampering: str) -> None:
    node = keeps_a_key(tmp_path)
    content = json.loads(signed(2))
    TAMPERINGS[tampering](content)
    node.aws.parameter = json.dumps(content)
    [(result, _, _, problem)] = node.outcomes()
    assert (result, problem) == ("refused", "the bundle parameter is not signed with the key that this node keeps")
    assert node.applied == 1
    node.aws.parameter = signed(3)
    assert node.outcomes(7200) == [("applied", 3, None, "")]


def test_a_node_keeps_no_key_that_a_rollback_may_delete(tmp_path: Path) -> None:
    node = Node(tmp_path)
    now = int(node.now)
    node.aws.parameter = signed(now)
    node.tick()
    node.tick(3600)
    node.aws.parameter = signed(now + 3600, "of the next deployment")
    node.tick()
    node.tick(3600)
    assert Memory.load(node.system).public_key == ""
    node.tick(3600)
    assert Memory.load(node.system).public_key == key("of the next deployment").text


def test_an_old_signed_pointer_and_a_swapped_bundle_are_refused(tmp_path: Path) -> None:
    node = keeps_a_key(tmp_path)
    node.aws.parameter = signed(3)
    assert node.outcomes() == [("applied", 3, None, "")]
    node.aws.parameter = signed(2)
    assert "rollout number 2; this node has applied 3" in node.outcomes()[0][3]
    node.aws.parameter = signed(4, sha256=OTHER)
    assert f"the bundle parameter {OTHER}" in node.outcomes()[0][3]


@pytest.mark.parametrize(
    "first", [pointer(1), signed(1, percent=50), signed(1, signature=""), signed(1, public_key="AAAA"), signed(1, public_key="")]
)
def test_a_node_keeps_no_key_without_a_valid_signature_that_reached_all_nodes(tmp_path: Path, first: str) -> None:
    node = Node(tmp_path)
    node.aws.parameter = first
    node.tick()
    node.tick()
    assert Memory.load(node.system).public_key == ""
    node.aws.parameter = signed(2)
    node.tick()
    assert Memory.load(node.system).public_key == key("own").text, "as the next deployment of an older cluster"
