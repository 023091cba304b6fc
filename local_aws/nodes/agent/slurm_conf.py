"""The slurm.conf that HyperPod's agent writes on the nodes of the controller's group.

The agent's own file is not published. This one follows public scripts and field notes: addresses in brackets after
SlurmctldHost, an included accounting.conf that is empty at first, slurmd without a file of its own (configless), nodes by host
name, and a default partition `dev` of all nodes besides one per group.
https://github.com/awslabs/awsome-distributed-ai (5.sagemaker-hyperpod, issue 151)
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from local_aws.builds.errors import HostError
from local_aws.json_service import Json
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.view import ClusterView, Member

PARAMETERS = "provisioning_parameters.json"
_BEGIN = "# controllers, nodes and partitions: HyperPod's agent rewrites these lines when the cluster changes"
_END = "# end of the rewritten lines"
_DEFAULT_PARTITION = "dev"
# Slurm's default ProctrackType needs cgroups that a machine with version 1's hierarchies cannot give to its nodes.
# config_overrides makes slurmd report what EC2 reports of the instance type instead of this machine's resources.
_HEAD = """\
# written by the simulated HyperPod agent
ClusterName={name}
AuthType=auth/munge
SlurmUser=slurm
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
ReturnToService=1
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmctldTimeout=60
SlurmdTimeout=60
MpiDefault=none
Include accounting.conf
"""


@dataclass(frozen=True)
class SlurmLayout:
    """The groups' roles and partitions in Slurm, from provisioning_parameters.json."""

    controller_group: str
    partitions: Mapping[str, str]  # by worker group
    login_group: str | None = None

    @classmethod
    def read(cls, content: bytes) -> "SlurmLayout":
        """Parse the file next to the scripts."""
        try:
            parameters = json.loads(content)
            workers = {group["instance_group_name"]: group["partition_name"] for group in parameters["worker_groups"]}
            return cls(parameters["controller_group"], workers, parameters.get("login_group"))
        except (ValueError, KeyError, TypeError) as error:
            raise HostError(f"{PARAMETERS} cannot be read by HyperPod's agent: {type(error).__name__} {error}") from error


