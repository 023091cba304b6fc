"""The first deployment that restricts running nodes is a change that preflight prints."""

import json
from typing import Any

import pytest

from cli.preflight.changes import changes
from tests.unit.cli.preflight.fake_aws import FILE, asked, lines, refused, stacks
from tests.unit.cli.preflight.test_eks import NEW

OPEN = f"{FILE}slurm: {{metadata_access: all}}\n"
NEVER = f"{FILE}lifecycle: {{follow: new_nodes}}\n"
RESTRICTS = (
    "change: `slurm.metadata_access`: all -> administrators (users and jobs cannot use the node role any more, `all` keeps it): "
    "running nodes"
)
NOTHING = "ok: network, storage and chat channels are as deployed"


def deployed(access: str = "all", **more: Any) -> dict[str, Any]:
    """An account with a cluster of this access; an older deployment has none. ``more`` are further resources."""
    metadata = {"Metadata": {"MetadataAccess": access}} if access else {}
    rollout = {"Type": "Custom::HyperPodRollout", "Properties": {}, **metadata}
    cluster = {"Type": "Custom::HyperPodCluster", "Properties": {}}
    bodies = {"draft-Cluster": {"Resources": {"Rollout": rollout, "Cluster": cluster, **more}}}
    return {
        "cloudformation.describe_stacks": stacks(Network={}, Cluster={}),
        "cloudformation.get_template": lambda StackName: {"TemplateBody": json.dumps(bodies.get(StackName, {}))},  # noqa: N803
    }


@pytest.mark.parametrize(
    ("access", "file", "line"),
    [
        ("", FILE, RESTRICTS),
        ("all", FILE, RESTRICTS),
        ("administrators", FILE, NOTHING),
        ("", OPEN, NOTHING),
        ("administrators", OPEN, "change: `slurm.metadata_access`: administrators -> all: running nodes"),
        ("", NEVER, NOTHING),
        ("", NEW, NOTHING),  # the file was changed to EKS
    ],
)
def test_a_change_of_the_users_of_the_node_role_is_printed(access: str, file: str, line: str) -> None:
    assert line in lines(asked(changes, deployed(access), file))


OWN = f"{FILE}slurm: {{metadata_access: all, controller_role: own}}\n"
ROLE = {"ControllerRole1": {"Type": "AWS::IAM::Role", "Properties": {}}}


@pytest.mark.parametrize(
    ("more", "file", "change"),
    [({}, OPEN, ""), (ROLE, OWN, ""), ({}, OWN, "shared -> own"), (ROLE, OPEN, "own -> shared"), (ROLE, NEW, "")],
)
def test_a_change_of_the_controllers_role_is_refused(more: dict[str, Any], file: str, change: str) -> None:
    refused = [line for line in lines(asked(changes, deployed(**more), file)) if "controller_role" in line]
    expected = f"error: `slurm.controller_role`: {change}: at creation, or the deployment fails"
    assert [line.startswith(expected) for line in refused] == [True] * bool(change)


RECREATED = f"{OWN}recreate: true\n"
GONE = {"sagemaker.describe_cluster": refused("ResourceNotFound")}


@pytest.mark.parametrize(
    ("properties", "file", "is_refused"),
    [
        ({"NetworkIdentity": "another VPC"}, OWN, False),
        ({"NetworkIdentity": "another VPC", "ClusterName": "fixed"}, f"{OWN}cluster_name: fixed\n", True),
        ({"ClusterName": "old"}, f"{OWN}cluster_name: new\n", False),
        ({"Request": {"Orchestrator": {"Eks": {}}}}, OWN, False),
        ({"Request": {"Orchestrator": {"Slurm": {}}}}, OWN, True),
        ({}, RECREATED, False),
    ],
)
def test_a_new_cluster_can_have_another_role_of_the_controllers(
    properties: dict[str, Any], file: str, *, is_refused: bool
) -> None:
    found = {"cloudformation.describe_stacks": stacks(Network={}, Cluster={"ClusterName": "draft-1"})}
    answers = deployed(Cluster={"Type": "Custom::HyperPodCluster", "Properties": properties}) | GONE | found
    assert any("`slurm.controller_role`" in line for line in lines(asked(changes, answers, file))) is is_refused


@pytest.mark.parametrize("role", ["own", "shared"])
def test_before_the_first_deployment_a_shared_role_that_reads_the_databases_secret_is_a_warning(role: str) -> None:
    secret = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
    file = f"{FILE}slurm: {{controller_role: {role}, accounting: {{database: external, host: db, secret_arn: '{secret}'}}}}\n"
    found = lines(asked(changes, {"cloudformation.describe_stacks": stacks()}, file))
    expected = ["warning: all nodes will be able to read the secret of `slurm.accounting`"]
    assert found[1:] == expected * (role == "shared")
