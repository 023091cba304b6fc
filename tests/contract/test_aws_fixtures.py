"""The embedded AWS answers as AWS did: every fixture in tests/data/aws, and fixtures that were changed by hand.

The fixtures are what `make verify-aws` saves. Until it has run on AWS there is none, and only the comparison itself is tested.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.slurm.slurm_conf import BEGIN, END
from hyperpod_node.slurm.topology import turn_off
from local_aws import hyperpod, testing
from local_aws.server import EmbeddedAws
from local_aws.testing import aws
from tests.contract.aws_replay import NAME, RESOURCE_CONFIG, SLURM_CONF, Replay
from tests.simulator.hyperpod.world import World, until
from tests.verify_aws.compare import counted, line_differences
from tests.verify_aws.evidence import Evidence
from tests.verify_aws.live_cluster import labelled

__all__ = ["aws"]

pytestmark = pytest.mark.local

FIXTURES = sorted(file.parent for file in (Path(__file__).parents[1] / "data" / "aws").glob("*/verdicts.json"))
CREATED, CONTROLLER = "api/created", "nodes/created/controller-1"
Doctor = Callable[[Path], None]


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    with testing.emptied(3000.0):
        world = World(aws.endpoint)
        world.make()
        world.allow_all_but()
        yield world


@pytest.fixture
def world(account: World) -> Iterator[World]:
    yield account
    hyperpod.reset()


NO_FIXTURES = pytest.param(None, id="none", marks=pytest.mark.skip("nobody has run `make verify-aws` on AWS yet"))


@pytest.mark.parametrize("folder", [pytest.param(folder, id=folder.name) for folder in FIXTURES] or [NO_FIXTURES])
def test_the_simulation_does_what_aws_did(folder: Path, world: World) -> None:
    found = Replay(folder, world).differences()
    assert not found, counted(found)


@pytest.fixture(scope="module")
def recorded(account: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fixtures as `make verify-aws` saves them, of the embedded AWS itself."""
    folder = tmp_path_factory.mktemp("fixtures")
    evidence = Evidence(folder)
    evidence.redactor.literal(NAME, "cluster")
    evidence.json("verdicts.json", {"region": "us-west-2"})
    _record(account, evidence)
    hyperpod.reset()
    return folder


def _record(world: World, evidence: Evidence) -> None:
    groups = [
        world.group("controller", SlurmConfig={"NodeType": "Controller"}),
        world.group("workers", 2, SlurmConfig={"NodeType": "Compute", "PartitionNames": ["first"]}),
        world.group("empty", 0, SlurmConfig={"NodeType": "Compute", "PartitionNames": ["second"]}),
    ]
    for group in groups:
        del group["LifeCycleConfig"]["OnCreate"]
        group["LifeCycleConfig"]["OnInitComplete"] = "on_create.sh"
    request = {"ClusterName": NAME, "VpcConfig": world.vpc(), "InstanceGroups": groups, "NodeProvisioningMode": "Continuous"}
    world.sagemaker.create_cluster(**request)
    evidence.call("created", "CreateCluster", request, None)
    until(lambda: [node["InstanceStatus"]["Status"] for node in world.nodes(NAME)], lambda all_: all_ == ["Running"] * 3)
    until(lambda: world.cluster(NAME)["ClusterStatus"], lambda status: status == "InService")
    name = {"ClusterName": NAME}
    for operation in ("describe_cluster", "list_cluster_nodes", "list_cluster_events"):
        answer = getattr(world.sagemaker, operation)(**name)
        evidence.call("created", "".join(word.title() for word in operation.split("_")), name, answer)
    for label, node in labelled(world.nodes(NAME)):
        answer = world.sagemaker.describe_cluster_node(**name, NodeId=node["InstanceId"])
        evidence.call("created", "DescribeClusterNode", name, answer, label)
    for path, text in Replay(evidence.folder, world).agent_files(Path("controller-1")).items():
        evidence.text(f"{CONTROLLER}/{path}", text)


def test_fixtures_of_the_embedded_aws_show_no_difference(recorded: Path, world: World) -> None:
    assert Replay(recorded, world).differences() == []


