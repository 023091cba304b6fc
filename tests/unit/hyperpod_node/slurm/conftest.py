"""A controller to which HyperPod's agent has come already, and a worker whose slurmd has fetched its configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.hyperpod_node.slurm.slurm_machine import IDLE, SLURM_CONF, UP, SlurmMachine

CONF = "opt/slurm/etc/slurm.conf"
PASSWORD = "p#a\\s'w$ &or=d"


@pytest.fixture
def machine(tmp_path: Path) -> SlurmMachine:
    machine = SlurmMachine(tmp_path)
    machine.write(CONF, SLURM_CONF)
    machine.write("opt/slurm/etc/accounting.conf", "")
    machine.write("etc/munge/munge.key", "key")
    machine.write("usr/sbin/mariadbd", "")
    machine.answers("scontrol", "Slurmctld(primary) at ip-10-1-0-4 is UP")
    machine.answers("sacctmgr", "")
    machine.answers("aws", '{"username": "admin", "password": "' + PASSWORD.replace("\\", "\\\\") + '"}')
    return machine


@pytest.fixture
def worker(tmp_path: Path) -> SlurmMachine:
    machine = SlurmMachine(tmp_path, host="ip-10-1-0-6", listening={"10.1.0.4"})
    machine.write("run/slurm/conf/slurm.conf", "")
    machine.answers("scontrol", lambda arguments, _: UP if arguments == ("ping",) else IDLE)
    return machine


@pytest.fixture
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "node_settings.json").write_text("{}")
    (folder / "provisioning_parameters.json").write_text("{}")
    return folder
