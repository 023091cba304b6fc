"""The node's part of the simulated FSx CSI driver."""

from pathlib import Path

import pytest

from local_aws.nodes.image.kubernetes import csi_driver
from local_aws.nodes.image.kubernetes.device_plugin import field

ACCESS_MODE = field(5, field(3, b"\x08\x05"))
READ_ONLY = b"\x30\x01"


def request(target: str) -> bytes:
    """A request to publish a volume, as the kubelet encodes it."""
    context = {b"dnsname": b"fs-1.fsx.us-west-2.amazonaws.com", b"mountname": b"abcd"}
    pairs = b"".join(field(8, field(1, key) + field(2, value)) for key, value in context.items())
    return field(1, b"fs-1") + field(4, target.encode()) + ACCESS_MODE + READ_ONLY + pairs


def test_a_volume_is_mounted_with_the_nodes_client_of_lustre() -> None:
    mount = ["mount", "-t", "lustre", "fs-1.fsx.us-west-2.amazonaws.com@tcp:/abcd", "/pods/it"]
    assert csi_driver.mount_command(request("/pods/it")) == mount


def test_a_mount_that_fails_has_the_text_of_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "mount"
    program.write_text("#!/bin/sh\necho 'Is the MGS running?' >&2\nexit 5\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(csi_driver.MountError, match=r"^Is the MGS running\?$"):
        csi_driver.publish(request(str(tmp_path / "target")))


def test_the_end_of_a_mount_removes_its_folder_and_may_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    for _ in range(2):
        csi_driver.unpublish(field(1, b"fs-1") + field(2, str(tmp_path / "target").encode()))
    assert not (tmp_path / "target").exists()
