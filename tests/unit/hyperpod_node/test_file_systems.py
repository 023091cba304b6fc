"""Which file systems a node mounts, and with what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_node import mount
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import file_systems, readiness
from tests.unit.hyperpod_node.a_node import INSTANCES, LUSTRE, OPENZFS, a_context
from tests.unit.hyperpod_node.fake_system import FakeSystem
from tests.unit.hyperpod_node.mounting_machine import MountingMachine


@pytest.fixture
def machine(tmp_path: Path) -> MountingMachine:
    return MountingMachine(tmp_path)


@pytest.mark.fault(72)
def test_lustre_is_mounted_by_its_name_and_a_type_without_efa_says_nothing_of_it(
    machine: MountingMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    file_systems.apply_fsx(a_context(lustre=LUSTRE, instances=INSTANCES[:1]), machine.system)
    source, path, kind, options, *_ = machine.fstab.read_text().split()
    assert (source, path, kind) == (f"{LUSTRE}@tcp:/abcdefgh", "/fsx", "lustre")
    assert {"noatime", "flock", "_netdev", "x-systemd.requires=network-online.target"} <= set(options.split(","))
    assert capsys.readouterr().out == ""
    assert not machine.run.named("modinfo")


def test_half_a_file_system_is_no_file_system(machine: MountingMachine) -> None:
    context = a_context(lustre=LUSTRE)
    half = replace(context, parameters=replace(context.parameters, fsx_mountname=None))
    with pytest.raises(NodeError, match="has fsx_dns_name but no fsx_mountname"):
        file_systems.apply_fsx(half, machine.system)


def test_openzfs_is_mounted_as_home(machine: MountingMachine) -> None:
    file_systems.apply_openzfs(a_context(openzfs=OPENZFS), machine.system)
    source, path, kind, options, *_ = machine.fstab.read_text().split()
    assert (source, path, kind) == (f"{OPENZFS}:/fsx", "/home", "nfs")
    assert {"nfsvers=4.2", "nconnect=16", "_netdev"} <= set(options.split(","))


@pytest.mark.fault(73)
def test_a_cluster_without_file_systems_mounts_nothing(machine: MountingMachine) -> None:
    file_systems.apply_fsx(a_context(), machine.system)
    file_systems.apply_openzfs(a_context(), machine.system)
    assert machine.run.commands == []
    assert not machine.fstab.exists()


@pytest.mark.fault(72)
def test_a_node_whose_efa_cannot_serve_lustre_warns_and_mounts_over_tcp(
    machine: MountingMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    file_systems.apply_fsx(a_context(lustre=LUSTRE), machine.system)
    assert capsys.readouterr().out == (
        "warning: Lustre uses TCP instead of EFA on this ml.p5.48xlarge: "
        "no EFA device in /sys/class/infiniband, though the type has EFA\n"
    )
    assert mount.is_mounted(Path("/fsx"), machine.system)


class Resolver:
    """Knows no name until it was asked so many times."""

    def __init__(self, failures: int) -> None:
        self.failures, self.asked = failures, list[str]()

    def __call__(self, name: str, port: None) -> object:
        self.asked.append(name)
        if len(self.asked) <= self.failures:
            raise OSError(-3, "Temporary failure in name resolution")
        return []


@pytest.mark.fault(60)
def test_a_node_waits_for_the_names_that_it_will_need_and_for_no_other(tmp_path: Path) -> None:
    resolver = Resolver(3)
    node = FakeSystem(tmp_path, resolve=resolver)
    readiness.apply(a_context(lustre=LUSTRE, openzfs=OPENZFS), node.system)
    assert resolver.asked == [LUSTRE] * 4 + [OPENZFS]
    readiness.apply(a_context(), node.system)
    assert len(resolver.asked) == 5


@pytest.mark.fault(60)
def test_a_name_that_never_resolves_ends_the_node_with_what_to_look_at(tmp_path: Path) -> None:
    node = FakeSystem(tmp_path, resolve=Resolver(10_000))
    with pytest.raises(NodeError, match=rf"{LUSTRE} has no address \(Temporary failure .*enable DNS support"):
        readiness.apply(a_context(lustre=LUSTRE), node.system)
    assert node.time.now_s <= 300