def test_lines_that_our_scripts_disable_or_complete_count_as_the_agents() -> None:
    agents = "TopologyPlugin=topology/tree\nNodeName=ip-10-1-0-4 RealMemory=900 CPUs=2\nPartitionName=dev Topology=tree\n"
    completed = turn_off(agents).replace("CPUs=2", "CPUs=2 RealMemory=950 Sockets=1 Gres=gpu:a10g:1")
    on_the_node = f"{completed}{BEGIN}\nProlog=/opt/x\n{END}\n"
    assert on_the_node != agents
    assert list(line_differences(on_the_node, agents, "slurm.conf")) == []
    for other in (agents.replace("RealMemory=900 ", ""), agents.replace("TopologyPlugin=topology/tree", "")):
        assert list(line_differences(on_the_node, other, "slurm.conf")) != []


def _edited(file: str, edit: Callable[[dict[str, Any]], object]) -> Doctor:
    def doctor(folder: Path) -> None:
        content = json.loads((folder / file).read_text())
        edit(content)
        (folder / file).write_text(json.dumps(content))

    return doctor


def _replaced(file: str, old: str, new: str) -> Doctor:
    def doctor(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return doctor


DESCRIBED = f"{CREATED}/DescribeCluster.json"
DOCTORED: dict[str, tuple[Doctor, str]] = {
    "a member that only AWS has": (
        _edited(DESCRIBED, lambda of: of["response"].update(Autopilot=True)),
        ".Autopilot: only AWS has it: True",
    ),
    "a member that AWS lacks": (
        _edited(DESCRIBED, lambda of: of["response"].pop("NodeProvisioningMode")),
        ".NodeProvisioningMode: only the simulation has it: 'Continuous'",
    ),
    "another type": (
        _edited(DESCRIBED, lambda of: of["response"]["InstanceGroups"][0].update(CurrentCount="1")),
        ".CurrentCount: AWS has str '1', the simulation has int 1",
    ),
    "another value": (
        _edited(DESCRIBED, lambda of: of["response"].update(ClusterStatus="SystemUpdating")),
        ".ClusterStatus: AWS has 'SystemUpdating', the simulation has 'InService'",
    ),
    "a node fewer": (
        _edited(f"{CREATED}/ListClusterNodes.json", lambda of: of["response"]["ClusterNodeSummaries"].pop()),
        ".ClusterNodeSummaries: AWS has 2 items, the simulation has 3",
    ),
    "another member of an event": (
        _edited(f"{CREATED}/ListClusterEvents.json", lambda of: of["response"]["Events"][0].update(Severity="low")),
        ".Events.Cluster.Severity: only AWS has it",
    ),
    "another member of a node": (
        _edited(f"{CREATED}/DescribeClusterNode-workers-2.json", lambda of: of["response"]["NodeDetails"].update(Zone=1)),
        ".NodeDetails.Zone: only AWS has it",
    ),
    "no Instances of an empty group": (
        _edited(f"{CONTROLLER}/{RESOURCE_CONFIG}", lambda of: of["InstanceGroups"][2].pop("Instances")),
        ".Instances: only the simulation has it: None",
    ),
    "another form of node lines": (
        _replaced(f"{CONTROLLER}/{SLURM_CONF}", " State=CLOUD", " Feature=ml.c5.xlarge State=CLOUD"),
        "only AWS has the line 'NodeName=<nodes> NodeAddr=<address> CPUs=N Feature=ml.c5.xlarge State=CLOUD'",
    ),
    "a setting of slurm.conf": (
        _replaced(f"{CONTROLLER}/{SLURM_CONF}", "MpiDefault=none", "MpiDefault=pmix"),
        "only AWS has the line 'MpiDefault=pmix'",
    ),
}


@pytest.mark.parametrize("name", DOCTORED)
def test_a_difference_is_found(name: str, recorded: Path, world: World, tmp_path: Path) -> None:
    doctor, expected = DOCTORED[name]
    folder = tmp_path / "doctored"
    shutil.copytree(recorded, folder)
    doctor(folder)
    found = Replay(folder, world).differences()
    assert any(expected in text for text in found), counted(found)


def test_a_request_that_the_simulation_refuses_is_a_difference(recorded: Path, world: World, tmp_path: Path) -> None:
    folder = tmp_path / "doctored"
    shutil.copytree(recorded, folder)
    _edited(f"{CREATED}/CreateCluster.json", lambda of: of["request"].pop("NodeProvisioningMode"))(folder)
    found = Replay(folder, world).differences()
    assert any("ListClusterEvents: AWS answered, the simulation refuses" in text for text in found), counted(found)
