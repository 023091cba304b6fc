"""The slurm.conf of HyperPod's agent."""

import json
from dataclasses import replace

import pytest

from local_aws.builds.errors import HostError
from local_aws.json_service import Json
from local_aws.nodes.agent import slurm_conf
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.files import cgroup_plugin
from local_aws.nodes.agent.slurm_conf import SlurmLayout
from tests.simulator.unit.nodes.clusters import LAYOUT, view


def lines(text: str, *starts: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(starts)]


KIND = Behaviour.parse(
    "automatic_topology=none,gres=none,gres_conf=kept,login_nodes=absent,real_memory=written,node_state=UNKNOWN,partitions=shared"
)
VIEW = view(controller=["10.1.0.4"], login=["10.1.0.5"], workers=["10.1.0.6", "10.1.0.7"])


def test_workers_are_nodes_in_their_partition_and_in_dev_and_login_nodes_are_not() -> None:
    text = slurm_conf.new(VIEW, LAYOUT, KIND)
    assert lines(text, "SlurmctldHost", "NodeName", "PartitionName") == [
        "SlurmctldHost=ip-10-1-0-4(10.1.0.4)",
        "NodeName=ip-10-1-0-6 NodeAddr=10.1.0.6 CPUs=96 RealMemory=1000 State=UNKNOWN",
        "NodeName=ip-10-1-0-7 NodeAddr=10.1.0.7 CPUs=96 RealMemory=1000 State=UNKNOWN",
        "PartitionName=dev Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=gpu Nodes=ip-10-1-0-6,ip-10-1-0-7 MaxTime=INFINITE State=UP",
    ]


def test_login_nodes_may_be_listed_and_so_be_in_dev() -> None:
    text = slurm_conf.new(VIEW, LAYOUT, Behaviour(gres="none"))
    assert lines(text, "NodeName=ip-10-1-0-5") == ["NodeName=ip-10-1-0-5 NodeAddr=10.1.0.5 CPUs=4 State=CLOUD"]
    assert lines(text, "TopologyPlugin", "PartitionName") == [
        "TopologyPlugin=topology/tree",
        "PartitionName=dev Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE",
        "PartitionName=gpu Nodes=ip-10-1-0-6,ip-10-1-0-7 MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE",
    ]


@pytest.mark.parametrize(
    ("behaviour", "files"),
    [
        (KIND, {}),
        (Behaviour(), {"gres.conf": "# written by the simulated HyperPod agent\n"}),
        (
            replace(KIND, gres_conf="devices"),
            {
                "gres.conf": "# written by the simulated HyperPod agent\n"
                "NodeName=ip-10-1-0-6 Name=gpu File=/dev/nvidia[0-7]\nNodeName=ip-10-1-0-7 Name=gpu File=/dev/nvidia[0-7]\n"
            },
        ),
        (
            replace(KIND, automatic_topology="described"),
            {"topology.conf": "SwitchName=spine Nodes=ip-10-1-0-6,ip-10-1-0-7\n"},
        ),
        (replace(KIND, automatic_topology="empty_yaml"), {"topology.conf": "", "topology.yaml": "--- []\n"}),
    ],
    ids=lambda value: value.automatic_topology + "-" + value.gres_conf if isinstance(value, Behaviour) else "",
)
def test_the_agent_writes_files_beside_slurm_conf(behaviour: Behaviour, files: dict[str, str]) -> None:
    assert slurm_conf.topology(VIEW, LAYOUT, behaviour) | slurm_conf.gres_conf(VIEW, LAYOUT, behaviour) == files


def test_a_group_that_joins_later_is_only_in_dev() -> None:
    later = SlurmLayout("controller", {"workers": "gpu"}, "login")
    text = slurm_conf.new(view(controller=["10.1.0.4"], workers=["10.1.0.6"], others=["10.1.0.7"]), later, KIND)
    assert lines(text, "NodeName=ip-10-1-0-7", "PartitionName") == [
        "NodeName=ip-10-1-0-7 NodeAddr=10.1.0.7 CPUs=2 RealMemory=500 State=UNKNOWN",
        "PartitionName=dev Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        "PartitionName=gpu Nodes=ip-10-1-0-6 MaxTime=INFINITE State=UP",
    ]


