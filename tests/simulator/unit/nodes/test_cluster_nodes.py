"""The machines of a cluster on its hub: when it lives, in which order nodes of one id come and go, who hears of changes."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from local_aws.builds.errors import HostError
from local_aws.hyperpod.lifecycle_scripts import LifecycleScripts
from local_aws.hyperpod.model import Cluster, Group, Node
from local_aws.hyperpod.node_runner import Launch
from local_aws.network_interfaces import Interface
from local_aws.nodes.agent import files
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.cluster_nodes import ClusterNodes
from local_aws.nodes.agent.log_stream import LogStream
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.agent.node_start import ScriptsError, run_scripts
from local_aws.nodes.agent.pods_link import PodsLink
from local_aws.nodes.agent.slurm_conf import SlurmLayout
from local_aws.nodes.specs import NodeSpec, Vpc
from tests.simulator.hyperpod.world import until
from tests.simulator.unit.nodes.fake_hub import FakeHub

VPC = Vpc("us-west-2", ("10.1.0.0/16",), "10.1.0.2")
LAYOUT = SlurmLayout("head", {"work": "all"})
KIND = Behaviour(node_lines="before_scripts", first_slurm_conf="complete")


class World:
    """A cluster with a head and a worker on hubs without machines."""

    def __init__(self, folder: Path, behaviour: Behaviour = KIND) -> None:
        specs = [{"InstanceGroupName": name, "InstanceType": "ml.c5.xlarge", "InstanceCount": 1} for name in ("head", "work")]
        groups = {str(spec["InstanceGroupName"]): Group(spec) for spec in specs}
        nodes = [
            Node(f"i-{n}", 1, spec, [Interface("eni", f"10.1.0.{n}", "subnet")], "Running") for n, spec in enumerate(specs, 4)
        ]
        self.cluster = Cluster("123456789012", "us-west-2", "aws", "ml", "abc", {}, {}, groups, nodes)
        self.hubs: list[FakeHub] = []
        self.nodes = ClusterNodes(folder, self._make_hub, behaviour)
        self.boot_first = True

    def _make_hub(self, folder: Path, vpc: Vpc) -> FakeHub:
        self.hubs.append(FakeHub(folder, vpc))
        if not self.boot_first:
            self.hubs[-1].may_boot.clear()
        return self.hubs[-1]

    def start(self, place: int) -> Machine:
        """Start the node of the cluster at that place; it has ended its start when its starter has."""
        node = self.cluster.nodes[place]
        machine = Machine(Launch(self.cluster, node), threading.Thread(target=lambda: self._boot(machine)), LAYOUT)
        self.nodes.start(machine)
        return machine

    def run(self, place: int) -> Machine:
        """Start a node and wait until it runs."""
        machine = self.start(place)
        machine.starter.join()
        return machine

    def _boot(self, machine: Machine) -> None:
        view = self.nodes.first_view(machine)
        laid = files.at_boot(view, b"key") | files.of_slurm(
            view, LAYOUT, machine.launch.node.group, b"{}", self.nodes.behaviour, placeholder=machine.has_placeholder
        )
        spec = NodeSpec(machine.id, "ip-10-1-0-4", "10.1.0.4", files=laid)
        try:
            self.nodes.boot(machine, spec, VPC, view)
        except HostError:
            assert not machine.is_wanted


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_hub_ends_if_the_way_to_its_pods_is_missing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise HostError("the EKS cluster is gone")

    monkeypatch.setattr(PodsLink, "of", fail)
    machine = Machine(Launch(world.cluster, world.cluster.nodes[0]), threading.Thread(target=lambda: None), LAYOUT)
    world.nodes.start(machine)
    view, spec = world.nodes.first_view(machine), NodeSpec(machine.id, "ip-10-1-0-4", "10.1.0.4")
    for _ in range(2):
        with pytest.raises(HostError, match="the EKS cluster is gone"):
            world.nodes.boot(machine, spec, replace(VPC, api_server="10.1.0.9"), view)
    assert [hub.said for hub in world.hubs] == [["start", "end"]] * 2


def stopped(world: World, machine: Machine) -> None:
    world.nodes.stop(machine.id)
    assert machine.gone.wait(10)


def test_the_hub_lives_from_the_first_node_to_the_last(world: World) -> None:
    head, work = world.run(0), world.run(1)
    stopped(world, head)
    assert "end" not in world.hubs[0].said
    stopped(world, work)
    assert world.hubs[0].said[-1] == "end"
    world.run(0)
    assert len(world.hubs) == 2


def test_a_node_that_is_stopped_while_it_boots_is_not_left_behind(world: World) -> None:
    world.boot_first = False
    machine = world.start(0)
    while not world.hubs:
        machine.starter.join(0.01)
    assert world.hubs[0].is_booting.wait(10)
    stopped(world, machine)
    said = world.hubs[0].said
    assert said.index("boot i-4") < len(said) - 1 - said[::-1].index("stop i-4")
    assert said[-1] == "end"


def test_a_restarted_node_waits_until_its_predecessor_is_gone(world: World) -> None:
    world.run(1)
    before, after = world.run(0), world.run(0)
    assert before.gone.is_set()
    assert not after.gone.is_set()
    said = [one for one in world.hubs[0].said if one.endswith("i-4") and not one.startswith("run")]
    assert said == ["boot i-4", "stop i-4", "stop i-4", "boot i-4"]


def test_a_change_reaches_the_files_of_all_nodes_and_slurm_on_the_controller(world: World) -> None:
    world.run(0), world.run(1)
    hub = world.hubs[0]
    own = "PrologFlags=contain\n"
    hub.files["i-4"][files.SLURM_CONF] += own
    world.cluster.nodes[1] = Node("i-9", 1, world.cluster.nodes[1].spec, [Interface("eni", "10.1.0.9", "subnet")], "Running")
    world.nodes.refresh()
    for node_id in ("i-4", "i-5"):
        assert "10.1.0.9" in hub.files[node_id][files.RESOURCE_CONFIG]
    text = hub.files["i-4"][files.SLURM_CONF]
    assert "NodeName=ip-10-1-0-9 " in text
    assert "ip-10-1-0-5" not in text
    assert text.endswith(own)
    assert hub.said[-2:] == ["run cat on i-4", "run sh on i-4"]


def test_slurm_gives_up_a_node_that_leaves_before_its_line_goes(world: World) -> None:
    world.run(0), world.run(1)
    hub = world.hubs[0]
    del world.cluster.nodes[1]
    world.nodes.refresh()
    give_up, look, reconfigure = hub.commands
    assert give_up[:2] == ("sh", "-c")
    assert give_up[-1] == "ip-10-1-0-5"
    assert look == ("cat", files.SLURM_CONF)
    assert reconfigure[:2] == ("sh", "-c")
    assert "ip-10-1-0-5" not in hub.files["i-4"][files.SLURM_CONF]


def test_a_node_that_joins_makes_slurm_give_up_none(world: World) -> None:
    world.run(0), world.run(1)
    interfaces = [Interface("eni", "10.1.0.9", "subnet")]
    world.cluster.nodes.append(Node("i-9", 2, world.cluster.nodes[1].spec, interfaces, "Running"))
    world.nodes.refresh()
    assert world.hubs[0].said[-2:] == ["run cat on i-4", "run sh on i-4"]
    assert len(world.hubs[0].commands) == 2


def test_a_node_that_is_down_keeps_no_other_from_hearing_of_a_change(world: World) -> None:
    world.run(0), world.run(1)
    world.hubs[0].down.add("i-4")
    world.cluster.nodes[0] = Node("i-9", 1, world.cluster.nodes[0].spec, [Interface("eni", "10.1.0.9", "subnet")], "Running")
    world.nodes.refresh()
    assert "10.1.0.9" in world.hubs[0].files["i-5"][files.RESOURCE_CONFIG]


def test_nodes_with_correct_files_are_unchanged(world: World) -> None:
    world.run(0), world.run(1)
    before = list(world.hubs[0].said)
    world.nodes.refresh()
    assert world.hubs[0].said == before


def joins(world: World) -> Machine:
    """A second worker that runs."""
    interfaces = [Interface("eni", "10.1.0.9", "subnet")]
    world.cluster.nodes.append(Node("i-9", 2, world.cluster.nodes[1].spec, interfaces, "Running"))
    machine = world.run(2)
    world.nodes.refresh()
    return machine


def test_a_node_that_joins_gets_its_line_only_after_its_scripts(tmp_path: Path) -> None:
    world = World(tmp_path, Behaviour(first_slurm_conf="complete", node_lines_after_s=0))
    world.run(0), world.run(1)
    head = world.hubs[0].files["i-4"]
    assert "NodeName=ip-10-1-0-5 " in head[files.SLURM_CONF]

    machine = joins(world)

    assert "10.1.0.9" in head[files.RESOURCE_CONFIG]
    assert "ip-10-1-0-9" not in head[files.SLURM_CONF]
    world.nodes.add_line(machine)
    until(lambda: head[files.SLURM_CONF], lambda text: "NodeName=ip-10-1-0-9 " in text)
    assert "Nodes=ip-10-1-0-5,ip-10-1-0-9 " in head[files.SLURM_CONF]


def test_a_node_that_is_not_in_service_yet_gets_no_line(tmp_path: Path) -> None:
    world = World(tmp_path, Behaviour(first_slurm_conf="complete", node_lines_after_s=0))
    world.run(0), world.run(1)
    machine = joins(world)
    machine.launch.node.status = "DeepHealthCheckInProgress"
    world.nodes.add_line(machine)
    time.sleep(0.3)
    assert "ip-10-1-0-9" not in world.hubs[0].files["i-4"][files.SLURM_CONF]
    machine.launch.node.status = "Running"
    until(lambda: world.hubs[0].files["i-4"][files.SLURM_CONF], lambda text: "NodeName=ip-10-1-0-9 " in text)


def test_the_first_slurm_conf_names_no_controller_for_a_while(tmp_path: Path) -> None:
    world = World(tmp_path, Behaviour(node_lines="before_scripts", placeholder_s=0))
    machine = world.run(0)
    world.run(1)
    head = world.hubs[0].files["i-4"]
    joins(world)
    assert [line for line in head[files.SLURM_CONF].splitlines() if "Host=" in line or "Node" in line] == [
        "SlurmctldHost=localhost"
    ]
    head[files.SLURM_CONF] += "# a script's own line\n"

    world.nodes.name_controllers(machine)

    text = until(lambda: head[files.SLURM_CONF], lambda text: "SlurmctldHost=ip-10-1-0-4(10.1.0.4)\n" in text)
    assert "localhost" not in text
    assert "NodeName=ip-10-1-0-9 " in text
    assert text.endswith("# a script's own line\n")


def test_all_ends_at_once(world: World) -> None:
    machines = [world.run(0), world.run(1)]
    world.nodes.end()
    assert all(machine.gone.is_set() for machine in machines)
    assert world.hubs[0].said.count("end") == 1
    assert world.nodes.machines() == []


@pytest.mark.parametrize(
    ("prints", "text"),
    [
        (
            ("mounting", "step mount-fsx: mount.lustre: no such device", ""),
            "go ended with status 3: step mount-fsx: mount.lustre: no such device",
        ),
        ((), "go ended with status 3 without output"),
    ],
)
def test_a_failing_script_is_reported_with_its_status_and_last_line(tmp_path: Path, prints: tuple[str, ...], text: str) -> None:
    hub, lines = FakeHub(tmp_path, VPC), list[str]()
    hub.prints, hub.status = prints, 3
    with LogStream(lines.extend) as stream, pytest.raises(ScriptsError) as raised:
        run_scripts(hub, "i-4", LifecycleScripts("s3://b/", "b", "", "go"), {"go": b"#!/bin/sh\n"}, stream, behaviour=Behaviour())
    assert str(raised.value) == text
    assert tuple(lines) == prints
