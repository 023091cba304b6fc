"""What nodes need to run pods, as far as it needs no root."""

import contextlib
import json
import socket
import tarfile
import threading
from pathlib import Path

import pytest

from local_aws.nodes.image import store
from local_aws.nodes.image.kubernetes import container_images
from local_aws.nodes.machines import pods
from local_aws.nodes.machines.dns import Names
from local_aws.nodes.specs import Vpc


def test_pods_names_resolve_beside_those_of_nodes() -> None:
    known = Names(Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2"))
    known.of_pods = {"train.default.svc.cluster.local": "100.64.0.5"}
    assert known.look_up("train.default.svc.cluster.local", 1) == "100.64.0.5"
    assert known.look_up("other.default.svc.cluster.local", 1) is None


def ask(request: bytes) -> bytes:
    """What comes back from a tunnel whose target echoes."""
    with socket.create_server(("127.0.0.1", 0)) as target:
        port = target.getsockname()[1]

        def echo() -> None:
            with contextlib.suppress(OSError):  # a refused request never comes here
                peer, _ = target.accept()
                with peer:
                    peer.sendall(peer.recv(100))

        threading.Thread(target=echo, daemon=True).start()
        here, there = socket.socketpair()
        threading.Thread(target=pods._tunnel, args=(there,), daemon=True).start()
        with here:
            here.sendall(request.replace(b"PORT", str(port).encode()))
            here.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: here.recv(100), b""))


def test_a_tunnel_leads_to_the_target_of_the_request() -> None:
    answer = ask(b"CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: x\r\n\r\nhello")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\nhello"


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1", b"CONNECT 127.0.0.1:1 HTTP/1.1", b"nonsense"])
def test_a_tunnel_that_cannot_be_made_is_refused_with_the_reason(line: bytes) -> None:
    assert ask(line + b"\r\n\r\n").startswith(b"HTTP/1.1 502 ")


def test_the_layer_of_pods_takes_the_place_of_the_layer_with_pytorch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    image, kubelet = store.image_of("trixie"), tmp_path / "node-abc-def"
    upper = store.kubernetes_layer(image, kubelet)
    for folder in (image, upper, store.training_layer(image)):
        folder.mkdir(parents=True)
    assert store.layers(image, kubelet) == [upper, image]
    assert store.kubernetes_layer(image, tmp_path / "node-abc-123") != upper


def test_container_images_share_their_layers(tmp_path: Path) -> None:
    container_images.write(tmp_path / "images.tar")
    with tarfile.open(tmp_path / "images.tar") as archive:
        names = archive.getnames()

        def read(name: str) -> dict[str, list[dict[str, str]]]:
            return dict(json.load(archive.extractfile(name)))  # type: ignore[arg-type]  # a file

        manifests = [read(f"blobs/sha256/{each['digest'][7:]}") for each in read("index.json")["manifests"]]
    layers = [[layer["digest"] for layer in manifest["layers"]] for manifest in manifests]
    assert [len(each) for each in layers] == [1, 1, 2, 2, 2, 2, 1]
    assert len({each[0] for each in layers}) == 1
    assert len(names) == len(set(names))
