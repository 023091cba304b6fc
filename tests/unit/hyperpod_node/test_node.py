"""What a node makes of the two files that it is given."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_node.errors import NodeError
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.shell import run

BUNDLE = Path(__file__).parents[3] / "lifecycle_assets"


def instance(group: str, address: str) -> dict[str, str]:
    named = {"InstanceName": f"{group}-1", "InstanceId": "i-0123456789abcdef0"}
    return {**named, "AgentIpAddress": "172.16.0.1", "CustomerIpAddress": address}


TYPES_AND_ADDRESSES = {
    "controller-machine": ("ml.c5.xlarge", "10.1.0.4"),
    "login-group": ("ml.m5.xlarge", "10.1.0.5"),
    "compute-nodes": ("ml.trn1.32xlarge", "10.1.0.6"),
    "stray": ("ml.c5.xlarge", "10.1.0.9"),
}
GROUPS = [
    {"Name": name, "InstanceType": kind, "Instances": [instance(name, address)]}
    for name, (kind, address) in TYPES_AND_ADDRESSES.items()
]
CLUSTER = {"ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcde01234yz", "ClusterName": "ml-cluster"}


def resource_config(groups: object) -> str:
    return json.dumps({"ClusterConfig": CLUSTER, "InstanceGroups": groups})


EMPTY_GROUPS: list[dict[str, object]] = [
    {"Name": "empty", "InstanceType": "ml.c5.xlarge", "Instances": None},
    {"Name": "absent", "InstanceType": None},
    {"Name": "list", "InstanceType": "ml.c5.xlarge", "Instances": []},
]
PARAMETERS = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller-machine",
    "login_group": "login-group",
    "worker_groups": [{"instance_group_name": "compute-nodes", "partition_name": "dev"}],
}


@pytest.fixture
def cluster(tmp_path: Path) -> ResourceConfig:
    path = tmp_path / "resource_config.json"
    path.write_text(resource_config(GROUPS))
    return ResourceConfig.load(path)


@pytest.fixture
def parameters(tmp_path: Path) -> ProvisioningParameters:
    path = tmp_path / "provisioning_parameters.json"
    path.write_text(json.dumps(PARAMETERS))
    return ProvisioningParameters.load(path)


@pytest.mark.parametrize(
    ("address", "group", "role"),
    [
        ("10.1.0.4", "controller-machine", "controller"),
        ("10.1.0.5", "login-group", "login"),
        ("10.1.0.6", "compute-nodes", "compute"),
    ],
)
def test_a_node_finds_its_group_and_role_by_its_address(
    cluster: ResourceConfig, parameters: ProvisioningParameters, address: str, group: str, role: str
) -> None:
    node = cluster.instance_with(["172.17.0.1", address])
    assert (node.group, parameters.role_of(node.group), cluster.cluster_name) == (group, role, "ml-cluster")


@pytest.mark.fault(64)
def test_a_node_that_is_not_listed_says_which_addresses_are(cluster: ResourceConfig) -> None:
    with pytest.raises(NodeError, match=r"10\.9\.9\.9.*compute-nodes-1 10\.1\.0\.6"):
        cluster.instance_with(["10.9.9.9"])


def test_a_group_without_a_role_says_which_groups_have_one(parameters: ProvisioningParameters) -> None:
    with pytest.raises(
        NodeError, match=r"no role for group 'stray'; it has \['controller-machine', 'login-group', 'compute-nodes'\]"
    ):
        parameters.role_of("stray")


@pytest.mark.fault(64)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "resource_config.json is missing"),
        ('{"ClusterConfig": {', "resource_config.json is not complete JSON"),
        ("[]", "resource_config.json contains a list"),
        ("{}", "resource_config.json has no 'ClusterConfig'"),
        (resource_config(None), "a NoneType at 'InstanceGroups', not a list"),
        (resource_config([{"Name": "a", "Instances": {"x": 1}}]), "a dict at 'Instances' of group 'a'"),
    ],
)
def test_a_resource_config_that_cannot_be_used_is_named_with_the_reason(
    tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "resource_config.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(NodeError, match=re.escape(message)):
        ResourceConfig.load(path)


def test_a_failing_program_is_reported_with_its_command_status_and_output() -> None:
    with pytest.raises(NodeError, match=r"`ls /does/not/exist` ended with status 2: .*No such file"):
        run("ls", "/does/not/exist")


def test_a_program_that_is_not_installed_is_reported_by_name() -> None:
    with pytest.raises(NodeError, match="`no-such-program`: no such program"):
        run("no-such-program")


def started(resource_config: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BUNDLE / "lifecycle_script.py")],
        env={**os.environ, "SAGEMAKER_RESOURCE_CONFIG_PATH": str(resource_config)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.fault(61)
@pytest.mark.parametrize(
    ("name", "problem"), [("none.json", "{} is missing"), ("", "cannot read {}: Is a directory")], ids=["missing", "unreadable"]
)
def test_the_script_ends_with_one_line_that_says_why_it_failed(tmp_path: Path, name: str, problem: str) -> None:
    script = started(tmp_path / name)
    assert script.returncode == 1
    assert script.stderr.strip() == f"lifecycle script failed: {problem.format(tmp_path / name)}"


@pytest.mark.fault(61)
def test_even_a_mistake_in_the_script_ends_with_a_line_for_the_operator(tmp_path: Path) -> None:
    config = tmp_path / "resource_config.json"
    config.write_text("[" * 100_000)
    script = started(config)
    assert script.returncode == 1
    assert script.stderr.startswith("Traceback")
    assert script.stderr.splitlines()[-1].startswith("lifecycle script failed: unexpected RecursionError: ")


def test_groups_without_nodes_may_have_no_instances(tmp_path: Path) -> None:
    path = tmp_path / "resource_config.json"
    path.write_text(resource_config([*EMPTY_GROUPS, *GROUPS]))
    assert [one.address for one in ResourceConfig.load(path).instances] == ["10.1.0.4", "10.1.0.5", "10.1.0.6", "10.1.0.9"]
