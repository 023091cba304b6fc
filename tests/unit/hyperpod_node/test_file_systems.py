"""Which file systems a node mounts, and with what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hyperpod_node import lustre_efa
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import fsx, openzfs, readiness

from tests.unit.hyperpod_node.a_node import INSTANCES, LUSTRE, OPENZFS, a_context
from tests.unit.hyperpod_node.manual_time import ManualTime
from tests.unit.hyperpod_node.mounting_machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_lustre_is_mounted_by_its_name_with_flock_and_without_atime(machine: Machine) -> None:
    fsx.apply(a_context(lustre=LUSTRE, instances=INSTANCES[:1]), machine.folder / "fsx", machine.system)
    source, path, kind, options, *_ = machine.fstab.read_text().split()
    assert (source, path, kind) == (f"{LUSTRE}@tcp:/abcdefgh", f"{machine.folder}/fsx", "lustre")
    assert {"noatime", "flock", "_netdev", "x-systemd.requires=network-online.target"} <= set(options.split(","))


def test_half_a_file_system_is_no_file_system(machine: Machine) -> None:
    context = a_context(lustre=LUSTRE)
    half = replace(context, parameters=replace(context.parameters, fsx_mountname=None))
    with pytest.raises(NodeError, match="has fsx_dns_name and no fsx_mountname"):
        fsx.apply(half, machine.folder / "fsx", machine.system)


def test_openzfs_is_mounted_as_home(machine: Machine) -> None:
    openzfs.apply(a_context(openzfs=OPENZFS), machine.folder / "home", machine.system)
    source, path, kind, options, *_ = machine.fstab.read_text().split()
    assert (source, path, kind) == (f"{OPENZFS}:/fsx", f"{machine.folder}/home", "nfs")
    assert {"nfsvers=4.2", "nconnect=16", "_netdev"} <= set(options.split(","))


@pytest.mark.fault(73)
def test_a_cluster_without_file_systems_mounts_nothing(machine: Machine) -> None:
    fsx.apply(a_context(), machine.folder / "fsx", machine.system)
    openzfs.apply(a_context(), machine.folder / "home", machine.system)
    assert machine.run.commands == []
    assert not machine.fstab.exists()


@pytest.mark.fault(72)
def test_a_node_whose_efa_cannot_serve_lustre_warns_and_mounts_over_tcp(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    none = lustre_efa.Places(devices=machine.folder / "infiniband")
    fsx.apply(a_context(lustre=LUSTRE), machine.folder / "fsx", machine.system, none)
    assert capsys.readouterr().out == (
        "warning: Lustre uses TCP instead of EFA on this ml.p5.48xlarge: "
        f"no EFA device in {none.devices}, though the type has EFA\n"
    )
    assert machine.system.is_mounted(machine.folder / "fsx")


@pytest.mark.fault(72)
def test_a_type_without_efa_says_nothing_of_it(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    fsx.apply(a_context(lustre=LUSTRE, instances=INSTANCES[:1]), machine.folder / "fsx", machine.system)
    assert capsys.readouterr().out == ""
    assert not machine.run.named("modinfo")


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
def test_a_node_waits_for_the_names_that_it_will_need_and_for_no_other() -> None:
    resolver, time = Resolver(3), ManualTime()
    readiness.apply(a_context(lustre=LUSTRE, openzfs=OPENZFS), readiness.System((), resolver, time.clock))
    assert resolver.asked == [LUSTRE] * 4 + [OPENZFS]
    readiness.apply(a_context(), readiness.System((), resolver, time.clock))
    assert len(resolver.asked) == 5


@pytest.mark.fault(60)
def test_a_name_that_never_resolves_ends_the_node_with_what_to_look_at() -> None:
    time = ManualTime()
    with pytest.raises(NodeError, match=rf"{LUSTRE} has no address \(Temporary failure .*does the VPC have DNS support"):
        readiness.apply(a_context(lustre=LUSTRE), readiness.System((), Resolver(10_000), time.clock))
    assert time.now_s <= 300
