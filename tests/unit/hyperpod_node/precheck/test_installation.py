"""The step that installs hyperpod-precheck, and the command that it leaves."""

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from hyperpod_node.accounts import Account
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.precheck import command_line
from hyperpod_node.precheck.checked_node import FACTS_FILE, Facts
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.steps import precheck
from hyperpod_node.system import System
from tests.node_settings import P5_TYPE, node_settings, user
from tests.unit.hyperpod_node.fake_accounts import FakeAccounts

from .conftest import FACTS


@pytest.fixture
def context(tmp_path: Path) -> Context:
    files = {
        "resource_config.json": {
            "ClusterConfig": {"ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/x", "ClusterName": "ml"},
            "InstanceGroups": [
                {
                    "Name": "compute-nodes",
                    "InstanceType": "ml.p5.48xlarge",
                    "Instances": [
                        {"InstanceName": "compute-nodes-1", "CustomerIpAddress": "10.1.0.6", "InstanceId": "i-0123456789abcdef0"}
                    ],
                }
            ],
        },
        "provisioning_parameters.json": {
            "controller_group": "controller-machine",
            "worker_groups": [{"instance_group_name": "compute-nodes", "partition_name": "dev"}],
            "fsx_dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
            "fsx_mountname": "abcdefgh",
        },
        "node_settings.json": node_settings(
            users=[user("ada", 2001)],
            accounting={"database": "external", "host": "db", "port": 3306, "secret_arn": "arn:aws:secretsmanager:x"},
            instance_types=P5_TYPE,
        ),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    cluster = ResourceConfig.load(tmp_path / "resource_config.json")
    parameters = ProvisioningParameters.load(tmp_path / "provisioning_parameters.json")
    settings = NodeSettings.load(tmp_path / "node_settings.json")
    return Context(cluster.instances[0], "compute", cluster, parameters, settings)


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(root=tmp_path, accounts=FakeAccounts())


def files_below(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_the_node_is_noted_with_what_it_ought_to_have(context: Context, system: System) -> None:
    precheck.apply(context, system)
    assert Facts.load(system.path(FACTS_FILE)) == FACTS


def test_the_home_of_the_ami_s_own_user_is_checked_too(context: Context, tmp_path: Path) -> None:
    ubuntu = Account("ubuntu", 1000, 1000, Path("/home/ubuntu"))
    system = System(root=tmp_path, accounts=FakeAccounts([ubuntu]))
    precheck.apply(context, system)
    assert Facts.load(system.path(FACTS_FILE)).users == ("ada", "ubuntu")


def test_what_is_noted_is_no_secret_and_readable_by_all(context: Context, system: System) -> None:
    precheck.apply(context, system)
    assert "secret" not in (system.path(FACTS_FILE)).read_text()
    assert stat.S_IMODE((system.path(FACTS_FILE)).stat().st_mode) == 0o644


def test_the_command_runs_from_where_it_was_put(context: Context, system: System, tmp_path: Path) -> None:
    precheck.apply(context, system)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [system.path(precheck.COMMAND), "--help"], capture_output=True, text=True, cwd=tmp_path, env=environment, check=True
    )
    assert "--script JOB.sbatch" in done.stdout
    assert not list(system.path(FACTS_FILE).parent.rglob("__pycache__"))


def test_installing_twice_changes_nothing_the_second_time(context: Context, system: System) -> None:
    precheck.apply(context, system)
    before = files_below(system.path(FACTS_FILE).parent)
    precheck.apply(context, system)
    assert files_below(system.path(FACTS_FILE).parent) == before


def test_a_node_without_lifecycle_scripts_is_reported_with_what_writes_the_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NodeError, match=r"node\.json is missing; the lifecycle scripts write it"):
        Facts.load(tmp_path / "node.json")


def test_facts_of_another_version_are_refused(tmp_path: Path) -> None:
    (tmp_path / "node.json").write_text('{"version": 2}')
    with pytest.raises(NodeError, match="has version 2; this program reads version 1"):
        Facts.load(tmp_path / "node.json")


def test_an_unknown_check_cannot_be_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command_line.read(["--require", "dokcer"])
    assert "invalid choice: 'dokcer'" in capsys.readouterr().err
