"""The Lustre client stays with the kernel of the image."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.steps import file_systems
from tests.unit.hyperpod_node.a_node import a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem


def fail(arguments: tuple[str, ...], stdin: str | None) -> str:
    raise NodeError(f"{arguments} {stdin}: dpkg frontend lock was locked by another process")


def test_the_client_of_the_image_is_held(tmp_path: Path) -> None:
    node = FakeSystem(tmp_path)
    node.answers("dpkg-query", "hold ok installed")
    assert file_systems.hold_lustre_client(a_context(), node.system)
    assert (("dpkg", "--set-selections"), f"{file_systems.LUSTRE_CLIENT} hold\n") in zip(
        node.run.commands, node.run.inputs, strict=True
    )


@pytest.mark.parametrize("answer", ["deinstall ok config-files", fail])
def test_an_image_without_the_package_is_unchanged(tmp_path: Path, answer: str) -> None:
    node = FakeSystem(tmp_path)
    node.answers("dpkg-query", answer)
    assert not file_systems.hold_lustre_client(a_context(), node.system)
    assert node.run.named("dpkg") == []


@pytest.mark.fault(60)
def test_a_lock_that_stays_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = FakeSystem(tmp_path)
    node.answers("dpkg-query", "install ok installed")
    node.answers("dpkg", fail)
    assert file_systems.hold_lustre_client(a_context(), node.system)
    assert f"warning: {file_systems.LUSTRE_CLIENT} is not held" in capsys.readouterr().out
    assert len(node.run.named("dpkg")) > 5