def test_every_controller_is_a_host_of_slurmctld_the_first_one_first() -> None:
    text = slurm_conf.new(view(controller=["10.1.0.9", "10.1.0.4"], workers=["10.1.0.6"]), LAYOUT, Behaviour())
    assert lines(text, "SlurmctldHost") == ["SlurmctldHost=ip-10-1-0-9(10.1.0.9)", "SlurmctldHost=ip-10-1-0-4(10.1.0.4)"]


def test_a_group_whose_partition_is_called_dev_has_the_default_partition_for_itself() -> None:
    text = slurm_conf.new(view(controller=["10.1.0.4"], workers=["10.1.0.6"], others=["10.1.0.7"]), LAYOUT, KIND)
    assert lines(text, "PartitionName=dev") == ["PartitionName=dev Nodes=ip-10-1-0-7 Default=YES MaxTime=INFINITE State=UP"]


def test_what_scripts_wrote_stays_when_the_agent_rewrites_its_lines() -> None:
    old = slurm_conf.new(view(controller=["10.1.0.4"], workers=["10.1.0.6"]), LAYOUT, Behaviour())
    edited = (
        "# above\n" + old.replace("ProctrackType=proctrack/linuxproc", "ProctrackType=proctrack/cgroup") + "PrologFlags=contain\n"
    )
    new = slurm_conf.rewritten(edited, view(controller=["10.1.0.4"], workers=["10.1.0.8"]), LAYOUT, Behaviour())
    assert new == edited.replace("ip-10-1-0-6", "ip-10-1-0-8").replace("10.1.0.6", "10.1.0.8")


def test_a_file_without_the_agents_lines_is_unchanged() -> None:
    assert slurm_conf.rewritten("ClusterName=own\n", view(controller=["10.1.0.4"]), LAYOUT, Behaviour()) == "ClusterName=own\n"


def test_the_layout_is_read_from_the_provisioning_parameters() -> None:
    groups = [{"instance_group_name": "workers", "partition_name": "gpu"}]
    content = json.dumps({"version": "1.0.0", "controller_group": "controller", "worker_groups": groups}).encode()
    assert SlurmLayout.read(content) == SlurmLayout("controller", {"workers": "gpu"})


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"controller_group": "c", "worker_groups": [{}]}'])
def test_parameters_that_are_not_what_they_should_be_are_named(content: bytes) -> None:
    with pytest.raises(HostError, match=r"provisioning_parameters\.json cannot be read by HyperPod's agent"):
        SlurmLayout.read(content)


@pytest.mark.parametrize(
    ("hierarchies", "plugin"),
    [("0::/system.slice\n", "cgroup/v2"), ("4:memory:/\n0::/\n", "cgroup/v1"), ("1:name=systemd:/\n", "cgroup/v1")],
)
def test_slurm_is_configured_with_the_cgroups_to_use(hierarchies: str, plugin: str) -> None:
    assert cgroup_plugin(hierarchies) == plugin


def test_the_parameters_of_a_request_with_slurm_config_are_those_of_a_file() -> None:
    specs: dict[str, Json] = {
        "head": {"SlurmConfig": {"NodeType": "Controller"}},
        "door": {"SlurmConfig": {"NodeType": "Login"}},
        "gpus": {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]}},
        "cpus": {"SlurmConfig": {"NodeType": "Compute"}},
    }
    parameters = slurm_conf.parameters_of(specs)
    assert parameters is not None
    assert SlurmLayout.read(parameters) == SlurmLayout("head", {"gpus": "gpu", "cpus": "dev"}, "door")


@pytest.mark.parametrize("specs", [{}, {"head": {}}, {"gpus": {"SlurmConfig": {"NodeType": "Compute"}}}])
def test_a_request_without_a_controller_in_slurm_config_has_no_parameters(specs: dict[str, Json]) -> None:
    assert slurm_conf.parameters_of(specs) is None