def parameters_of(specs: Mapping[str, Json]) -> bytes | None:
    """Return the parameters that the agent writes for groups with SlurmConfig, or None if no group has one."""
    types = {name: spec["SlurmConfig"] for name, spec in specs.items() if "SlurmConfig" in spec}
    named: dict[str, list[str]] = {}
    for name, config in types.items():
        named.setdefault(config["NodeType"], []).append(name)
    if "Controller" not in named:
        return None
    workers = [
        {"instance_group_name": name, "partition_name": (types[name].get("PartitionNames") or [_DEFAULT_PARTITION])[0]}
        for name in named.get("Compute", ())
    ]
    content = {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": named["Controller"][0],
        **({"login_group": named["Login"][0]} if "Login" in named else {}),
        "worker_groups": workers,
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def new(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> str:
    """Return the first file of a controller."""
    return _HEAD.format(name=view.name) + _block(view, layout, behaviour)


def placeholder(view: ClusterView) -> str:
    """Return the file before the agent knows the cluster's controllers."""
    return _HEAD.format(name=view.name) + f"{_BEGIN}\nSlurmctldHost=localhost\n{_END}\n"


def rewritten(text: str, view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> str:
    """Return the file for the cluster's current state; everything outside the agent's own lines stays.

    A file without these lines was replaced by another program and stays unchanged.
    """
    before, begin, rest = text.partition(f"{_BEGIN}\n")
    _, end, after = rest.partition(f"{_END}\n")
    return before + _block(view, layout, behaviour) + after if begin and end else text


def left(before: ClusterView, now: ClusterView, layout: SlurmLayout) -> list[str]:
    """Return the workers that are removed from the file."""
    hosts = {member.hostname for member in _workers(now, layout)}
    return [member.hostname for member in _workers(before, layout) if member.hostname not in hosts]


def listed(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> list[Member]:
    """Return the nodes with a line in the file."""
    login = view.listed_of(layout.login_group) if layout.login_group and behaviour.login_nodes == "listed" else []
    return [*_workers(view, layout), *login]


def _workers(view: ClusterView, layout: SlurmLayout) -> list[Member]:
    """Return the workers with a line in the file. Groups that the layout does not have joined after it was written.

    Their nodes are only in the default partition: ai-on-sagemaker-hyperpod, docs/08-Tips/Slurm/11-heterogenous-cluster.md.
    """
    known = {layout.controller_group, layout.login_group, *layout.partitions}
    new = dict.fromkeys(member.group for member in view.members if member.group not in known)
    return [member for group in (*layout.partitions, *new) for member in view.listed_of(group)]


def topology(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> dict[str, str]:
    """Return the agent's description of the topology, by file name."""
    if behaviour.automatic_topology == "empty_yaml":
        return {"topology.conf": "", "topology.yaml": "--- []\n"}
    if behaviour.automatic_topology == "described":
        hosts = ",".join(member.hostname for member in listed(view, layout, behaviour))
        return {"topology.conf": f"SwitchName=spine Nodes={hosts}\n"}
    return {}


def gres_conf(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> dict[str, str]:
    """Return the agent's gres.conf, if it writes one, by file name."""
    if behaviour.gres_conf == "kept":
        return {}
    nodes = listed(view, layout, behaviour) if behaviour.gres_conf == "devices" else []
    gpus = {member.hostname: view.shapes[member.group].gpus for member in nodes}
    lines = [f"NodeName={host} Name=gpu File=/dev/nvidia[0-{count - 1}]" for host, count in gpus.items() if count]
    return {"gres.conf": "\n".join(["# written by the simulated HyperPod agent", *lines]) + "\n"}


def _block(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> str:
    controllers = [f"SlurmctldHost={one.hostname}({one.address})" for one in view.members_of(layout.controller_group)]
    nodes = [_node(view, member, behaviour) for member in listed(view, layout, behaviour)]
    tree = ["TopologyPlugin=topology/tree"] if behaviour.automatic_topology in ("tree_without_file", "described") else []
    return "\n".join([_BEGIN, *controllers, *tree, *nodes, *_partitions(view, layout, behaviour), _END]) + "\n"


def _node(view: ClusterView, member: Member, behaviour: Behaviour) -> str:
    shape = view.shapes[member.group]
    place = f"NodeName={member.hostname} NodeAddr={member.address}"
    files = (
        f" Gres=gpu:{shape.gpus},file=/dev/nvidia-[0-{shape.gpus - 1}]" if behaviour.gres == "with_file" and shape.gpus else ""
    )
    memory = f" RealMemory={shape.memory_mib}" if behaviour.real_memory == "written" else ""
    return f"{place} CPUs={shape.cpus}{memory}{files} State={behaviour.node_state}"


def _partitions(view: ClusterView, layout: SlurmLayout, behaviour: Behaviour) -> list[str]:
    hosts: dict[str, list[str]] = {}
    for group, partition in layout.partitions.items():
        hosts.setdefault(partition, []).extend(member.hostname for member in view.listed_of(group))
    lists = {name: ",".join(names) for name, names in hosts.items() if names}
    lists = {_DEFAULT_PARTITION: "ALL"} | lists  # the file may have a partition with that name
    end = "State=UP"
    end += " Topology=tree" if behaviour.automatic_topology == "empty_yaml" else ""
    end += " OverSubscribe=EXCLUSIVE" if behaviour.partitions == "exclusive" else ""
    return [
        f"PartitionName={name} Nodes={nodes}{' Default=YES' if name == _DEFAULT_PARTITION else ''} MaxTime=INFINITE {end}"
        for name, nodes in lists.items()
    ]
