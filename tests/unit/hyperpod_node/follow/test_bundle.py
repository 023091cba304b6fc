"""Bundles on a node: downloaded, verified, and the last two kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from hyperpod_node.errors import NodeError
from hyperpod_node.follow import bundle
from hyperpod_node.follow.bundle import BundleError
from hyperpod_node.follow.pointer import Pointer
from tests.unit.hyperpod_node.fake_system import FakeSystem
from tests.unit.hyperpod_node.follow.fake_aws import FakeAws

FILES = {"on_create.sh": b"#!/bin/bash\n", "a/b.py": b"1\n", "a-b": b"\xff\x00", "node_settings.json": b"{}"}
PARAMETERS = {"b": [1], "a": {"y": "ä", "x": None}}
NAME = "provisioning_parameters.json"


def objects(files: dict[str, bytes], parameters: str = json.dumps(PARAMETERS, indent=2)) -> dict[str, bytes]:
    return {f"lifecycle/1/{name}": content for name, content in {**files, NAME: parameters.encode()}.items()}


def write_scripts(folder: Path) -> Path:
    """Write FILES as HyperPod downloads them."""
    for name, content in objects(FILES).items():
        file = folder / name.removeprefix("lifecycle/1/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


def sha256_of(files: dict[str, bytes]) -> str:
    """The hash as the deployment calculates it."""
    canonical = json.dumps(PARAMETERS, sort_keys=True, separators=(",", ":"))
    parameters = hashlib.sha256(canonical.encode()).hexdigest()
    return hashlib.sha256(f"{ScriptBundle(files).fingerprint}\n{parameters}".encode()).hexdigest()


def pointer(sha256: str) -> Pointer:
    return Pointer(1, "bucket", "lifecycle/1", sha256, (), 100)


@pytest.fixture
def node(tmp_path: Path) -> FakeSystem:
    return FakeSystem(tmp_path)


def folders(node: FakeSystem) -> set[str]:
    return {path.name for path in node.path(bundle.FOLDER).iterdir()}


def test_a_bundle_with_the_hash_of_the_pointer_is_downloaded(node: FakeSystem) -> None:
    sha256 = sha256_of(FILES)
    folder = bundle.download(pointer(sha256), FakeAws(objects=objects(FILES) | {"lifecycle/1/a/": b""}).aws, node.system)
    assert folder == node.path(bundle.FOLDER) / sha256
    assert {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == {
        **FILES,
        NAME: json.dumps(PARAMETERS, indent=2).encode(),
    }
    assert folder.stat().st_mode & 0o777 == 0o700
    assert bundle.digest(folder) == sha256


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (objects(FILES | {"a/b.py": b"2\n"}), "has the SHA-256"),
        (objects(FILES | {"new.py": b""}), "has the SHA-256"),
        (objects({name: content for name, content in FILES.items() if name != "a-b"}), "has the SHA-256"),
        (objects(FILES, json.dumps(PARAMETERS | {"a": 1})), "has the SHA-256"),
        (objects(FILES, "{"), "the bundle's parameters are not JSON"),
        (objects(FILES | {"slurm_groups.json": b"{}"}), "has 2 of the files provisioning_parameters.json and slurm_groups.json"),
        ({}, "has 0 of the files"),
        (objects(FILES | {"../../x": b""}), r"has an object '\.\./\.\./x'"),
        (objects(FILES | {"/etc/passwd": b""}), "has an object '/etc/passwd'"),
    ],
)
def test_a_changed_bundle_is_refused_and_leaves_nothing(node: FakeSystem, changed: dict[str, bytes], problem: str) -> None:
    with pytest.raises(BundleError, match=problem):
        bundle.download(pointer(sha256_of(FILES)), FakeAws(objects=changed).aws, node.system)
    assert folders(node) == set()
    assert not node.path("/x").exists()


def test_a_bundle_with_an_object_that_cannot_be_read_is_refused(node: FakeSystem) -> None:
    class Locked(FakeAws):
        def _s3(self, request):  # type: ignore[no-untyped-def]  # as in the parent
            if request.url.endswith("a-b"):
                self.objects = {}
            return super()._s3(request)

    with pytest.raises(NodeError, match=r"^s3:GetObject bucket/lifecycle/1/a-b: AccessDenied: Access Denied$"):
        bundle.download(pointer(sha256_of(FILES)), Locked(objects=objects(FILES)).aws, node.system)
    assert folders(node) == set()


def test_the_scripts_that_hyperpod_started_become_the_current_bundle(node: FakeSystem, tmp_path: Path) -> None:
    scripts = write_scripts(tmp_path / "src")
    (scripts / "a/__pycache__").mkdir()
    (scripts / "a/__pycache__/b.pyc").write_bytes(b"x")
    for _ in range(2):  # HyperPod may run the scripts again
        bundle.keep_started(scripts, node.system)
        (scripts / "downloaded-by-a-script").write_text("x")
        assert bundle.use_started(node.system) == sha256_of(FILES)
        assert folders(node) == {sha256_of(FILES), "current"}
        assert (node.path(bundle.CURRENT) / "a/b.py").read_bytes() == b"1\n"
        (scripts / "downloaded-by-a-script").unlink()


def test_the_last_two_bundles_are_kept(node: FakeSystem) -> None:
    names = [f"{number:064x}" for number in range(3)]
    for name in names:
        (node.path(bundle.FOLDER) / name).mkdir(parents=True)
        bundle.use(name, node.system)
    assert folders(node) == {"current", *names[1:]}
    assert node.path(bundle.CURRENT).readlink() == Path(names[2])


def test_a_bundle_that_the_node_has_needs_no_download_and_stays_in_place(node: FakeSystem) -> None:
    sha256 = sha256_of(FILES)
    folder = bundle.download(pointer(sha256), FakeAws(objects=objects(FILES)).aws, node.system)
    before = folder.stat().st_ino
    assert bundle.download(pointer(sha256), FakeAws().aws, node.system) == folder
    bundle.keep_started(folder, node.system)
    assert bundle.use_started(node.system) == sha256
    assert folder.stat().st_ino == before  # the agent may run from it


@pytest.mark.parametrize("change", [lambda file: file.write_text("changed"), lambda file: (file.parent / NAME).unlink()])
def test_a_bundle_that_changed_on_the_node_is_downloaded_again(node: FakeSystem, change: Callable[[Path], object]) -> None:
    aws = FakeAws(objects=objects(FILES)).aws
    folder = bundle.download(pointer(sha256_of(FILES)), aws, node.system)
    change(folder / "on_create.sh")
    assert bundle.digest(bundle.download(pointer(sha256_of(FILES)), aws, node.system)) == sha256_of(FILES)


def test_what_a_killed_download_left_is_deleted(node: FakeSystem) -> None:
    (node.path(bundle.FOLDER) / ".new-abc").mkdir(parents=True)
    (node.path(bundle.FOLDER) / ("0" * 64)).mkdir()
    bundle.use("0" * 64, node.system)
    assert folders(node) == {"current", "0" * 64}
