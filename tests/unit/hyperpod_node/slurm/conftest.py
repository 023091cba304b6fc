"""A controller to which HyperPod's agent has come already."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.hyperpod_node.slurm.slurm_machine import SLURM_CONF, SlurmMachine

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
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "node_settings.json").write_text("{}")
    (folder / "provisioning_parameters.json").write_text("{}")
    return folder
